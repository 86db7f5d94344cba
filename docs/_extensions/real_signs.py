"""Pages written from statements and from docstrings get the signs of mathematics, as the library's HTML pages do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from marginflow.report.style import raised, signs

PAGES = ("findings", "measurements/atlas", "measurements/hunts", "reference/statements/")
DOCSTRINGS = ("reference/api/", "reference/python")
KEPT = (nodes.literal, nodes.literal_block, nodes.math, nodes.math_block, nodes.raw)
RAISED_OR_LOWERED = re.compile(
    r"(?:(?<![A-Za-z_])(?P<base>max|min|sum|sup|inf|argmax|argmin|[A-Za-zα-ωΓΔΣ])|(?<=[)‖|]))_"
    r"(?:\{(?P<group>[^{}]+)\}|(?P<index>[A-Za-z]{1,2}(?!\w)|[+-](?![\w(])))"
    r"|(?<=[A-Za-zα-ω)\]‖|])\^(?:\{(?P<powers>[^{}]+)\}|(?P<power>\([a-z]\)|[A-Za-z*](?!\w)))"
)


def replace_signs(app: Sphinx, doctree: nodes.document) -> None:
    """`sqrt(d) <= 1e-8` in a sentence becomes √d ≤ 10⁻⁸; code, formulas and addresses keep their letters.

    On pages written by hand only numbers get theirs: 1e-8, -1. In docstrings only sentences are changed: a parameter
    called sigma keeps its name, also in a signature.
    """
    page = app.env.docname
    if not page.startswith((*PAGES, *DOCSTRINGS)):
        for text in list(doctree.findall(nodes.Text)):
            if not isinstance(text.parent, (*KEPT, nodes.title)) and raised(text.astext()) != text.astext():
                text.parent.replace(text, nodes.Text(raised(text.astext())))
        return
    for text in list(doctree.findall(nodes.Text)):
        sentence = isinstance(text.parent, nodes.paragraph) and not is_signature(text.parent)
        if sentence:
            text.parent.replace(text, list(typeset(signs(text.astext()))))
        elif not page.startswith(DOCSTRINGS) and not isinstance(text.parent, KEPT):
            text.parent.replace(text, nodes.Text(signs(text.astext())))


def is_signature(paragraph: nodes.paragraph) -> bool:
    """Whether this is the left column of a table of functions: a link to one, and its arguments."""
    entry = paragraph.parent
    return (
        isinstance(entry, nodes.entry) and entry.parent.index(entry) == 0 and not isinstance(paragraph[0], nodes.Text)
    )


def typeset(text: str) -> Iterator[nodes.Node]:
    """A sentence with real subscripts and superscripts: f_{y_i}, max_j, e_q, y^(q), R^d."""
    end = 0
    for found in RAISED_OR_LOWERED.finditer(text):
        before = text[end : found.start()] + ("Σ" if found["base"] == "sum" else found["base"] or "")
        if before:
            yield nodes.Text(before)
        lowered = found["group"] or found["index"]
        if lowered:
            yield nodes.subscript(lowered, lowered.replace("-", "−"))
        else:
            above = found["powers"] or found["power"]
            yield nodes.superscript(above, above.replace("-", "−"))
        end = found.end()
    if text[end:] or not end:
        yield nodes.Text(text[end:])


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-read", replace_signs)
    return {"parallel_read_safe": True}
