"""Plain values (numbers, words, lists, mappings) that stand for results, laws and arrays in JSON, files and sweeps.

One rule for numbers that are not finite: JSON has none of them, so they become null. The one exception are rows that a
sweep keeps, see `marginflow.sweeps.registry.plain_row`.
"""

import dataclasses
import enum
import inspect
import math
import numbers
from collections.abc import Mapping, Set
from operator import attrgetter
from pathlib import Path
from typing import Any, ClassVar

from marginflow.errors import InputError


class Plain:
    """A result whose plain form has what `plain_names` lists: fields, properties, methods, or those of its parts.

    An entry "figure.title" is the title of the figure under the key "title". Where a dataclass names none, its plain
    form has every field. Where a record is made of more than that, `plain_values` is written instead.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from marginflow.plain import Plain
    >>> @dataclass(frozen=True)
    ... class Interval(Plain):
    ...     plain_names = ("lower", "upper", "width")
    ...     lower: float
    ...     upper: float
    ...     @property
    ...     def width(self):
    ...         return self.upper - self.lower
    >>> Interval(1.0, float("inf")).to_dict()
    {'lower': 1.0, 'upper': None, 'width': None}
    """

    plain_names: ClassVar[tuple[str, ...]] = ()

    def __dir__(self) -> list[str]:  # completion shows doors only
        return [name for name in super().__dir__() if name not in ("plain_names", "plain_values", "plain_arrays")]

    def to_dict(self, *, arrays: bool = True) -> dict[str, object]:
        """Plain values, ready for JSON: numbers that are not finite are None, arrays are lists.

        With `arrays=False` the long lists of a certificate are left out, also where it is a part of the result.
        """
        values = {**self.plain_values(), **(self.plain_arrays() if arrays else {})}
        plain: dict[str, object] = to_plain(values, arrays=arrays)
        return plain

    def plain_values(self) -> Mapping[str, object]:
        """What the plain form has, as it is."""
        return named_values(self, self.plain_names) or _fields(self)

    def plain_arrays(self) -> Mapping[str, object]:
        """What it has beside that, unless arrays are left out."""
        return {}


def to_plain(value: object, *, named: bool = False, arrays: bool = True) -> Any:
    """The value in terms of JSON.

    A `Plain` becomes what it lists, another dataclass a mapping of its fields, an array nested lists, a member of an
    enumeration its value, a path its text. A number that is not finite becomes None.

    Parameters
    ----------
    value : object
    named : bool
        Put the class of a dataclass under "name", so that the object can be made again.
    arrays : bool
        Whether a `Plain` is written with its arrays.

    Raises
    ------
    InputError
        For anything else: nothing is written as its `repr`.

    Examples
    --------
    >>> import numpy as np
    >>> from marginflow.data import UniformNoise
    >>> from marginflow.plain import to_plain
    >>> to_plain(UniformNoise(rate=0.1), named=True)
    {'name': 'UniformNoise', 'rate': 0.1}
    >>> to_plain({"radii": np.array([0.5, np.inf])})
    {'radii': [0.5, None]}
    """
    import numpy as np  # here and not above: the help of a command does without it

    match value:
        case None | str() | bool():
            return value.value if isinstance(value, enum.Enum) else value
        case enum.Enum():
            return to_plain(value.value, named=named, arrays=arrays)
        case np.ndarray() if value.dtype.kind in "biuf":
            plain = value.astype(object)
            plain[~np.isfinite(value)] = None
            return plain.tolist()
        case np.ndarray() | np.generic():
            return to_plain(value.tolist(), named=named, arrays=arrays)
        case numbers.Integral():
            return int(value)
        case numbers.Real():
            return float(value) if math.isfinite(value) else None
        case Path():
            return str(value)
        case Mapping():
            return {str(key): to_plain(entry, named=named, arrays=arrays) for key, entry in value.items()}
        case list() | tuple():
            return [to_plain(entry, named=named, arrays=arrays) for entry in value]
        case Set():
            return [to_plain(entry, named=named, arrays=arrays) for entry in sorted(value)]
        case Plain() if not named:
            return value.to_dict(arrays=arrays)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {name: to_plain(entry, named=named, arrays=arrays) for name, entry in _fields(value).items()}
        return {"name": type(value).__name__, **fields} if named else fields
    raise InputError(f"{value!r} has no plain form; numbers, words, arrays, lists and mappings of them are expected.")


def named_values(value: object, names: tuple[str, ...]) -> dict[str, Any]:
    """Attributes of an object, of its parts ("part.name", under the key "name"), and what its methods return."""
    found = {name.rpartition(".")[2]: attrgetter(name)(value) for name in names}
    return {name: entry() if inspect.ismethod(entry) else entry for name, entry in found.items()}


def is_number(value: object) -> bool:
    """Whether a value is a finite number (true and false are not)."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value)


def _fields(value: Any) -> dict[str, object]:
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
