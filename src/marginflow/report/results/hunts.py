"""What a page tells of a hunt for a counterexample: the outcome, the worst instance, and how hard it was looked for."""

from __future__ import annotations

from marginflow.experiments.panel import Panel
from marginflow.report.chart import Chart
from marginflow.report.charts import lines
from marginflow.report.page import Section
from marginflow.report.panels import chart_of
from marginflow.report.results.summary import Record, Summary, numbers_under, object_under, table_of_objects
from marginflow.report.table import Table

FACTS = {
    "outcome": "Outcome",
    "slack": "Least relative slack of a claim",
    "worst": "Worst instance",
    "reason": "What decides",
    "proof": "Proof",
    "family": "What was searched",
    "tries": "Instances tried",
    "applied": "of which met the hypotheses",
    "telling": "of which on so many a claim said something",
    "seconds": "Seconds",
}


def hunt(record: Record) -> Summary:
    """A hunt as `marginflow hunt` writes it."""
    outcome = str(record["outcome"])
    rows = tuple((heading, record[name]) for name, heading in FACTS.items() if record[name] not in (None, ""))
    content: list[Table | Chart] = [Table(columns=("What", "Found"), rows=rows, caption="The hunt")]
    sections = [Section(heading=f"Hunt for {record['id']}", content=tuple(content))]
    if record.get("picture"):
        sections.append(Section(heading="The worst instance", content=_on_the_line(object_under(record, "picture"))))
    history = table_of_objects(record, "history")
    if len(history) > 1:
        chart = lines(
            history,
            x="number",
            y="slack",
            titles={"number": "Try", "slack": "Least slack so far"},
            title="How the search went",
            description="The least relative slack of a claim after each improvement; negative means broken.",
        )
        sections.append(Section(heading="The search", content=(chart,)))
    tone = "holds" if outcome == "not refuted" else "open" if outcome == "does not bite" else "violated"
    return Summary(sentence=f"{record['id']}: {outcome}. {record['meaning']}.", tone=tone, sections=tuple(sections))  # type: ignore[arg-type]


def _on_the_line(picture: Record) -> tuple[Chart, ...]:
    """The curve of N with its kinks, the samples by label, and the margins."""
    x, N = numbers_under(picture, "x"), numbers_under(picture, "N")
    height = dict(zip(x, N, strict=True))
    samples = [
        {"x": point, "y": height[point], "kind": "label +1" if label > 0 else "label -1"}
        for point, label in zip(numbers_under(picture, "samples"), numbers_under(picture, "labels"), strict=True)
    ]
    panel = Panel(
        rows=[{"x": point, "y": value} for point, value in zip(x, N, strict=True)],
        x="x",
        y="y",
        points=samples,
        references={name: [(x[0], level), (x[-1], level)] for name, level in (("1", 1.0), ("0", 0.0), ("-1", -1.0))},
        titles={"x": "x", "y": "N(x)", "kind": "Sample"},
        title="The worst instance",
        description="N between and around the samples, and the samples themselves.",
        marks=False,
    )
    return (chart_of(panel),)
