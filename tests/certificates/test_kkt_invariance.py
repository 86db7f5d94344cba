"""Invariance of certificates: rotations, order, labels, scale, split neurons and the span of the samples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from marginflow.certificates import certify
from marginflow.data import Dataset
from marginflow.networks import TwoLayer

EPS = float(np.finfo(np.float64).eps)


shapes = st.tuples(
    st.integers(2, 12), st.integers(1, 5), st.integers(1, 7), st.integers(0, 10**6), st.booleans(), st.booleans()
)


def _draw(known, shape):
    n, d, k, seed, bias, frozen = shape
    case = known.separating(n, d, k, seed, bias=bias, outputs="frozen" if frozen else "trained")
    assume(np.abs(case.network(case.data.X)).min() > 1e-3)
    return case, np.random.default_rng(seed + 1)


@settings(max_examples=30)
@given(shape=shapes)
def test_certificate_is_invariant_under_rotations(known, shape):
    case, rng = _draw(known, shape)
    Q, _ = np.linalg.qr(rng.normal(size=(case.data.dimension,) * 2))
    rotated = certify(replace(case.network, W=case.network.W @ Q), Dataset(X=case.data.X @ Q, y=case.data.y))
    plain = certify(case.network, case.data)
    assert rotated.total == pytest.approx(plain.total, rel=1e-9)
    assert rotated.total_lower_bound == pytest.approx(plain.total_lower_bound, abs=1e-7)


@settings(max_examples=30)
@given(shape=shapes)
def test_certificate_is_invariant_under_permutations_and_label_flip(known, shape):
    case, rng = _draw(known, shape)
    rows, neurons = rng.permutation(case.data.n_samples), rng.permutation(case.network.width)
    network = replace(case.network.neurons(neurons), v=-case.network.v[neurons])
    permuted = certify(network, Dataset(X=case.data.X[rows], y=-case.data.y[rows]))
    plain = certify(case.network, case.data)
    assert permuted.total == pytest.approx(plain.total, rel=1e-9)
    np.testing.assert_allclose(permuted.margins, plain.margins[rows], rtol=1e-9)


@settings(max_examples=30)
@given(shape=shapes, factor=st.floats(1e-3, 1e3))
def test_certificate_does_not_depend_on_the_scale_of_the_parameters(known, shape, factor):
    case, _ = _draw(known, shape)
    scaled = certify(case.network.scaled(factor), case.data)
    plain = certify(case.network, case.data)
    assert scaled.total == pytest.approx(plain.total, rel=1e-8)
    assert scaled.scale * factor == pytest.approx(plain.scale, rel=1e-9)


@settings(max_examples=20)
@given(
    n_plus=st.integers(1, 6),
    n_minus=st.integers(1, 6),
    shares=st.lists(st.floats(0.05, 1.0), min_size=2, max_size=5),
    neuron=st.integers(0, 1),
)
def test_splitting_a_neuron_leaves_the_certificate_alone(known, n_plus, n_minus, shares, neuron):
    case = known.orthogonal_pair(13, n_plus, n_minus)
    parts = np.array(shares) / sum(shares)
    parts[-1] += 1.0 - parts.sum()
    certificate = certify(case.network.split(neuron, parts), case.data)
    assert certificate.holds(1e-12)
    np.testing.assert_allclose(certificate.multipliers, case.lam, rtol=1e-10)
    assert certificate.norm_squared == pytest.approx(case.network.norm_squared(), rel=1e-12)


@settings(max_examples=20)
@given(shape=shapes, share=st.floats(0.01, 0.99))
def test_splitting_a_neuron_of_any_network_leaves_the_numbers_alone(known, shape, share):
    case, rng = _draw(known, shape)
    neuron = int(rng.integers(case.network.width))
    split = certify(case.network.split(neuron, [share, 1 - share]), case.data)
    plain = certify(case.network, case.data)
    assert split.total == pytest.approx(plain.total, rel=1e-9)
    assert split.norm_squared == pytest.approx(plain.norm_squared, rel=1e-9)


def test_samples_in_high_dimension_and_in_their_span_agree(known):
    case = known.separating(6, 3, 4, 0)
    rng = np.random.default_rng(0)
    Q, _ = np.linalg.qr(rng.normal(size=(40, 3)))
    W = case.network.W @ Q.T
    high = certify(replace(case.network, W=W), Dataset(X=case.data.X @ Q.T, y=case.data.y))
    assert high.total == pytest.approx(certify(case.network, case.data).total, rel=1e-10)
    outside = rng.normal(size=(4, 40))
    outside -= (outside @ Q) @ Q.T
    certificate = certify(replace(case.network, W=W + outside), Dataset(X=case.data.X @ Q.T, y=case.data.y))
    # What lies outside the span of the samples is explained by nothing.
    share = np.linalg.norm(outside) * certificate.scale / np.sqrt(certificate.norm_squared)
    assert certificate.total_lower_bound >= share * (1 - 1e-9)


@pytest.mark.parametrize("factor", [1e-300, 1e-160, 1e-50, 3e40, 1e100, 1e200, 1e300])
@pytest.mark.parametrize("outputs", ["trained", "frozen"])
def test_the_size_of_a_network_does_not_matter(factor, outputs):
    data = Dataset(X=[[1.0, 0.0], [0.0, 1.0]], y=[1, -1])
    network = TwoLayer(W=np.eye(2), v=[1.0, -1.0], outputs=outputs)
    certificate = certify(network.scaled(factor), data, start=network)
    assert certificate.holds(50 * EPS)
    assert certificate.scale == pytest.approx(1.0 / factor)
    np.testing.assert_allclose(certificate.network.W, np.eye(2), atol=50 * EPS)


@pytest.mark.parametrize("factor", [1e-160, 1e160])
def test_a_rescaled_network_that_is_not_a_kkt_point_has_the_same_residual(factor):
    data = Dataset(X=np.random.default_rng(0).normal(size=(4, 9)), y=[1, -1, 1, -1])
    network = TwoLayer(W=5.0 * data.X, v=data.y)
    first, second = certify(network, data), certify(network.scaled(factor), data)
    assert second.stationarity == pytest.approx(first.stationarity, rel=1e-10)
    assert second.total_lower_bound == pytest.approx(first.total_lower_bound, rel=1e-10)
