"""Samples that are images: side by side, and with what one vector makes of them."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.report.content import Chart, text_of
from marginflow.report.encodings import inline
from marginflow.report.plane_svg import png
from marginflow.report.style import raised
from marginflow.report.vega import alt


def square_side(samples: Sequence[Mapping[str, Any]]) -> int:
    """The side of the pictures, where the values of the samples form squares of at least 4 x 4; else 0."""
    values = samples[0].get("values") if samples else None
    return square(len(values)) if isinstance(values, list) else 0


def square(count: int) -> int:
    """The side of a square of this many values, at least 4; else 0."""
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
    place, base = _place(width, height), alt.Chart(inline(rows))
    size = _CELL - 8
    drawn = alt.layer(
        base.mark_image(width=size, height=size, align="left", baseline="top").encode(
            **place, url="url:N", tooltip=[alt.Tooltip("name:N", title="Sample")]
        ),
        base.mark_text(align="left", baseline="bottom", dy=-3, fontSize=12).encode(**place, text="name:N"),
    )
    words = description or "The samples nearest to the boundary first, then those with the least margin."
    titles = {"sample": "Sample", "label": "Label", "margin": "Margin"}
    return Chart.of(drawn, samples, titles, "Samples as images", words, height, width, caption="What is drawn")


def image_sums(examples: Sequence[Mapping[str, Any]], vector: Sequence[float]) -> Chart | None:
    """Samples that are images, the vector, and what it makes of them, one sum to a line; None where they are not.

    Parameters
    ----------
    examples : sequence of rows
        "values", the "sign" with which the vector is added, and the words "before" and "after" below the images.
    vector : sequence of float
    """
    side = square(len(vector))
    step = np.asarray(vector, dtype=np.float64)
    finite = [np.isfinite(values).all() for values in (step, *(example["values"] for example in examples))]
    if not side or not examples or not all(finite) or any(len(example["values"]) != step.size for example in examples):
        return None
    # Grey where the vector is zero, dark where it adds, light where it takes away.
    shades = 0.5 + 0.5 * step.reshape(side, side) / (float(np.abs(step).max()) or 1.0)
    alone = shade_address(enlarged(shades, around=0.5))
    rows: list[dict[str, object]] = []
    texts: list[dict[str, object]] = []
    for line, example in enumerate(examples):
        sign, values = float(example["sign"]), np.asarray(example["values"], dtype=np.float64)
        reach = (float(values.min()), float(values.max()))
        images = (
            (picture(values, side), str(example["before"])),
            (alone, "the vector"),
            (picture(values + sign * step, side, reach=reach), str(example["after"])),
        )
        top = line * (_LARGE + _FOOT)
        for column, (url, words) in enumerate(images):
            left = column * (_LARGE + _GAP)
            rows.append({"x": left, "y": top, "url": url, "name": words})
            texts.append({"x": left + _LARGE / 2, "y": top + _LARGE + 12, "text": words})
            if column:
                between = ("+" if sign > 0 else "−") if column == 1 else "="
                texts.append({"x": left - _GAP / 2, "y": top + _LARGE / 2, "text": between})
    width, height = 3 * _LARGE + 2 * _GAP, len(examples) * (_LARGE + _FOOT)
    place = _place(width, height)
    drawn = alt.layer(
        alt.Chart(inline(rows))
        .mark_image(width=_LARGE, height=_LARGE, align="left", baseline="top")
        .encode(**place, url="url:N"),
        alt.Chart(inline(texts)).mark_text(fontSize=14, baseline="middle").encode(**place, text="text:N"),
    )
    words = "A sample, the vector to the same scale of lengths, and the sample with it."
    named = [{"name": row["name"]} for row in rows]
    return Chart.of(drawn, named, {"name": "Image"}, "The vector as an image", words, height, width)


def _place(width: float, height: float) -> dict[str, Any]:
    """Where a mark stands, in pixels from the left and from the top."""
    return {
        "x": alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, width], nice=False)),
        "y": alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[height, 0], nice=False)),
    }


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
_LARGE: Final = 88  # pixels of an image in a sum
_GAP: Final = 24
_FOOT: Final = 30
