"""What a page tells of certified accuracy."""

from typing import Final

from marginflow.report.charts import lines, stairs
from marginflow.report.page import Section
from marginflow.report.results.robustness import RADIUS
from marginflow.report.results.summary import Fields, Summary
from marginflow.report.table import Table, text_of

SHARES: Final = (0.95, 0.9, 0.75, 0.5, 0.25, 0.1)  # at which a table reads the curve
_CURVES: Final = {"certified": "certified", "possible": "not excluded"}


def accuracy(record: Fields) -> Summary:
    """Certified accuracy as `marginflow curve` writes it."""
    rows, exact = record.objects("curve"), bool(record["exact"])
    right, samples = record.number("accuracy"), text_of(record["samples"])
    half = reach(rows, "certified", 0.5)
    sentence = f"{text_of(100 * right)} % of {samples} samples are right" + (
        "." if half is None else f"; half of all samples are right and at least {text_of(half)} from the boundary."
    )
    drawn = [
        {"size": size, "share": share, "curve": words}
        for name, words in _CURVES.items()
        for size, share in corners(rows, name)
        if name == "certified" or not exact
    ]
    chart = lines(
        drawn,
        x="size",
        y="share",
        series=None if exact else "curve",
        titles={
            "size": "Length of any perturbation",
            "share": "Share of samples that it cannot flip",
            "curve": "Share",
        },
        title="Certified accuracy",
        description="The share of all samples that are right and that no perturbation of this length flips.",
    )
    read = [(f"{100 * share:g} %", *(reach(rows, name, share) for name in _CURVES)) for share in SHARES]
    table = Table(
        columns=("Share of samples", "Certified up to", "Not excluded up to"),
        rows=tuple(read),
        caption="Lengths up to which so many samples stay right; a dash means that fewer are right",
    )
    section = Section(heading="Certified accuracy", content=(chart, table, RADIUS))
    return Summary(sentence=sentence, tone="holds" if exact else "open", sections=(section,))


def reach(rows: list[Fields], name: str, share: float) -> float | None:
    """The largest length at which the curve is at least at this share; None where it never is."""
    return max((row.number("epsilon") for row in rows if row.number(name) >= share - 1e-9), default=None)


def corners(rows: list[Fields], name: str) -> list[tuple[float, float]]:
    """The curve as stairs: each row holds up to and including its length, from the length before it on."""
    sizes, shares = ([row.number(column) for row in rows] for column in ("epsilon", name))
    return stairs(zip([0.0, *sizes], [*shares, shares[-1]], strict=True)) if rows else []
