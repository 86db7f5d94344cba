"""[FVBS23]: dimensions, sizes and constants, and exact tails against a second route."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import integrate, special, stats

from marginflow import theory
from marginflow.data import Clusters, GramReduction, smallest_dimension
from marginflow.limit import convex_pair
from marginflow.theory import Instance
from marginflow.theory.fvbs23 import presets
from marginflow.theory.fvbs23.open_questions import log_noncentral_ball
from marginflow.theory.fvbs23.presets import A, B, C, F, cluster_point, law_of, law_only, preset
from marginflow.theory.fvbs23.remarks.relaxed import proved_bounds, smallest_certified_dimension
from marginflow.theory.fvbs23.setting import ClusterSetting
from marginflow.theory.fvbs23.thm_3_1.lem_a1_a4 import log_inner_product_tail, log_noise_norm_tail
from marginflow.theory.fvbs23.thm_3_1.prop_a1 import is_nice
from marginflow.theory.fvbs23.thm_4_2.lem_d9 import size_constant
from marginflow.theory.instances import at_point
from marginflow.theory.verdict import Verdict

DETERMINISTIC = ["A.10", "A.11", "A.12", "D.2", "D.3", "D.4", "D.6", "D.7", "D.8"]


def judged(name: str, instance: Instance) -> Verdict:
    return theory.statement(f"FVBS23/{name}").judge_instance(instance)


# Numbers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("k", "sigma", "d"),
    [(2, 0.01, 38), (4, 0.01, 131), (10, 0.01, 957), (2, 1.0, 1_415_388), (2, 0.1, 5205), (100, 1e-4, 1092)],
)
def test_assumption_holds_from_its_smallest_dimension_on_and_not_below(k: int, sigma: float, d: int) -> None:
    assert smallest_dimension(k, sigma) == d
    assert judged("Asm2.2", law_only(law_of(d, k, sigma))).holds
    assert judged("Asm2.2", law_only(law_of(d - 1, k, sigma))).outcome == "violated"


@pytest.mark.parametrize(
    ("k", "sigma", "d"),
    [
        (2, None, 66),
        (2, 0.01, 5),
        (2, 0.1, 34),
        (2, 1.0, 200_258),
        (4, None, 202),
        (4, 0.01, 19),
        (4, 0.1, 546),
        (4, 1.0, 2_036_846),
        (10, None, 671),
        (10, 0.01, 82),
        (10, 0.1, 8404),
        (10, 1.0, 22_951_674),
        (20, None, 1542),
        (20, 0.01, 277),
        (20, 0.1, 51_540),
        (2, 2.0, 13_088_339),
    ],
)
def test_sharp_chain_goes_through_from_these_dimensions_on(k: int, sigma: float | None, d: int) -> None:
    assert smallest_certified_dimension(k, sigma) == d
    below = proved_bounds(d - 1, k, (d - 1) ** -0.5 if sigma is None else sigma).least_output
    assert math.isnan(below) or below <= 0


@pytest.mark.parametrize(("k", "d"), [(2, 183), (4, 206), (10, 289), (20, 379), (50, 530)])
def test_window_of_theorem_3_1_opens_at_these_dimensions(k: int, d: int) -> None:
    """eps = delta = 0.1; with a whole number of samples."""

    def is_open(dimension: int) -> bool:
        s = ClusterSetting.of(law_only(law_of(dimension, k, 1e-6)))
        lower, upper = s.log_window(0.1, 0.1)
        return math.ceil(math.exp(lower)) <= math.exp(min(upper, 700.0))

    assert is_open(d)
    assert not is_open(d - 1)


@pytest.mark.parametrize(
    ("numbers", "literal", "sharp", "measured"),
    [(A, 17.3, 1.77, 1.56), (B, 7.30, 0.83, 0.73), (C, 7.37, 0.82, 0.70), (F, 17.3, 5.74, 2.99)],
    ids=["A", "B", "C", "F"],
)
def test_sizes_of_the_four_vectors(
    numbers: tuple[int, int, float, int], literal: float, sharp: float, measured: float
) -> None:
    verdict = judged("ThmD.1", preset(numbers))
    assert verdict["||z|| / sqrt(d), literal"].observed == pytest.approx(literal, rel=0.01)
    assert verdict["||z|| / sqrt(d), sharp"].observed == pytest.approx(sharp, rel=0.01)
    assert verdict["||z|| / sqrt(d), measured"].observed == pytest.approx(measured, rel=0.03)
    assert verdict["k times the exact eta"].observed == pytest.approx(1.0, abs=0.06)
    assert verdict["y N(x - y z)"].vacuous
    assert verdict.outcome == "vacuous", "derived lines never turn vacuous into holds"


def test_constant_of_the_size_is_at_most_13_31_and_tends_to_12_98() -> None:
    constants = [size_constant(d, 0.5) for d in (20, 21, 50, 549, 10**4, 10**8)]
    assert all(np.diff(constants) < 0)
    assert constants[0] <= 13.31
    assert constants[3] == pytest.approx(12.99, abs=0.01)
    assert constants[-1] == pytest.approx(12.98, abs=0.01)


def test_closed_form_pair_matches_its_formulas() -> None:
    verdict = judged("X.ClosedFormKKT", replace(presets.means_point(), parameters={"form": "pair"}))
    assert verdict.holds, str(verdict)
    assert judged("X.ClosedFormKKT", replace(presets.means_point(200, 7, 3), parameters={"form": "pair"})).holds


def test_limit_of_no_noise_on_specialists_too() -> None:
    assert judged("Rem-Sigma0", presets.specialist_point(10**6, 332, 2.0)).holds
    assert judged("Rem-Sigma0", presets.specialist_point()).outcome == "vacuous", "z is longer than the ten means"


def test_measured_certificate_works_far_below_the_assumption() -> None:
    """d = 400, k = 10, sigma = 1/sqrt(d), where Assumption 2.2 asks for d = 3382."""
    instance = cluster_point(400, 10, "1/sqrt(d)", 60, stratified=True)
    assert judged("Asm2.2", Instance(law=instance.law)).outcome == "violated"
    verdict = judged("X.SharpCertificate", instance)
    assert verdict.holds, str(verdict)
    assert verdict["y N(x) from below, measured"].observed > 0


# Tails, against a second route ------------------------------------------------------------------------


@pytest.mark.parametrize("d", [13, 40, 200])
def test_tail_of_two_noises_is_the_integral_over_one_of_them(d: int) -> None:
    L = math.log(d)
    value, _ = integrate.quad(
        lambda t: stats.chi2.pdf(t, d) * special.erfc(math.sqrt(d / t) * L), 0, 40 * d, epsabs=0, limit=500, points=[d]
    )
    assert log_inner_product_tail(d) == pytest.approx(math.log(value), rel=1e-7)


@pytest.mark.parametrize("d", [13, 20, 100, 549, 10**4, 10**6, 10**8])
def test_exact_tails_are_below_the_bounds_in_every_dimension(d: int) -> None:
    for name in ("LemA.1", "LemA.2", "LemA.3", "LemA.4"):
        verdict = judged(name, Instance(parameters={"dimension": d}))
        assert verdict.holds, str(verdict)


def test_norm_tail_has_its_exact_rate_in_huge_dimensions() -> None:
    assert log_noise_norm_tail(10**7) / 10**7 == pytest.approx(-(1 - math.log(2)) / 2, rel=1e-5)


def test_noncentral_ball_agrees_with_scipy_where_scipy_can() -> None:
    assert log_noncentral_ball(6, 9.0) == pytest.approx(math.log(stats.ncx2.cdf(1.0, 6, 9.0)), rel=1e-9)


@pytest.mark.parametrize(("d", "k", "sigma"), [(38, 2, 0.01), (131, 4, 0.01), (121, 10, 0.001)])
def test_samples_are_nice_where_the_bound_says_nothing(d: int, k: int, sigma: float) -> None:
    law = law_of(d, k, sigma)
    n = math.ceil(k * math.log(d) ** 2)
    assert ClusterSetting.of(law_only(law)).log_failure(n) > 0
    assert sum(is_nice(law, n, seed) for seed in range(60)) == 60


def test_theorem_a1_over_many_samples() -> None:
    """Forty samples of preset A: every exact pair is right, with room, on every test point."""
    law = GramReduction(law_of(549, 2))
    failures = 0
    for seed in range(40):
        data = law.sample(80, seed=seed)
        point = at_point(convex_pair(data), "", law=law, test=law.fresh(60, train=data, seed=seed))
        test = point.the_test()
        failures += not (test.y * point.the_network()(test.X) > 3 / 128).all()
    assert failures == 0


def test_unbalanced_labels_pay_for_the_balance_at_specialists_only() -> None:
    verdict = judged("OQ5", theory.statement("FVBS23/OQ5").example())
    assert verdict["network 1: eta (1 + c k)"].observed == pytest.approx(1.0, abs=0.01)
    assert verdict["network 2: k times the eta that flips all"].observed == pytest.approx(1.0, abs=0.01)


def test_random_means_are_covered_by_every_lemma() -> None:
    law = GramReduction(Clusters(dimension=10**8, n_clusters=8, sigma=0.3, means="sphere", allocation="stratified"))
    data = law.sample(24)
    instance = at_point(convex_pair(data), "random means", law=law, test=law.fresh(100, train=data))
    assert judged("Asm2.2", Instance(law=law)).holds
    for lemma in DETERMINISTIC:
        assert judged(f"Lem{lemma}", instance).holds, lemma
