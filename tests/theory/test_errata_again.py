"""Errata of VYS22 and FVBS23 derived again, without the statements: fractions, decimals and exact tails."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from scipy import special

from marginflow import theory


def errata(id: str) -> str:
    forms = theory.statement(id).forms
    assert forms is not None
    return " ".join(f"{erratum.what} {erratum.evidence} {erratum.repair}" for erratum in forms.errata)


def test_random_samples_are_too_many_for_theorem_4_1_at_the_square_root_of_the_dimension() -> None:
    """31 samples in dimension 1000 need p < 9.8; thirty products with one sample are hardly ever so small."""
    d, m = 1000, 31
    largest = Fraction(d + 1, 3 * m) - 1
    assert largest < 10
    # <x, x'>/d of two samples on the sphere of radius sqrt(d) is a coordinate of the unit sphere: its square is Beta.
    inside = special.betainc(0.5, (d - 1) / 2, (float(largest) / d) ** 2)
    assert inside ** (m - 1) < 1e-15
    # Some pair of the 465 is above 60 with probability above one half already for the 30 products with one sample.
    above = 1 - special.betainc(0.5, (d - 1) / 2, (60 / d) ** 2)
    assert 1 - (1 - above) ** (m - 1) > 0.5
    assert (d + 1) / (3 * (60 + 1)) < 6
    assert "allows about 3" in errata("VYS22/A.msize")


def test_gamma_is_not_monotone_where_lemma_3_1_uses_it() -> None:
    """Gamma(1)^2 < Gamma(1/2)^2 = pi at d = 3, Gamma(3/2)^2 = pi/4 < Gamma(1)^2 at d = 4; from d = 5 on it is true."""
    pi_low, pi_high = Fraction(314159265, 10**8), Fraction(314159266, 10**8)
    assert 1 < pi_low
    assert pi_high / 4 < 1
    for d in range(5, 400):
        assert math.lgamma((d - 1) / 2) >= math.lgamma(d / 2 - 1)
    assert "false for d = 3 and 4" in errata("VYS22/Lem3.1b")


def test_the_natural_logistic_loss_may_be_below_one_with_a_wrong_sample() -> None:
    with localcontext() as context:
        context.prec = 40
        loss = (1 + Decimal("0.2").exp()).ln() + (1 + Decimal(-3).exp()).ln()
    assert Decimal("0.846") < loss < Decimal("0.848") < 1
    with localcontext() as context:
        context.prec = 40
        assert (1 + Decimal(0).exp()).ln() < 1, "ln 2: below it every sample is right"
    assert "0.847" in errata("VYS22/Thm2.1")


@pytest.mark.parametrize("k", [2, 3, 10, 1000])
def test_the_arithmetic_of_lemma_d2_ends_at_three_halves(k: int) -> None:
    """With k (p + Delta + 1) <= (d - Delta + 1)/10, c' <= 1/10 and 2 Delta/(d - Delta + 1) <= 1/(5 k), k >= 2."""
    c = Fraction(1, 10)
    quotient = 1 + Fraction(2, 10 * k)
    total = quotient / (1 - 2 * c) + c / (1 - 2 * c)
    assert total <= Fraction(3, 2)
    assert (total == Fraction(3, 2)) == (k == 2)
    assert "3/2" in errata("FVBS23/LemD.2")


def test_step_18_needs_dimension_681() -> None:
    """2 - 4 ln(d)/sqrt(d) >= 1 holds from d = 681 on and not before (beyond the small dimensions 1)."""
    with localcontext() as context:
        context.prec = 40
        holds = [Decimal(d).sqrt() >= 4 * Decimal(d).ln() for d in range(2, 3000)]
    assert holds.index(True) + 2 == 681
    assert all(holds[681 - 2 :])
    assert "681" in errata("FVBS23/Thm4.1")


def test_orthogonal_samples_are_what_the_excluded_case_is_about() -> None:
    """c = 0 is orthogonal samples (Theorem 3.1, Section 5.1)."""
    theorem = theory.statement("VYS22/Thm3.1-sharp")
    verdict = theorem.check(data=theory.statement("VYS22/Thm4.1").example().data, c_corr=0.0)
    assert verdict.outcome == "holds", str(verdict)


def test_every_erratum_of_the_two_papers_says_what_instead_or_is_a_slip() -> None:
    found = [
        erratum
        for key in ("VYS22", "FVBS23")
        for statement in theory.statements(key)
        if statement.id in theory.catalogue()
        for erratum in (statement.forms.errata if statement.forms is not None else ())
    ]
    assert len(found) == 14
    assert all(erratum.repair or erratum.severity == "slip" for erratum in found)
    assert not any(erratum.severity == "statement false" for erratum in found)
