"""[KYS23, Prop. A.4]: five points on the line that refute it, and where the repaired form holds."""

from __future__ import annotations

from fractions import Fraction
from types import ModuleType

import numpy as np
import pytest

from marginflow import InputError, theory
from marginflow.certificates import minimality
from marginflow.data import Dataset
from marginflow.generalisation import line_error
from marginflow.limit import five_points, line
from marginflow.theory import Instance
from marginflow.theory.instances import at_point
from marginflow.theory.kys23.line import Bends, line_samples, plus_plus
from marginflow.theory.kys23.line_points import (
    five_point_minimum,
    linearity_counterexample,
    local_point,
    mirror,
    right_facing_point,
    spline,
)
from marginflow.theory.kys23.thm_3_2.prop_a4 import covered_both_ways
from marginflow.theory.kys23.thm_3_2.sandwich import lower_core


def test_five_points_have_the_multipliers_and_the_norm_of_the_catalogue() -> None:
    point = five_points()
    np.testing.assert_allclose(point.multipliers, [20.488, 51.416, 52.139, 20.970, 0.0], atol=5e-4)
    assert point.network.norm_squared() == pytest.approx(290.028, abs=5e-4)
    best = line.max_margin(point.data)
    assert point.objective / best.objective == pytest.approx(1.338, abs=5e-4)
    decision = minimality(point.network, point.data)
    assert decision.verdict == "local minimum"
    assert decision.supremum is not None
    assert decision.supremum.upper == pytest.approx(2.009, abs=5e-4)
    x, y = line_samples(point.data)
    assert (line_error(point.network).value, lower_core(x, y)) == pytest.approx((0.25, 0.30), abs=1e-12)


@pytest.mark.parametrize("h", ["1/10", "1/100", "1/1000"])
def test_lower_core_of_theorem_3_2_fails_by_any_factor(h: str, five_points_oracle: ModuleType) -> None:
    """x_1 = h, spacing h: L = 2.5 h although two of five labels are -1 and LO = (x_5 - 3 h) / 2."""
    spacing = Fraction(h)
    assert five_points_oracle.prove_five_points(spacing, spacing, Fraction(9, 10)).contradicts
    point = five_points(first=float(spacing), spacing=float(spacing), last=0.9)
    x, y = line_samples(point.data)
    assert line_error(point.network).value == pytest.approx(2.5 * float(spacing), rel=1e-9)
    assert lower_core(x, y) == pytest.approx((0.9 - 3 * float(spacing)) / 2, rel=1e-9)
    assert minimality(point.network, point.data).verdict == "local minimum"


@pytest.mark.parametrize("width", [4, 5, 9, 40])
def test_prop_a4_is_refuted_at_every_width(width: int) -> None:
    verdict = theory.statement("KYS23/PropA.4").judge_instance(five_point_minimum(width))
    assert verdict.outcome == "refuted"
    assert verdict["N(x_{i+1}) = 1"].observed == pytest.approx(4.0)


@pytest.mark.parametrize(
    ("first", "spacing", "last"),
    [("1/10", "1/10", "9/10"), ("1/10", "1/10", "6/10"), ("0", "1/7", "1"), ("-3/2", "1/3", "5"), ("2", "1/100", "3")],
)
def test_five_points_are_a_local_minimum_in_exact_arithmetic(
    first: str, spacing: str, last: str, five_points_oracle: ModuleType
) -> None:
    x1, h, x5 = Fraction(first), Fraction(spacing), Fraction(last)
    proof = five_points_oracle.prove_five_points(x1, h, x5)
    assert proof.local_minimum
    assert proof.values == (1, -1, 1, -1, (x5 - x1 - 3 * h) / h - 1)
    assert proof.contradicts == (x5 != x1 + 5 * h)
    point = five_points(first=float(x1), spacing=float(h), last=float(x5))
    assert point.network.norm_squared() == pytest.approx(proof.norm_squared[0], rel=1e-12)


