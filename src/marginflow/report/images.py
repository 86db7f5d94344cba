"""Samples that are images, side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from marginflow.report.chart import Chart
from marginflow.report.encodings import inline
from marginflow.report.table import Table, text_of
from marginflow.report.vega import alt


def square_side(samples: Sequence[Mapping[str, Any]]) -> int:
    """The side of the pictures, where the values of the samples form squares of at least 4 x 4; else 0."""
    values = samples[0].get("values") if samples else None
    side = math.isqrt(len(values)) if isinstance(values, list) else 0
    return side if side >= 4 and side * side == len(values or ()) else 0


def image_chart(samples: Sequence[Mapping[str, Any]], side: int, *, size: int = 76, description: str = "") -> Chart:
    """Each sample as a picture of side x side values under its number and label, six in a row."""
    rows: list[dict[str, object]] = []
    for number, sample in enumerate(samples):
        name = f"{number + 1}: no. {sample['sample']} ({text_of(sample['label'])})"
        rows += [
            {"name": name, "row": index // side, "column": index % side, "value": value}
            for index, value in enumerate(sample["values"])
        ]
    grey = alt.Scale(range=["#ffffff", "#1c2024"])
    picture = (
        alt.Chart(inline(rows))
        .mark_rect(strokeWidth=1)  # without it the ground shows between the values
        .encode(
            x=alt.X("column:O", axis=None, scale=alt.Scale(padding=0)),
            y=alt.Y("row:O", axis=None, scale=alt.Scale(padding=0)),
            fill=alt.Fill("value:Q", scale=grey, legend=None),
            stroke=alt.Stroke("value:Q", scale=grey, legend=None),
        )
        .properties(width=size, height=size)
    )
    names = list(dict.fromkeys(str(row["name"]) for row in rows))
    headed = alt.Header(title=None, labelColor="var(--muted)", labelFontSize=11, labelLimit=size + 10)
    drawn = picture.facet(facet=alt.Facet("name:N", sort=names, header=headed), columns=6, spacing=8)
    words = description or "The samples nearest to the boundary first, then those with the least margin."
    specification = drawn.properties(description=words, background="transparent").to_dict()
    numbers = Table.of(
        samples,
        columns={"sample": "Sample", "label": "Label", "margin": "Margin"},
        caption="What is drawn",
    )
    return Chart(specification=specification, title="Samples as images", description=words, numbers=numbers)
