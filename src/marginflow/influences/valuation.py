r"""Data valuation: what each sample, or group of samples, is worth for points that were not trained on.

The value of a group is what is lost without it, with the exact point without it as the truth:

.. math:: \mathrm{value}(G) = \mathrm{accuracy}(\theta) - \mathrm{accuracy}(\theta_{-G}),

and the same with the mean normalised margin :math:`y N(x) / \|\theta\|^2`, which moves where the accuracy does not.
"""

from dataclasses import dataclass

import numpy as np

from marginflow.arrays import FloatArray, IntArray
from marginflow.data import Dataset
from marginflow.display import Plotted
from marginflow.errors import InputError
from marginflow.influences.result import Influence
from marginflow.networks import TwoLayer
from marginflow.plain import Plain


@dataclass(frozen=True, eq=False)
class Valuation(Plotted, Plain):
    """What each group is worth on given points; below zero the network is better without it.

    Attributes
    ----------
    accuracy : float
        Of the network with all samples.
    values : array, shape (g,)
        Accuracy with all samples minus without the group.
    margin_values : array, shape (g,)
        Mean of y N(x) / ||theta||^2 with all samples minus without the group.
    shares : array, shape (g,)
        Share of the multipliers, and so of ||theta||^2 = 2 sum_i lambda_i at a hard margin, that the group carries.
    """

    accuracy: float
    values: FloatArray
    margin_values: FloatArray
    shares: FloatArray

    def rank(self) -> IntArray:
        """Groups by value, the most harmful first; equal accuracies by the mean margin, shape (g,)."""
        return np.lexsort((self.margin_values, self.values))


def valuation(found: Influence, test: Dataset) -> Valuation:
    """The value of every group for the points of `test`.

    Parameters
    ----------
    found : Influence
        Of samples that were left out.
    test : Dataset
        Points and labels that were not trained on.

    Examples
    --------
    >>> import marginflow as mf
    >>> law = mf.data.Sphere(dimension=15)
    >>> data, test = law.sample(15, seed=0), law.sample(50, seed=1)
    >>> found = mf.influence(mf.kkt_point(data, width=30, seed=0), data, mode="fast")
    >>> mf.influences.valuation(found, test).values.shape
    (15,)
    """
    if found.added:
        raise InputError("These samples were added; values are about samples that are left out.")
    if test.dimension != found.base.dimension:
        raise InputError(f"The test points have dimension {test.dimension}; {found.base.dimension} is expected.")
    accuracy, margin = _on(found.base, test)
    without = np.array([_on(found.network(group), test) for group in range(len(found.groups))])
    carried = np.array([float(found.multipliers[group].sum()) for group in found.groups])
    return Valuation(
        accuracy=accuracy,
        values=accuracy - without[:, 0],
        margin_values=margin - without[:, 1],
        shares=carried / max(float(found.multipliers.sum()), 1e-300),
    )


def _on(network: TwoLayer, test: Dataset) -> tuple[float, float]:
    """Accuracy and mean normalised margin."""
    margins = network.margins(test.X, test.y)
    return float((margins > 0.0).mean()), float(margins.mean() / network.norm_squared())
