"""One statement as a page: formula, forms, errata, verdicts on example and control, what it rests on, BibTeX.

What is said of a statement is put together once, in `parts`; `render_statement` makes a page of it, and the
documentation makes Markdown of the same parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from typing import Final

from marginflow.report.bundle import style_text, template_text
from marginflow.report.formula import mathml
from marginflow.report.page import environment
from marginflow.report.references import references
from marginflow.report.verdicts import TONES
from marginflow.theory import Statement, Verdict, dependencies

_WIDTH: Final = 150
_HEIGHT: Final = 30


@dataclass(frozen=True, kw_only=True)
class Part:
    """A piece of what is said of a statement: a title and one of a formula, a sentence, a list, or lines of code."""

    title: str
    formula: str = ""
    text: str = ""
    items: tuple[str, ...] = ()
    code: str = ""


def parts(statement: Statement) -> tuple[Part, ...]:
    """Everything that is known of a statement without judging it, in the order in which a referee asks."""
    forms = statement.forms
    found = [Part(title="Formula", formula=statement.formula)]
    if forms is not None:
        written = (("As printed", forms.printed), ("As proved", forms.proved), ("Sharp", forms.sharp))
        found += [Part(title=title, formula=latex) for title, latex in written if latex]
        found += [Part(title="Remark", text=forms.remark)] if forms.remark else []
        wrong = tuple(
            ". ".join(
                filter(
                    None,
                    (
                        f"{erratum.severity.capitalize()}: {erratum.what.rstrip('.')}",
                        f"Shown by: {erratum.evidence.rstrip('.')}" if erratum.evidence else "",
                        f"Instead: {erratum.repair.rstrip('.')}" if erratum.repair else "",
                    ),
                )
            )
            + "."
            for erratum in forms.errata
        )
        found += [Part(title="Wrong in print", items=wrong)] if wrong else []
        found += [Part(title="Known now", text=forms.known)] if forms.known else []
    found.append(Part(title="Needs", text=", ".join(statement.needs) + "."))
    if statement.parameters:
        found.append(
            Part(
                title="Parameters", items=tuple(f"{name}: {meaning}" for name, meaning in statement.parameters.items())
            )
        )
    for title, others in (
        ("Rests on", dependencies.rests_on(statement.id)),
        ("Of these false as printed, or with a gap", dependencies.shaken_by(statement.id)),
        ("Used by", dependencies.used_by(statement.id)),
    ):
        found += [Part(title=title, text=", ".join(others) + ".")] if others else []
    if not statement.is_probe:
        found.append(
            Part(title="Control", text=f"{statement.control_shows} ({statement.control_outcome}).".capitalize())
        )
    found.append(
        Part(title="Check it", code=f"marginflow check {statement.id}\nmarginflow check {statement.id} --control")
    )
    found.append(Part(title="Source", text=f"src/{statement.file}"))
    return tuple(found)


def bibtex(statement: Statement) -> str:
    """The entry of the statement's paper."""
    return references([statement.paper.key])[0].bibtex()


def dependency_graph(id: str) -> str:
    """What a statement rests on as an SVG: what stands right is used by what stands left; shaken ones are red.

    Empty where nothing is known of the proof.
    """
    proofs = dependencies.direct()
    nodes = (id, *dependencies.rests_on(id))
    if len(nodes) == 1:
        return ""
    children = {node: [other for other in proofs.get(node, ()) if other in nodes] for node in nodes}
    users = {node: [other for other in nodes if node in children[other]] for node in nodes}

    @cache
    def depth(node: str) -> int:
        return max((depth(user) + 1 for user in users[node]), default=0)

    columns: dict[int, list[str]] = {}
    for node in nodes:
        columns.setdefault(depth(node), []).append(node)
    rows = max(len(column) for column in columns.values())
    where = {
        node: (
            number * (_WIDTH + 60),
            (index + 0.5) * rows / len(column) * (_HEIGHT + 14),
        )
        for number, column in columns.items()
        for index, node in enumerate(column)
    }
    lines = [
        f'<path d="M{where[node][0] + _WIDTH:.0f},{where[node][1]:.0f} L{where[other][0]:.0f},{where[other][1]:.0f}" '
        'stroke="currentColor" stroke-opacity="0.4" fill="none"/>'
        for node in nodes
        for other in children[node]
    ]
    for node in nodes:
        x, y = where[node]
        colour = "#c0392b" if dependencies.is_shaken(node) else "currentColor"
        lines.append(
            f'<rect x="{x + 1:.0f}" y="{y - _HEIGHT / 2:.0f}" width="{_WIDTH - 2}" height="{_HEIGHT}" rx="6" '
            f'fill="none" stroke="{colour}"/><text x="{x + _WIDTH / 2:.0f}" y="{y + 4:.0f}" fill="{colour}" '
            f'text-anchor="middle" font-size="12">{escape(node)}</text>'
        )
    width, height = len(columns) * (_WIDTH + 60) - 60, rows * (_HEIGHT + 14)
    names = ", ".join(nodes[1:])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(id)} rests on {escape(names)}" '
        f'viewBox="0 0 {width} {height}" width="{width}" height="{height}">{"".join(lines)}</svg>'
    )


def render_statement(
    statement: Statement, example: Verdict, control: Verdict, *, command: str, versions: Mapping[str, str]
) -> str:
    """The page as one HTML document that asks nothing of any other machine and runs no script.

    Parameters
    ----------
    statement : Statement
    example, control : Verdict
        On the built-in instances.
    command : str
        The command line that gives the same page again.
    versions : mapping of str
    """
    shown = [
        (part, mathml(part.formula) if part.formula else "")
        for part in parts(statement)
        if part.title not in ("Control", "Rests on")
    ]
    return (
        environment()
        .from_string(template_text("statement.html.j2"))
        .render(
            statement=statement,
            title=f"{statement.id}: {statement.number}",
            parts=shown,
            verdicts=(("On the example", example), (f"On the control: {statement.control_shows}", control)),
            announced=statement.announces(control.outcome),
            graph=dependency_graph(statement.id),
            bibtex=bibtex(statement),
            tones=TONES,
            style=style_text("page.css", "verdicts.css"),
            command=command,
            versions=versions,
        )
    )
