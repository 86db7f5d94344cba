"""Pictures of the site follow its mode: every SVG in the light colours of the library gets their dark twins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from marginflow.report.modes import follow_reader


def darken(app: Sphinx, exception: Exception | None) -> None:
    """Pictures of pages, not those that can be downloaded."""
    if exception is None and app.builder.format == "html":
        for path in (Path(app.outdir) / "_images").glob("*.svg"):
            text = path.read_text(encoding="utf-8")
            if "prefers-color-scheme" not in text:
                path.write_text(follow_reader(text), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("build-finished", darken)
    return {"parallel_read_safe": True}
