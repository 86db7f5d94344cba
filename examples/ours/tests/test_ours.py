"""The statements of OURS pass the rules that those of marginflow pass, and its figure bears out its claim."""

from __future__ import annotations

import pytest
from marginflow_ours import PAPER
from marginflow_ours.label_noise import _point, flips

from marginflow.theory import Statement, conformance, statement


@pytest.mark.parametrize(("rule", "claim"), conformance.cases(PAPER.key), ids=conformance.name_of)
def test_conformance(rule: conformance.Rule, claim: Statement) -> None:
    rule(claim)


def test_the_sum_of_v_b_does_not_depend_on_the_width() -> None:
    theorem = statement("OURS/Thm1")
    example = theorem.example()
    verdict = theorem.judge_instance(example)
    assert verdict["sum v_j b_j"].observed == pytest.approx((6 - 3) / (1 + 9))
    assert verdict["live neurons"].observed == 6


def test_noise_makes_one_vector_longer_and_the_other_shorter() -> None:
    def lengths(rate: float) -> tuple[float, float]:
        point = _point(rate)
        return flips(point.the_network(), point.the_data(), point.certificate.multipliers)

    clean, noisy = lengths(0.0), lengths(0.05)
    assert clean[0] == pytest.approx(0.1**0.5, rel=0.15), "sqrt(d/k) / sqrt(d)"
    assert clean[1] == pytest.approx(0.1**0.5, rel=0.15)
    assert noisy[0] > 1.2 * clean[0]
    assert noisy[1] < 0.5 * clean[1]
