"""Tails against scipy, exact integers, asymptotic series and simulation; intervals against their definition."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import special, stats

from marginflow import InputError
from marginflow.theory.probability import (
    clopper_pearson,
    estimate,
    log_beta_tail,
    log_chi_square_tail,
    log_coupon_missed_tail,
    log_gaussian_tail,
    log_sphere_correlation_tail,
    log_two_sided_gaussian_tail,
    union,
)


@pytest.mark.parametrize("t", [-3.0, 0.0, 1.0, 5.0, 30.0])
def test_gaussian_tail_is_that_of_scipy(t: float) -> None:
    assert log_gaussian_tail(t) == pytest.approx(stats.norm.logsf(t), rel=1e-12)
    assert log_two_sided_gaussian_tail(abs(t)) == pytest.approx(
        math.log(special.erfc(abs(t) / math.sqrt(2))), abs=1e-12
    )


@pytest.mark.parametrize(("t", "degrees"), [(1.0, 3), (20.0, 10), (200.0, 100), (1000.0, 500), (900.0, 4)])
def test_chi_square_tail_is_that_of_scipy_where_scipy_reaches(t: float, degrees: int) -> None:
    assert log_chi_square_tail(t, degrees) == pytest.approx(stats.chi2.logsf(t, degrees), rel=1e-9)


@pytest.mark.parametrize(("x", "half"), [(3000.0, 5), (5000.0, 20), (20000.0, 50)])
def test_chi_square_tail_with_even_degrees_is_a_finite_sum(x: float, half: int) -> None:
    """P(chi^2_{2h} > 2x) = e^-x sum_{k < h} x^k / k!, far below the smallest float."""
    terms = [k * math.log(x) - math.lgamma(k + 1) for k in range(half)]
    expected = -x + float(special.logsumexp(terms))
    assert log_chi_square_tail(2 * x, 2 * half) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("a", "b"), [(0.5, 50.0), (2.0, 3.0), (0.5, 4999.5), (3.0, 2000.0)])
@pytest.mark.parametrize("t", [0.01, 0.3, 0.5])
def test_beta_tail_agrees_with_the_incomplete_beta_function(a: float, b: float, t: float) -> None:
    ordinary = float(special.betainc(b, a, 1 - t))
    if ordinary > 1e-280:
        assert log_beta_tail(t, a, b) == pytest.approx(math.log(ordinary), rel=1e-10)


@pytest.mark.parametrize("b", [2000, 10000])
def test_beta_tail_with_whole_parameters_is_a_finite_sum(b: int) -> None:
    """P(Beta(2, b) > t) = (1 - t)^b (1 + b t), also where it underflows."""
    t = 0.5
    expected = b * math.log1p(-t) + math.log1p(b * t)
    assert log_beta_tail(t, 2.0, float(b)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("a", "b", "t"), [(0.5, 5e4, 0.25), (0.5, 5e7, 1e-3), (0.5, 5e7, 1e-4), (3.0, 1e6, 0.01)])
def test_beta_tail_far_below_the_smallest_float_is_its_power_series(a: float, b: float, t: float) -> None:
    """P(B > t) = (1-t)^b t^a / (b Beta(a, b)) sum_n (a+b)_n / (b+1)_n (1-t)^n, all terms positive."""
    n = np.arange(int(60 / t))
    terms = np.concatenate([[0.0], np.cumsum(np.log((a + b + n) / (b + 1 + n)) + math.log1p(-t))])
    series = float(special.logsumexp(terms))
    expected = b * math.log1p(-t) + a * math.log(t) - math.log(b) - float(special.betaln(a, b)) + series
    assert expected < -700
    assert log_beta_tail(t, a, b) == pytest.approx(expected, rel=1e-9)


def test_tails_at_the_ends() -> None:
    assert log_beta_tail(0.0, 1.0, 2.0) == 0.0
    assert log_beta_tail(1.0, 1.0, 2.0) == -math.inf
    assert log_chi_square_tail(0.0, 5) == 0.0
    assert log_two_sided_gaussian_tail(0.0) == 0.0


def test_sphere_correlation_tail_agrees_with_simulation() -> None:
    d, t = 20, 0.4
    exact = math.exp(log_sphere_correlation_tail(t, d))

    def exceeds(rng: np.random.Generator) -> bool:
        x, z = rng.standard_normal((2, d))
        return abs(x @ z) > t * float(np.linalg.norm(x) * np.linalg.norm(z))

    found = estimate(exceeds, 4000, seed=0, confidence=0.999)
    assert found.low <= exact <= found.high
    assert found.high - found.low < 0.05


def test_sphere_correlation_tail_on_the_circle_and_the_sphere_is_elementary() -> None:
    """d = 2: P(|cos| > t) = 1 - (2/pi) asin t; d = 3: uniform, 1 - t (Archimedes)."""
    for t in (0.1, 0.5, 0.9):
        assert math.exp(log_sphere_correlation_tail(t, 2)) == pytest.approx(1 - 2 / math.pi * math.asin(t), rel=1e-12)
        assert math.exp(log_sphere_correlation_tail(t, 3)) == pytest.approx(1 - t, rel=1e-12)


@pytest.mark.parametrize(("draws", "coupons"), [(2, 2), (3, 3), (5, 3), (6, 2), (4, 1), (2, 4)])
def test_coupon_collector_agrees_with_counting_all_outcomes(draws: int, coupons: int) -> None:
    outcomes = list(itertools.product(range(coupons), repeat=draws))
    missed = Fraction(sum(len(set(outcome)) < coupons for outcome in outcomes), len(outcomes))
    assert math.exp(log_coupon_missed_tail(draws, coupons)) == pytest.approx(float(missed), rel=1e-12)


def test_coupon_collector_far_in_the_tail_is_its_first_term() -> None:
    """P(missed) ~ k (1 - 1/k)^n once it is tiny."""
    k, n = 10, 2000
    assert log_coupon_missed_tail(n, k) == pytest.approx(math.log(k) + n * math.log1p(-1 / k), rel=1e-12)


def test_union_bound_never_exceeds_one() -> None:
    assert union(math.log(0.3), 100) == 0.0
    assert union(-800.0, 1000) == pytest.approx(-800.0 + math.log(1000))
    assert union(-1.0, 0) == -math.inf


@pytest.mark.parametrize(("count", "draws"), [(0, 50), (3, 50), (25, 50), (50, 50)])
def test_clopper_pearson_ends_are_where_the_binomial_tails_are_small(count: int, draws: int) -> None:
    found = clopper_pearson(count, draws, 0.98)
    if count > 0:
        assert stats.binom.sf(count - 1, draws, found.low) == pytest.approx(0.01, rel=1e-6)
    else:
        assert found.low == 0.0
    if count < draws:
        assert stats.binom.cdf(count, draws, found.high) == pytest.approx(0.01, rel=1e-6)
    else:
        assert found.high == 1.0


def test_an_estimate_is_never_a_bare_frequency() -> None:
    check = clopper_pearson(0, 100).check("risk", "<=", 1e-9)
    assert check.state == "undecided", "no errors in a hundred draws do not prove a risk of 1e-9"
    assert "0 of 100" in check.note
    assert clopper_pearson(90, 100).check("risk", "<=", 0.1).state == "failed"
    with pytest.raises(InputError):
        clopper_pearson(3, 2)


def test_same_seed_same_estimate() -> None:
    def heads(rng: np.random.Generator) -> bool:
        return bool(rng.random() < 0.3)

    assert estimate(heads, 200, seed=5) == estimate(heads, 200, seed=5)
