"""A result and what a page tells of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from marginflow.errors import InputError
from marginflow.report.page import Section, Tone

Record = Mapping[str, Any]
Rows = Sequence[Mapping[str, object]]


@dataclass(frozen=True, kw_only=True)
class Result:
    """What a file holds: an object with keys, or rows.

    Parameters
    ----------
    name : str
        The name of the file, or of what was computed.
    content : mapping or sequence of mappings
    """

    name: str
    content: Record | Rows

    @property
    def made_by(self) -> Record:
        """The command line and the versions that made it; empty where the file does not say."""
        found = self.content.get("made_by") if isinstance(self.content, Mapping) else None
        return found if isinstance(found, Mapping) else {}


@dataclass(frozen=True, kw_only=True)
class Summary:
    """A sentence that says the outcome, how it is marked, and the sections that show it."""

    sentence: str
    tone: Tone
    sections: tuple[Section, ...]


def table_of_objects(record: Record, key: str) -> list[dict[str, Any]]:
    """The list of objects under a key."""
    found = record[key]
    if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
        raise InputError(f"{key!r} holds {type(found).__name__}; a list of objects is expected.")
    return found


def object_under(record: Record, key: str) -> dict[str, Any]:
    """The object under a key."""
    found = record[key]
    if not isinstance(found, dict):
        raise InputError(f"{key!r} holds {type(found).__name__}; an object is expected.")
    return found


def number_under(record: Record, key: str) -> float:
    """The number under a key; not-a-number where it is null, which stands for anything that is not finite."""
    found = record[key]
    if found is None:
        return float("nan")
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise InputError(f"{key!r} holds {found!r}; a number is expected.")
    return float(found)


def numbers_under(record: Record, key: str) -> list[float]:
    """The list of numbers under a key."""
    found = record[key]
    if not isinstance(found, list):
        raise InputError(f"{key!r} holds {type(found).__name__}; a list of numbers is expected.")
    return [number_under({key: entry}, key) for entry in found]
