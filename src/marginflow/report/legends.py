"""Legends of a printed chart: what tells curves apart by dashes and by marks is shown with both, in line with its name.

Vega-Lite has one symbol for all entries of a legend; Vega, to which it is compiled, has one for each.
"""

import json
import math
from itertools import pairwise
from typing import Any, Final

_ARM: Final = 1 / 3  # half of the width of an arm of a cross
# The marks of series, by their corners, or arcs between them, where the half of a mark is 1.
CORNERS: Final = {
    "circle": ((0, -1), (1, 0), (0, 1), (-1, 0)),
    "square": ((-1, -1), (1, -1), (1, 1), (-1, 1)),
    "triangle-up": ((0, -1), (1, 1), (-1, 1)),
    "diamond": ((0, -1), (1, 0), (0, 1), (-1, 0)),
    "cross": tuple(
        (x, y)
        for turn in ((1, 0), (0, 1), (-1, 0), (0, -1))
        for x, y in (
            (_ARM * turn[0] + turn[1], _ARM * turn[1] - turn[0]),
            (_ARM * turn[0] + _ARM * turn[1], _ARM * turn[1] - _ARM * turn[0]),
            (turn[0] + _ARM * turn[1], turn[1] - _ARM * turn[0]),
        )
    ),
    "triangle-down": ((0, 1), (1, -1), (-1, -1)),
    "triangle-right": ((1, 0), (-1, 1), (-1, -1)),
    "triangle-left": ((-1, 0), (1, 1), (1, -1)),
}
_LINE: Final = (-1.0, 2.0)  # half as long again as the symbol of Vega, so that two dashes stand beside a mark
_MIDDLE: Final = 0.5
_HALF: Final = 0.28  # of a mark
_LABEL: Final = 4.0  # pixels from a symbol to its name
_FIRST_LINE: Final = 4.4  # pixels from where Vega puts a heading at the left to the middle of the first line of entries


def with_marked_legends(vega: dict[str, Any]) -> dict[str, Any]:
    """The specification of Vega with marks on the lines of its legends, and headings in line with the first entries.

    Examples
    --------
    >>> from marginflow.report.legends import with_marked_legends
    >>> dashes = {"name": "a", "domain": ["x"], "range": [[1, 0]]}
    >>> shapes = {"name": "b_shape", "domain": ["x"], "range": ["square"]}
    >>> legend = {"strokeDash": "a", "symbolType": "stroke"}
    >>> made = with_marked_legends({"scales": [dashes, shapes], "legends": [legend]})
    >>> made["legends"][0]["encode"]["symbols"]["update"]["shape"][0]["test"]
    'datum.value === "x"'
    """
    scales = {scale["name"]: scale for scale in vega.get("scales", [])}
    at_left = vega.get("config", {}).get("legend", {}).get("titleOrient") == "left"
    legends = [_aligned(_marked(legend, scales), at_left) for legend in vega.get("legends", [])]
    return {**vega, "legends": legends} if legends else vega


def _marked(legend: dict[str, Any], scales: dict[str, dict[str, Any]]) -> dict[str, Any]:
    told_apart = scales.get(legend.get("strokeDash", legend.get("stroke", "")))
    if told_apart is None or legend.get("symbolType") != "stroke":
        return legend
    shapes = next(
        (dict(zip(s["domain"], s["range"], strict=True)) for s in scales.values() if _shapes(s, told_apart)), {}
    )
    if not shapes or not set(shapes.values()) <= CORNERS.keys():
        return legend
    rules = [
        {"test": f"datum.value === {json.dumps(name, allow_nan=False)}", "value": _path(shape)}
        for name, shape in shapes.items()
    ]
    filled = {"scale": legend["stroke"], "field": "value"} if "stroke" in legend else {"value": "#888"}
    longer = 0.5 * math.sqrt(float(legend.get("symbolSize", 100)))
    return _updated(legend, "symbols", {"shape": rules, "fill": filled}) | {"labelOffset": _LABEL + longer}


def _path(shape: str) -> str:
    """A line with a mark in its middle; the sides of the mark are strokes of their own, too short to be dashed."""
    corners = [(_MIDDLE + _HALF * x, _HALF * y) for x, y in CORNERS[shape]]
    to = f"A{_HALF:g},{_HALF:g},0,0,1," if shape == "circle" else "L"
    begin, *others = (f"{x:g},{y:g}" for x, y in corners)
    around = f"M{begin}" + "".join(f"{to}{corner}" for corner in (*others, begin)) + "Z"
    sides = "".join(f"M{first}{to}{last}" for first, last in pairwise((begin, *others, begin)))
    return f"M{_LINE[0]:g},0H{_LINE[1]:g}{around}{sides}"


def _shapes(scale: dict[str, Any], told_apart: dict[str, Any]) -> bool:
    """Whether it gives shapes to the same names."""
    return str(scale["name"]).endswith("shape") and scale.get("domain") == told_apart["domain"]


def _aligned(legend: dict[str, Any], at_left: bool) -> dict[str, Any]:
    if not at_left:
        return legend
    return {**_updated(legend, "title", {"dy": {"value": _FIRST_LINE}}), "titleAnchor": "start"}


def _updated(legend: dict[str, Any], part: str, values: dict[str, Any]) -> dict[str, Any]:
    encode = legend.get("encode", {})
    own = encode.get(part, {})
    return {**legend, "encode": {**encode, part: {**own, "update": {**own.get("update", {}), **values}}}}
