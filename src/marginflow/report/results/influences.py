"""What a page tells of samples that were left out: exact leave-one-out error, unlearning, data valuation."""

from marginflow.report.charts import dots, points
from marginflow.report.content import Chart, Table, text_of
from marginflow.report.images import image_chart, square_side
from marginflow.report.page import Section, Tone
from marginflow.report.results.summary import Fields, Summary

_WITHOUT = "Without it the network"
_COLUMNS = {
    "sample": "Samples",
    "label": "Label",
    "margin": "Margin without it",
    "multiplier": "Multiplier",
    "drop": "‖θ‖² falls by",
    "expected": "Expected",
    "neurons": "Neurons",
    "branch": _WITHOUT,
    "residual": "Residual",
}


def influence(record: Fields) -> Summary:
    """Samples or folds that were left out, as `marginflow influence` writes them."""
    rows = _worded(record.objects("samples"))
    jumped = [row for row in record.objects("samples") if row["branch"] == "another"]
    margins = _by_branch(
        rows,
        {"multiplier": "Multiplier", "margin": "Margin without it"},
        title="Margin without the sample",
        description="Every sample by its multiplier and the margin under the network without it; at zero and below "
        "that network gets it wrong.",
    )
    drops = _by_branch(
        rows,
        {"expected": "Expected from the derivative", "drop": "‖θ‖² falls by"},
        title="Drop of ‖θ‖²",
        description="The true drop of the norm against λ (1 − margin); the two are equal where the path is straight.",
    )
    sections = [
        Section.of(
            "Samples by what they did",
            "Each sample is judged by the network that never saw it. Samples without a multiplier, at the left, "
            "change nothing when they are left out.",
            margins,
            *_pictures(rows),
        ),
        Section.of("What each sample weighs", drops),
        Section.of(
            "The least margins first",
            Table.of(rows[:_SHOWN], columns=_COLUMNS, caption="Where the network is least sure without the sample"),
        ),
        _branches(record, jumped),
    ]
    return _judged(record, *sections)


def unlearned(record: Fields) -> Summary:
    """Samples that were to be forgotten, as `marginflow unlearn` writes them."""
    rows = record.objects("methods")
    chart = dots(
        rows,
        value="distance",
        category="samples",
        series="method",
        titles={"distance": "Distance to the exact point (sine)", "samples": "Forgotten", "method": "Method"},
        title="How near each method comes",
        description="Sine of the angle between the outputs of a network and those of the exactly retrained one.",
    )
    columns = {"samples": "Forgotten", "method": "Method", "distance": "Sine of the angle to the exact outputs"}
    words = (
        "The truth is the exact KKT point without the samples, followed from the point with them and certified on the "
        "samples that are left. Networks are compared by their outputs at fresh points, up to scale."
    )
    section = Section.of(
        "Unlearning against the truth", words, chart, Table.of(rows, columns=columns, caption="Distances")
    )
    return _judged(record, section)


def valued(record: Fields) -> Summary:
    """Values of samples, as `marginflow value` writes them."""
    rows = _worded(record.objects("samples"))
    columns = {
        "sample": "Samples",
        "label": "Label",
        "value": "Accuracy lost without it",
        "margin_value": "Mean margin lost",
        "share": "Share of the multipliers",
        "branch": _WITHOUT,
    }
    chart = _by_branch(
        rows,
        {"share": "Share of the multipliers", "margin_value": "Mean margin lost without it"},
        title="Values",
        description="Every sample by the share of the multipliers that it carries and what is lost without it.",
    )
    words = "Below zero the network is better without the sample; the most harmful samples come first."
    section = Section.of(
        "What each sample is worth",
        words,
        chart,
        *_pictures(rows),
        Table.of(rows[:_SHOWN], columns=columns, caption="The first samples"),
    )
    return _judged(record, section)


def _judged(record: Fields, *sections: Section) -> Summary:
    tone: Tone = "holds" if record["holds"] else "violated"
    return Summary(sentence=str(record["sentence"]), tone=tone, sections=sections)


# What a continuation along a branch of KKT points means for a reader.
_BRANCHES = {"unchanged": "stays as it is", "the same": "moves a little", "another": "is another one"}


def _worded(rows: list[Fields]) -> list[Fields]:
    """The rows with what becomes of the network in words."""
    return [Fields(row | {"branch": _BRANCHES.get(str(row["branch"]), row["branch"])}) for row in rows]


_SHOWN = 20
_IMAGES = 12


def _pictures(rows: list[Fields]) -> tuple[Chart, ...]:
    """The first samples as images, where their values form a square."""
    found = [row for row in rows[:_IMAGES] if isinstance(row.get("values"), list)]
    side = square_side(found)
    return (image_chart(found, side, description="The first samples of the ranking."),) if side else ()


def _by_branch(rows: list[Fields], titles: dict[str, str], *, title: str, description: str) -> Chart:
    """Every sample at the two columns that have titles, with a colour for what becomes of the network."""
    x, y = titles
    titles = titles | {"branch": _WITHOUT}
    return points(rows, x=x, y=y, series="branch", titles=titles, title=title, description=description)


def _branches(record: Fields, jumped: list[Fields]) -> Section:
    names = "; ".join(str(row["sample"]).removesuffix("...").rstrip() for row in jumped[:_SHOWN])
    names += " …" if len(jumped) > _SHOWN else ""
    if any(" " in str(row["sample"]) for row in jumped):  # groups of many samples; the table names them
        names = ""
    first = (
        f"The branch was lost for {len(jumped)} of {text_of(record['groups_count'])}{names and ': ' + names}. "
        "The points without them are exact, but not the continuation of the limit; another of the many KKT "
        "points would be as good."
        if jumped
        else "Every point is the continuation of the limit."
    )
    if record.get("branches") is None:
        return Section.of("Branches", first)
    beside = record.object("branches")
    second = (
        f"Solved from scratch, {beside.number('other'):.0%} of {len(beside['groups'])} end at another point; "
        f"margins differ by {beside.number('spread'):.3g} (root mean square), and on "
        f"{beside.number('disagree'):.0%} the two disagree about the left-out sample."
    )
    return Section.of("Branches", first, second)
