"""Which samples an audit draws to prove their exact radii."""

from typing import Final

import numpy as np

from marginflow.arrays import whole_number

# A radius of a network with at most so many weights in its first layer takes milliseconds.
_SMALL: Final = 20_000
_MANY, _FEW = 100, 10


def drawn_samples(points: int | None, *, n_weights: int, n_samples: int, seed: int) -> np.ndarray:
    """Sorted indices of `points` samples; by default 100 for a small network and 10 for others, or all if fewer."""
    if points is None:
        points = _MANY if n_weights <= _SMALL else _FEW
    size = min(whole_number("points", points, minimum=0), n_samples)
    return np.sort(np.random.default_rng(whole_number("seed", seed, minimum=0)).choice(n_samples, size, replace=False))
