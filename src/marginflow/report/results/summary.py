"""A result and what a page tells of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from marginflow.errors import InputError
from marginflow.report.content import Chart
from marginflow.report.page import Section, Tone, charts_of

Record = Mapping[str, Any]
Rows = Sequence[Mapping[str, object]]


class Fields(dict[str, Any]):
    """An object of a result; what stands under a key is checked where it is read."""

    def objects(self, key: str) -> list[Fields]:
        """The list of objects under a key."""
        found = self[key]
        if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
            raise InputError(f"{key!r} holds {type(found).__name__}; a list of objects is expected.")
        return [Fields(entry) for entry in found]

    def object(self, key: str) -> Fields:
        """The object under a key."""
        found = self[key]
        if not isinstance(found, dict):
            raise InputError(f"{key!r} holds {type(found).__name__}; an object is expected.")
        return Fields(found)

    def number(self, key: str) -> float:
        """The number under a key; not-a-number where it is null, which stands for anything that is not finite."""
        return _number(key, self[key])

    def numbers(self, key: str) -> list[float]:
        """The list of numbers under a key."""
        found = self[key]
        if not isinstance(found, list):
            raise InputError(f"{key!r} holds {type(found).__name__}; a list of numbers is expected.")
        return [_number(key, entry) for entry in found]


def _number(key: str, found: object) -> float:
    if found is None:
        return float("nan")
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise InputError(f"{key!r} holds {found!r}; a number is expected.")
    return float(found)


@dataclass(frozen=True, kw_only=True)
class NamedResult:
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
    """A sentence that says the outcome, how it is marked, the sections that show it, and what else is to be said."""

    sentence: str
    tone: Tone
    sections: tuple[Section, ...]
    remark: str = ""

    @property
    def charts(self) -> tuple[Chart, ...]:
        """Every chart that has something to draw, from top to bottom."""
        return charts_of(self.sections)
