"""Bounds for all rivals at once: proved by their own steps, the same as for one rival alone, and never too large."""

from dataclasses import replace

import numpy as np
import pytest

from marginflow.networks import Classifier, TwoLayer
from marginflow.robustness import check_certificate, exact_radius
from marginflow.robustness.radius.certificate import ProofNode, RadiusCertificate
from marginflow.robustness.radius.horizons import first_look
from marginflow.robustness.radius.problems import Problems
from marginflow.robustness.radius.reduction import RadiusProblem, reduce_network
from marginflow.robustness.radius.rivals import reduce_classifier
from marginflow.robustness.radius.screening import screen


def seen(seed: int, n_classes: int = 5) -> tuple[list[TwoLayer], list[float], np.ndarray, Problems]:
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
    problems = reduction.outputs_of(own).at(x, 0)
    return [pair.network for pair in pairs], [pair.level for pair in pairs], x, problems


def test_together_they_are_the_problems_of_their_reductions():
    networks, levels, x, problems = seen(2)
    assert len(problems) == len(networks)
    for network, level, problem in zip(networks, levels, problems, strict=True):
        alone: RadiusProblem = reduce_network(network).at(x, 1.0, level)
        np.testing.assert_array_equal(problem.W, alone.W)
        for name in ("a", "c", "constant", "blur", "blur_per_length", "noise", "dimension"):
            np.testing.assert_allclose(getattr(problem, name), getattr(alone, name), rtol=1e-12)


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
            groups=reduction.geometry.groups,
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
        (alone,) = screen(Problems.of(problem), 0.3, 1e-6)
        assert alone.lower == pytest.approx(found.lower, rel=1e-9)
        assert len(alone.steps) == len(found.steps)
        np.testing.assert_allclose(alone.box.low, found.box.low, atol=1e-9)
        np.testing.assert_allclose(alone.box.high, found.box.high, atol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_tangents_of_any_shares_give_bounds_that_hold(seed: int):
    rng = np.random.default_rng(seed)
    networks, levels, x, problems = seen(seed)
    exact = exact_radius(networks[0], x, label=1.0, level=levels[0])
    for shares in (rng.random(problems.a.size), np.zeros(problems.a.size), np.ones(problems.a.size)):
        assert screen(problems, 2.0, 1e-6, shares)[0].lower <= exact.upper * (1 + 1e-9)


def test_a_witness_at_a_kink_is_proved_with_the_shares_of_its_projection():
    # |x_1| + 2 |x_2| <= 1 seen from (3, 0.2): the nearest point of the diamond is its corner (1, 0).
    W = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    network = TwoLayer(W=W, v=[1.0, 1.0, 2.0, 2.0])
    problem = reduce_network(network).at(np.array([3.0, 0.2]), 1.0, 1.0)
    look = first_look(Problems.of(problem), 1e-6)
    assert look.witness.upper == pytest.approx(np.hypot(2.0, 0.2), rel=1e-9)
    assert look.witness.tangents is not None
    assert ((look.witness.tangents > 0.01) & (look.witness.tangents < 0.99)).any()
    (with_shares,) = screen(Problems.of(problem), look.horizon, 1e-6, look.witness.tangents)
    (without,) = screen(Problems.of(problem), look.horizon, 1e-6)
    assert with_shares.lower >= look.horizon * (1 - 1e-6) > without.lower


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
    values, slopes = problems.values_and_slopes()
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
