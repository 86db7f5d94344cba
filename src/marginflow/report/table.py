"""Tables of plain values, and the one way in which a value is shown to a reader."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from marginflow.display import Brief
from marginflow.display import text_of as text_of  # what a table shows of a value
from marginflow.errors import InputError


class Verbatim(str):
    """A text of a program, such as a traceback: shown letter by letter and line by line, without mathematical signs."""

    __slots__ = ()


@dataclass(frozen=True, kw_only=True)
class Table(Brief):
    """Rows of plain values under named columns.

    Parameters
    ----------
    columns : tuple of str
        Headings, from left to right.
    rows : tuple of tuples
        Each as long as `columns`.
    caption : str
        What the table shows, read out before it by a screen reader.
    folded : bool
        Whether the reader has to open it; for long tables that few want to read.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    caption: str
    folded: bool = False

    def __post_init__(self) -> None:
        for number, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise InputError(
                    f"Row {number} of the table {self.caption!r} has {len(row)} values, "
                    f"but there are {len(self.columns)} columns."
                )

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, object]], *, columns: Mapping[str, str], caption: str) -> Table:
        """The table whose columns are the keys of `columns`, under the headings that are its values."""
        picked = tuple(tuple(row.get(key) for key in columns) for row in rows)
        return cls(columns=tuple(columns.values()), rows=picked, caption=caption)

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Which columns hold numbers, yes and no only, and are therefore set flush right."""
        return tuple(
            bool(self.rows) and all(row[index] is None or isinstance(row[index], numbers.Real) for row in self.rows)
            for index in range(len(self.columns))
        )
