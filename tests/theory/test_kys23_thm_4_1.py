"""[KYS23, Thm 4.1]: the biased pair, its optimality, and the constants of the proof."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from marginflow import theory
from marginflow.data import Dataset, NoisySphere
from marginflow.limit import global_bounds
from marginflow.theory import Instance
from marginflow.theory.kys23.sphere_points import noisy_data, pair_point
from marginflow.theory.kys23.thm_4_1.b1_bias_dom import log_any_width_bound
from marginflow.theory.kys23.thm_4_1.lem_b2 import least_norm
from marginflow.theory.kys23.thm_4_1.lem_b3 import (
    biased_pair,
    exact_norm_times_root,
    log_error_of_construction,
    orthonormal,
)
from marginflow.theory.kys23.thm_4_1.max_margin import dual_supremum_bound, max_margin
from marginflow.theory.kys23.thm_4_1.rem_4_2 import other_law_point
from marginflow.theory.kys23.thm_4_1.theorem import literal_c4, log_far_from_span
from marginflow.theory.kys23.unit_sphere import SphereSample, beta_of, size_of


def outcome(id: str, instance: Instance) -> str:
    return theory.statement(id).judge_instance(instance).outcome


@pytest.mark.parametrize("k", [1, 2, 3, 4, 9])
@pytest.mark.parametrize("width", [2, 6, 7])
def test_norm_of_the_biased_pair(k: int, width: int) -> None:
    data = orthonormal(3 * k, k)
    network = biased_pair(data, width)
    exact = exact_norm_times_root(data.X[data.y < 0])
    assert exact == 8 * k + 2
    assert size_of(network) == pytest.approx(float(exact) / math.sqrt(k))
    assert (exact <= 9 * k) == (k >= 2)
    assert network.margins(data.X, data.y) == pytest.approx(2.0)
    least = network.at_margin_one(data.X, data.y)
    assert size_of(least) == pytest.approx(4 * math.sqrt(k) + 1 / math.sqrt(k))


def test_norm_of_the_biased_pair_at_two_samples() -> None:
    """9 sqrt(2) = 12.728 is attained by orthonormal samples and exceeded as soon as they point the same way."""
    two = biased_pair(orthonormal(6, 2), 2)
    assert size_of(two) == pytest.approx(12.728, abs=1e-3)
    assert exact_norm_times_root(np.eye(2)) == 18
    X = np.array([[1.0, 0.0], [0.6, 0.8]])
    assert exact_norm_times_root(X) > 18
    assert exact_norm_times_root(X * [[1.0, 1.0], [-1.0, 1.0]]) < 18


def test_error_of_the_biased_pair_is_a_tail_of_one_coordinate() -> None:
    law, data = noisy_data(30, 6, 200)
    sample = SphereSample(data)
    network = biased_pair(data, 2)
    points = law.fresh(40_000, train=data, seed=5).X
    share = float((network(points) <= 0).mean())
    exact = math.exp(log_error_of_construction(sample))
    assert share == pytest.approx(exact, abs=4 * math.sqrt(exact / 40_000))
    assert exact == pytest.approx(stats.norm.sf(0.5 * math.sqrt(200) / np.linalg.norm(sample.s)), rel=0.1)


@pytest.mark.parametrize(("q", "k"), [(7, 1), (5, 5), (50, 3), (3, 9)])
def test_the_pair_is_the_global_optimum_on_orthonormal_samples(q: int, k: int) -> None:
    m = q + k
    best = max_margin(orthonormal(m, k))
    closed = 2 * (math.sqrt(q * (1 + k) / (1 + m)) + math.sqrt(k * (1 + q) / (1 + m)))
    assert best.lower == pytest.approx(closed, rel=1e-9)
    assert best.upper == pytest.approx(closed, rel=1e-9)


def test_the_bracket_agrees_with_the_global_solver() -> None:
    data = NoisySphere(dimension=3, p=0.25, count="exact").sample(4, seed=3)
    best, found = max_margin(data), global_bounds(data)
    assert found.proved
    assert best.lower <= 2 * found.upper * (1 + 1e-9)
    assert best.upper >= 2 * found.lower * (1 - 1e-9)


@given(seed=st.integers(0, 10**6), d=st.integers(2, 8), m=st.integers(2, 9))
@settings(max_examples=40)
def test_the_dual_function_never_exceeds_its_bound(seed: int, d: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    data = Dataset(X=rng.standard_normal((m, d)), y=np.where(np.arange(m) % 2, 1.0, -1.0))
    lam, shares = rng.exponential(size=m), rng.random(m)
    bound = dual_supremum_bound(data, lam, shares)
    U = rng.standard_normal((300, d + 1))
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    F = np.maximum(U @ np.column_stack([data.X, np.ones(m)]).T, 0.0) @ (lam * data.y)
    assert np.abs(F).max() <= bound * (1 + 1e-12)


def test_theorem_41_where_its_sharpened_constants_begin() -> None:
    """m = 700, p = 0.02, d = 4e8: the pair is max-margin, and small enough for beta > 1/2."""
    _, data = noisy_data(700, 14, 4 * 10**8)
    best, sample = max_margin(data), SphereSample(data)
    assert best.upper / best.lower == pytest.approx(1.0, abs=1e-9)
    assert best.upper == pytest.approx(15.07, abs=0.01)
    assert best.upper < least_norm(sample)
    assert beta_of(best.pair) > 0.5
    assert log_far_from_span(sample) < math.log(1e-100)


def test_constants_that_the_proof_of_theorem_41_gives() -> None:
    verdict = theory.statement("KYS23/Thm4.1-sharp").judge_instance(pair_point(300, 6, 10**12))
    ratio = verdict["||theta||^2 / ||theta*||^2"]
    assert ratio.interval == pytest.approx((1.0, 1.0), abs=1e-9)
    assert literal_c4(1.0) == pytest.approx(0.0065, abs=1e-4)
    assert verdict["p that c_4 of the proof allows"].observed == pytest.approx(4e-5, rel=0.1)
    assert verdict["c_4 that this sample allows"].observed > 0.155


@pytest.mark.parametrize(("k", "applies"), [(12, True), (30, False)])
def test_the_max_margin_network_qualifies_up_to_one_sixteenth(k: int, applies: bool) -> None:
    instance = pair_point(300, k, 10**9)
    assert outcome("KYS23/Thm4.1-sharp", instance) == ("holds" if applies else "not applicable")


@pytest.mark.parametrize("law", ["sphere", "gaussian", "ball"])
def test_isotropic_laws_do_as_well_as_the_sphere(law: str) -> None:
    assert outcome("KYS23/Rem4.2", other_law_point(law)) == "holds"


def test_bound_for_any_width_is_above_the_truth() -> None:
    point = pair_point(40, 8, 60)
    network = point.certificate.network
    errors = point.the_law().fresh(20_000, train=point.the_data(), seed=3)
    assert float((network(errors.X) <= 0).mean()) <= math.exp(log_any_width_bound(network, 60))


def test_a_network_far_from_max_margin_is_told_apart() -> None:
    point = pair_point(300, 6, 10**12)
    network = point.the_network()
    assert network.b is not None
    moved = replace(point, network=replace(network, b=network.b + np.array([0.1, 0.0])), multipliers=None)
    assert outcome("KYS23/Thm4.1", moved) == "not applicable"
