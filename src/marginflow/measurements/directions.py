r"""The directions of the papers by name: which vector z is meant by "label-sum", "margin", "support", "dual", "means".

They act as x_i - t y_i z. Lengths are as the papers have them; nothing is normalised.
"""

from typing import Final

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.certificates import Certificate, certify
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.networks import TwoLayer
from marginflow.robustness import label_sum
from marginflow.robustness.directions import dual_sum, margin_samples, mean_sum, support_samples

# Every name, and what it stands for.
DIRECTIONS: Final[dict[str, str]] = {
    "label-sum": "sum of y x over all samples",
    "margin": "sum of y x over the samples on the margin",
    "support": "sum of y x over the samples with a multiplier",
    "dual": "sum of y x weighted by the multipliers",
    "means": "sum of the cluster means by their labels",
}
# Those that need the multipliers of the KKT conditions.
BY_MULTIPLIERS: Final = ("support", "dual")


def named_direction(name: str, network: TwoLayer, data: Dataset, certificate: Certificate | None = None) -> FloatArray:
    r"""The vector that a name stands for; shape (d,).

    Parameters
    ----------
    name : str
        One of `DIRECTIONS`.
    network, data : TwoLayer, Dataset
    certificate : Certificate or None
        Of this network on these data; its multipliers make "support" and "dual". Computed if it is missing and needed.

    Raises
    ------
    InputError
        If there is no such direction: an unknown name, no means, no multiplier, a sample that is misclassified.

    Examples
    --------
    >>> from marginflow.data import Dataset
    >>> from marginflow.measurements import named_direction
    >>> from marginflow.networks import TwoLayer
    >>> network = TwoLayer(W=[[1.0, 0.0], [0.0, 1.0]], v=[1.0, -1.0])
    >>> named_direction("label-sum", network, Dataset(X=[[1.0, 0.0], [0.0, 2.0]], y=[1, -1]))
    array([ 1., -2.])
    """
    match name:
        case "label-sum":
            return label_sum(data.X, data.y)
        case "margin":
            return label_sum(data.X, data.y, margin_samples(network, data.X, data.y))
        case "support" | "dual":
            weights = (certify(network, data) if certificate is None else certificate).multipliers
            if name == "dual":
                return dual_sum(data.X, data.y, weights)
            return label_sum(data.X, data.y, support_samples(weights))
        case "means":
            if data.means is None or data.mean_labels is None:
                raise InputError("The data know no cluster means; the direction 'means' needs them.")
            return mean_sum(data.means, data.mean_labels)
    raise InputError(f"direction is {name!r}; one of {', '.join(DIRECTIONS)} is expected.")


def named_directions(
    network: TwoLayer, data: Dataset, certificate: Certificate, names: tuple[str, ...] = tuple(DIRECTIONS)
) -> dict[str, FloatArray]:
    """Those of the named directions that exist for this network on these data and are not zero, by name."""
    found: dict[str, FloatArray] = {}
    for name in names:
        try:
            vector = named_direction(name, network, data, certificate)
        except InputError:  # no means, no multiplier, or a misclassified sample: there is no such direction here
            continue
        if np.linalg.norm(vector) > 0:
            found[name] = vector
    return found
