"""What is drawn: plain rows and the roles of their columns. The report room makes a chart of it."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, final

from marginflow.display import Brief
from marginflow.experiments.outcome import Row as Row
from marginflow.experiments.outcome import Rows as Rows
from marginflow.experiments.outcome import means, number

Scale = Literal["linear", "log"]
_TWO_SEEDS = "Of two seeds the bar is the range."


@final
@dataclass(frozen=True, kw_only=True)
class Panel(Brief):
    """Curves of one quantity against another, with whatever belongs into the same picture.

    Parameters
    ----------
    title, description : str
        Heading, and what there is to see, in words.
    rows : sequence of rows
    x, y : str
        Columns of the axes.
    low, high : str or None
        Columns of a band around the curve.
    series : str or None
        Column that colours tell apart.
    variant : str or None
        Column that dashes tell apart.
    titles : mapping of str
        Headings of the columns, for axes, legends and the table of numbers.
    references : mapping of pairs
        Name and points (x, y) of thin grey lines to compare with.
    reference_names : "start" or "end"
        Where on such a line its name stands.
    points : sequence of rows
        Dots on top, with the columns x and y, and `kind`, which shapes tell apart.
    areas : sequence of rows
        Filled polygons below, corners in order, with the columns x, y and `area` (which polygon) and `kind` (colour).
    square : bool
        Same unit on both axes.
    marks : bool
        Whether the corners of the curves are marked by dots.

    Rows with a column `part` belong to curves with gaps: a line joins those of the same part.
    """

    title: str
    description: str
    rows: Rows
    x: str
    y: str
    titles: Mapping[str, str]
    low: str | None = None
    high: str | None = None
    series: str | None = None
    variant: str | None = None
    x_scale: Scale = "linear"
    y_scale: Scale = "linear"
    references: Mapping[str, Sequence[tuple[float, float]]] | None = None
    reference_names: Literal["start", "end"] = "end"
    points: Rows = ()
    areas: Rows = ()
    square: bool = False
    marks: bool = True


# Rows to what is drawn of them.
Drawing = Callable[[Rows], tuple[Panel, ...]]


def recipe_first(rows: Rows) -> list[Row]:
    """The same rows, those of KKT points last: dashes go to what comes second, whichever cells of a grid were run."""
    return sorted(rows, key=lambda row: row.get("method") == "KKT point")


def with_gaps(rows: Rows, x: str, by: Sequence[str]) -> list[dict[str, object]]:
    """The rows with the number of the `part` of their curve, if a curve lacks a value of x that another one has.

    Examples
    --------
    >>> from marginflow.experiments.panel import with_gaps
    >>> rows = [{"d": d, "method": word} for word in ("a", "b") for d in (1, 2, 3) if (word, d) != ("b", 2)]
    >>> [row["part"] for row in with_gaps(rows, "d", ["method"])]
    [0, 0, 0, 0, 1]
    """
    index = {value: at for at, value in enumerate(sorted({number(row, x) for row in rows}))}
    curves: dict[tuple[object, ...], list[int]] = {}
    for row in rows:
        curves.setdefault(tuple(row[name] for name in by), []).append(index[number(row, x)])
    parts = {
        (curve, at): sum(after - before > 1 and after <= at for before, after in pairwise(sorted(ats)))
        for curve, ats in curves.items()
        for at in ats
    }
    if not any(parts.values()):
        return [dict(row) for row in rows]
    return [{**row, "part": parts[tuple(row[name] for name in by), index[number(row, x)]]} for row in rows]


def over_seeds(
    rows: Rows,
    *,
    x: str,
    y: str,
    titles: Mapping[str, str],
    series: str | None = None,
    variant: str | None = None,
    band: bool = True,
    least: float = -math.inf,
    most: float = math.inf,
    **others: Any,
) -> Panel:
    """Curves of the mean of `y` over the seeds, with its 95 % interval as a band; `others` are fields of `Panel`.

    The interval is cut at `least` and `most`: no share is negative or above 1, though an interval of its mean may be.
    Where there are two seeds it is their range, and the description says so. A curve has a gap where it lacks a value
    of x that another one has.

    Examples
    --------
    >>> from marginflow.experiments.panel import over_seeds
    >>> rows = [{"d": 10, "flip": flip} for flip in (1.0, 2.0, 3.0)]
    >>> titles = {"d": "Dimension", "flip": "Flip"}
    >>> over_seeds(rows, x="d", y="flip", titles=titles, title="Flips", description="Flip against d.").rows[0]["flip"]
    2.0
    """
    by = tuple(dict.fromkeys(name for name in (x, series, variant) if name is not None))
    averaged = [
        {**row, "low": max(number(row, "low"), least), "high": min(number(row, "high"), most)}
        for row in means(rows, by, y)
    ]
    averaged = with_gaps(averaged, x, [name for name in by if name != x])
    if band and any(row["seeds"] == 2 for row in averaged):
        others["description"] = f"{others.get('description', '')} {_TWO_SEEDS}".lstrip()
    return Panel(
        rows=averaged,
        x=x,
        y=y,
        low="low" if band else None,
        high="high" if band else None,
        series=series,
        variant=variant,
        titles={name: titles[name] for name in (*by, y)}
        | {"low": "Interval from", "high": "Interval to", "deviation": "SD over seeds", "seeds": "Seeds"}
        | {"missing": "Not finite"},
        **others,
    )
