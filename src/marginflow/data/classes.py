"""Labels of any kind: two of them become -1 and +1, more become the numbers 0, 1, 2, ...; what they were is kept."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from marginflow.arrays import FloatArray, labels, vector
from marginflow.data.frames import is_gap
from marginflow.doors import brief
from marginflow.errors import InputError

Classes = tuple[Any, ...]
SIGNS: Classes = (-1, 1)


def encode(y: object, n_samples: int) -> tuple[FloatArray, Classes]:
    """The labels as numbers, and the classes that the numbers stand for.

    Parameters
    ----------
    y : array-like of -1 and +1, or of any other numbers, words or truth values; shape (n,)
    n_samples : int

    Returns
    -------
    numbers : array, shape (n,)
        -1 and +1 for two classes, 0 to K - 1 for more.
    classes : tuple
        As they occur, sorted; of two the second is +1.

    Examples
    --------
    >>> from marginflow.data.classes import encode
    >>> encode(["no", "yes", "no"], 3)
    (array([-1.,  1., -1.]), ('no', 'yes'))
    >>> encode([7, 3, 5], 3)
    (array([2., 0., 1.]), (3, 5, 7))
    """
    given = _vector(y, n_samples)
    if given.dtype.kind in "iuf" and (np.abs(given.astype(np.float64)) == 1.0).all():
        return given.astype(np.float64), SIGNS
    found = sorted(set(given.tolist()))
    if len(found) < 2:
        raise InputError(f"All {n_samples} labels of y are {found[0]!r}; two or more different ones are expected.")
    if len(found) > 2 and given.dtype.kind == "f" and (given != np.rint(given)).any():
        raise InputError(
            f"y has {len(found)} values such as {found[0]:g} and {found[1]:g}; labels of classes are expected, whole "
            "numbers or words."
        )
    numbers = np.array([found.index(label) for label in given.tolist()], dtype=np.float64)
    return (2.0 * numbers - 1.0 if len(found) == 2 else numbers), tuple(found)


def check_encoded(y: object, n_samples: int, classes: Sequence[object]) -> tuple[FloatArray, Classes]:
    """Labels that are numbers already, -1 and +1 or 0 to K - 1, beside the classes that they stand for."""
    if isinstance(classes, str) or not isinstance(classes, Sequence):
        raise InputError(f"classes is {brief(classes)}; a tuple of labels is expected.")
    known = tuple(_plain(label) for label in classes)
    if len(known) < 2 or len(set(known)) < len(known):
        raise InputError(f"classes is {brief(classes)}; at least two labels that differ are expected.")
    if len(known) == 2:
        return labels("y", y, n_samples), known  # type: ignore[arg-type]  # checked there
    numbers = vector("y", y, n_samples)  # type: ignore[arg-type]  # checked there
    foreign = numbers[(numbers != np.rint(numbers)) | (numbers < 0) | (numbers >= len(known))]
    if foreign.size:
        raise InputError(f"y contains {foreign[0]:g}; beside {len(known)} classes numbers from 0 are expected.")
    return numbers, known


def _vector(y: object, n_samples: int) -> np.ndarray:
    try:
        given = np.asarray(y)
    except (TypeError, ValueError):
        raise InputError(f"y is {brief(y)}; one label for each sample is expected.") from None
    if given.dtype.kind == "O":  # pandas keeps words as objects
        words = given.ravel().tolist() if given.ndim == 1 or given.shape[1:] == (1,) else []
        if gaps := [index for index, label in enumerate(words) if is_gap(label)]:
            raise _without(gaps)
        for kind, dtype in ((str, np.str_), (bool, np.bool_), (int | float, np.float64)):
            if words and all(isinstance(label, kind) for label in words):
                given = np.array(words, dtype=dtype)
                break
    if given.ndim == 2 and given.shape[1] == 1:
        given = given[:, 0]  # a column of a table
    if given.dtype.kind not in "biufU":
        raise InputError(f"y is {brief(y)}; labels that are numbers, words or truth values are expected.")
    if given.ndim != 1:
        one_hot = given.ndim == 2 and given.dtype.kind in "biuf" and bool(((given != 0).sum(axis=1) == 1).all())
        instead = ": of one column for each class, y.argmax(axis=1)" if one_hot else ""
        raise InputError(f"y has shape {given.shape}; a vector (one axis) is expected{instead}.")
    if given.size != n_samples:
        raise InputError(f"y has {given.size} entries; {n_samples} are expected.")
    if given.dtype.kind == "f" and np.isnan(given).any():
        raise _without(np.flatnonzero(np.isnan(given)).tolist())
    if given.dtype.kind == "f" and not np.isfinite(given).all():
        index = int(np.flatnonzero(~np.isfinite(given))[0])
        raise InputError(f"y has the value {given[index]} at ({index},); every entry must be finite.")
    return given


def _without(gaps: Sequence[int]) -> InputError:
    count = "sample" if len(gaps) == 1 else f"{len(gaps)} samples, first sample"
    return InputError(
        f"y has no label (NaN) for {count} {gaps[0]}; leave such samples out: X[known], y[known] with "
        "known = y.notna() in pandas, ~np.isnan(y) in NumPy."
    )


def _plain(label: object) -> object:
    value = label.item() if isinstance(label, np.generic) else label
    if not isinstance(value, str | int | float) or (isinstance(value, float) and not math.isfinite(value)):
        raise InputError(f"classes contains {brief(label)}; numbers and words are expected.")
    return value
