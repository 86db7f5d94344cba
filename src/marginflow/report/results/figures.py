"""What a page says of a figure (the claim, what is drawn, what was found, how it was computed), and of a map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from marginflow.report.atlas_chart import atlas_chart, observed_chart
from marginflow.report.content import Chart, Table
from marginflow.report.page import Section, Tone
from marginflow.report.panels import chart_of
from marginflow.report.results.plain import row_section
from marginflow.report.results.summary import Fields, Summary

if TYPE_CHECKING:
    from marginflow.experiments.panel import Panel

FINDINGS = {
    "name": "Finding",
    "value": "Measured",
    "low": "95 % from",
    "high": "95 % to",
    "draws": "Draws",
    "claimed": "Claimed",
    "basis": "Whose bound",
    "holds": "As claimed",
    "sure": "Beyond the spread",
}


def figure(record: Fields) -> Summary:
    """A figure as `marginflow figure ID` writes it."""
    outcome = record.object("outcome")
    tones: dict[str, Tone] = {"borne out": "holds", "not borne out": "violated"}
    findings = [
        {"basis": "", "draws": None, **row, "claimed": f"{row['relation']} {row['bound']:g}"}
        for row in outcome.objects("findings")
    ]
    found = Table.of(findings, columns=FINDINGS, caption="What the claim asks for, one by one")
    sections = [
        Section.of("The claim and the picture", str(record["claim"]), *panel_charts(record)),
        Section.of("Findings", *map(str, outcome["remarks"]), found),
    ]
    if record.get("deviations"):
        sections.append(Section.of("How it was computed", str(record["deviations"])))
    return Summary(
        sentence=f"{record['id']}: {outcome['sentence']}",
        tone=tones.get(str(outcome["status"]), "open"),
        sections=(*sections, row_section(record.objects("rows"), folded=True)),
    )


def panel_charts(record: Fields) -> tuple[Chart, ...]:
    """What is drawn of a figure, where the record has it."""
    return tuple(chart_of(_panel(panel)) for panel in (record.objects("panels") if "panels" in record else []))


def _panel(record: dict[str, Any]) -> Panel:
    """The panel of a record: only what it can hold, with what is drawn as it was."""
    from marginflow.experiments.panel import Panel

    return Panel(**{name: value for name, value in record.items() if name in Panel.__dataclass_fields__})


def atlas(record: Fields) -> Summary:
    """A map as `marginflow map` writes it, with or without observations."""
    sections = [Section.of("The map", atlas_chart(record))]
    if record["observed_name"]:
        drawn = observed_chart(record)
        words = f"Observed: {record['observed_name']}. Below the dashed line the observed value is smaller."
        sections.append(Section.of(drawn.title, words, drawn))
    return Summary(sentence=str(record["sentence"]), tone="open", sections=tuple(sections))
