"""The page of what is wrong in print: `python docs/findings_page.py docs/findings.md` writes it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from marginflow.report.demo_page import gravest_first
from marginflow.storage import write_text
from marginflow.theory.dependencies import shaken
from marginflow.theory.errata import Severity
from marginflow.theory.registry import statements
from marginflow.theory.statement import Statement

SEVERITIES: Final[dict[Severity, tuple[str, str]]] = {
    "statement false": (
        "False as printed",
        "The printed statement has a counterexample. Its repair, where there is one, stands in the last column.",
    ),
    "proof gap": (
        "Proof gaps",
        "The printed conclusion is not contradicted, but a step of the printed proof fails or is missing.",
    ),
    "constant": (
        "Constants",
        "True with other constants, or with conditions that the printed constants do not meet at any feasible size.",
    ),
    "slip": ("Slips", "Misprints and small steps that a reader repairs at once; nothing rests on them."),
}
"""Title of a section and what belongs in it, the gravest first."""


_HEAD: Final = """# What was found in print

Making every statement of the four papers run with its real constants turned up mistakes. This page is written from
the statements themselves (`python docs/findings_page.py docs/findings.md`): `marginflow statements ID`
shows the printed, the proved and the sharp form, and `marginflow check ID --control` judges the instance on which a
statement must not hold, from scratch. "Refuted" there means that hypotheses and failing claim were decided in exact or
enclosed arithmetic. `marginflow check ID --gap` judges the instance on which a step of a printed proof fails, where
there is one.

The main theorems are not refuted by any of this: where a lemma falls, its repair carries the proof, or the line says
that a question is open.
"""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _in_a_sentence(chosen: tuple[Statement, ...]) -> list[str]:
    """What is false as printed, each in a sentence that can be forwarded by itself."""
    headlines = gravest_first(
        {
            statement.id: erratum.headline
            for statement in chosen
            for erratum in (statement.forms.errata if statement.forms is not None else ())
            if erratum.headline
        }
    )
    found = [f"- {headline} (`{id}`)" for id, headline in headlines.items()]
    return ["## In one sentence each", "", *found, ""] if found else []


def findings_page(chosen: tuple[Statement, ...]) -> str:
    """The page as Markdown, from the errata and the new facts of the statements."""
    lines = [_HEAD, *_in_a_sentence(chosen)]
    for severity, (title, meaning) in SEVERITIES.items():
        rows = [
            (statement, erratum)
            for statement in chosen
            for erratum in (statement.forms.errata if statement.forms is not None else ())
            if erratum.severity == severity
        ]
        if not rows:
            continue
        lines += [f"## {title}", "", meaning, "", "| id | what is wrong | shown by | instead |", "|---|---|---|---|"]
        for statement, erratum in rows:
            evidence = erratum.evidence
            if not evidence and severity == "statement false":
                evidence = f"the control: {statement.control_shows}"
            lines.append(f"| {statement.id} | {_cell(erratum.what)} | {_cell(evidence)} | {_cell(erratum.repair)} |")
        lines.append("")
    resting = {id: others for id, others in shaken().items() if id in {statement.id for statement in chosen}}
    if resting:
        lines += [
            "## What rests on it",
            "",
            "Where a lemma falls or has a gap, these statements use it in their proofs.",
            "",
        ]
        lines += ["| id | used by |", "|---|---|"]
        lines += [f"| {id} | {', '.join(others)} |" for id, others in resting.items()]
        lines.append("")
    known = [statement for statement in chosen if statement.forms is not None and statement.forms.known]
    if known:
        lines += ["## Known now, not in the papers", ""]
        lines += [f"- {statement.id}: {statement.forms.known}" for statement in known if statement.forms is not None]
        lines.append("")
    return "\n".join(lines)


def main(path: str) -> None:
    """Write the page."""
    write_text(Path(path), findings_page(statements()))


if __name__ == "__main__":
    main(*sys.argv[1:])
