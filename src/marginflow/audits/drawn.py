"""Which samples an audit draws to prove their exact radii, and which it shows one by one."""

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from marginflow.arrays import FloatArray, whole_number
from marginflow.measurements import CheckedRadius, summarise_radii

# A radius of a network with at most this many weights in its first layer takes milliseconds.
_SMALL: Final = 20_000
_MANY, _FEW = 100, 10
# Samples that are shown one by one, of each kind.
_NOTICED: Final = 6


def drawn_samples(points: int | None, *, n_weights: int, n_samples: int, seed: int) -> np.ndarray:
    """Sorted indices of `points` samples; by default 100 for a small network and 10 for others, or all if fewer."""
    if points is None:
        points = _MANY if n_weights <= _SMALL else _FEW
    size = min(whole_number("points", points, minimum=0), n_samples)
    return np.sort(np.random.default_rng(whole_number("seed", seed, minimum=0)).choice(n_samples, size, replace=False))


def noticed(
    X: FloatArray, labels: np.ndarray, margins: FloatArray, radii: Sequence[CheckedRadius]
) -> list[dict[str, Any]]:
    """The samples worth a look: nearest to the boundary, and with the least margin, as if mislabelled."""
    radius = {checked.sample: checked.upper for checked in radii}
    chosen = [("nearest to the boundary", sample) for sample in sorted(radius, key=radius.__getitem__)[:_NOTICED]]
    chosen += [("least margin", int(index)) for index in np.argsort(margins, kind="stable")[:_NOTICED]]
    return [
        {
            "why": why,
            "sample": index,
            "label": labels[index].item(),
            "margin": float(margins[index]),
            "radius": radius.get(index),
            "values": X[index],
        }
        for why, index in chosen
    ]


def middle_samples(X: FloatArray, labels: np.ndarray, margins: FloatArray) -> list[dict[str, Any]]:
    """Of each of the first two labels the sample of median margin, to show what one vector makes of it."""
    found = []
    for label in np.unique(labels)[:2]:
        own = np.flatnonzero(labels == label)
        middle = int(own[np.argsort(margins[own], kind="stable")[own.size // 2]])
        found.append({"sample": middle, "label": label.item(), "values": X[middle]})
    return found


def median_in_words(radii: Sequence[CheckedRadius]) -> str:
    """The median radius in three digits, or the two numbers between which it lies, before "from the boundary"."""
    lower, upper = summarise_radii(radii).median
    if not math.isfinite(upper):
        return f"at least {lower:.3g}" if math.isfinite(lower) else "infinitely far"
    return f"{upper:.3g}" if f"{lower:.3g}" == f"{upper:.3g}" else f"between {lower:.3g} and {upper:.3g}"
