"""What a section of a page holds besides text: tables of plain values, charts, formulas."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from marginflow.display import Brief
from marginflow.display import text_of as text_of  # what a table shows of a value
from marginflow.errors import InputError
from marginflow.report.encodings import Row, finished


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
    def of(
        cls, rows: Iterable[Mapping[str, object]], *, columns: Mapping[str, str], caption: str, folded: bool = False
    ) -> Table:
        """The table whose columns are the keys of `columns`, under the headings that are its values."""
        picked = tuple(tuple(row.get(key) for key in columns) for row in rows)
        return cls(columns=tuple(columns.values()), rows=picked, caption=caption, folded=folded)

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Which columns hold numbers, yes and no only, and are therefore set flush right."""
        return tuple(
            bool(self.rows) and all(row[index] is None or isinstance(row[index], numbers.Real) for row in self.rows)
            for index in range(len(self.columns))
        )


@dataclass(frozen=True, kw_only=True)
class Chart(Brief):
    """A Vega-Lite specification with its title, its meaning in words and the rows behind it.

    Parameters
    ----------
    specification : mapping
        Vega-Lite as plain values; it holds its own data.
    title : str
        Short heading.
    description : str
        The text alternative: what is drawn and what there is to see.
    numbers : Table
        The rows that are drawn, for readers who cannot see the chart and for those who want the digits.
    """

    specification: Mapping[str, Any]
    title: str
    description: str
    numbers: Table

    @classmethod
    def of(
        cls,
        drawn: Any,
        rows: Sequence[Row],
        titles: Mapping[str, str],
        title: str,
        description: str,
        height: int = 240,
        width: int | str = "container",
        caption: str = "",
    ) -> Chart:
        """What Altair has drawn, in the style of the page, with a table of rows; `titles` names its columns."""
        behind = Table.of(rows, columns=titles, caption=caption or f"The numbers behind “{title}”")
        specification = finished(drawn, description=description, height=height, width=width)
        return cls(specification=specification, title=title, description=description, numbers=behind)


@dataclass(frozen=True, kw_only=True)
class Formula(Brief):
    """A formula in LaTeX and what it says in words."""

    latex: str
    meaning: str


@cache
def mathml(latex: str) -> str:
    """A LaTeX formula as MathML, which browsers draw without a script.

    Examples
    --------
    >>> from marginflow.report.content import mathml
    >>> mathml("a < b").startswith("<math")
    True
    """
    from latex2mathml.converter import convert

    return str(convert(latex))
