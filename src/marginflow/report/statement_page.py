"""One statement as a page: formula, forms, errata, verdicts on example and control, what it rests on, BibTeX.

What is said of a statement is put together once, in `parts`; `render_statement` makes a page of it, and the
documentation makes Markdown of the same parts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from marginflow.display import capitalised
from marginflow.report.atlas_chart import atlas_chart
from marginflow.report.bundle import style_text
from marginflow.report.content import mathml
from marginflow.report.dependency_graph import dependency_graph
from marginflow.report.page import render_template
from marginflow.report.references import references
from marginflow.report.static import inline_svg
from marginflow.report.verdicts import TONES

Record = Mapping[str, Any]

_FORMS: Final = {"printed": "As printed", "proved": "As proved", "sharp": "Sharp"}
# What one looks up after reading, at the end of a page.
_BESIDE: Final = ("Needs", "Parameters", "Of these false as printed, or with a gap", "Used by", "Check it", "Source")


@dataclass(frozen=True, kw_only=True)
class StatementPart:
    """A piece of what is said of a statement: a title and one of a formula, a sentence, a list, or lines of code."""

    title: str
    formula: str = ""
    text: str = ""
    items: tuple[str, ...] = ()
    code: str = ""


def parts(record: Record) -> tuple[StatementPart, ...]:
    """Everything that is known of a statement without judging it, in the order in which a referee asks.

    Parameters
    ----------
    record : mapping
        Of `marginflow.theory.record.page_record`.
    """
    forms, control = record["forms"] or {}, record["control_outcome"]
    found = (
        ("Formula", "formula", record["formula"]),
        *((title, "formula", forms.get(name)) for name, title in _FORMS.items()),
        ("Remark", "text", forms.get("remark")),
        ("Wrong in print", "items", tuple(map(_erratum, forms.get("errata", ())))),
        ("Known now", "text", forms.get("known")),
        ("Needs", "text", _listed(record["needs"])),
        ("Parameters", "items", tuple(f"{name}: {meaning}" for name, meaning in record["parameters"].items())),
        ("Rests on", "text", _listed(record["rests_on"])),
        ("Of these false as printed, or with a gap", "text", _listed(record["shaken_by"])),
        ("Used by", "text", _listed(record["used_by"])),
        ("Control", "text", capitalised(f"{record['control_shows']} ({control}).") if control else ""),
        ("Check it", "code", "\n".join(record["commands"])),
        ("Source", "text", f"src/{record['file']}"),
    )
    return tuple(StatementPart(title=title, **{kind: content}) for title, kind, content in found if content)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) + "." if names else ""


def _erratum(erratum: Mapping[str, str]) -> str:
    said = (erratum["severity"].capitalize() + ": ", "what"), ("Shown by: ", "evidence"), ("Instead: ", "repair")
    return ". ".join(title + erratum[name].rstrip(".") for title, name in said if erratum[name]) + "."


def bibtex(id: str) -> str:
    """The entry of the paper of the statement with this id."""
    return references([id.partition("/")[0]])[0].bibtex()


def render_statement(record: Record, *, command: str, versions: Mapping[str, str]) -> str:
    """The page as one HTML document that asks nothing of any other machine and runs no script.

    Parameters
    ----------
    record : mapping
        Of `marginflow.theory.record.page_record`, judged.
    command : str
        The command line that gives the same page again.
    versions : mapping of str
    """
    drawn = [
        (part, mathml(part.formula) if part.formula else "")
        for part in parts(record)
        if part.title not in ("Control", "Rests on")
    ]
    found = record["map"]
    chart = None if found is None else atlas_chart(found)
    on_control = f"On the control: {record['control_shows']}"
    return render_template(
        "statement.html.j2",
        statement=record,
        title=f"{record['id']}: {record['number']}",
        said=[both for both in drawn if both[0].title not in _BESIDE],
        beside=[both for both in drawn if both[0].title in _BESIDE],
        verdicts=(("On the example", record["example"]), (on_control, record["control"])),
        announced=record["announced"],
        graph=dependency_graph(record["proof"]),
        map=chart,
        sentence="" if found is None else found["sentence"],
        picture="" if chart is None else inline_svg(chart, width=420),
        map_command="" if found is None else found["command"],
        bibtex=bibtex(record["id"]),
        tones=TONES,
        style=style_text("page.css", "verdicts.css"),
        command=command,
        versions=versions,
    )
