"""Pages that are written from statements get the signs of mathematics, as the HTML pages of the library do."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from marginflow.report.style import signs

PAGES = ("findings", "atlas", "hunts", "reference/statements/")
KEPT = (nodes.literal, nodes.literal_block, nodes.math, nodes.math_block, nodes.raw)


def replace_signs(app: Sphinx, doctree: nodes.document) -> None:
    """`sqrt(d) <= 1e-8` in a sentence becomes √(d) ≤ 10⁻⁸; code, formulas and addresses keep their letters."""
    if not app.env.docname.startswith(PAGES):
        return
    for text in list(doctree.findall(nodes.Text)):
        if not isinstance(text.parent, KEPT):
            text.parent.replace(text, nodes.Text(signs(str(text))))


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-read", replace_signs)
    return {"parallel_read_safe": True}
