r"""Unlearning: how near a method comes to the network that never saw the samples.

At a KKT point theta = sum_i lambda_i y_i dN(x_i), so the step that takes the terms of a group G away,

.. math:: \theta' = \theta - \sum_{i \in G} \lambda_i y_i \partial N(x_i),

is the step of gradient ascent on their loss that work on unlearning with max-margin networks proposes. The exact point
without the group is the truth against which it, training that goes on without the group, or any other network is
measured.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import FloatArray, matrix, whole_number
from marginflow.data import Dataset
from marginflow.display import Plotted
from marginflow.errors import InputError
from marginflow.flow import Descent, train
from marginflow.flow.schedule import LossNormalised
from marginflow.flow.stopping import Steps
from marginflow.influences.result import Influence
from marginflow.limit.assemble import fresh_points
from marginflow.losses import Exponential
from marginflow.networks import TwoLayer
from marginflow.plain import Plain


@dataclass(frozen=True, eq=False)
class Unlearning(Plotted, Plain):
    """Relative distances of outputs to the exactly retrained network, for every group, shape (g,).

    Outputs are compared up to their scale: sin of the angle between them, as vectors of outputs at the same points.
    `kept` is that of doing nothing, `unlearned` that of the method; below `kept` the method has come nearer.
    """

    plain_names = ("kept", "unlearned", "helped")

    kept: FloatArray
    unlearned: FloatArray

    @property
    def helped(self) -> float:
        """Share of groups that change anything for which the method came nearer than doing nothing."""
        changed = self.kept > _ROUNDING
        return float((self.unlearned < self.kept)[changed].mean()) if changed.any() else float("nan")


# Distances below this are rounding.
_ROUNDING = 1e-9


def ascent_step(found: Influence, data: Dataset, group: int) -> TwoLayer:
    """The network after the step that takes the terms of a group out of theta = sum_i lambda_i y_i dN(x_i)."""
    _left_out(found, group)
    network, rows = found.base, found.groups[group]
    X, y = data.X[rows], data.y[rows]
    weights = (found.multipliers[rows] * y)[:, None] * found.clarke[rows]
    W = network.W - network.v[:, None] * (weights.T @ X)
    b = None if network.b is None else network.b - network.v * weights.sum(axis=0)
    v = network.v - np.maximum(network.preactivations(X), 0.0).T @ (found.multipliers[rows] * y)
    return TwoLayer(W=W, b=b, v=v)


def fine_tuned(found: Influence, data: Dataset, group: int, steps: int = 100) -> TwoLayer:
    """The network after this many steps of gradient descent on the samples that are left, from the network with all.

    The exponential loss; every step is divided by the loss, as steps at a margin have to be.
    """
    _left_out(found, group)
    rest = data.subset(np.setdiff1d(np.arange(data.n_samples), found.groups[group]))
    plan = Descent(loss=Exponential(), schedule=LossNormalised(_STEP), stop=(Steps(whole_number("steps", steps)),))
    trained = train(found.base, rest, plan).network
    assert isinstance(trained, TwoLayer)
    return trained


# Of the fine-tuning, in units in which theta has margin 1.
_STEP = 1e-2


def unlearning(
    found: Influence, data: Dataset, points: ArrayLike | None = None, *, networks: Sequence[TwoLayer] | None = None
) -> Unlearning:
    """Compare networks with the exact points without each group, by their outputs at `points` (rows).

    Parameters
    ----------
    found : Influence
    data : Dataset
    points : array, shape (p, d), or None
        None for Gaussian points with the mean and the covariance of the samples.
    networks : sequence of TwoLayer, length g, or None
        What a method made of each group; None for one step of gradient ascent.
    """
    X = fresh_points(data.X) if points is None else matrix("points", points)
    if X.shape[1] != data.dimension:
        raise InputError(f"points have {X.shape[1]} columns; {data.dimension} are expected.")
    if networks is not None and len(networks) != len(found.groups):
        raise InputError(f"There are {len(networks)} networks; one for each of {len(found.groups)} groups is expected.")
    before = found.base(X)
    kept, unlearned = [], []
    for group in range(len(found.groups)):
        exact = found.network(group)(X)
        kept.append(_sine(before, exact))
        method = ascent_step(found, data, group) if networks is None else networks[group]
        unlearned.append(_sine(method(X), exact))
    return Unlearning(np.array(kept), np.array(unlearned))


def _left_out(found: Influence, group: int) -> None:
    found.network(group)
    if found.added:
        raise InputError("These samples were added; unlearning is about samples that are left out.")


def _sine(a: FloatArray, b: FloatArray) -> float:
    """sin of the angle between two vectors of outputs."""
    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    if lengths == 0.0:
        return 1.0
    unit_a, unit_b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    return float(np.linalg.norm(unit_a - (unit_a @ unit_b) * unit_b))
