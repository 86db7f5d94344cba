"""Moons, circles and spirals: two classes in the plane that no line separates, to try things on and to draw."""

import numpy as np

from marginflow.arrays import FloatArray, real_number, whole_number
from marginflow.data.dataset import Dataset


def moons(n_samples: int = 200, *, noise: float = 0.1, seed: int = 0) -> Dataset:
    """Two half circles of radius 1, each reaching into the other; the lower one is +1.

    Examples
    --------
    >>> from marginflow.data import moons
    >>> moons(100)
    Dataset(moons: n=100, d=2, 50 positive, 50 negative)
    """
    first, second = _grid(n_samples)
    upper = _circle(first / 2.0)
    lower = np.array([1.0, 0.5]) - _circle(second / 2.0)
    return _labelled("moons", upper, lower, noise, seed)


def circles(n_samples: int = 200, *, noise: float = 0.05, ratio: float = 0.5, seed: int = 0) -> Dataset:
    """A circle of radius 1 and, with the label +1, one of radius `ratio` inside it."""
    inner = real_number("ratio", ratio, above=0.0, below=1.0)
    first, second = _grid(n_samples)
    return _labelled("circles", _circle(first), inner * _circle(second), noise, seed, ratio=inner)


def spirals(n_samples: int = 200, *, noise: float = 0.02, turns: float = 1.5, seed: int = 0) -> Dataset:
    """Two spirals that wind round each other `turns` times, from near the origin out to radius 1."""
    winding = real_number("turns", turns, above=0.0)
    first, second = ((0.1 + 0.9 * t)[:, None] * _circle(winding * t) for t in _grid(n_samples))
    return _labelled("spirals", first, -second, noise, seed, turns=winding)


def _circle(turns: FloatArray) -> FloatArray:
    angle = 2.0 * np.pi * turns
    return np.column_stack([np.cos(angle), np.sin(angle)])


def _grid(n_samples: int) -> tuple[FloatArray, FloatArray]:
    n = whole_number("n_samples", n_samples, minimum=2)
    return np.linspace(0.0, 1.0, n // 2), np.linspace(0.0, 1.0, n - n // 2)


def _labelled(name: str, first: FloatArray, second: FloatArray, noise: float, seed: int, **more: float) -> Dataset:
    spread = real_number("noise", noise, at_least=0.0)
    rng = np.random.default_rng(whole_number("seed", seed, minimum=0))
    X = np.vstack([first, second])
    y = np.concatenate([-np.ones(len(first)), np.ones(len(second))])
    origin = {"name": name, "n_samples": len(X), "noise": spread, **more, "seed": seed}
    return Dataset(X + spread * rng.standard_normal(X.shape), y, origin=origin)
