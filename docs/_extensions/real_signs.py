"""Pages written from statements and from docstrings get the signs of mathematics, as the library's HTML pages do."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from marginflow.report.style import signs

PAGES = ("findings", "measurements/atlas", "measurements/hunts", "reference/statements/")
DOCSTRINGS = "reference/api/"
KEPT = (nodes.literal, nodes.literal_block, nodes.math, nodes.math_block, nodes.raw)


def replace_signs(app: Sphinx, doctree: nodes.document) -> None:
    """`sqrt(d) <= 1e-8` in a sentence becomes √(d) ≤ 10⁻⁸; code, formulas and addresses keep their letters.

    In docstrings only sentences are changed: a parameter called sigma keeps its name.
    """
    page = app.env.docname
    if not page.startswith((*PAGES, DOCSTRINGS)):
        return
    for text in list(doctree.findall(nodes.Text)):
        sentence = isinstance(text.parent, nodes.paragraph)
        if sentence if page.startswith(DOCSTRINGS) else not isinstance(text.parent, KEPT):
            text.parent.replace(text, nodes.Text(signs(str(text))))


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-read", replace_signs)
    return {"parallel_read_safe": True}
