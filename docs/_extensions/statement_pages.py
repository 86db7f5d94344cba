"""A page for every statement, written from the registry before the site is read."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from marginflow import theory
from marginflow.theory.bibliography import PAPERS


def page(statement: theory.Statement) -> str:
    """The Markdown of one statement."""
    source = Path(inspect.getsourcefile(statement.judge) or "").as_posix().partition("/marginflow/")[2]
    lines = [
        f"# {statement.id}",
        "",
        f"**{statement.kind.capitalize()}**, {statement.number} of *{statement.paper.title}*.",
        "",
        statement.meaning,
        "",
        f"$$\n{statement.formula}\n$$",
        "",
    ]
    forms = statement.forms
    if forms is not None:
        for name, text in (("As printed", forms.printed), ("As proved", forms.proved), ("Sharp", forms.sharp)):
            if text:
                lines += [f"**{name}**", "", f"$$\n{text}\n$$", ""]
        if forms.remark:
            lines += [forms.remark, ""]
    lines += [f"Needs: {', '.join(statement.needs)}.", ""]
    if statement.parameters:
        lines += [f"- `{name}`: {meaning}" for name, meaning in statement.parameters.items()] + [""]
    if not statement.is_probe:
        lines += [f"Control ({statement.control_outcome}): {statement.control_shows}.", ""]
    lines += ["```sh", f"marginflow check {statement.id}", f"marginflow check {statement.id} --control", "```", ""]
    lines += [f"Source: `src/marginflow/{source}`.", ""]
    return "\n".join(lines)


def write_pages(app: Sphinx) -> None:
    """Write pages that have changed, so that a second build reads only those."""
    root = Path(app.srcdir) / "reference" / "statements"
    root.mkdir(parents=True, exist_ok=True)
    index = ["# Statements", "", "Every statement of the papers, executable.", ""]
    for key, paper in PAPERS.items():
        found = theory.statements(key)
        if not found:
            continue
        index += [f"## {key}: {paper.title}", "", "```{toctree}", ":maxdepth: 1", ""]
        for statement in found:
            name = statement.id.replace("/", "-")
            index.append(name)
            _write(root / f"{name}.md", page(statement))
        index += ["```", ""]
    _write(root / "index.md", "\n".join(index))


def _write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True}
