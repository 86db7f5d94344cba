"""Array types, and the border where a user's arrays are checked and become read-only float64."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marginflow.errors import InputError
from marginflow.scalars import one_of as one_of
from marginflow.scalars import real_number as real_number
from marginflow.scalars import whole_number as whole_number

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


def sealed(array: NDArray[Any]) -> NDArray[Any]:
    """The array itself, made read-only: for one that was just computed and that nobody else holds, so that
    `read_only` need not copy it."""
    array.setflags(write=False)
    return array


def _finite(name: str, value: ArrayLike) -> FloatArray:
    try:
        given = np.asarray(value)
        if np.iscomplexobj(given):
            raise TypeError("its numbers are complex")
        array = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name} is not an array of real numbers: {str(error).rstrip('.')}.") from None
    finite = np.isfinite(array)
    if not finite.all():
        position = tuple(int(index) for index in np.argwhere(~finite)[0])
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


def labelled_rows(name: str, rows: ArrayLike, label_name: str, given: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """A matrix and the labels -1 and +1 of its rows."""
    points = matrix(name, rows)
    return points, labels(label_name, given, points.shape[0])


def labels(name: str, value: ArrayLike, length: int | None = None) -> FloatArray:
    """A vector of labels -1 and +1, or an `InputError` that names the first other value."""
    array = vector(name, value, length)
    foreign = array[np.abs(array) != 1.0]
    if foreign.size:
        raise InputError(f"{name} contains the value {foreign[0]:g}; labels must be -1 or +1.")
    return array
