"""Array types, and the border where a user's arrays are checked and become read-only float64."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marginflow.errors import InputError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A C-ordered copy that cannot be written to, for the fields of frozen dataclasses; never a copy of such a copy."""
    flags = array.flags
    if flags.owndata and flags.c_contiguous and not flags.writeable:
        return array
    copy = np.array(array, order="C", copy=True)
    copy.setflags(write=False)
    return copy


def _finite(name: str, value: ArrayLike) -> FloatArray:
    try:
        given = np.asarray(value)
        if np.iscomplexobj(given):
            raise TypeError("its numbers are complex")
        array = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name} is not an array of real numbers: {error}.") from None
    bad = ~np.isfinite(array)
    if bad.any():
        position = tuple(int(index) for index in np.argwhere(bad)[0])
        raise InputError(f"{name} has the value {array[position]} at {position}; every entry must be finite.")
    return array


def matrix(name: str, value: ArrayLike) -> FloatArray:
    """A finite real matrix with at least one row and one column, or an `InputError`."""
    array = _finite(name, value)
    if array.ndim != 2:
        raise InputError(f"{name} has shape {array.shape}; a matrix (two axes) is expected.")
    if array.size == 0:
        raise InputError(f"{name} has shape {array.shape}; at least one row and one column are expected.")
    return array


def vector(name: str, value: ArrayLike, length: int | None = None) -> FloatArray:
    """A finite real vector, of the given length if one is given, or an `InputError`."""
    array = _finite(name, value)
    if array.ndim != 1:
        raise InputError(f"{name} has shape {array.shape}; a vector (one axis) is expected.")
    if length is not None and array.size != length:
        raise InputError(f"{name} has {array.size} entries; {length} are expected.")
    return array


def labels(name: str, value: ArrayLike, length: int | None = None) -> FloatArray:
    """A vector of labels -1 and +1, or an `InputError` that names the first other value."""
    array = vector(name, value, length)
    foreign = array[np.abs(array) != 1.0]
    if foreign.size:
        raise InputError(f"{name} contains the value {foreign[0]:g}; labels must be -1 or +1.")
    return array


def whole_number(name: str, value: object, minimum: int = 1) -> int:
    """An integer that is at least `minimum`, or an `InputError`."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise InputError(f"{name} is {value!r}; a whole number of at least {minimum} is expected.")
    if abs(int(value)) >= 2**1023:
        raise InputError(
            f"{name} has hundreds of digits; a whole number of at least {minimum} is expected, and below 1e308."
        )
    if value < minimum:
        raise InputError(f"{name} is {value}; a whole number of at least {minimum} is expected.")
    return int(value)


def real_number(
    name: str,
    value: object,
    *,
    above: float | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
    below: float | None = None,
) -> float:
    """A finite real number inside the given bounds, or an `InputError` that prints them."""
    bounds = {"above": above, "at least": at_least, "at most": at_most, "below": below}
    wanted = " and ".join(f"{word} {bound:g}" for word, bound in bounds.items() if bound is not None)
    expected = f"a finite number {wanted}".rstrip()
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InputError(f"{name} is {value!r}; {expected} is expected.")
    try:
        x = float(value)
    except OverflowError:  # a whole number beyond the largest float64
        raise InputError(f"{name} is a whole number with hundreds of digits; {expected} is expected.") from None
    inside = (
        np.isfinite(x)
        and (above is None or x > above)
        and (at_least is None or x >= at_least)
        and (at_most is None or x <= at_most)
        and (below is None or x < below)
    )
    if not inside:
        raise InputError(f"{name} is {x:g}; {expected} is expected.")
    return x


def one_of(name: str, value: object, choices: tuple[str, ...]) -> str:
    """One of the given words, or an `InputError` that lists them."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise InputError(f"{name} is {value!r}; one of {listed} is expected.")
    return str(value)
