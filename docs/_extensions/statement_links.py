"""Wherever a page names a statement and nothing else, in code or in a cell of a table, the name leads to its page."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from marginflow import theory


def link(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put a reference around every such name that is not inside one already."""
    ids = {statement.id for statement in theory.statements()}
    for text in [found for found in doctree.findall(nodes.Text) if found.astext() in ids]:
        around = text.parent if isinstance(text.parent, nodes.literal) else text
        inside_link = isinstance(around.parent, nodes.reference)
        alone = isinstance(text.parent, nodes.literal) or isinstance(text.parent.parent, nodes.entry)
        page = f"reference/statements/{text.astext().replace('/', '-')}"
        if inside_link or not alone or page == docname:
            continue
        reference = nodes.reference("", "", internal=True, refuri=app.builder.get_relative_uri(docname, page))
        around.parent.replace(around, reference)
        reference += around


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-resolved", link)
    return {"parallel_read_safe": True}
