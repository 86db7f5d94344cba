"""Data that no network of any width separates, or gains anything on: named before anything is tried."""

import numpy as np

from marginflow.data import Dataset
from marginflow.data.equal_rows import first_equal
from marginflow.errors import InputError
from marginflow.limit.settings import SAME_DIRECTION

CANCELLED = "The labels cancel wherever samples are: the zero function is the best network at every penalty."


def require_gain(data: Dataset) -> None:
    """With a soft margin some network must be better than zero: not every point has both labels equally often."""
    if not np.bincount(first_equal(data.X), weights=data.y).any():
        raise InputError(CANCELLED)


def require_separable(data: Dataset, *, bias: bool) -> None:
    """Some network must give every sample a margin: no contradiction, and without bias none along a ray.

    Without bias a network is positively homogeneous in x, so its sign is the same on a whole ray from the origin.
    """
    data.require_signs()
    data.require_no_contradiction()
    if bias:
        return
    norms = np.linalg.norm(data.X, axis=1)
    if (norms == 0).any():
        raise InputError(f"Sample {int(np.argmin(norms))} is zero; without bias no network gives it a margin.")
    units = data.X / norms[:, None]
    # Rows of one ray are equal after rounding, up to those that rounding parts; neighbours in that order are compared.
    order = np.lexsort(np.round(units, 12).T[::-1])
    step = np.linalg.norm(np.diff(units[order], axis=0), axis=1) < SAME_DIRECTION
    opposite = step & (data.y[order][1:] != data.y[order][:-1])
    if opposite.any():
        first = int(np.argmax(opposite))
        i, j = sorted((int(order[first]), int(order[first + 1])))
        raise InputError(
            f"Samples {i} and {j} lie on one ray from the origin but have opposite labels; without bias no network "
            "separates them. Give neurons a bias, or use a soft margin (penalty)."
        )
