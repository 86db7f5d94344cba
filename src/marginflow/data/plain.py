"""Plain values (numbers, words, lists, mappings) that stand for frozen dataclasses in laws, files and sweeps."""

from __future__ import annotations

import dataclasses

import numpy as np

from marginflow.errors import InputError


def plain(value: object) -> object:
    """The plain value of a number, word, array, sequence, mapping or dataclass.

    A dataclass becomes a mapping of its fields with its class under "name"; an array becomes nested lists.

    Examples
    --------
    >>> from marginflow.data import UniformNoise
    >>> from marginflow.data.plain import plain
    >>> plain(UniformNoise(rate=0.1))
    {'name': 'UniformNoise', 'rate': 0.1}
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"name": type(value).__name__, **fields}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise InputError(f"{value!r} is not a plain value; numbers, words, lists and mappings of them are expected.")
