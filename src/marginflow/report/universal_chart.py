"""One vector that flips all samples, as a picture: the share against its norm, and the vector as an image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from marginflow.report.chart import Chart
from marginflow.report.encodings import inline
from marginflow.report.images import enlarged, picture, shade_address, square
from marginflow.report.vega import alt


def universal_chart(
    steps: Sequence[Mapping[str, object]], *, size: float, said: Sequence[str], verb: str, title: str
) -> Chart:
    """The share of samples against the norm of a vector, with its whole length marked and said in words.

    Parameters
    ----------
    steps : sequence of rows
        Corners of the staircase: "norm" and "share".
    size : float
        The norm that is marked.
    said : sequence of str
        Lines of text beside the mark.
    verb : str
        What happens to the samples, such as "flipped".
    title : str
    """
    end = 1.06 * size
    rows = [row for row in steps if _number(row["norm"]) <= end]
    rows = [*rows, {**rows[-1], "norm": end}] if rows else []
    titles = {"norm": "Norm of the one vector", "share": f"Share of samples {verb}"}
    x = alt.X(
        "norm:Q",
        title=titles["norm"],
        scale=alt.Scale(domain=[0, end], nice=False),
        axis=alt.Axis(tickCount=6, format="~r", grid=False),
    )
    y = alt.Y(
        "share:Q",
        title=titles["share"],
        stack=None,
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(values=[0, 0.5, 1], labelExpr="100 * datum.value + ' %'"),
    )
    base = alt.Chart(inline(rows))
    late = all(_number(row["share"]) < 0.5 for row in rows if _number(row["norm"]) < _LATE * end)
    mark = [{"norm": size}]
    words_at = [{"norm": 0.0 if late else size, "share": 0.82 if late else 0.24, "said": "\n".join(said)}]
    layers = [
        base.mark_area(color="var(--exact)", opacity=0.1).encode(x=x, y=y),
        base.mark_line(color="var(--exact)", strokeWidth=2.5).encode(x=x, y=y),
        alt.Chart(inline(mark)).mark_rule(color="var(--ink)", strokeWidth=1.5).encode(x=x),
        *(
            _words(words_at, halo, late=late).encode(x=x, y=y, text="said:N")
            for halo in ({"stroke": "var(--panel)"}, {})
        ),
    ]
    words = f"The share of all samples that are {verb} at once by a multiple of one vector, against its norm."
    return Chart.of(alt.layer(*layers), rows, titles, title, words, height=230)


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
    rows: list[dict[str, object]] = []
    texts: list[dict[str, object]] = []
    for line, example in enumerate(examples):
        sign, values = float(example["sign"]), np.asarray(example["values"], dtype=np.float64)
        reach = (float(values.min()), float(values.max()))
        images = (
            (picture(values, side), str(example["before"])),
            (_signed(step, side), "the vector"),
            (picture(values + sign * step, side, reach=reach), str(example["after"])),
        )
        top = line * (_CELL + _FOOT)
        for column, (url, words) in enumerate(images):
            left = column * (_CELL + _GAP)
            rows.append({"x": left, "y": top, "url": url, "name": words})
            texts.append({"x": left + _CELL / 2, "y": top + _CELL + 12, "text": words})
            if column:
                between = ("+" if sign > 0 else "−") if column == 1 else "="
                texts.append({"x": left - _GAP / 2, "y": top + _CELL / 2, "text": between})
    width, height = 3 * _CELL + 2 * _GAP, len(examples) * (_CELL + _FOOT)
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, width], nice=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[height, 0], nice=False))
    drawn = alt.layer(
        alt.Chart(inline(rows))
        .mark_image(width=_CELL, height=_CELL, align="left", baseline="top")
        .encode(x=x, y=y, url="url:N"),
        alt.Chart(inline(texts)).mark_text(fontSize=14, baseline="middle").encode(x=x, y=y, text="text:N"),
    )
    words = "A sample, the vector to the same scale of lengths, and the sample with it."
    named = [{"name": row["name"]} for row in rows]
    made = Chart.of(drawn, named, {"name": "Image"}, "The vector as an image", words, height=height)
    return Chart(
        specification={**made.specification, "width": width},
        title=made.title,
        description=words,
        numbers=made.numbers,
    )


def _signed(step: np.ndarray[Any, np.dtype[np.float64]], side: int) -> str:
    """The vector as an image: grey where it is zero, dark where it adds, light where it takes away."""
    most = float(np.abs(step).max()) or 1.0
    return shade_address(enlarged(0.5 + 0.5 * step.reshape(side, side) / most, around=0.5))


def _words(mark: list[dict[str, object]], halo: Mapping[str, str], *, late: bool) -> Any:
    """The words above a curve that rises late, else beside the mark, with a halo of the ground around them."""
    drawn = {"color": "var(--exact)"} | ({"strokeWidth": 5, "strokeJoin": "round", **halo} if halo else {})
    return alt.Chart(inline(mark)).mark_text(
        align="left" if late else "right",
        dx=10 if late else -10,
        fontSize=14,
        fontWeight="bold",
        lineBreak="\n",
        lineHeight=19,
        **drawn,
    )


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else float("inf")


_LATE: Final = 0.65  # share of the axis that two lines of words need
_CELL: Final = 88  # pixels
_GAP: Final = 24
_FOOT: Final = 30
