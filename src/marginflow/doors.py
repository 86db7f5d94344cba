"""Public functions check the types of their arguments once, at the border: a wrong one is an `InputError`.

A room ends its `__init__` with `check_types(globals())`. Its exported functions then compare what they are given with
their own annotations; inside the house the same functions are imported from their files, and nothing is checked twice.
Arrays are left to `marginflow.arrays`, which looks at their numbers.
"""

import collections.abc
import fractions
import functools
import inspect
import numbers
import os
import types
import typing
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from marginflow.errors import InputError

P = ParamSpec("P")
R = TypeVar("R")

_SEQUENCES = (list, tuple, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection)
_ARRAY_LIKE = frozenset(typing.get_args(ArrayLike))
_WORDS = {int: "a whole number", float: "a number", bool: "True or False", str: "a text", type(None): "None"}


def check_types(room: dict[str, Any]) -> None:
    """Replace the functions that a room exports (`globals()` of its `__init__`) by ones that check their arguments.

    Examples
    --------
    >>> from marginflow.certificates import certify
    >>> certify("network", None)
    Traceback (most recent call last):
    marginflow.errors.InputError: certify: network is 'network'; a TwoLayer is expected.
    """
    show_doors(room)
    for name in room["__all__"]:
        if inspect.isfunction(room.get(name)):  # what is brought in later checks for itself
            room[name] = checked(room[name])
            room[name].__module__ = room["__name__"]  # where pickle finds it


def show_doors(room: dict[str, Any]) -> None:
    """Let `dir` and completion show what a room (`globals()` of its `__init__`) exports, and nothing else.

    Examples
    --------
    >>> import marginflow as mf
    >>> "certify" in dir(mf.certificates), "kkt" in dir(mf.certificates)
    (True, False)
    """
    room["__dir__"] = lambda: sorted(room["__all__"])


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """The function, which first compares its arguments with its annotations, and to which underflow is not an event."""
    signature = inspect.signature(function)
    hints: dict[str, object] = {}

    @functools.wraps(function)
    def door(*args: P.args, **kwargs: P.kwargs) -> R:
        if not hints:
            hints.update(_hints(function, signature))
        try:
            given = signature.bind(*args, **kwargs)
        except TypeError:  # a name too many or too few: Python's own sentence is the best
            return function(*args, **kwargs)
        for name, value in given.arguments.items():
            kind = signature.parameters[name].kind
            if kind in (kind.VAR_POSITIONAL, kind.VAR_KEYWORD):
                continue
            if not fits(value, hints[name]):
                raise InputError(f"{function.__name__}: {name} is {brief(value)}; {in_words(hints[name])} is expected.")
            if isinstance(value, fractions.Fraction):
                given.arguments[name] = float(value)  # a number as any other, which NumPy does not know
        with np.errstate(under="ignore"):  # numbers near 1e-308 become 0, whatever the caller wants to hear of others
            return function(*given.args, **given.kwargs)

    return door


def fits(value: object, hint: object) -> bool:
    """Whether a value is of the annotated type, as far as can be seen without looking into arrays.

    Examples
    --------
    >>> from marginflow.doors import fits
    >>> fits(3, float), fits(True, float), fits("3", float | None), fits(None, float | None)
    (True, False, False, True)
    """
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        if set(parts) >= _ARRAY_LIKE:
            return _is_array(value) or any(fits(value, part) for part in set(parts) - _ARRAY_LIKE)
        return any(fits(value, part) for part in parts)
    if origin is np.ndarray:
        return _is_array(value)
    if origin is typing.Literal:
        return any(type(value) is type(part) and value == part for part in parts)
    if origin is typing.Annotated:
        return fits(value, parts[0])
    if origin is collections.abc.Callable or hint is collections.abc.Callable:
        return callable(value)
    if origin is type:
        return isinstance(value, type)
    if origin is tuple and parts and parts[-1] is not Ellipsis:
        return isinstance(value, tuple) and len(value) == len(parts) and all(map(fits, value, parts))
    if origin in _SEQUENCES:
        inside = isinstance(value, origin) and not isinstance(value, str | bytes)
        return inside and (not isinstance(value, list | tuple) or all(fits(entry, parts[0]) for entry in value))
    if hint is float:
        real = isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)
        return real and _works(float, value, OverflowError)
    if hint is int:
        return isinstance(value, numbers.Integral) and not isinstance(value, bool | np.bool_)
    if hint is str:
        return isinstance(value, str) and _works(os.fsencode, value, UnicodeEncodeError)  # no half of a surrogate pair
    if hint is bool:
        return isinstance(value, bool | np.bool_)
    kind = origin if isinstance(origin, type) else hint
    return not _can_be_compared(kind) or isinstance(value, kind)


def _works(function: Callable[[Any], object], value: object, error: type[Exception]) -> bool:
    try:
        function(value)
    except error:
        return False
    return True


def _is_array(value: object) -> bool:
    """Whether NumPy makes an array of it: lists of rows must have one length."""
    return _works(np.asarray, value, Exception)  # whatever somebody's own object raises


def _can_be_compared(kind: object) -> typing.TypeGuard[type]:
    return isinstance(kind, type) and kind not in (np.ndarray, typing.Any) and not getattr(kind, "_is_protocol", False)


def in_words(hint: object) -> str:
    """An annotation for people."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        words = [in_words(part) for part in parts]
        return ", ".join(words[:-1]) + f" or {words[-1]}"
    if origin is typing.Literal:
        return "one of " + ", ".join(map(repr, parts))
    if origin is collections.abc.Callable:
        return "a function"
    kind = hint if isinstance(hint, type) and origin is None else origin
    if kind in _WORDS:
        return _WORDS[kind]
    name = str(getattr(kind, "__name__", hint))
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"


def brief(value: object) -> str:
    """What a sentence says of a value: itself if it is short, else its type."""
    if isinstance(value, int) and not _works(float, value, OverflowError):
        return "a whole number beyond 1.8e308"
    try:
        text = repr(value)
    except Exception:  # somebody's own object
        text = ""
    return text if 0 < len(text) <= 60 and "\n" not in text else f"a {type(value).__name__}"


def _hints(function: Callable[..., object], signature: inspect.Signature) -> dict[str, object]:
    """The annotations as types; one that cannot be resolved here (imported for the type checker only) allows all."""
    names = function.__globals__ if inspect.isfunction(function) else {}
    hints: dict[str, object] = {}
    for name, parameter in signature.parameters.items():
        hint = parameter.annotation
        try:
            hints[name] = eval(hint, names) if isinstance(hint, str) else hint
        except Exception:
            hints[name] = object
        if parameter.annotation is parameter.empty or hints[name] is typing.Any:
            hints[name] = object
    return hints
