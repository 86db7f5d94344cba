"""Attacks on the judge of radius certificates: what it accepts is true, also in exact arithmetic."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from marginflow.networks import TwoLayer
from marginflow.robustness.radius import (
    ProofNode,
    ProofStep,
    RadiusCertificate,
    check_certificate,
    checker,
    exact_radius,
)
from marginflow.robustness.radius.options import RadiusOptions
from marginflow.robustness.radius.reduction import reduce_network
from marginflow.robustness.radius.search import Search

# Networks whose radius is hard to tell from its neighbours -----------------------------------------------------------


def attacked_network(seed: int) -> tuple[TwoLayer, np.ndarray]:
    """Weights from 1e-6 to 1e6, parallel neurons of either sign, neurons that are parallel up to 1e-13 only."""
    rng = np.random.default_rng(seed)
    width, d = int(rng.integers(2, 14)), int(rng.integers(1, 6))
    W, b, v = rng.standard_normal((width, d)), rng.standard_normal(width), rng.standard_normal(width)
    again = rng.integers(0, width, int(rng.integers(0, 5)))
    q = rng.choice([0.5, 1.0, 3.0], again.size)
    W = np.vstack([W, q[:, None] * W[again] * (1.0 + rng.choice([0.0, 1e-13]) * rng.standard_normal((again.size, d)))])
    b, v = np.append(b, q * b[again]), np.append(v, -v[again] * rng.choice([0.3, 1.0, 2.0], again.size))
    each = 10.0 ** rng.uniform(-6, 6, v.size) if rng.random() < 0.5 else np.ones(v.size)
    inner, outer = 10.0 ** rng.uniform(-6, 6, 2)
    x = rng.choice([0.01, 1.0, 100.0]) * rng.standard_normal(d)
    return TwoLayer(W=inner * each[:, None] * W, b=inner * each * b, v=outer * v / each), x


def exact_value(network: TwoLayer, x: np.ndarray) -> Fraction:
    point = [Fraction(float(t)) for t in x]
    b = np.zeros(network.width) if network.b is None else network.b
    total = Fraction(0)
    for w, offset, weight in zip(network.W.tolist(), b.tolist(), network.v.tolist(), strict=True):
        z = Fraction(offset) + sum(Fraction(t) * p for t, p in zip(w, point, strict=True))
        total += Fraction(weight) * max(z, Fraction(0))
    return total


def just_beyond_a_true_witness(network: TwoLayer, x: np.ndarray, witness: np.ndarray, label: float) -> float | None:
    """A float64 that exceeds the distance of a point which is flipped in exact arithmetic, by 1e-15 of it or so."""
    for stretch in (0.0, *np.geomspace(1e-16, 1e-12, 9)):
        moved = x + (1.0 + stretch) * (witness - x)
        if Fraction(label) * exact_value(network, moved) <= 0:
            square = sum((Fraction(float(p)) - Fraction(float(q))) ** 2 for p, q in zip(moved, x, strict=True))
            L = float(np.linalg.norm(moved - x))
            while Fraction(L) ** 2 <= square:
                L = float(np.nextafter(L, np.inf))
            return L
    return None


class Blindfold:
    """Stands for a witness search that finds nothing."""

    upper, delta = float("inf"), None

    def offer(self, *_) -> bool:
        return False

    def descend(self, *_) -> None: ...

    anneal = attack = scatter = explore = descend


def forged(network: TwoLayer, x: np.ndarray, label: float, L: float) -> RadiusCertificate:
    """The best that the search can say for the false claim that there is no witness within L."""
    reduction = reduce_network(network)
    options = RadiusOptions(level=0.0, tolerance=1e-9, time_limit=np.inf, max_nodes=30, certificate=True)
    problem = reduction.at(x, label, 0.0)
    search = Search(problem=problem, witness=Blindfold(), options=options, horizon=L, begin=0.0)
    search.run()
    nodes = tuple(ProofNode(steps=tuple(n.steps), split=n.split, children=n.children) for n in search.tree)
    return RadiusCertificate(
        point=x, label=label, level=0.0, lower=L, witness=None, groups=reduction.geometry.groups, nodes=nodes
    )


def test_bounds_above_an_exactly_confirmed_witness_are_refused():
    tried = 0
    for seed in range(40):
        network, x = attacked_network(seed)
        radius = exact_radius(network, x)
        assert check_certificate(radius.certificate, network).holds
        if radius.status != "proved":
            continue
        L = just_beyond_a_true_witness(network, x, radius.witness, radius.label)
        if L is None:
            continue
        for factor in (1.0, 1.0 + 1e-9, 1.0 + 1e-6):
            for false in (
                forged(network, x, radius.label, factor * L),
                replace(radius.certificate, lower=factor * L, witness=None),
            ):
                judgement = check_certificate(false, network)
                assert not judgement.holds
                assert "exclude" in judgement.reason
                tried += 1
    assert tried > 100


# Proofs that are as tight as float64 allows --------------------------------------------------------------------------


def tight_claim(seed: int) -> tuple[RadiusCertificate, TwoLayer]:
    """A network that is linear near the point, the least float64 above its radius, and a step that nearly proves it.

    The parabola of every neuron touches it at the nearest flipped point, so that curvatures cost nothing.
    """
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 12)), int(rng.integers(1, 9))
    W = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-3, 3, (n, 1))
    x = rng.choice([0.01, 1.0, 100.0]) * rng.standard_normal(d)
    size = np.linalg.norm(W, axis=1)
    on = rng.random(n) < 0.7
    on[0] = True
    b = size * np.where(on, 1.0, -1.0) * rng.uniform(3.0, 9.0, n) - W @ x
    v = rng.standard_normal(n) / size
    network = TwoLayer(W=W, b=b, v=v)
    gradient = (v * on) @ W
    level = float(network(x[None, :])[0]) - float(np.linalg.norm(gradient))  # the radius is about 1
    slope = [sum(Fraction(v[j]) * Fraction(W[j, i]) for j in np.flatnonzero(on)) for i in range(d)]
    square = (exact_value(network, x) - Fraction(level)) ** 2 / sum(t * t for t in slope)
    L = float(np.sqrt(float(square)))
    while Fraction(L) ** 2 <= square:
        L = float(np.nextafter(L, np.inf))
    while Fraction(float(np.nextafter(L, 0.0))) ** 2 > square:
        L = float(np.nextafter(L, 0.0))
    tau = 2.0 * L / float(np.linalg.norm(gradient))
    delta = -L * gradient / np.linalg.norm(gradient)
    z = (W @ (x + delta) + b) / size
    bend = rng.exponential(size=n)
    bend *= rng.choice([0.0, 0.5, 0.999]) / (tau * bend.sum())
    step = ProofStep(scale=1.0, slopes=np.where(on, v * size, 0.0) + 2.0 * bend * z, curvatures=-bend, taus=(tau,))
    if not bend.any():
        step = replace(step, curvatures=None)
    return RadiusCertificate(
        point=x,
        label=1.0,
        level=level,
        lower=L,
        witness=None,
        groups=np.arange(n),
        nodes=(ProofNode(steps=(step,)),),
    ), network


def test_bounds_one_unit_in_the_last_place_too_large_are_refused_and_slightly_smaller_ones_hold():
    for seed in range(400):
        claim, network = tight_claim(seed)
        assert not check_certificate(claim, network).holds
        assert check_certificate(replace(claim, lower=claim.lower * (1.0 - 1e-8)), network).holds


def test_without_the_charge_for_rounding_false_bounds_would_pass(monkeypatch):
    # The control of the test above: what it feeds in is as near to a proof as float64 can tell.
    monkeypatch.setattr(checker, "_EPS", 0.0)
    passed = [check_certificate(*tight_claim(seed)).holds for seed in range(400)]
    assert sum(passed) > 40


# Groups that hide something ------------------------------------------------------------------------------------------


def test_neurons_that_are_nearly_parallel_cannot_be_taken_for_one_another():
    # The proof of a network with parallel neurons, shown to one in which they differ and matter: heavy, opposite signs.
    held = refused = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        W, b, v = rng.standard_normal((6, 3)), rng.standard_normal(6), rng.standard_normal(6)
        x, turn = rng.standard_normal(3), rng.standard_normal((2, 3))
        heavy = 10.0 ** rng.uniform(0, 6) * np.array([1.0, -1.0])
        v = np.concatenate([v, heavy, -heavy])
        parallel = TwoLayer(W=np.vstack([W, W[:2], W[:2]]), b=np.concatenate([b, b[:2], b[:2]]), v=v)
        proof = exact_radius(parallel, x)
        if proof.status != "proved":
            continue
        for apart in (1e-15, 1e-12, 1e-9, 1e-6, 1e-3):
            real = TwoLayer(W=np.vstack([W, W[:2], W[:2] + apart * turn]), b=parallel.b, v=v)
            claims = [replace(proof.certificate, lower=share * proof.lower, witness=None) for share in (1.0, 0.5)]
            accepted = [claim.lower for claim in claims if check_certificate(claim, real).holds]
            held, refused = held + len(accepted), refused + 2 - len(accepted)
            if accepted:
                label_kept = proof.label * real(x[None, :])[0] > 0
                assert max(accepted) <= (exact_radius(real, x, label=proof.label).upper if label_kept else 0.0)
    assert held > 10
    assert refused > 10


def test_bound_is_infinite_only_if_nothing_can_decrease():
    positive = TwoLayer(W=[[1.0, 2.0], [0.0, 0.0]], b=[-1.0, 1.0], v=[1.0, 0.5])
    proof = exact_radius(positive, [1.0, 1.0]).certificate
    assert proof.lower == np.inf
    assert check_certificate(proof, positive).holds
    others = (
        TwoLayer(W=[[1.0, 2.0], [0.0, 0.0]], b=[-1.0, 1.0], v=[1.0, -0.5]),
        TwoLayer(W=[[1.0, 2.0], [0.0, 0.0]], b=[-1.0, 1.0], v=[-1e-9, 0.5]),
        TwoLayer(W=[[1.0, 2.0], [1e-9, 0.0]], b=[-1.0, 1.0], v=[1.0, 0.5]),  # zero far away
        TwoLayer(W=[[1.0, 2.0], [0.0, 0.0]], b=[-1.0, -1.0], v=[1.0, 0.5]),
    )
    for network in others:
        for groups in ([0, -1], [-1, -1], [0, 0], [0, 1]):
            assert not check_certificate(replace(proof, groups=np.array(groups)), network).holds


def test_neurons_without_a_group_count_with_all_they_can_do():
    # A neuron declared not to see the input is charged with its weight times the distance.
    for seed in range(30):
        network, x = attacked_network(seed)
        radius = exact_radius(network, x)
        if radius.status != "proved":
            continue
        for j in range(network.width):
            groups = radius.certificate.groups.copy()
            groups[j] = -1
            claim = replace(radius.certificate, lower=radius.upper * (1.0 + 1e-6), witness=None, groups=groups)
            assert not check_certificate(claim, network).holds
