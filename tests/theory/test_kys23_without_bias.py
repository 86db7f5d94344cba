"""[KYS23, Props 4.4 to 4.6]: networks without bias, exact points and exact errors."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginflow import theory
from marginflow.certificates import minimality
from marginflow.generalisation import specialists_error
from marginflow.limit import catastrophic
from marginflow.networks import TwoLayer
from marginflow.theory import Instance
from marginflow.theory.kys23.clean_error import clean_error
from marginflow.theory.kys23.open_questions.sphere import continued
from marginflow.theory.kys23.prop_4_5 import absolute_value, interpolating, small_error
from marginflow.theory.kys23.prop_4_6 import merging_step, residuals
from marginflow.theory.kys23.thm_4_1.lem_b3 import orthonormal, orthonormal_samples


def outcome(id: str, instance: Instance) -> str:
    return theory.statement(id).judge_instance(instance).outcome


@pytest.mark.parametrize(
    ("m", "k", "catalogue", "exact"),
    [(10, 2, 0.607, 0.6053), (20, 5, 0.685, 0.6863), (100, 10, 0.662, 0.6599), (100, 30, 0.912, 0.9096)],
)
def test_error_of_the_catastrophic_point(m: int, k: int, catalogue: float, exact: float) -> None:
    """The catalogue counted 20000 points (standard error 0.0035); the formula is exact."""
    found = specialists_error(m - k, k)
    assert found == pytest.approx(exact, abs=5e-5)
    assert found == pytest.approx(catalogue, abs=0.0035)
    counted = clean_error(catastrophic(orthonormal(m, k)).network, seed=1)
    assert counted.interval is not None
    assert counted.interval[0] <= found <= counted.interval[1]
    assert specialists_error(700, 300) > 0.999


@pytest.mark.parametrize(("q", "k"), [(1, 1), (16, 2), (16, 5)])
def test_catastrophic_point_is_stationary_in_fractions(q: int, k: int) -> None:
    """q is a fourth power, so that v, w and lambda are fractions."""
    point = catastrophic(orthonormal(q + k, k))
    hidden, output = residuals(point)
    assert hidden == output == 0
    printed = catastrophic(orthonormal(q + k, k), outputs="frozen")
    assert residuals(printed) == (0, 0)
    unbalanced = replace(printed, network=replace(printed.network, outputs="trained"))
    assert residuals(unbalanced) == (0, q - 1)


def test_residuals_of_many_samples_vanish_up_to_rounding() -> None:
    """80 samples are too many for fractions."""
    statement = theory.statement("KYS23/Prop4.6-repaired")
    verdict = statement.judge_instance(orthonormal_samples(80, 4))
    assert verdict.holds
    assert [verdict[f"residual in {letter}"].state for letter in "wv"] == ["met", "met"]
    assert 0 < verdict["residual in v"].observed < 1e-12


@pytest.mark.parametrize(("m", "k"), [(6, 2), (8, 3)])
def test_catastrophic_point_is_no_local_minimum(m: int, k: int) -> None:
    data = orthonormal(m, k)
    point = catastrophic(data)
    found = minimality(point.network, data)
    assert found.verdict == "not a local minimum"
    assert found.zero_neurons == 0
    for t in (1e-1, 1e-3, 1e-5):
        moved = merging_step(data, t)
        assert moved.margins(data.X, data.y) == pytest.approx(1.0)
        drop = point.network.norm_squared() - moved.norm_squared()
        assert drop == pytest.approx(2 * (t + 1 - math.sqrt(1 + t**2)), rel=1e-6)


@given(s=st.fractions(Fraction(1, 10**9), Fraction(2, 5)))
def test_merging_two_specialists_always_pays_in_fractions(s: Fraction) -> None:
    t = 2 * s / (1 - s**2)  # so that sqrt(1 + t^2) is a fraction
    change = (1 + s**2) / (1 - s**2) + 1 - t - 2
    assert 0 < t < 1
    assert change == -2 * s / (1 + s) < 0


def test_one_specialist_is_a_local_minimum() -> None:
    data = orthonormal(6, 1)
    assert minimality(catastrophic(data).network, data).verdict == "local minimum"


def test_the_absolute_value_never_errs() -> None:
    assert clean_error(absolute_value()).value == 0.0
    assert outcome("KYS23/Prop4.5", Instance(network=absolute_value())) == "violated"
    assert outcome("KYS23/Prop4.5-repaired", Instance(network=absolute_value())) == "not applicable"


@given(e=st.floats(1e-6, 0.3))
@settings(max_examples=30)
def test_interpolating_counterexample_has_the_error_arctan(e: float) -> None:
    network, data = interpolating(e)
    assert network.margins(data.X, data.y).min() > 0
    assert clean_error(network).value == pytest.approx(math.atan(e) / math.pi, abs=1e-12)
    assert (small_error(interpolating(e)[0]) is not None) == (math.atan(e) / math.pi < 1 / 8)


@given(seed=st.integers(0, 10**6), plus=st.integers(1, 5), minus=st.integers(0, 3))
@settings(max_examples=25)
def test_repaired_floor_holds_whenever_positive_neurons_agree(seed: int, plus: int, minus: int) -> None:
    rng = np.random.default_rng(seed)
    W = np.vstack([np.abs(rng.standard_normal((plus, 6))), rng.standard_normal((minus, 6))])
    network = TwoLayer(W=W, v=np.concatenate([rng.random(plus) + 0.1, -rng.random(minus) - 0.1]))
    assert outcome("KYS23/Prop4.5-repaired", Instance(network=network)) in ("holds", "undecided")


@given(seed=st.integers(0, 10**6), width=st.integers(3, 6))
@settings(max_examples=20)
def test_exact_error_in_the_plane_agrees_with_counting(seed: int, width: int) -> None:
    rng = np.random.default_rng(seed)
    network = TwoLayer(W=rng.standard_normal((width, 2)), v=rng.standard_normal(width))
    found = clean_error(network)
    points = rng.standard_normal((20_000, 2))
    assert found.value == pytest.approx(float((network(points) <= 0).mean()), abs=0.02)


def test_specialists_survive_on_random_samples_only_where_negative_ones_point_apart() -> None:
    apart, together = continued(12, 2, 10**4, 1), continued(12, 2, 10**4, 0)
    for instance, neurons in ((apart, 3), (together, 2)):
        verdict = theory.statement("KYS23/O7").judge_instance(instance)
        assert verdict.outcome == "measured"
        assert verdict["neurons left"].observed == neurons
        assert (verdict["largest inner product of two negative samples"].observed < 0) == (neurons == 3)
