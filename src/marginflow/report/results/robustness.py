"""What a page tells of exact radii, of certified accuracy, and of vectors that flip."""

import math
from typing import Final

from marginflow.report.charts import histogram, lines, stairs
from marginflow.report.content import Chart, Formula, Table, text_of
from marginflow.report.page import Section
from marginflow.report.results.summary import Fields, Summary
from marginflow.report.robustness_chart import robustness_curve_chart

RADIUS = Formula(
    latex=r"r(x)=\min\{\|\delta\| : y\,N(x+\delta)\le 0\}",
    meaning="The distance of a sample to the decision boundary, proved from both sides",
)
FLIP = Formula(
    latex=r"t^\ast=\min\{t\ge 0 : y_i\,N(x_i-t\,y_i z)\le 0\ \text{for all } i\}",
    meaning="The smallest multiple of one vector z that flips every sample",
)

SHARES: Final = (0.95, 0.9, 0.75, 0.5, 0.25, 0.1)  # at which a table reads the curve of certified accuracy
_CURVES: Final = {"certified": "certified", "possible": "not excluded"}


def radii(record: Fields) -> Summary:
    """Radii as `marginflow radius` writes them."""
    found = record.objects("radii")
    proved, everything = sum(row.get("status") != "bounded" for row in found), bool(record["all_proved"])
    middle = record.numbers("median")[-1] if found else math.nan
    root = record.number("sqrt_dimension")
    sentence = (
        f"{'All' if everything else proved} of {len(found)} distances to the decision boundary are proved and their "
        f"proofs checked; the median is {text_of(middle)} = {text_of(middle / root)} √d."
    ).replace("All of", "All")
    relative = record.object("relative")
    sizes = tuple(
        (name.capitalize(), *record.numbers(name), *relative.numbers(name))
        for name in ("smallest", "median", "largest")
    )
    table = Table(
        columns=("Radius", "At least", "At most", "At least / √d", "At most / √d"),
        rows=sizes,
        caption="Bounds on the smallest, the median and the largest of them",
    )
    charts = list(distance_charts(record))
    if "curves" in record:
        charts.append(robustness_curve_chart(record.objects("curves"), title="Exact, attacks and bounds"))
    section = Section.of("How far the samples are from the boundary", *charts, table, RADIUS)
    return Summary(sentence=sentence, tone="holds" if everything else "open", sections=(section,))


def distance_charts(record: Fields) -> tuple[Chart, ...]:
    """Certified accuracy of radii, where the record has it, and how large they are."""
    spread = distance_chart(
        record.objects("radii"),
        title="Distance to the decision boundary",
        description="How far the samples drawn are from their nearest point on the other side.",
    )
    if not record.get("curve"):
        return (spread,)
    accuracy = accuracy_chart(
        record.objects("curve"),
        share="Share of samples that it cannot flip",
        description="The share of the samples drawn that no perturbation of this length flips, whatever its direction.",
    )
    return (accuracy, spread)


def settled(found: list[Fields]) -> str:
    """How many of the radii are exact."""
    return f"{sum(bool(row['settled']) for row in found)} of {len(found)}"


def accuracy_chart(curve: list[Fields], *, share: str, description: str, possible: bool = False) -> Chart:
    """Certified accuracy at its breakpoints, as stairs, beside what is possible; `share` is the title of its axis."""
    return lines(
        [
            {"size": size, "share": height, "curve": words}
            for name, words in _CURVES.items()
            for size, height in corners(curve, name)
            if name == "certified" or possible
        ],
        x="size",
        y="share",
        series="curve" if possible else None,
        titles={"size": "Length of any perturbation", "share": share} | ({"curve": "Share"} if possible else {}),
        title="Certified accuracy",
        description=description,
    )


def distance_chart(found: list[Fields], *, title: str, description: str) -> Chart:
    """How far the samples that were drawn are from the boundary."""
    return histogram(
        found,
        value="upper",
        series="status",
        titles={"sample": "Sample", "upper": "Distance to the boundary", "lower": "At least", "status": "Status"},
        title=title,
        description=description,
    )


