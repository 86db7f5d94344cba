"""Small sets to try things on: moons, circles and spirals in the plane, and real ones that come with scikit-learn."""

from typing import Any

import numpy as np

from marginflow.arrays import FloatArray, matrix, real_number, whole_number
from marginflow.data.dataset import Dataset
from marginflow.errors import InputError


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


def digits(negative: int | None = None, positive: int | None = None, *, standardise: bool = False) -> Dataset:
    """Two of the ten handwritten digits, 8 x 8 pixels from 0 to 16; the first gets the label -1, the second +1.

    Without either all ten, 1,797 samples.
    """
    return _chosen("digits", negative, positive, standardise)


def iris(negative: int | str | None = 1, positive: int | str | None = 2, *, standardise: bool = False) -> Dataset:
    """Two of the three irises (setosa 0, versicolor 1, virginica 2), 4 measurements; the default pair overlaps.

    With None for both all three.
    """
    return _chosen("iris", negative, positive, standardise)


def wine(negative: int | str | None = 0, positive: int | str | None = 1, *, standardise: bool = False) -> Dataset:
    """Two of the three wine cultivars (0, 1, 2), 13 measurements; with None for both all three."""
    return _chosen("wine", negative, positive, standardise)


def breast_cancer(*, standardise: bool = False) -> Dataset:
    """The Wisconsin diagnostic set, 30 features of 569 samples; benign is -1, malignant +1."""
    return _chosen("breast_cancer", "benign", "malignant", standardise)


def standardised(X: FloatArray) -> FloatArray:
    """Columns with mean 0 and standard deviation 1 (divisor n); constant columns carry nothing and are dropped."""
    X = matrix("X", X)
    varying = np.ptp(X, axis=0) > 0
    if not varying.any():
        raise InputError("Every column is constant; there is nothing to standardise.")
    kept = X[:, varying]
    centred: FloatArray = kept - kept.mean(axis=0)
    centred /= centred.std(axis=0)
    return centred


def _chosen(name: str, negative: int | str | None, positive: int | str | None, standardise: bool) -> Dataset:
    """Those two, or all of them where both are None."""
    try:
        from sklearn import datasets
    except ImportError:
        raise InputError(
            "The bundled data sets come with scikit-learn, which is not installed; install marginflow[sklearn]."
        ) from None
    bunch = getattr(datasets, f"load_{name}")()
    X, y, names = np.asarray(bunch.data, dtype=np.float64), bunch.target.astype(np.float64), bunch.target_names
    pair: dict[str, int | str] = {}
    if negative is not None and positive is not None:
        numbers = [_class_number(bunch, name, chosen) for chosen in (negative, positive)]
        if numbers[0] == numbers[1]:
            raise InputError(f"Both classes of {name} are {negative!r}; two different ones are expected.")
        rows = np.isin(bunch.target, numbers)
        X, y, names = X[rows], np.where(bunch.target[rows] == numbers[1], 1.0, -1.0), names[numbers]
        pair = {"negative": negative, "positive": positive}
    elif negative is not None or positive is not None:
        raise InputError(f"One class of {name} is given without the other; both are expected, or neither for all.")
    origin = {"name": name, **pair, "standardise": bool(standardise)}
    return Dataset(X=standardised(X) if standardise else X, y=y, classes=tuple(names.tolist()), origin=origin)


def _class_number(bunch: Any, name: str, chosen: int | str) -> int:
    words = [str(word) for word in bunch.target_names]
    if isinstance(chosen, str) and chosen in words:
        return words.index(chosen)
    if isinstance(chosen, int) and not isinstance(chosen, bool) and 0 <= chosen < len(words):
        return chosen
    named = "" if words == [str(number) for number in range(len(words))] else f" ({', '.join(words)})"
    raise InputError(f"{name} has no class {chosen!r}; the classes are 0 to {len(words) - 1}{named}.")
