"""How a table writes its numbers: with a decimal point or a decimal comma, in groups of three, with a % or a currency.

Some cells can be read in two ways: 1,234 is one and a bit where commas are decimal, and a thousand and more where they
mark groups. A column with a cell such as 1,5 says which; where no column says it, the reader is asked.
"""

import itertools
import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from marginflow.display import Brief

EMPTY = frozenset({"", "na", "n/a", "#n/a", "<na>", "nan", "null", "none", "?"})
_GROUP_MARKS = ".,' \u2019\u00a0\u202f"


@dataclass(frozen=True, kw_only=True)
class Numeral(Brief):
    """What stands between whole and fraction, and the sign that every cell of the column begins or ends with.

    Examples
    --------
    >>> from marginflow.data.numerals import Numeral
    >>> Numeral(decimal=",").value("1.234,5"), Numeral(sign="%").value("12.5 %"), Numeral().value("12.5 %")
    (1234.5, 12.5, None)
    """

    decimal: str = "."
    sign: str = ""

    def value(self, cell: str) -> float | None:
        """The finite number that a cell holds, or None."""
        if self.sign:
            if self.sign != _sign(cell):
                return None
            cell = cell.replace(self.sign, "", 1).strip()
        if self.decimal == "." and (plain := number(cell)) is not None:
            return plain
        cell = cell.replace("\N{MINUS SIGN}", "-")
        if not _pattern(self.decimal).fullmatch(cell):
            return None
        for mark in _GROUP_MARKS:
            if mark != self.decimal:
                cell = cell.replace(mark, "")
        return number(cell.replace(self.decimal, "."))


PLAIN = Numeral()


def number(cell: str) -> float | None:
    """The finite number that Python reads, or None. (Python reads 1_0 as ten; a table means something else by it.)"""
    try:
        value = math.nan if "_" in cell else float(cell.replace("\N{MINUS SIGN}", "-"))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def is_empty(cell: str) -> bool:
    """Whether a cell says that there is nothing in it."""
    return cell.strip().lower() in EMPTY


def readings(cells: Sequence[str]) -> tuple[Numeral, ...]:
    """Every way in which a whole column can be read as numbers, empty cells aside: none for words.

    Two only where they differ: a column without any mark has one reading.

    Examples
    --------
    >>> from marginflow.data.numerals import readings
    >>> [[way.decimal for way in readings(cells)] for cells in (["1,5", "2"], ["1,234", "2"], ["1", "2"], ["a", "2"])]
    [[','], ['.', ','], ['.'], []]
    """
    known = [cell for cell in cells if not is_empty(cell)]
    sign = _sign(known[0]) if known else ""
    point, comma = (Numeral(decimal=decimal, sign=sign) for decimal in ".,")
    by_point = _values(point, known)
    if by_point is not None and not _marked(known):
        return (point,)
    by_comma = _values(comma, known)
    if by_point is None or by_comma is None or by_point == by_comma:
        return (point,) if by_point is not None else (comma,) if by_comma is not None else ()
    return point, comma


def settled(
    columns: Mapping[int, Sequence[str]], *, decimal: str | None = None, semicolons: bool = False
) -> dict[int, tuple[Numeral, ...]]:
    """The readings of all columns, of which those with two follow `decimal`, or else the columns that have one.

    Where these say nothing, points are decimal unless the table has semicolons between its values, as tables with
    decimal commas have; where they disagree, and of commas of which nothing is known, both readings stay.
    """
    found = {index: readings(cells) for index, cells in columns.items()}
    said = {ways[0].decimal for index, ways in found.items() if len(ways) == 1 and _marked(columns[index])}
    common = decimal or (next(iter(said)) if len(said) == 1 else None)
    for index, ways in found.items():
        if len(ways) == 2:
            points = not semicolons and not any("," in cell for cell in columns[index])
            choice = common or ("." if points and not said else None)
            found[index] = tuple(way for way in ways if choice in (None, way.decimal))
    return found


def unusual(cells: Sequence[str], way: Numeral) -> str:
    """The first cell that means something else than Python would read, to be added to a sentence; "" if none does.

    Examples
    --------
    >>> from marginflow.data.numerals import Numeral, unusual
    >>> unusual(["2", "1,5"], Numeral(decimal=","))
    ", '1,5' read as 1.5"
    """
    found = ((cell, value) for cell in cells if (value := way.value(cell)) is not None and value != number(cell))
    return "".join(f", {cell!r} read as {value:.12g}" for cell, value in itertools.islice(found, 1))


def two_ways(cells: Sequence[str], ways: Sequence[Numeral]) -> str:
    """The first cell that is two numbers, and how to say which."""
    pairs = ((cell, *(way.value(cell) for way in ways)) for cell in cells)
    cell, first, second = next((cell, first, second) for cell, first, second in pairs if first != second)
    return f"{cell!r} as {first:.12g} (--decimal point) or as {second:.12g} (--decimal comma)"


def _values(way: Numeral, cells: Sequence[str]) -> list[float] | None:
    """The numbers of a column, or None as soon as a cell holds none."""
    values = []
    for cell in cells:
        if (value := way.value(cell)) is None:
            return None
        values.append(value)
    return values


def _marked(cells: Sequence[str]) -> bool:
    return any("," in cell or "." in cell for cell in cells)


@cache
def _pattern(decimal: str) -> re.Pattern[str]:
    """A number with this decimal mark: digits, or groups of three with any other mark, the same throughout."""
    marks = "".join(re.escape(mark) for mark in _GROUP_MARKS if mark != decimal)
    whole = rf"(?:\d+|[1-9]\d{{0,2}}([{marks}])\d{{3}}(?:\1\d{{3}})*)"
    return re.compile(
        rf"[+-]?(?:{whole}(?:{re.escape(decimal)}\d*)?|{re.escape(decimal)}\d+)(?:[eE][+-]?\d+)?", re.ASCII
    )


def _sign(cell: str) -> str:
    """The % or the sign of a currency at an end of a cell, or ""."""
    ends = (cell[-1:], cell[:1], cell[1:2] if cell[:1] in "+-\N{MINUS SIGN}" else "")
    return next((end for end in ends if end and (end == "%" or unicodedata.category(end) == "Sc")), "")
