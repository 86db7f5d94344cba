"""What a page tells of an audit, of a figure and of a sweep."""

from __future__ import annotations

from marginflow.report.charts import points
from marginflow.report.page import Section, Tone
from marginflow.report.results.certificates import certificate
from marginflow.report.results.plain import row_section
from marginflow.report.results.told import Record, Told, number_under, object_under, table_of_objects
from marginflow.report.results.verdicts import verdict_table
from marginflow.report.table import Table, shown


def audit(record: Record) -> Told:
    """An audit as `marginflow audit` writes it."""
    judged = certificate(
        {**object_under(record, "certificate"), "tolerance": record["tolerance"], "holds": record["holds"]}
    )
    flips = Table.of(
        table_of_objects(record, "flips"),
        columns={"direction": "Direction", "half": "Flips 50 %", "nine_tenths": "Flips 90 %", "all": "Flips all"},
        caption="Norm of a multiple of one vector that flips a share of the samples; a dash means never",
    )
    universal = object_under(record, "universal")
    between = (
        f"The shortest vector found that flips all has norm {shown(universal['upper'])}; none shorter than "
        f"{shown(universal['lower'])} does."
    )
    found = table_of_objects(record, "radii")
    titles = {"sample": "Sample", "upper": "Distance (upper bound)", "lower": "Lower bound", "status": "Status"}
    radii = points(
        found,
        x="sample",
        y="upper",
        series="status",
        titles=titles,
        title="Exact distance to the decision boundary",
        description="The distance of every sample that was asked for; where it is proved, both bounds agree.",
    )
    good = bool(record["holds"]) and not record["contradicted"]
    return Told(
        sentence=str(record["verdict"]),
        tone="holds" if good else "violated",
        sections=(
            *judged.sections,
            Section(heading="One vector for all samples", paragraphs=(between,), content=(flips,)),
            Section(heading="Exact radii", content=(radii,)),
            Section(
                heading="Statements of the papers", content=(verdict_table(table_of_objects(record, "statements")),)
            ),
        ),
    )


def figure(record: Record) -> Told:
    """A figure as `marginflow figure ID` writes it."""
    outcome = object_under(record, "outcome")
    tones: dict[str, Tone] = {"borne out": "holds", "not borne out": "violated"}
    findings = table_of_objects(outcome, "findings")
    told = Table.of(
        findings, columns={name: name for row in findings[:1] for name in row}, caption="What was found, with intervals"
    )
    claim = Section(
        heading=f"{record['id']}: {record['title']}",
        paragraphs=(f"The claim: {record['claim']}", *map(str, outcome["remarks"])),
        content=(told,) if findings else (),
    )
    return Told(
        sentence=f"{record['id']}: {outcome['sentence']}",
        tone=tones.get(str(outcome["status"]), "open"),
        sections=(claim, row_section(table_of_objects(record, "rows"), folded=True)),
    )


def sweep(record: Record) -> Told:
    """A sweep as `marginflow sweep --json` writes it."""
    missing, failed = number_under(record, "missing"), number_under(record, "failed")
    sentence = (
        f"The sweep {record['name']} has {shown(record['done'])} of {shown(record['cells'])} cells; "
        f"{shown(int(failed))} failed, {shown(int(missing))} are missing."
    )
    tone: Tone = "holds" if not missing and not failed else "open"
    return Told(sentence=sentence, tone=tone, sections=(row_section(table_of_objects(record, "rows")),))
