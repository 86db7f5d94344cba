"""One vector that flips all samples, as a picture: the share of the samples against its norm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from marginflow.report.content import Chart
from marginflow.report.encodings import inline
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
