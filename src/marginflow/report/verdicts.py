"""The page of all statements: one row each, the formula as MathML, the observed number beside its bound as a bar."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from marginflow.report.bundle import style_text
from marginflow.report.content import mathml
from marginflow.report.page import render_template
from marginflow.theory.bibliography import PAPERS
from marginflow.theory.outcomes import OUTCOMES

Record = dict[str, Any]

# How an outcome is marked; a statement that does not apply is neither good nor bad.
TONES: Final = {
    "holds": "holds",
    "violated": "violated",
    "not applicable": "none",
    "vacuous": "open",
    "undecided": "open",
    "constants unspecified": "open",
    "proof step fails": "open",
    "refuted": "violated",
    "measured": "none",
}


@dataclass(frozen=True, kw_only=True)
class Counts:
    """Counts by paper: a heading for each column, and a name with its numbers for each row."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[int, ...]], ...]


def count_outcomes(judged: Sequence[Record]) -> Counts:
    """How many statements of each paper are in the catalogue, added to it, implemented, and have which outcome."""
    more = any(row["added"] for row in judged)
    rows = []
    for key in PAPERS:
        own = [row for row in judged if row["id"].startswith(f"{key}/")]
        if not own:
            continue
        outcomes = Counter(row["example"]["outcome"] for row in own if row["example"] is not None)
        sound = sum(row["sound"] for row in own)
        done = sum(row["implemented"] for row in own)
        added = sum(row["added"] for row in own)
        listed = (len(own) - added, added) if more else (len(own),)
        rows.append((key, (*listed, done, *(outcomes[outcome] for outcome in OUTCOMES), sound)))
    columns = ("in the catalogue", *(("added",) if more else ()), "implemented", *OUTCOMES, "sound")
    return Counts(columns=columns, rows=tuple(rows))


def render_verdicts(
    judged: Sequence[Record], *, verdict: str, holds: bool, command: str, versions: Mapping[str, str]
) -> str:
    """The page as one HTML document that asks nothing of any other machine and runs no script.

    Parameters
    ----------
    judged : sequence of records
        `Covered.record` of each id, judged on example and control; those without a statement are only counted.
    verdict : str
        The outcome in one sentence.
    holds : bool
        How the verdict is marked.
    command : str
        The command line that gives the same page again.
    versions : mapping of str
    """
    papers = []
    for key, paper in PAPERS.items():
        rows = [_row(row) for row in judged if row["id"].startswith(f"{key}/") and row["example"] is not None]
        if rows:
            papers.append((str(paper), rows))
    return render_template(
        "verdicts.html.j2",
        title="The statements of the papers, checked",
        verdict=verdict,
        tone="holds" if holds else "violated",
        tones=TONES,
        style=style_text("page.css", "verdicts.css"),
        summary=count_outcomes(judged),
        papers=papers,
        command=command,
        versions=versions,
    )


def _row(record: Record) -> Record:
    """The record with its formulas as MathML."""
    forms = record["forms"] or {}
    written = [(name, forms[name]) for name in ("printed", "proved", "sharp") if forms.get(name)]
    return {
        **record,
        "formula": mathml(record["formula"]),
        "forms": [(name, mathml(latex)) for name, latex in written],
        "remark": forms.get("remark", ""),
    }
