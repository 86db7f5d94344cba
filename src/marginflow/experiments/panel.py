"""What is drawn: plain rows and the roles of their columns. The report room makes a chart of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, final

Row = Mapping[str, object]
Scale = Literal["linear", "log"]


@final
@dataclass(frozen=True, kw_only=True)
class Panel:
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
        Column that is told apart by colour.
    variant : str or None
        Column that is told apart by dashes.
    titles : mapping of str
        Headings of the columns, for axes, legends and the table of numbers.
    references : mapping of pairs
        Name and points (x, y) of thin grey lines to compare with.
    reference_names : "start" or "end"
        Where on such a line its name stands.
    points : sequence of rows
        Dots on top, with the columns x and y, and `kind` told apart by shape.
    areas : sequence of rows
        Filled polygons below, corners in order, with the columns x, y and `area` (which polygon) and `kind` (colour).
    square : bool
        Same unit on both axes.
    marks : bool
        Whether the corners of the curves are marked by dots.
    """

    title: str
    description: str
    rows: Sequence[Row]
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
    points: Sequence[Row] = ()
    areas: Sequence[Row] = ()
    square: bool = False
    marks: bool = True
