r"""The directions of the papers by name, and how long a multiple of one flips samples.

They act as x_i - t y_i z. Lengths are as the papers have them; nothing is normalised.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.certificates import Certificate, certify
from marginflow.data import Dataset
from marginflow.direction_names import DIRECTIONS
from marginflow.display import Brief
from marginflow.errors import InputError
from marginflow.networks import TwoLayer
from marginflow.robustness import label_sum, minimal_step
from marginflow.robustness.directions import dual_sum, margin_samples, mean_sum, support_samples
from marginflow.robustness.rays import AtZero, RaySteps

# Those that need the multipliers of the KKT conditions.
BY_MULTIPLIERS: Final = ("support", "dual")
# Shares of the curve that are said in words; the whole curve is in `Flip.curve`.
SHARES: Final = (0.1, 0.25, 0.5, 0.75, 0.9, 1.0)


def named_direction(network: TwoLayer, data: Dataset, name: str, certificate: Certificate | None = None) -> FloatArray:
    r"""The vector that a name stands for; shape (d,).

    Parameters
    ----------
    network, data : TwoLayer, Dataset
    name : str
        One of `DIRECTIONS`.
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
    >>> named_direction(network, Dataset(X=[[1.0, 0.0], [0.0, 2.0]], y=[1, -1]), "label-sum")
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
            return mean_direction(data)
    raise InputError(f"direction is {name!r}; one of {', '.join(DIRECTIONS)} is expected.")


def mean_direction(data: Dataset) -> FloatArray:
    """The direction "means", the one that no network has a part in; shape (d,)."""
    if data.means is None or data.mean_labels is None:
        raise InputError("The data know no cluster means; the direction 'means' needs them.")
    return mean_sum(data.means, data.mean_labels)


def named_directions(
    network: TwoLayer, data: Dataset, certificate: Certificate, names: tuple[str, ...] = tuple(DIRECTIONS)
) -> dict[str, FloatArray]:
    """Those of the named directions that exist for this network on these data and are not zero, by name."""
    found: dict[str, FloatArray] = {}
    for name in names:
        try:
            vector = named_direction(network, data, name, certificate)
        except InputError:  # no means, no multiplier, or a misclassified sample: there is no such direction here
            continue
        if np.linalg.norm(vector) > 0:
            found[name] = vector
    return found


@dataclass(frozen=True, eq=False, kw_only=True)
class Flip(Brief):
    """One direction and every step along it at which a sample is flipped.

    A multiple z acts as x_i - y_i z (unsigned: x_i + z). Infinity: no multiple does it.
    """

    name: str
    vector: FloatArray
    steps: RaySteps

    def norm_for(self, share: float) -> float:
        """Norm of the smallest multiple that flips this share of the samples at once."""
        return self.steps.size_for_share(share)

    @property
    def all(self) -> float:
        """Norm of the smallest multiple that flips every sample at once."""
        return self.norm_for(1.0)

    def summary(self, *, dimension: int, share: float = 1.0) -> dict[str, object]:
        """Norms of first flips, of the share asked for and of all at once; some of them also by sqrt(d)."""
        sizes, root = self.steps.sizes, math.sqrt(dimension)
        norm, median = self.norm_for(share), float(np.median(sizes))
        return {
            "direction": self.name,
            "norm": norm,
            "norm_by_sqrt_dimension": norm / root,
            "smallest_first": float(sizes.min()),
            "median_first": median,
            "median_first_by_sqrt_dimension": median / root,
            "largest_first": float(sizes.max()),
            "all_at_once": self.all,
            **{f"share_{wanted:g}": self.norm_for(wanted) for wanted in SHARES},
            "already_flipped": int(self.steps.already.sum()),
            "never_flipped": int(np.isinf(self.steps.first).sum()),
            "flip_back": int((~self.steps.monotone).sum()),
        }

    def curve(self) -> dict[str, FloatArray]:
        """The share flipped at exactly each norm at which it changes, and between that norm and the next."""
        steps = self.steps
        return {"norm": steps.steps[::2] * steps.norms[0], "at": steps.shares[::2], "after": steps.shares[1::2]}


def flip(
    network: TwoLayer,
    data: Dataset,
    vector: FloatArray,
    *,
    name: str = "",
    signed: bool = True,
    at_zero: AtZero = "flips",
) -> Flip:
    """Walk along one vector: subtracted from the positive and added to the negative samples, or added to all."""
    steps = minimal_step(network, data.X, data.y, vector, signed=signed, at_zero=at_zero)
    return Flip(name=name, vector=vector, steps=steps)
