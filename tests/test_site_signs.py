"""Sentences of docstrings on the site: real subscripts and superscripts, and names left as they are."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("sphinx", reason="the site is built with the extra docs")
sys.path.insert(0, str(Path(__file__).parents[1] / "docs" / "_extensions"))
from real_signs import typeset


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("f_{y_i}(x) - f_t(x)", ["f", ("subscript", "y_i"), "(x) - f", ("subscript", "t"), "(x)"]),
        ("max_j |v_j|", ["max", ("subscript", "j"), " |v", ("subscript", "j"), "|"]),
        ("sum_{j = 1} a", ["Σ", ("subscript", "j = 1"), " a"]),
        ("(1 - y N)_+", ["(1 - y N)", ("subscript", "+")]),
        ("labels y^(q) in R^d", ["labels y", ("superscript", "(q)"), " in R", ("superscript", "d")]),
        ("flow_steps, DEFAULT_TOLERANCE, n_samples", ["flow_steps, DEFAULT_TOLERANCE, n_samples"]),
        ("", [""]),
    ],
)
def test_indices_stand_below_and_powers_above(written: str, read: list[object]) -> None:
    made = [node.astext() if node.tagname == "#text" else (node.tagname, node.astext()) for node in typeset(written)]
    assert made == read


def test_pages_written_by_hand_get_real_numbers_and_keep_their_code() -> None:
    from types import SimpleNamespace

    from docutils import nodes
    from real_signs import replace_signs

    page = nodes.section("", nodes.paragraph("", "to 1e-9, labels -1 and ", nodes.literal("", "--tol 1e-9")))
    replace_signs(SimpleNamespace(env=SimpleNamespace(docname="concepts/exact")), page)
    assert page.astext() == "to 10⁻⁹, labels −1 and --tol 1e-9"