def test_the_exact_proof_can_fail(five_points_oracle: ModuleType) -> None:
    """Points far from the origin: the closed form stays a KKT point only while its weights are inside (0, 1)."""
    with pytest.raises(InputError, match="spacing"):
        five_points_oracle.prove_five_points(Fraction(0), Fraction(1, 10), Fraction(4, 10))
    proof = five_points_oracle.prove_five_points()
    broken = type(proof)(**{**vars(proof), "clarke_inside": False})
    assert not broken.kkt
    assert not broken.contradicts


def test_further_counterexamples_face_both_ways_and_obey_the_repaired_proposition(line_oracle: ModuleType) -> None:
    """Local minima on random samples of 5 to 7 points with alternating labels."""
    rng, broken = np.random.default_rng(2), 0
    for _ in range(10):
        m = int(rng.integers(5, 8))
        x = np.sort(rng.random(m))
        while np.diff(x).min() < 1e-2:
            x = np.sort(rng.random(m))
        y = np.where(np.arange(m) % 2 == 0, 1.0, -1.0)
        for start in range(3):
            limit = line.local_minimum(Dataset(X=x[:, None], y=y), seed=start, neurons=int(rng.integers(3, 9)))
            point = at_point(limit, "alternating labels")
            verdict = theory.statement("KYS23/PropA.4").judge_instance(point)
            if verdict.outcome not in ("refuted", "violated"):
                continue
            broken += 1
            assert line_oracle.facing(point.certificate.network, x) == "mixed"
            good = covered_both_ways(point.certificate.network, x, y)
            np.testing.assert_allclose(good.behind, 1.0, atol=1e-6)
            np.testing.assert_allclose(good.nonlinearity, 0.0, atol=1e-6)
            assert verdict["N(x_i) = -1"].state == "met"
    assert broken >= 1


def test_the_kept_linearity_counterexample_is_a_strict_violation_of_lemma_a6_only() -> None:
    verdict = theory.statement("KYS23/PropA.4").judge_instance(linearity_counterexample())
    assert verdict["distance of N from its chord"].observed == pytest.approx(0.676159, abs=1e-5)
    assert [check.name for check in verdict.failed_claims] == ["distance of N from its chord"]


def test_repaired_proposition_holds_on_every_covered_pattern_of_local_minima() -> None:
    seen = 0
    points = [right_facing_point(9, 0.4, seed) for seed in range(4)]
    points += [local_point(8, 0.4, seed, start=seed) for seed in range(4)]
    rng = np.random.default_rng(0)
    for _ in range(8):
        x = np.cumsum(rng.uniform(0.03, 0.2, 8))
        y = np.where(np.arange(8) % 2 == 0, 1.0, -1.0)
        limit = line.local_minimum(Dataset(X=x[:, None], y=y), start=spline(x, y))
        points.append(at_point(limit, "alternating labels"))
    for point in points:
        x, y = line_samples(point.the_data())
        found = covered_both_ways(point.certificate.network, x, y)
        seen += found.count
        if found.count:
            verdict = theory.statement("KYS23/PropA.4-repaired").judge_instance(point)
            assert verdict.holds, str(verdict)
        for i in plus_plus(y):
            assert Bends.of(point.the_network()).range(float(x[i]), float(x[i + 1]))[0] >= -1e-8
    assert seen >= 10


def test_repaired_proposition_holds_on_mirror_images() -> None:
    point = right_facing_point(10, 0.35, 0)
    data = point.the_data()
    image = Instance(network=mirror(point.the_network()), data=Dataset(X=1.0 - data.X[::-1], y=data.y[::-1]))
    statement = theory.statement("KYS23/PropA.4-repaired")
    verdict, other = statement.judge_instance(point), statement.judge_instance(image)
    assert verdict.holds
    # The mirror image is not a KKT point of its own: the bias makes problem (1) depend on the origin.
    assert other.outcome == "not applicable"
    x, y = line_samples(image.the_data())
    found = covered_both_ways(mirror(point.certificate.network), x, y)
    assert found.count == int(verdict["patterns +, -, + covered"].observed)
