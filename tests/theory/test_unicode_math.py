"""Formulas in the terminal: no backslash is left, brackets keep the meaning."""

from __future__ import annotations

import pytest

from marginflow import theory
from marginflow.theory.unicode_math import readable


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"\|z\| \le \frac{18 \sqrt{2}}{c} \sqrt{\frac{d}{m}}", "‖z‖ ≤ 18 √2/c √(d/m)"),
        (r"\frac{a + b}{c d}", "(a + b)/(c d)"),
        (r"x_i^2 + e^{-q}", "xᵢ² + e^(-q)"),
        (r"\sqrt{2d}", "√(2d)"),
        (r"\left(\frac{1}{2}\right)^n", "(1/2)ⁿ"),
        (r"\text{for all } i \in I^+", "for all i ∈ I⁺"),
    ],
)
def test_formulas_read_as_they_are_spoken(latex: str, text: str) -> None:
    assert readable(latex) == text


def test_every_formula_of_the_papers_is_readable() -> None:
    for statement in theory.statements():
        forms = statement.forms
        for latex in (statement.formula, *((forms.printed, forms.proved, forms.sharp) if forms is not None else ())):
            text = readable(latex)
            assert "\\" not in text, (statement.id, text)
            assert text.count("(") == text.count(")") or latex.count("(") != latex.count(")"), (statement.id, text)
