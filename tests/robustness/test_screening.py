"""Bounds for all rivals at once: proved by their own steps, the same as for one rival alone, and never too large."""

from dataclasses import replace

import numpy as np
import pytest

from marginflow.networks import Classifier, TwoLayer
from marginflow.robustness import check_certificate, exact_radius
from marginflow.robustness.radius.certificate import ProofNode, RadiusCertificate
from marginflow.robustness.radius.reduction import RadiusProblem, reduce_network
from marginflow.robustness.radius.rivals import reduce_classifier
from marginflow.robustness.radius.screening import screen, values_and_slopes


def seen(seed: int, n_classes: int = 5) -> tuple[list[TwoLayer], list[float], np.ndarray, list[RadiusProblem]]:
    """The differences of a random classifier, their levels, a point, and the problems seen from it in plain units."""
    rng = np.random.default_rng(seed)
    width, d = int(rng.integers(5, 40)), int(rng.integers(2, 10))
    network = Classifier(
        W=rng.standard_normal((width, d)),
        b=rng.standard_normal(width),
        V=rng.standard_normal((n_classes, width)),
        c=rng.standard_normal(n_classes),
    )
    x = rng.standard_normal(d)
    own = int(network.predict(x[None, :])[0])
    reduction = reduce_classifier(network)
    pairs = [reduction.pair(own, t) for t in range(n_classes) if t != own]
    problems = [pair.reduction.at(x, 1.0, pair.level) for pair in pairs]
    return [pair.network for pair in pairs], [pair.level for pair in pairs], x, problems


@pytest.mark.parametrize("seed", range(8))
def test_the_steps_prove_the_bound_and_no_more(seed: int):
    networks, levels, x, problems = seen(seed)
    horizon = min(
        exact_radius(net, x, label=1.0, level=level).upper for net, level in zip(networks, levels, strict=True)
    )
    closed = 0
    for network, level, found in zip(networks, levels, screen(problems, horizon, 1e-6), strict=True):
        radius = exact_radius(network, x, label=1.0, level=level)
        assert found.lower <= radius.upper * (1 + 1e-9)
        reduction = reduce_network(network)
        claim = RadiusCertificate(
            point=x,
            label=1.0,
            level=level,
            lower=found.lower * (1 - 1e-9),
            witness=None,
            groups=reduction.groups,
            nodes=(ProofNode(steps=tuple(found.steps)),),
            units=(0, reduction.outputs),
        )
        if found.lower >= horizon * (1 - 1e-6):
            closed += 1
            assert check_certificate(claim, network).holds
        assert not check_certificate(replace(claim, lower=1.01 * radius.upper), network).holds
    assert closed


@pytest.mark.parametrize("seed", range(8))
def test_together_is_as_one_by_one(seed: int):
    problems = seen(seed)[3]
    together = screen(problems, 0.3, 1e-6)
    for problem, found in zip(problems, together, strict=True):
        (alone,) = screen([problem], 0.3, 1e-6)
        assert alone.lower == pytest.approx(found.lower, rel=1e-9)
        assert len(alone.steps) == len(found.steps)
        np.testing.assert_allclose(alone.box.low, found.box.low, atol=1e-9)
        np.testing.assert_allclose(alone.box.high, found.box.high, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_intervals_hold_every_point_on_the_other_side(seed: int):
    rng = np.random.default_rng(seed)
    problems = seen(seed)[3]
    horizon = 1.5
    for problem, found in zip(problems, screen(problems, horizon, 1e-6), strict=True):
        delta = rng.standard_normal((2000, problem.rank))
        delta *= (horizon * rng.random(2000) ** 0.3 / np.linalg.norm(delta, axis=1))[:, None]
        Z = problem.a + delta @ problem.W.T
        crossed = problem.constant + np.maximum(Z, 0.0) @ problem.c <= 0
        assert (Z[crossed] >= found.box.low - 1e-9).all()
        assert (Z[crossed] <= found.box.high + 1e-9).all()
        assert not crossed.any() or np.linalg.norm(delta[crossed], axis=1).min() >= found.lower * (1 - 1e-9)


def test_values_and_slopes_are_those_of_each_problem():
    problems = seen(3)[3]
    values, slopes = values_and_slopes(problems)
    for problem, value, slope in zip(problems, values, slopes, strict=True):
        origin = np.zeros(problem.rank)
        assert value == pytest.approx(problem.value(origin), rel=1e-12)
        assert slope == pytest.approx(np.linalg.norm(problem.gradient(origin)), rel=1e-12)


def test_the_judge_does_not_take_what_it_saw_of_another_point_or_bound():
    rng = np.random.default_rng(5)
    network = Classifier(W=rng.standard_normal((30, 6)), b=rng.standard_normal(30), V=rng.standard_normal((4, 30)))
    proofs = [exact_radius(network, x).certificate for x in rng.standard_normal((4, 6))]
    for proof in proofs:
        (witness,) = (part.witness for part in proof.proofs.values() if part.witness is not None)
        nearer = {t: 0.5 * (part.point + witness) for t, part in proof.proofs.items()}
        moved = {t: replace(part, point=nearer[t], witness=None) for t, part in proof.proofs.items()}
        longer = {t: replace(part, lower=1.5 * part.lower, witness=None) for t, part in proof.proofs.items()}
        assert check_certificate(proof, network).holds
        assert not check_certificate(replace(proof, proofs=longer), network).holds
        assert not check_certificate(replace(proof, proofs=moved), network).holds
        assert check_certificate(proof, network).holds


@pytest.mark.parametrize("horizon", [0.0, 1e-300, 1e300])
def test_nothing_is_raised_however_near_or_far_the_witness_is(horizon: float):
    problems = seen(1)[3]
    with np.errstate(all="ignore"):
        for found in screen(problems, horizon, 1e-6):
            assert 0.0 <= found.lower <= horizon
            assert (found.box.low <= found.box.high).all()
