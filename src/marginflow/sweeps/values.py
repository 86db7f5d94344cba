"""A value from a spec becomes a value of the declared type, or one sentence with its path says why not."""

import json
import math
from typing import Any

import msgspec
from msgspec import inspect

from marginflow.errors import InputError


def converted(path: str, value: object, kind: Any) -> Any:
    """The value as the given type, in its plain form (a whole number given for a real one becomes a float).

    Examples
    --------
    >>> from typing import Annotated
    >>> from msgspec import Meta
    >>> from marginflow.sweeps.values import converted
    >>> converted("grid.width[2]", "x", Annotated[int, Meta(ge=1)])
    Traceback (most recent call last):
    marginflow.errors.InputError: grid.width[2]: expected a whole number >= 1, got "x".
    """
    try:
        made = msgspec.convert(value, kind)
    except msgspec.ValidationError:
        raise InputError(f"{path}: expected {described(inspect.type_info(kind))}, got {render_value(value)}.") from None
    if isinstance(made, float) and math.isnan(made):
        raise InputError(f"{path}: expected {described(inspect.type_info(kind))}, got nan.")
    return msgspec.to_builtins(made)


def render_value(value: object) -> str:
    """A value as a spec writes it."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=True)
    except TypeError:
        return repr(value)


def described(info: inspect.Type) -> str:
    """A type in words, with its bounds.

    Examples
    --------
    >>> from typing import Literal
    >>> from msgspec.inspect import type_info
    >>> from marginflow.sweeps.values import described
    >>> described(type_info(float | Literal["sqrt(d)"] | None))
    'a number, one of "sqrt(d)", or none'
    """
    match info:
        case inspect.Metadata():
            return described(info.type)
        case inspect.BoolType():
            return "true or false"
        case inspect.NoneType():
            return "none"
        case inspect.IntType():
            return f"a whole number{_bounds(info)}"
        case inspect.FloatType():
            return f"a number{_bounds(info)}"
        case inspect.StrType():
            return "a text in quotes"
        case inspect.LiteralType():
            return "one of " + ", ".join(render_value(value) for value in info.values)
        case inspect.ListType() | inspect.VarTupleType():
            return f"a list, each entry {described(info.item_type)}"
        case inspect.UnionType():
            words = [described(part) for part in info.types]
            return ", ".join(words[:-1]) + (f", or {words[-1]}" if len(words) > 2 else f" or {words[-1]}")
        case inspect.StructType():
            return "a table with the fields " + ", ".join(field.name for field in info.fields)
        case _:
            return f"a value of the type {type(info).__name__.removesuffix('Type').lower()}"


def _bounds(info: inspect.IntType | inspect.FloatType) -> str:
    signs = {">=": info.ge, ">": info.gt, "<=": info.le, "<": info.lt}
    words = [f"{sign} {bound:g}" for sign, bound in signs.items() if bound is not None]
    return " " + " and ".join(words) if words else ""
