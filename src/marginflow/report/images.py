"""Samples that are images, side by side."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.report.chart import Chart
from marginflow.report.encodings import finished, inline
from marginflow.report.plane_svg import png
from marginflow.report.style import raised
from marginflow.report.table import Table, text_of
from marginflow.report.vega import alt


def square_side(samples: Sequence[Mapping[str, Any]]) -> int:
    """The side of the pictures, where the values of the samples form squares of at least 4 x 4; else 0."""
    values = samples[0].get("values") if samples else None
    return square(len(values)) if isinstance(values, list) else 0


def square(count: int) -> int:
    """The side of a square of so many values, at least 4; else 0."""
    side = math.isqrt(count)
    return side if side >= 4 and side * side == count else 0


def image_chart(samples: Sequence[Mapping[str, Any]], side: int, *, description: str = "") -> Chart:
    """Each sample as a picture of side x side values under its label, four in a row as on a telephone."""
    rows: list[dict[str, object]] = [
        {
            "name": f"{sample['sample']} · label {raised(text_of(sample['label']))}",
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
        base.mark_text(align="left", baseline="bottom", dy=-3, fontSize=12).encode(x=x, y=y, text="name:N"),
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


def picture(values: Sequence[float] | FloatArray, side: int, *, reach: tuple[float, float] | None = None) -> str:
    """The values as a small PNG in an address: dark where large, one empty value around, smoothly enlarged.

    Images of 8 x 8 values drawn as squares cannot be read; between their values straight lines can. `reach` holds the
    values that are white and black, where it is not the least and the largest.
    """
    given = np.array(values, dtype=np.float64).reshape(side, side)
    least, most = (float(given.min()), float(given.max())) if reach is None else reach
    return shade_address(enlarged(np.clip((given - least) / (most - least or 1.0), 0.0, 1.0), around=0.0))


def enlarged(share: FloatArray, *, around: float) -> FloatArray:
    """A square of shades with one more value around it, smoothly enlarged."""
    side = share.shape[0]
    share = np.pad(share, 1, constant_values=around)
    at = np.linspace(0.0, side + 1.0, max(_CELL, side + 2))
    places = np.arange(side + 2.0)
    across = np.array([np.interp(at, places, row) for row in share])
    return np.array([np.interp(at, places, column) for column in across.T]).T


def shade_address(share: FloatArray) -> str:
    """Shades from 0 (white) to 1 (black) as a PNG in an address."""
    grey = np.rint(255.0 - 227.0 * share).astype(np.uint8)
    return "data:image/png;base64," + base64.b64encode(png(np.repeat(grey[..., None], 3, axis=2))).decode("ascii")


_IN_A_ROW: Final = 4
_CELL: Final = 78  # pixels
_HEAD: Final = 20
