"""Formulas: LaTeX in, MathML out, which browsers draw without a script."""

from dataclasses import dataclass
from functools import cache

from marginflow.display import Brief


@dataclass(frozen=True, kw_only=True)
class Formula(Brief):
    """A formula in LaTeX and what it says in words."""

    latex: str
    meaning: str


@cache
def mathml(latex: str) -> str:
    """A LaTeX formula as MathML.

    Examples
    --------
    >>> from marginflow.report.formula import mathml
    >>> mathml("a < b").startswith("<math")
    True
    """
    from latex2mathml.converter import convert

    return str(convert(latex))
