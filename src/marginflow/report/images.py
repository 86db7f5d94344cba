"""Samples that are images, side by side."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from marginflow.report.chart import Chart
from marginflow.report.encodings import finished, inline
from marginflow.report.plane_svg import png
from marginflow.report.table import Table, text_of
from marginflow.report.vega import alt


def square_side(samples: Sequence[Mapping[str, Any]]) -> int:
    """The side of the pictures, where the values of the samples form squares of at least 4 x 4; else 0."""
    values = samples[0].get("values") if samples else None
    side = math.isqrt(len(values)) if isinstance(values, list) else 0
    return side if side >= 4 and side * side == len(values or ()) else 0


def image_chart(samples: Sequence[Mapping[str, Any]], side: int, *, description: str = "") -> Chart:
    """Each sample as a picture of side x side values under its number and label, four in a row as on a telephone."""
    rows: list[dict[str, object]] = [
        {
            "name": f"no. {sample['sample']}, label {text_of(sample['label'])}",
            "x": (number % _IN_A_ROW) * _CELL,
            "y": number // _IN_A_ROW * (_CELL + _HEAD) + _HEAD,
            "url": picture(sample["values"], side),
        }
        for number, sample in enumerate(samples)
    ]
    width, height = _IN_A_ROW * _CELL, -(-len(rows) // _IN_A_ROW) * (_CELL + _HEAD)
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, width], nice=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[height, 0], nice=False))
    base = alt.Chart(inline(rows))
    size = _CELL - 8
    drawn = alt.layer(
        base.mark_image(width=size, height=size, align="left", baseline="top").encode(
            x=x, y=y, url="url:N", tooltip=[alt.Tooltip("name:N", title="Sample")]
        ),
        base.mark_text(align="left", baseline="bottom", dy=-3, fontSize=11).encode(x=x, y=y, text="name:N"),
    )
    words = description or "The samples nearest to the boundary first, then those with the least margin."
    specification = finished(drawn, description=words, height=height)
    specification["width"] = width
    numbers = Table.of(
        samples,
        columns={"sample": "Sample", "label": "Label", "margin": "Margin"},
        caption="What is drawn",
    )
    return Chart(specification=specification, title="Samples as images", description=words, numbers=numbers)


def picture(values: Sequence[float], side: int) -> str:
    """The values as a small PNG in an address: dark where large, one empty value around, smoothly enlarged.

    Images of 8 x 8 values drawn as squares cannot be read; between their values straight lines can.
    """
    given = np.array(values, dtype=np.float64).reshape(side, side)
    least, most = float(given.min()), float(given.max())
    share = np.pad((given - least) / (most - least or 1.0), 1)
    at = np.linspace(0.0, side + 1.0, max(_CELL, side + 2))
    places = np.arange(side + 2.0)
    across = np.array([np.interp(at, places, row) for row in share])
    smooth = np.array([np.interp(at, places, column) for column in across.T]).T
    grey = np.rint(255.0 - 227.0 * smooth).astype(np.uint8)
    return "data:image/png;base64," + base64.b64encode(png(np.repeat(grey[..., None], 3, axis=2))).decode("ascii")


_IN_A_ROW: Final = 4
_CELL: Final = 78  # pixels
_HEAD: Final = 20
