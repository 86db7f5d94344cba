"""[KYS23, App. D]: inner products, Gram matrices and counts against exact laws."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from marginflow import theory
from marginflow.theory import Instance
from marginflow.theory.kys23.lem_d1 import log_cap_bound
from marginflow.theory.kys23.lem_d2 import correct_rate, explicit_deviation, gram_deviation, stated_rate, sure_deviation
from marginflow.theory.kys23.unit_sphere import log_binomial_tail
from marginflow.theory.probability import log_sphere_correlation_tail


@given(d=st.integers(3, 400), share=st.floats(0.01, 0.99))
@settings(max_examples=60)
def test_inner_products_have_a_beta_law_and_no_factor_two_is_needed(d: int, share: float) -> None:
    t = share
    exact = log_sphere_correlation_tail(t, d)
    density = math.gamma(d / 2) / math.gamma((d - 1) / 2) / math.sqrt(math.pi) if d < 300 else None
    if density is not None and exact > -20:
        mass, _ = integrate.quad(lambda s: 2 * density * (1 - s * s) ** ((d - 3) / 2), t, 1)
        assert exact == pytest.approx(math.log(mass), abs=1e-6)
    assert exact <= log_cap_bound(t, d) + 1e-9
    if t**2 >= 2 / (d - 1):
        assert exact <= -d * t**2 / 2 + 1e-9


@pytest.mark.parametrize("d", [10**9, 10**12, 10**14])
@pytest.mark.parametrize("s", [1.0, 3.0, 6.0])
def test_inner_products_are_gaussian_in_astronomical_dimensions(d: int, s: float) -> None:
    exact = log_sphere_correlation_tail(s / math.sqrt(d), d)
    assert exact == pytest.approx(math.log(2 * stats.norm.sf(s)), abs=(s**4 + 1) / d + 1e-9)


@pytest.mark.parametrize(("m", "d", "measured"), [(50, 2500, 11.9), (200, 1000, 142.0), (200, 40_000, 27.5)])
def test_printed_rate_of_the_gram_matrix_is_wrong_by_the_measured_factors(m: int, d: int, measured: float) -> None:
    rng = np.random.default_rng(0)
    deviation = float(np.mean([gram_deviation(m, d, rng) for _ in range(4)]))
    assert deviation / stated_rate(m, d, 0.0) == pytest.approx(measured, rel=0.1)
    assert 1.4 < deviation / correct_rate(m, d, 0.0) < 2.1
    assert deviation < explicit_deviation(m, d, 2.0)


@given(c=st.integers(1, 10**6))
def test_no_constant_saves_the_printed_lemma(c: int) -> None:
    """In fractions: the rate is at most 1, because d + t = 4 <= m, and every sample deviates by c + 1 or more."""
    m, d, t = 2 * (c + 2), 2, 2
    assert Fraction(d + t, m) <= 1
    assert sure_deviation(m, d) == c + 1 > c * Fraction(1 + 1, d)


def test_every_sample_deviates_by_what_rank_and_trace_demand() -> None:
    rng = np.random.default_rng(0)
    assert gram_deviation(12, 2, rng) >= float(sure_deviation(12, 2)) - 1e-12
    assert gram_deviation(5, 4, rng) >= float(sure_deviation(5, 4)) - 1e-12


@pytest.mark.parametrize(("count", "draws", "p"), [(0, 10, 0.1), (7, 20, 0.3), (22, 2000, 0.0028), (19, 20, 0.9)])
def test_binomial_tails_are_exact(count: int, draws: int, p: float) -> None:
    assert log_binomial_tail(count, draws, p) == pytest.approx(stats.binom.logsf(count, draws, p), rel=1e-9)


@pytest.mark.parametrize("n", [10, 30])
def test_few_negative_samples_need_more_than_a_logarithm_of_samples(n: int) -> None:
    """m = 20 n^2 allows none, and with p = 1/(44 n^2) one appears with probability 0.365, whatever n is."""
    m, p = 20 * n**2, Fraction(1, 44 * n**2)
    assert Fraction(m, 22 * n**2) < 1
    assert 1 - (1 - p) ** m > Fraction(36, 100)


@pytest.mark.parametrize("id", ["KYS23/LemD.2", "KYS23/LemD.2-repaired"])
@pytest.mark.parametrize(("t", "vacuous"), [(0.5, True), (0.7, False)])
def test_a_probability_bound_of_one_or_more_says_nothing(id: str, t: float, vacuous: bool) -> None:
    """2 e^-t is at least 1 up to t = ln 2."""
    instance = Instance(name="t", parameters={"m": 10, "dimension": 10**6, "t": t})
    verdict = theory.statement(id).judge_instance(instance)
    assert all(check.vacuous is vacuous for check in verdict.claims)
    assert (verdict.outcome == "vacuous") is vacuous
