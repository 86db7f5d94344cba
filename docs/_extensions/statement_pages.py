"""A page for every statement, written from the registry before the site is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from marginflow import theory
from marginflow.report.atlas_chart import atlas_chart
from marginflow.report.dependency_graph import dependency_graph
from marginflow.report.statement_page import StatementPart, bibtex, parts
from marginflow.report.static import svg_text
from marginflow.theory.bibliography import PAPERS
from marginflow.theory.record import page_record

# Verdicts on every example and control, by benchmarks/examples.py; a test compares their outcomes.
JUDGED = json.loads((Path(__file__).resolve().parents[1] / "examples.json").read_text(encoding="utf-8"))


def page(statement: theory.Statement, folder: Path) -> str:
    """The Markdown of one statement, of the same parts as `marginflow statements ID --html`."""
    lines = [
        f"# {statement.id}",
        "",
        *_found_by(statement),
        f"**{_named(statement)}** of *{statement.paper.title}*.",
        "",
        statement.meaning,
        "",
    ]
    record = page_record(statement, judge=False)
    for part in parts(record):
        if part.title == "Check it":
            lines += _judged(statement)
        if part.title == "Control":
            continue
        lines += [f"**{part.title}**", ""]
        if part.formula:
            lines += [f"$$\n{part.formula}\n$$", ""]
        if part.text:
            lines += [_linked(part), ""]
        lines += [f"- {item}" for item in part.items] + [""]
        if part.title == "Rests on":
            lines += _graph(record["proof"])
        if part.code:
            lines += ["```sh", part.code, "```", ""]
    if (atlas := record["map"]) is not None:
        picture = f"{statement.id.replace('/', '-')}-map.svg"
        chart = atlas_chart(atlas)
        _write(folder / picture, svg_text(chart, width="page"))
        lines += ["**Where it says something**", "", f"{atlas['sentence']} {chart.description}", ""]
        lines += [f"![{chart.title}]({picture})", "", "```sh", atlas["command"], "```", ""]
    return "\n".join([*lines, "```bibtex", bibtex(statement.id), "```", ""])


def _named(statement: theory.Statement) -> str:
    """Its number, with its kind before it where the number does not say it."""
    kind = statement.kind.capitalize()
    return statement.number if statement.number.startswith(kind) else f"{kind}, {statement.number}"


def _found_by(statement: theory.Statement) -> list[str]:
    """Its number in the index, in both orders, where the search looks too: readers know Lemma C.4, not VYS22/LemC.4."""
    named, paper = _named(statement).replace(";", ","), statement.paper.key
    lines: list[str] = []
    for entry in (f"{named} of {paper}", f"{paper} {named}"):
        lines += [f"```{{index}} ! single: {entry}", "```", ""]
    return lines


def _row(statement: theory.Statement, name: str) -> str:
    """Its line in the table of its paper."""
    return f"| [{statement.id}]({name}.md) | {_plain(_named(statement))} | {_plain(statement.meaning)} |"


def _judged(statement: theory.Statement) -> list[str]:
    """What became of the example, which holds, and of the control, which must not."""
    if statement.id not in JUDGED:
        return [f"Example and control are judged by `marginflow check {statement.id}`, and with `--control`.", ""]
    lines = []
    for name in ("example", "control"):
        found = JUDGED[statement.id][name]
        lines += [f"**{name.capitalize()}: {found['outcome']}**", ""]
        shows = statement.control_shows if name == "control" else ""
        said = [f"On {found['instance']}" + (f" ({shows})" if shows else ""), found["reason"]]
        lines += [_plain(": ".join(filter(None, said))) + ".", ""]
    return lines


def _plain(text: str) -> str:
    """A sentence of a verdict as Markdown that marks nothing: `*`, `_`, `<`, `|` and `$` stand for themselves."""
    return "".join(f"\\{letter}" if letter in "\\*_<>|$#[]~" else letter for letter in text)


def _graph(proof: dict[str, Any]) -> list[str]:
    """What it rests on as a picture in the colours of the site, which scrolls where it is wide."""
    drawn = dependency_graph(proof, lambda node: node.replace("/", "-") + ".html")
    drawn = drawn.replace("var(--bad)", "var(--pst-color-danger)")
    return ["```{raw} html", f'<div style="overflow-x: auto">{drawn}</div>', "```", ""] if drawn else []


def _linked(part: StatementPart) -> str:
    """The sentence of a part; names of other statements lead to their pages, a file keeps its letters."""
    if part.title == "Source":
        return f"`{part.text}`"
    if part.title not in ("Rests on", "Of these false as printed, or with a gap", "Used by"):
        return part.text
    names = part.text.removesuffix(".").split(", ")
    return ", ".join(f"[{name}]({name.replace('/', '-')}.md)" for name in names) + "."


def write_pages(app: Sphinx) -> None:
    """Write pages that have changed, so that a second build reads only those."""
    root = Path(app.srcdir) / "reference" / "statements"
    root.mkdir(parents=True, exist_ok=True)
    index = ["# Statements", "", "Every statement of the papers, executable; the search finds them by number too.", ""]
    for key, paper in PAPERS.items():
        found = theory.statements(key)
        if not found:
            continue
        names = [statement.id.replace("/", "-") for statement in found]
        index += [f"## {key}: {paper.title}", "", '<div class="statements">', ""]
        index += ["| id | in print | what it says |", "|---|---|---|"]
        index += [_row(statement, name) for statement, name in zip(found, names, strict=True)]
        index += ["", "</div>", "", "```{toctree}", ":hidden:", "", *names, "```", ""]
        for statement, name in zip(found, names, strict=True):
            _write(root / f"{name}.md", page(statement, root))
    _write(root / "index.md", "\n".join(index))


def _write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True}