def accuracy(record: Fields) -> Summary:
    """Certified accuracy as `marginflow curve` writes it."""
    rows, exact = record.objects("curve"), bool(record["exact"])
    right, samples = record.number("accuracy"), text_of(record["samples"])
    half = reach(rows, "certified", 0.5)
    sentence = f"{text_of(100 * right)} % of {samples} samples are right" + (
        "." if half is None else f"; half of all samples are right and at least {text_of(half)} from the boundary."
    )
    chart = accuracy_chart(
        rows,
        share="Share of samples that it cannot flip",
        description="The share of all samples that are right and that no perturbation of this length flips.",
        possible=not exact,
    )
    read = [(f"{100 * share:g} %", *(reach(rows, name, share) for name in _CURVES)) for share in SHARES]
    table = Table(
        columns=("Share of samples", "Certified up to", "Not excluded up to"),
        rows=tuple(read),
        caption="Lengths up to which that share of the samples stays right; a dash means that fewer are right",
    )
    section = Section.of("Certified accuracy", chart, table, RADIUS)
    return Summary(sentence=sentence, tone="holds" if exact else "open", sections=(section,))


def reach(rows: list[Fields], name: str, share: float) -> float | None:
    """The largest length at which the curve is at least at this share; None where it never is."""
    return max((row.number("epsilon") for row in rows if row.number(name) >= share - 1e-9), default=None)


def corners(rows: list[Fields], name: str) -> list[tuple[float, float]]:
    """The curve as stairs: each row holds up to and including its length, from the length before it on."""
    sizes, shares = ([row.number(column) for row in rows] for column in ("epsilon", name))
    return stairs(zip([0.0, *sizes], [*shares, shares[-1]], strict=True)) if rows else []


def flips(record: Fields) -> Summary:
    """Flips as `marginflow flip` writes them, with or without whole curves."""
    found = record.objects("directions")
    share = record.number("share")
    sizes = [(str(row["direction"]), row.number("norm")) for row in found]
    finite = [(norm, name) for name, norm in sizes if math.isfinite(norm)]
    root = record.number("sqrt_dimension")
    who = f"all {text_of(record['samples'])} samples" if share == 1.0 else f"a share of {text_of(share)} of the samples"
    if finite:
        norm, name = min(finite)
        sentence = f"One vector of norm {text_of(norm)} = {text_of(norm / root)} √d flips {who} (direction {name})."
    else:
        sentence = f"No multiple of the directions tried flips {who}."
    columns = {
        "direction": "Direction",
        "norm": "Norm that flips",
        "norm_by_sqrt_dimension": "Norm / √d",
        "smallest_first": "First sample flips at",
        "median_first": "Median first flip",
        "largest_first": "Last sample flips at",
        "never_flipped": "Never flipped",
        "flip_back": "Flip back",
    }
    table = Table.of(found, columns=columns, caption="Each direction and what it takes; a dash means never")
    chart = flip_chart([point for row in found for point in _curve(row)])
    section = Section.of("One vector for all samples", chart, table, FLIP)
    return Summary(sentence=sentence, tone="holds" if record.get("flips") else "open", sections=(section,))


def flip_chart(rows: list[dict[str, object]]) -> Chart:
    """The share flipped against the norm of the vector, one staircase for each direction."""
    several = len({row["direction"] for row in rows}) > 1
    return lines(
        rows,
        x="norm",
        y="share",
        series="direction" if several else None,
        titles={"norm": "Norm of the one vector", "share": "Share of samples flipped", "direction": "Direction"},
        title="How much one vector flips",
        description="The share of samples that is flipped at once by one vector, against the norm of the vector.",
    )


def curve_rows(name: str, curve: Fields) -> list[dict[str, object]]:
    """A whole curve as the staircase it is."""
    steps = zip(curve.numbers("norm"), curve.numbers("at"), curve.numbers("after"), strict=True)
    drawn: list[dict[str, object]] = [{"norm": 0.0, "share": 0.0, "direction": name}]
    for norm, at, after in steps:
        before = drawn[-1]["share"]
        drawn += [{"norm": norm, "share": share, "direction": name} for share in (before, at, after)]
    return drawn


def _curve(row: Fields) -> list[dict[str, object]]:
    """The whole curve where the file holds it; else the shares that were printed."""
    name = str(row["direction"])
    if isinstance(row.get("curve"), dict):
        return curve_rows(name, row.object("curve"))
    shares = [(float(key.removeprefix("share_")), value) for key, value in row.items() if key.startswith("share_")]
    return [{"norm": value, "share": share, "direction": name} for share, value in sorted(shares) if value is not None]
