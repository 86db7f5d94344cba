"""Counted errors, exact formulas without bias, bias dominance and the overfitting profile."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from marginflow import InputError, generalisation
from marginflow.data import Dataset, GramReduction, Interval, NoisySphere
from marginflow.generalisation import (
    Estimate,
    bias_dominance,
    overfitting_profile,
    sampled_error,
    specialists_error,
    two_neuron_error,
)
from marginflow.limit import catastrophic
from marginflow.networks import TwoLayer

EPS = float(np.finfo(np.float64).eps)


@pytest.mark.parametrize(("count", "draws"), [(0, 20), (3, 20), (20, 20), (1, 5)])
def test_interval_ends_are_where_binomial_tails_meet_the_confidence(count: int, draws: int) -> None:
    found = Estimate.counted(count, draws, confidence=0.9)
    if count:
        assert stats.binom.sf(count - 1, draws, found.lower) == pytest.approx(0.05)
    if count < draws:
        assert stats.binom.cdf(count, draws, found.upper) == pytest.approx(0.05)
    assert found.value == count / draws


def test_sampled_errors_are_the_same_again_and_need_coordinates() -> None:
    law = NoisySphere(dimension=5, p=0.2)
    network = TwoLayer(W=np.eye(5), v=np.ones(5))
    first = sampled_error(network, law, 3000, seed=1)
    assert first == sampled_error(network, law, 3000, seed=1)
    assert first != sampled_error(network, law, 3000, seed=2)
    assert first.lower <= 2.0**-5 <= first.upper, "N = 0 exactly where all coordinates are negative"
    noisy = sampled_error(network, law, 3000, seed=1, target="observed")
    assert noisy.lower <= 0.2 + 0.6 * 2.0**-5 <= noisy.upper
    with pytest.raises(InputError, match="train"):
        sampled_error(network, GramReduction(law), 10, seed=0)
    train = GramReduction(law).sample(3, seed=0)
    small = TwoLayer(W=np.eye(3), v=np.ones(3))
    assert abs(sampled_error(small, GramReduction(law), 2000, seed=0, train=train).value - 0.125) < 0.05
    with pytest.raises(InputError, match="law is"):
        sampled_error(network, "sphere", 10, seed=0)


def test_blocks_are_drawn_independently(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("marginflow.generalisation.sampled._BLOCK_NUMBERS", 500)
    network = TwoLayer(W=[[1.0]], b=[-0.25], v=[1.0])
    found = sampled_error(network, Interval(p=0.1), 20_000, seed=0, confidence=0.999)
    assert found.trials == 20_000
    assert found.lower <= 0.25 <= found.upper
    one_block = sampled_error(network, Interval(p=0.1), 500, seed=0)
    assert found.errors != 40 * one_block.errors


@pytest.mark.parametrize("signs", [(1.0, -1.0), (-1.0, 1.0), (1.0, 1.0), (-1.0, -1.0), (0.0, 1.0), (-1.0, 0.0)])
@pytest.mark.parametrize("seed", [0, 1])
def test_two_neurons_without_bias_agree_with_sampling(signs: tuple[float, float], seed: int) -> None:
    rng = np.random.default_rng(seed)
    network = TwoLayer(W=rng.standard_normal((2, 3)), v=np.array(signs) * rng.uniform(0.5, 2, 2))
    points = rng.standard_normal((40_000, 3))
    for ties in ("error", "correct"):
        counted = generalisation.test_error(network, points, np.ones(40_000), ties=ties, confidence=0.9999)
        exact = two_neuron_error(network, ties=ties)
        assert counted.lower - 1e-9 <= exact <= counted.upper + 1e-9, (ties, exact, counted)


def test_degenerate_pairs_of_neurons_have_their_own_ties() -> None:
    same = TwoLayer(W=[[1.0, 0.0], [1.0, 0.0]], v=[1.0, -1.0])
    assert two_neuron_error(same) == 1.0, "N is zero everywhere"
    assert two_neuron_error(same, ties="correct") == 0.0
    dead = TwoLayer(W=[[0.0, 0.0], [1.0, 0.0]], v=[1.0, -1.0])
    assert two_neuron_error(dead) == 1.0
    assert two_neuron_error(dead, ties="correct") == 0.5
    nothing = TwoLayer(W=np.zeros((2, 2)), v=[1.0, -1.0])
    assert (two_neuron_error(nothing), two_neuron_error(nothing, ties="correct")) == (1.0, 0.0)
    with pytest.raises(InputError, match="two neurons without bias"):
        two_neuron_error(TwoLayer(W=np.eye(2), b=[0.0, 0.0], v=[1.0, -1.0]))


def test_specialists_error_has_the_values_of_the_catalogue_and_of_sampling() -> None:
    table = {(8, 2): 0.607, (15, 5): 0.685, (90, 10): 0.662, (70, 30): 0.912, (700, 300): 1.000}
    for (q, k), wanted in table.items():  # sampled values, so three digits at best
        assert specialists_error(q, k) == pytest.approx(wanted, abs=3e-3)
    data = Dataset(X=np.eye(10), y=np.repeat([1.0, -1.0], [8, 2]))
    points = np.random.default_rng(0).standard_normal((100_000, 10))
    counted = generalisation.test_error(catastrophic(data).network, points, np.ones(100_000), confidence=0.9999)
    assert counted.lower <= specialists_error(8, 2) <= counted.upper


def test_specialists_error_has_its_closed_forms() -> None:
    """k = 1, q = 1: P(g0+ <= g1+) = 1/2 + 1/4 * 1/2 = 5/8; the wedge of angle arctan(1/sqrt q) for any q."""
    for q in (1, 4, 50):
        assert specialists_error(q, 1) == pytest.approx(0.5 + math.atan(1 / math.sqrt(q)) / (2 * math.pi), abs=50 * EPS)
    assert specialists_error(0, 3) == 1.0
    assert specialists_error(0, 3, ties="correct") == 0.875
    assert specialists_error(5, 0) == 0.5
    assert specialists_error(5, 0, ties="correct") == 0.0
    assert specialists_error(4, 2) - specialists_error(4, 2, ties="correct") == pytest.approx(0.125, abs=50 * EPS)
    assert specialists_error(10, 5000) == pytest.approx(1.0, abs=1e-12)


def test_bias_dominance_bounds_the_counted_error_and_is_sharper_than_the_simple_form() -> None:
    rng = np.random.default_rng(0)
    d = 60
    network = TwoLayer(W=0.1 * rng.standard_normal((6, d)), b=rng.uniform(0.2, 1, 6), v=[1, 1, 1, 1, -0.5, -0.2])
    proof = bias_dominance(network)
    points = rng.standard_normal((20_000, d))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    counted = generalisation.test_error(network, points, np.ones(20_000))
    assert counted.lower <= proof.bound
    assert proof.log_bound <= proof.simple_log_bound
    assert proof.beta == pytest.approx(float(network.v @ np.maximum(network.b, 0)))
    values = network(points)
    assert (values >= proof.beta - np.abs(points @ network.W.T) @ np.abs(network.v) - 1e-12).all()


def test_bias_dominance_says_nothing_without_positive_beta_and_everything_when_weights_are_small() -> None:
    down = TwoLayer(W=np.eye(2), b=[1.0, 2.0], v=[1.0, -1.0])
    assert bias_dominance(down).bound == 1.0
    assert not bias_dominance(down).proves(0.5)
    up = TwoLayer(W=0.1 * np.eye(2), b=[1.0, 0.0], v=[1.0, -1.0])
    assert bias_dominance(up).log_bound == -math.inf, "|w . x| never reaches beta on the sphere"
    assert -math.inf < bias_dominance(up, law="gaussian").log_bound < -20
    with pytest.raises(InputError, match="no biases"):
        bias_dominance(TwoLayer(W=np.eye(2), v=[1.0, -1.0]))
    with pytest.raises(InputError, match="dimension is"):
        bias_dominance(TwoLayer(W=np.eye(3), b=np.ones(3), v=np.ones(3)), dimension=2)
    # the simple form is the catalogue's condition d >= K^2 ln(2n / eps) / (2 beta^2), solved for eps
    wide = bias_dominance(TwoLayer(W=np.eye(2), b=[1.0, 0.0], v=[1.0, -1.0]), dimension=10**6)
    K, n = wide.norm_squared, 2
    d_needed = K**2 * (math.log(2 * n) - wide.simple_log_bound) / (2 * wide.beta**2)
    assert d_needed == pytest.approx(10**6, rel=1e-9)


def rows(limit: str, sizes: tuple[int, ...], noise: float = 0.01) -> tuple[list[float], list[float], list[float]]:
    rng = np.random.default_rng(0)
    p, L, s = [], [], []
    for size in sizes:
        for rate in (0.1, 0.2, 0.3):
            for _ in range(5):
                means = {"tempered": rate, "benign": 3 * rate / size, "catastrophic": 0.5 - rate / size}
                p.append(rate)
                s.append(float(size))
                L.append(float(np.clip(means[limit] + noise * rng.standard_normal() / size**0.5, 0, 1)))
    return p, L, s


@pytest.mark.parametrize("limit", ["tempered", "benign", "catastrophic"])
def test_profile_recognises_the_three_regimes_from_their_trend(limit: str) -> None:
    found = overfitting_profile(*rows(limit, (50, 100, 200, 400)))
    assert found.verdict == limit, str(found)
    assert limit in found.evidence


def test_profile_needs_two_sizes_and_precision() -> None:
    assert overfitting_profile(*rows("tempered", (50,))).verdict == "undecided"
    p, L, s = rows("tempered", (50, 100))
    once = [i for i in range(len(p)) if i % 5 == 0]
    alone = overfitting_profile([p[i] for i in once], [L[i] for i in once], [s[i] for i in once])
    assert alone.verdict == "undecided", "one run per cell and no intervals"
    ends = {"lower": [L[i] - 0.001 for i in once], "upper": [L[i] + 0.001 for i in once]}
    profile = overfitting_profile([p[i] for i in once], [L[i] for i in once], [s[i] for i in once], **ends)
    assert profile.verdict == "tempered"
    fit = profile.fits[100.0]
    assert fit.slope == pytest.approx(1.0, abs=0.1)
    assert fit.r_squared > 0.99
    for bad in ({"lower": [0.0] * len(once)}, {"confidence": 1.0}):
        with pytest.raises(InputError):
            overfitting_profile([p[i] for i in once], [L[i] for i in once], [s[i] for i in once], **bad)
    with pytest.raises(InputError, match=r"errors has the value 1\.2"):
        overfitting_profile([0.1, 0.1], [0.2, 1.2], [10, 20])
    with pytest.raises(InputError, match="equal numbers"):
        overfitting_profile([0.1], [0.2, 0.2], [10, 20])
