"""What every radius must satisfy: below every attack, constant under changes that do not move the function."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rival_attacks import ATTACKS

from marginflow.networks import TwoLayer
from marginflow.robustness.radius import check_certificate, exact_radius

seeds = st.integers(0, 2**32 - 1)


def network_and_point(seed: int, widest: int = 24, most: int = 8) -> tuple[TwoLayer, np.ndarray]:
    """Wide networks with biases, or narrow ones of the kinds whose zero sets are thin or empty."""
    rng = np.random.default_rng(seed)
    wide = rng.random() < 0.6
    width, dimension = int(rng.integers(1, widest if wide else 12)), int(rng.integers(1, most))
    b = rng.choice([0.5, 2.0]) * rng.standard_normal(width)
    network = TwoLayer(
        W=rng.standard_normal((width, dimension)),
        b=b if wide or rng.random() < 0.5 else None,
        v=rng.standard_normal(width) + (0.0 if wide else rng.choice([0.0, 0.5])),
    )
    return network, rng.choice([0.3, 1.0, 3.0]) * rng.standard_normal(dimension)


def attacked(network: TwoLayer, x: np.ndarray, label: float, size: float, rng: np.random.Generator) -> float:
    """A tiny projected-gradient attack: the shortest flip it comes across on spheres around x."""
    b = 0.0 if network.b is None else network.b
    best = np.inf
    for _ in range(4):
        delta = rng.standard_normal(x.size)
        delta *= size / np.linalg.norm(delta)
        for step in range(25):
            z = network.W @ (x + delta) + b
            if label * (np.maximum(z, 0.0) @ network.v) < 0:
                best = min(best, float(np.linalg.norm(delta)))
            gradient = label * ((z > 0) * network.v) @ network.W
            norm = np.linalg.norm(gradient)
            if norm == 0:
                break
            delta = delta - size / (2 + step) * gradient / norm
            delta *= size / np.linalg.norm(delta)
    return best


@settings(max_examples=50)
@given(seed=seeds)
def test_lower_bound_is_below_the_witness_every_attack_and_every_sample(seed: int):
    network, x = network_and_point(seed)
    radius = exact_radius(network, x, max_nodes=400)
    assert radius.lower <= radius.upper
    assert check_certificate(radius.certificate, network).holds
    if radius.witness is not None:
        scale = np.abs(network.v) @ (np.abs(network.W) @ (np.abs(radius.witness) + np.abs(x)) + 2.0)
        assert radius.label * network(radius.witness[None, :])[0] <= 1e-11 * scale
        assert np.linalg.norm(radius.witness - x) == pytest.approx(radius.upper)
    rng = np.random.default_rng(seed)
    size = radius.upper * 1.3 if np.isfinite(radius.upper) else 5.0
    if size > 0:
        assert radius.lower <= attacked(network, x, radius.label, size, rng) * (1 + 1e-9)
    inside = rng.standard_normal((200, x.size))
    reach = min(radius.lower, 10.0) * (1 - 1e-9) * rng.random((200, 1))
    inside *= reach / np.linalg.norm(inside, axis=1, keepdims=True)
    assert (radius.label * network(x + inside) > -1e-11).all()


@settings(max_examples=12)
@given(seed=seeds)
@example(seed=1)
@example(seed=3)
@example(seed=33)
def test_first_node_alone_is_below_every_attack_and_its_witness_no_farther_than_those_without_restarts(seed: int):
    network, x = network_and_point(seed, 40, 12)
    radius = exact_radius(network, x, max_nodes=1)
    if radius.status == "misclassified":
        return
    for name, attack in ATTACKS.items():
        size = float(attack(network, x[None, :], [radius.label]).sizes[0])
        assert radius.lower <= size * (1 + 1e-9), name
        if name in ("fgm", "deepfool", "ddn", "fmn"):
            assert radius.upper <= size * (1 + 2e-6), name


@settings(max_examples=20)
@given(seed=seeds)
def test_radius_is_found_within_the_tolerance(seed: int):
    network, x = network_and_point(seed, 30, 10)
    radius = exact_radius(network, x, time_limit=600.0)
    assert radius.proved or (radius.upper == np.inf and radius.lower > 1e3)
    if radius.status == "proved":
        assert radius.upper - radius.lower <= 1e-6 * radius.upper
    times, lowers, uppers = (np.array(column) for column in zip(*radius.trace, strict=True))
    assert (np.diff(times) >= 0).all()
    assert (np.diff(lowers) >= 0).all()
    assert (uppers[1:] <= uppers[:-1]).all()
    assert (lowers <= uppers).all()


def same(first: float, second: float) -> None:
    if np.isinf(first) or np.isinf(second):
        assert first == second
    else:
        assert first == pytest.approx(second, rel=2e-6, abs=1e-9)


@settings(max_examples=20)
@given(seed=seeds)
def test_rotations_and_embeddings_do_not_change_the_radius(seed: int):
    network, x = network_and_point(seed)
    rng = np.random.default_rng(seed + 1)
    d = network.dimension
    Q = np.linalg.qr(rng.standard_normal((d + 3, d + 3)))[0][:d]  # into a space of three more dimensions
    moved = TwoLayer(W=network.W @ Q, b=network.b, v=network.v)
    same(exact_radius(network, x).upper, exact_radius(moved, x @ Q).upper)


@settings(max_examples=20)
@given(seed=seeds)
def test_splitting_and_rescaling_neurons_do_not_change_the_radius(seed: int):
    network, x = network_and_point(seed)
    rng = np.random.default_rng(seed + 1)
    before = exact_radius(network, x)
    factor = np.exp(rng.uniform(-3, 3, network.width))
    rescaled = TwoLayer(
        W=factor[:, None] * network.W, b=None if network.b is None else factor * network.b, v=network.v / factor
    )
    grown = network.split(0, [0.2, 0.3, 0.5])
    cancelled = TwoLayer(
        W=np.vstack([network.W, network.W[:1], network.W[:1]]),
        b=None if network.b is None else np.append(network.b, [network.b[0]] * 2),
        v=np.append(network.v, [0.7, -0.7]),
    )
    for other in (rescaled, grown, cancelled, network.scaled(1.7)):
        after = exact_radius(other, x, label=before.label)
        same(before.upper, after.upper)
        assert check_certificate(after.certificate, other).holds


@settings(max_examples=15)
@given(seed=seeds, first=st.floats(-0.5, 0.5), second=st.floats(-0.5, 0.5))
@example(seed=291661, first=0.0, second=-1e-106)  # a region where N is 0 lies 1e-106 above the level
def test_radius_falls_as_the_level_rises(seed: int, first: float, second: float):
    network, x = network_and_point(seed, 40, 12)
    low, high = min(first, second), max(first, second)
    label = 1.0 if network(x[None, :])[0] >= 0 else -1.0
    far, near = (exact_radius(network, x, label=label, level=level) for level in (low, high))
    assert near.lower <= far.upper
    assert near.upper <= far.upper * (1 + 2e-6)


@settings(max_examples=10)
@given(seed=seeds)
def test_opposite_network_and_label_have_the_same_radius(seed: int):
    network, x = network_and_point(seed)
    radius = exact_radius(network, x)
    mirrored = TwoLayer(W=network.W, b=network.b, v=-network.v)
    same(radius.upper, exact_radius(mirrored, x, label=-radius.label).upper)
