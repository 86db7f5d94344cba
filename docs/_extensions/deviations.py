"""The section "Deviations" of a docstring, where code leaves the paper, becomes notes, which numpydoc knows."""

from __future__ import annotations

import warnings
from typing import Any

from sphinx.application import Sphinx


def sections(lines: list[str]) -> list[list[str]]:
    """The lines cut before every underlined title."""
    starts = [n for n in range(len(lines) - 1) if lines[n].strip() and set(lines[n + 1].strip()) == {"-"}]
    return [lines[a:b] for a, b in zip([0, *starts], [*starts, len(lines)], strict=True)]


def into_notes(app: object, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """Move deviations to the end of the notes, or make notes of them."""
    found = {part[0].strip() if part else "": part for part in sections(lines)}
    deviations = found.pop("Deviations", None)
    if deviations is not None:
        notes = found.setdefault("Notes", ["", "Notes", "-----"])
        notes += ["", "**Deviations from the paper.**", "", *deviations[2:], ""]
        lines[:] = [line for part in found.values() for line in part]


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("autodoc-process-docstring", into_notes, priority=100)  # before numpydoc reads it
    # For the signature numpydoc reads the docstring itself, where the section has its own name.
    warnings.filterwarnings("ignore", message="Unknown section Deviations")
    return {"parallel_read_safe": True}
