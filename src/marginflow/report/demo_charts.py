"""Pictures 3 and 4 of the demo's page as Vega-Lite: few marks, direct labels, no legends."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from marginflow.report.encodings import finished, inline
from marginflow.report.vega import alt

Record = Mapping[str, Any]
EXACT, INK, SOFT, SHADE = "var(--exact)", "var(--ink)", "var(--soft)", "var(--shade)"


def cluster_chart(record: Record) -> dict[str, Any]:
    """The exact distance to the boundary against the number of clusters: KKT points, robust networks, 1 / sqrt(k)."""
    rows = record["rows"]
    most = rows[-1]["k"]
    ks = [row["k"] for row in rows]
    x = _along(alt.X, "k:Q", "number of clusters k", [0, most * 1.02], ks, format="d")
    ticks = alt.Axis(values=[0, 0.2, 0.4, 0.6], format="~g")
    y = alt.Y("value:Q", title=None, scale=alt.Scale(domain=[0, 0.6]), axis=ticks)
    law = [{"k": k, "value": 1 / math.sqrt(k), "robust": rows[-1]["robust"]} for k in _steps(3.0, most, 80)]
    kkt = [{"k": row["k"], "value": row["kkt"]} for row in rows]
    robust = [{"k": row["k"], "value": row["robust"]} for row in rows]
    hint = [alt.Tooltip("k:Q", title="clusters"), alt.Tooltip("value:Q", title="distance / √d", format=".4f")]
    names = [
        {"k": most, "value": robust[-1]["value"] + 0.045, "name": "a robust network for the same data", "kind": "b"},
        {"k": most, "value": kkt[-1]["value"] - 0.05, "name": "the KKT point", "kind": "a"},
        {"k": most, "value": kkt[-1]["value"] - 0.095, "name": "dashes: 1/√k", "kind": "c"},
    ]
    between = [{"k": most, "value": kkt[-1]["value"], "robust": robust[-1]["value"]}]
    times = f"{robust[-1]['value'] / kkt[-1]['value']:.2g} times nearer"
    band = [row for row in law if row["k"] >= 4]
    layers = [
        alt.Chart(inline(band)).mark_area(color=SHADE).encode(x=x, y=y, y2="robust:Q"),
        alt.Chart(inline(law)).mark_line(color=EXACT, strokeDash=[5, 4], strokeWidth=1.5, clip=True).encode(x=x, y=y),
        alt.Chart(inline(robust)).mark_line(color=INK, strokeWidth=1.5).encode(x=x, y=y),
        alt.Chart(inline(between)).mark_rule(color=SOFT).encode(x=x, y=y, y2="robust:Q"),
        _text([{"k": most, "value": 0.32, "name": times}], x, y, align="right", dx=-8, fontSize=14, color=INK),
        alt.Chart(inline(robust))
        .mark_point(shape="square", filled=True, opacity=1, size=70, color=INK)
        .encode(x=x, y=y, tooltip=hint),
        alt.Chart(inline(kkt)).mark_point(filled=True, opacity=1, size=90, color=EXACT).encode(x=x, y=y, tooltip=hint),
        _text(names, x, y, align="right", fontSize=14, baseline="middle", fontWeight="bold").encode(
            color=alt.Color("kind:N", scale=alt.Scale(domain=["a", "b", "c"], range=[EXACT, INK, SOFT]), legend=None)
        ),
    ]
    words = "Exact distance to the boundary by the root of d, for KKT points and robust networks, against clusters."
    return finished(alt.layer(*layers), description=words, height=300)


def bound_chart(record: Record) -> dict[str, Any]:
    """Lengths of one vector: what is true, and what the theorem promises in its several forms."""
    lengths, limit = record["lengths"], record["threshold"]
    names = (
        ("exact", f"exact: flips all {record['fresh']}"),
        ("measured", "proof, this sample"),
        ("sharp", "proof, sharp constants"),
        ("flip", "printed, stopped at the flip"),
        ("literal", "as printed"),
    )
    rows = [
        {"name": f"{lengths[key]:.3g}  {words}", "value": lengths[key], "kind": key, "start": 0.3}
        for key, words in names
        if key in lengths
    ]
    x = _along(alt.X, "value:Q", "length of the vector / √d", [0.3, 20], [0.5, 1, 2, 5, 10, 20], scale="log")
    y = alt.Y("name:N", sort=None, title=None, axis=None, scale=alt.Scale(paddingInner=0.5))
    colour = alt.Color(
        "kind:N",
        legend=None,
        scale=alt.Scale(domain=["exact", "measured", "sharp", "flip", "literal"], range=[EXACT, INK, INK, SOFT, SOFT]),
    )
    shade = [{"value": limit, "end": 20.0}]
    said = {"align": "left", "baseline": "bottom", "dy": -5, "fontSize": 13}
    outside = [{"value": 20.0, "name": "longer than the points: says nothing"}]
    layers = [
        alt.Chart(inline(shade)).mark_rect(color=SHADE).encode(x=x, x2="end:Q"),
        alt.Chart(inline(shade)).mark_rule(color=SOFT).encode(x=x),
        alt.Chart(inline(rows)).mark_rule(strokeWidth=2).encode(x=x, x2="start:Q", y=y, color=colour),
        alt.Chart(inline(rows)).mark_point(filled=True, opacity=1, size=90).encode(x=x, y=y, color=colour),
        # The line at 1 runs under the names: a halo keeps them legible.
        _text(rows, alt.value(2), y, **said, stroke="var(--paper)", strokeWidth=4),
        _text(rows, alt.value(2), y, **said).encode(color=colour),
        _text(outside, x, alt.value(-8), align="right", fontSize=12, color=SOFT, dx=-4),
    ]
    words = "Lengths of one vector that flips all points: the exact one, and those that the theorem gives."
    return finished(alt.layer(*layers), description=words, height=230)


def map_chart(record: Record, clusters: Record | None) -> dict[str, Any]:
    """The length that the theorem promises against the number of clusters, and where it begins to say something."""
    rows, limit = record["map"], record["threshold"]
    least, most = rows[0]["k"], rows[-1]["k"]
    ends, ticks = [least * 0.85, most * 1.1], [4, 10, 30, 100, 300, 1000]
    x = _along(alt.X, "k:Q", "number of clusters k", ends, ticks, scale="log", format="d")
    y = _along(alt.Y, "value:Q", "length / √d", [0.07, 20], [0.1, 1, 10], scale="log")
    speaks = record["speaks_from"]["literal"]
    lines = [{"k": row["k"], "value": row[form], "form": form} for row in rows for form in ("literal", "sharp")]
    colour = alt.Color("form:N", legend=None, scale=alt.Scale(domain=["literal", "sharp"], range=[SOFT, INK]))
    shade = [{"k": ends[0], "end": ends[1], "value": limit, "top": 20.0}]
    names = [
        {"k": 9, "value": rows[2]["literal"] * 1.45, "name": "as printed", "form": "literal"},
        {"k": 60, "value": 0.62, "name": "sharp", "form": "sharp"},
    ]
    layers = [
        alt.Chart(inline(shade)).mark_rect(color=SHADE).encode(x=x, x2="end:Q", y=y, y2="top:Q"),
        alt.Chart(inline(shade)).mark_rule(color=SOFT).encode(y=y),
        alt.Chart(inline(lines)).mark_line(strokeWidth=2).encode(x=x, y=y, color=colour, detail="form:N"),
        _text(names, x, y, align="left", fontSize=13).encode(color=colour),
        _text([{"k": most, "value": 12.0, "name": "says nothing"}], x, y, align="right", fontSize=12, color=SOFT),
    ]
    if speaks is not None:
        found = [{"k": speaks, "value": limit, "name": str(speaks)}]
        layers += [
            alt.Chart(inline(found)).mark_point(size=90, color=INK, strokeWidth=2).encode(x=x, y=y),
            _text(found, x, y, dy=-13, fontSize=13, fontWeight="bold", color=INK),
        ]
    if clusters is not None:
        exact = [{"k": row["k"], "value": row["kkt_flips_all"]} for row in clusters["rows"]]
        layers += [
            alt.Chart(inline(exact)).mark_point(filled=True, opacity=1, size=60, color=EXACT).encode(x=x, y=y),
            _text(
                [exact[-1] | {"name": "exact"}], x, y, align="left", dx=9, fontSize=13, fontWeight="bold", color=EXACT
            ),
        ]
    words = "The length that the theorem promises, as printed and sharp, and the exact one, against clusters."
    return finished(alt.layer(*layers), description=words, height=230)


def _along(
    channel: Any,
    column: str,
    title: str,
    domain: Sequence[float],
    ticks: Sequence[float],
    *,
    scale: Any = "linear",
    format: str = "~g",
) -> Any:
    """A position between two ends, with ticks at given numbers and no grid."""
    return channel(
        column,
        title=title,
        scale=alt.Scale(type=scale, domain=domain, nice=False),
        axis=alt.Axis(values=ticks, format=format, grid=False),
    )


def _text(rows: Sequence[Record], x: Any, y: Any, **mark: Any) -> Any:
    """The name of each row where it stands."""
    return alt.Chart(inline(rows)).mark_text(**mark).encode(x=x, y=y, text="name:N")


def _steps(start: float, end: float, count: int) -> list[float]:
    return [start + (end - start) * index / (count - 1) for index in range(count)]
