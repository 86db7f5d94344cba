"""What a page tells of a hunt for a counterexample: the outcome, the worst instance, and how hard it was looked for."""

from __future__ import annotations

from marginflow.display import capitalised
from marginflow.experiments.panel import Panel
from marginflow.report.charts import lines, stairs
from marginflow.report.content import Chart, Table, text_of
from marginflow.report.encodings import inline
from marginflow.report.page import Section, Tone
from marginflow.report.panels import chart_of
from marginflow.report.results.summary import Fields, Summary
from marginflow.report.vega import alt

FACTS = {
    "slack": "Least relative distance of a claim from its bound; below 0 it is broken",
    "claim": "Claim that came so near",
    "worst": "Worst instance",
    "reason": "What decides",
    "proof": "Proof",
    "family": "What was searched",
    "tries": "Instances tried",
    "applied": "of which met the hypotheses",
    "telling": "about which a claim said something",
    "seconds": "Seconds",
}


def hunt(record: Fields) -> Summary:
    """A hunt as `marginflow hunt` writes it."""
    outcome = str(record["outcome"])
    rows = tuple((heading, record[name]) for name, heading in FACTS.items() if record.get(name) not in (None, ""))
    sections = []
    if record.get("picture"):
        sections.append(Section.of("The worst instance", instance_chart(record.object("picture"))))
    table = Table(columns=("What", "Found"), rows=rows, caption=f"The hunt for {record['id']}")
    sections.append(Section.of("What was searched, and what was found", table))
    beside = record.objects("beside")
    if beside:
        columns = {"id": "Statement", "slack": "Nearest to its bound", "applied": "Instances that met its hypotheses"}
        ordered = sorted(beside, key=lambda row: row.number("slack"))
        seen = Table.of(ordered, columns=columns, caption="On the same instances")
        sections.append(Section.of("Other statements of the family", seen))
    history = record.objects("history")
    if len(history) > 1:
        steps = [(row.number("number"), row.number("slack")) for row in history]
        chart = lines(
            [{"number": number, "slack": slack} for number, slack in stairs(steps)],
            x="number",
            y="slack",
            titles={"number": "Instances tried", "slack": "Nearest to the bound so far"},
            title="How the search went",
            description="How near a claim came to its bound, relative to the larger side; below 0 it is broken.",
        )
        sections.append(Section.of("The search", chart))
    tone: Tone = "holds" if outcome == "not refuted" else "open" if outcome == "does not bite" else "violated"
    sentence = f"{record['id']}: {outcome}. {capitalised(record['meaning'])}."
    return Summary(sentence=sentence, tone=tone, sections=tuple(sections))


def instance_chart(picture: Fields) -> Chart:
    """The worst instance of a hunt: N on the line or on the circle, angles of samples, or a bound along a number."""
    return _PICTURES[str(picture["kind"])](picture)


def _around_the_circle(picture: Fields) -> Chart:
    rows = [
        {"angle": angle, "N": value}
        for angle, value in zip(picture.numbers("angle"), picture.numbers("N"), strict=True)
    ]
    return lines(
        rows,
        x="angle",
        y="N",
        titles={"angle": "Angle of x, degrees", "N": "N(x)"},
        title="The worst instance",
        description="N at the points of the unit circle.",
    )


def _angles(picture: Fields) -> Chart:
    cosines, labels = picture["cosines"], picture.numbers("labels")
    rows = [
        {"i": i, "k": k, "cosine": value, "labels": "the same" if labels[i] == labels[k] else "different"}
        for i, row in enumerate(cosines)
        for k, value in enumerate(row)
    ]
    words = f"Cosines of the angles between the first {len(labels)} of {text_of(picture['samples'])} samples."
    drawn = (
        alt.Chart(inline(rows))
        .mark_rect()
        .encode(
            x=alt.X("i:O", title="Sample", axis=alt.Axis(labels=False, ticks=False)),
            y=alt.Y("k:O", title="Sample", axis=alt.Axis(labels=False, ticks=False)),
            color=alt.Color("cosine:Q", title="Cosine", scale=alt.Scale(scheme="redblue", domain=[-1, 1])),
            tooltip=["i:O", "k:O", "cosine:Q", "labels:N"],
        )
    )
    pairs = [row for row in rows if row["i"] < row["k"]][:_TABLE_ROWS]
    titles = {"i": "Sample", "k": "Sample", "cosine": "Cosine", "labels": "Labels"}
    return Chart.of(drawn, pairs, titles, "The worst instance", words, 260, caption="The first pairs")


def _section(picture: Fields) -> Chart:
    name = str(picture["name"])
    rows = [
        {name: value, "side": side, "value": number}
        for side in ("observed", "bound")
        for value, number in zip(picture.numbers("value"), picture.numbers(side), strict=True)
    ]
    return lines(
        rows,
        x=name,
        y="value",
        series="side",
        titles={name: name, "value": str(picture["claim"]), "side": ""},
        title="The worst instance",
        description=f"Both sides of the claim as {name} varies; the worst instance is at {picture['worst']:g}.",
        x_scale="log" if min(picture.numbers("value")) > 0 else "linear",
    )


def _on_the_line(picture: Fields) -> Chart:
    """The curve of N with its kinks, the samples by label, and the margins."""
    x, N = picture.numbers("x"), picture.numbers("N")
    height = dict(zip(x, N, strict=True))
    samples = [
        {"x": point, "y": height[point], "kind": "label +1" if label > 0 else "label -1"}
        for point, label in zip(picture.numbers("samples"), picture.numbers("labels"), strict=True)
    ]
    panel = Panel(
        rows=[{"x": point, "y": value} for point, value in zip(x, N, strict=True)],
        x="x",
        y="y",
        points=samples,
        references={name: [(x[0], level), (x[-1], level)] for name, level in (("margin +1", 1.0), ("margin -1", -1.0))},
        titles={"x": "x", "y": "N(x)", "kind": "Sample"},
        title="The worst instance",
        description="N between and around the samples, and the samples themselves.",
        marks=False,
    )
    return chart_of(panel)


_TABLE_ROWS = 200
_PICTURES = {"line": _on_the_line, "circle": _around_the_circle, "angles": _angles, "section": _section}
