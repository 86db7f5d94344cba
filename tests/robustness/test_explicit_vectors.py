"""The papers' explicit vectors: constants in exact arithmetic, and what they do at closed-form KKT points."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.limit import convex_pair
from marginflow.networks import TwoLayer
from marginflow.robustness import minimal_step, one_neuron_per_sample
from marginflow.robustness.explicit_vectors import fvbs23_vector, measured_cluster_vector, vys22_steps, vys22_vector


def orthogonal_kkt(plus, minus, d):
    """[VYS22/X.orthKKT]: an exact KKT point of width 2 for sqrt(d) e_1, ..., written out from its formulas."""
    m = plus + minus
    X, y = np.sqrt(d) * np.eye(m, d), np.repeat([1.0, -1.0], [plus, minus])
    lam_p = np.sqrt((minus + d) / (plus * d * (m + d)))
    lam_m = np.sqrt((plus + d) / (minus * d * (m + d)))
    s = np.sqrt(plus * minus / ((plus + d) * (minus + d)))
    v = np.array([np.sqrt(lam_p * plus), -np.sqrt(lam_m * minus)])
    Xt = np.column_stack([X, np.ones(m)])
    up, um = Xt[:plus].sum(axis=0), Xt[plus:].sum(axis=0)
    W = np.array([v[0] * (lam_p * up - lam_m * s * um), v[1] * (lam_p * s * up - lam_m * um)])
    return TwoLayer(W=W[:, :-1], b=W[:, -1], v=v), X, y


def test_vys22_steps_are_the_printed_fractions():
    d, m, p, n = Fraction(100), Fraction(6), Fraction(2), Fraction(2)
    c, c_prime = Fraction(1, 3), Fraction(6 * 3, 101)
    literal = vys22_steps(d, m, p, n, "literal")
    assert literal == (Fraction(3, 88), 2 * (c * c_prime + 1) * 101 / (6 * c * 88))
    assert vys22_steps(d, m, p, n, "flip") == (literal[0], literal[1] / 2)
    assert vys22_steps(d, m, p, n, "sharp") == (Fraction(3, 90), Fraction(1 * 3 + 101, 2 * 90))


@pytest.mark.parametrize(("plus", "minus", "d"), [(8, 8, 50), (3, 12, 50), (30, 3, 100)])
@pytest.mark.parametrize("form", ["literal", "flip", "sharp"])
def test_vys22_vector_overturns_the_orthogonal_kkt_network_at_every_sample(plus, minus, d, form):
    net, X, y = orthogonal_kkt(plus, minus, d)
    z = vys22_vector(X, y, form=form)
    assert z.applies
    after = y * net(X - y[:, None] * z.vector)
    assert after.max() <= (-1.0 if form == "literal" else 0.0) + 1e-12
    assert minimal_step(net, X, y, z.vector).all_at_once <= 1.0
    # A vector far shorter than the flip at 1 / kappa >= 1 / (2 m) along u does not do it.
    assert (y * net(X - y[:, None] * (0.1 / (plus + minus)) * z.u) > 0).all()


@pytest.mark.parametrize("d", [50, 100, 1000])
def test_vys22_sizes_on_orthogonal_data_are_those_of_the_closed_form(d):
    """p = 0, c = 1/2: ||z|| = (4 (1 + c'/2)(1 + 1/d)) sqrt(d/m) + sqrt(m/d), below the bound of Lemma C.9."""
    m = 2 * ((d + 1) // 6)
    X, y = np.sqrt(d) * np.eye(m, d), np.resize([1.0, -1.0], m)
    z = vys22_vector(X, y)
    c_prime = m / (d + 1)
    expected = 4 * (1 + c_prime / 2) * (1 + 1 / d) * np.sqrt(d / m) + np.sqrt(m / d)
    assert z.size == pytest.approx(expected, rel=1e-12)
    assert z.size <= z.size_bound <= 18 * np.sqrt(2 * d / m) / 0.5 + 1e-9
    sizes = [vys22_vector(X, y, form=form).size for form in ("literal", "flip", "sharp")]
    assert sizes[0] > sizes[1] > sizes[2] > np.sqrt(d / m)


def test_vys22_slack_turns_negative_where_the_theorem_stops():
    d = 29  # (d + 1) / 3 = 10 samples are allowed, 12 are not
    y = np.resize([1.0, -1.0], 12)
    X = np.sqrt(d) * np.eye(12, d)
    assert vys22_vector(X[:10], y[:10]).applies
    assert vys22_vector(X[:10], y[:10]).slacks["sample size"] == pytest.approx(0.0, abs=1e-12)
    assert not vys22_vector(X, y).applies
    assert not vys22_vector(1.01 * X[:10], y[:10]).applies


@pytest.mark.parametrize(
    ("d", "k", "sigma", "expected"),
    [
        (549, 2, 549**-0.5, 1.77),
        (957, 10, 0.01, 0.83),
        (3382, 10, 3382**-0.5, 0.82),
        (1415388, 2, 1.0, 5.74),
        (10**9, 20, 1e9**-0.5, 0.447),
        (10**9, 300, 1e9**-0.5, 0.115),
    ],
)
def test_fvbs23_sharp_sizes_agree_with_the_catalogue(d, k, sigma, expected):
    means = np.sqrt(d) * np.eye(k)
    z = fvbs23_vector(means, np.resize([1.0, -1.0], k), sigma, form="sharp", ambient_dimension=d)
    assert z.relative_size == pytest.approx(expected, abs=0.006)


@pytest.mark.parametrize(("d", "k", "sigma", "expected"), [(549, 2, 549**-0.5, 17.3), (3382, 10, 3382**-0.5, 7.37)])
def test_fvbs23_literal_sizes_agree_with_the_catalogue_and_the_hypothesis_is_tight_there(d, k, sigma, expected):
    labels = np.resize([1.0, -1.0], k)
    z = fvbs23_vector(np.sqrt(d) * np.eye(k), labels, sigma, ambient_dimension=d)
    assert z.relative_size == pytest.approx(expected, rel=2e-3)
    assert z.size <= z.size_bound
    assert z.applies
    smaller = d - 1
    below = fvbs23_vector(np.sqrt(smaller) * np.eye(k), labels, smaller**-0.5, ambient_dimension=smaller)
    assert not below.applies


@pytest.mark.parametrize("form", ["literal", "flip", "sharp"])
def test_fvbs23_vector_without_noise_overturns_the_orthogonal_kkt_network(form):
    """sigma = 0: the samples are the means, and 10 k (p + 1) <= d + 1 is the hypothesis."""
    net, X, y = orthogonal_kkt(5, 5, 200)
    z = fvbs23_vector(X, y, 0.0, form=form)
    assert z.applies
    after = y * net(X - y[:, None] * z.vector)
    assert after.max() <= (-1.0 if form == "literal" else 0.0) + 1e-12


def test_fvbs23_specialist_kkt_network_needs_the_printed_step():
    """[FVBS23, catalogue 7.3 (ii)]: <mu_i, mu_j> = -rho; one neuron per cluster flips at eta = 1 / (1 + |Q_opp|)."""
    d, k, rho = 2000, 10, 2.0
    gram = (d + rho) * np.eye(k) - rho
    M = np.zeros((k, d))
    M[:, :k] = np.linalg.cholesky(gram)
    y = np.resize([1.0, -1.0], k)
    lam = (d + 1) ** -0.5
    v = y * np.sqrt(lam)
    net = TwoLayer(W=(v * lam * y)[:, None] * M, b=v * lam * y, v=v)
    np.testing.assert_allclose(net.margins(M, y), 1.0, rtol=1e-12)
    z = fvbs23_vector(M, y, 0.0, form="sharp")
    found = minimal_step(net, M, y, z.u)
    assert found.all_at_once == pytest.approx(1 / (1 + k / 2), rel=5e-3)
    assert found.all_at_once <= z.eta_1 + z.eta_2
    assert (y * net(M - y[:, None] * fvbs23_vector(M, y, 0.0).vector)).max() <= -1.0 + 1e-12


def test_measured_vector_flips_fresh_points_around_the_orthogonal_kkt_network():
    net, M, y = orthogonal_kkt(4, 4, 400)
    rng = np.random.default_rng(1)
    data = Dataset(X=M, y=y, clusters=np.arange(8), means=M, mean_labels=y)
    q = rng.integers(8, size=50)
    tests = M[q] + 0.05 * rng.normal(size=(50, 400))
    z = measured_cluster_vector(data, tests, q)
    assert (y[q] * net(tests - y[q][:, None] * z.vector) <= 1e-12).all()
    assert z.size <= 1.2 * fvbs23_vector(M, y, 0.05, form="sharp").size
    with pytest.raises(InputError, match="Cluster 7 has no training sample"):
        measured_cluster_vector(data.subset(np.arange(7)), tests, q)
    with pytest.raises(InputError, match="know no clusters"):
        measured_cluster_vector(Dataset(X=M, y=y), tests, q)


def test_all_forms_flip_fresh_noisy_points_at_an_exact_kkt_point():
    """The smallest d that [FVBS23, Asm 2.2] allows for k = 2, sigma = 1 / sqrt(d); eta = 0.5 / k flips nothing."""
    d, k, sigma, n = 549, 2, 549**-0.5, 40
    rng = np.random.default_rng(0)
    M, means_y = np.sqrt(d) * np.eye(k, d), np.array([1.0, -1.0])
    q, fresh = np.resize(np.arange(k), n), rng.integers(k, size=60)
    data = Dataset(X=M[q] + sigma * rng.normal(size=(n, d)), y=means_y[q], clusters=q, means=M, mean_labels=means_y)
    tests, y = M[fresh] + sigma * rng.normal(size=(60, d)), means_y[fresh]
    net = convex_pair(data).network
    assert (net.margins(tests, y) > 0).all()
    forms = {form: fvbs23_vector(M, means_y, sigma, form=form) for form in ("literal", "flip", "sharp")}
    forms["measured"] = measured_cluster_vector(data, tests, fresh)
    sizes = [forms[form].size for form in ("literal", "flip", "sharp", "measured")]
    assert sizes == sorted(sizes, reverse=True)
    for form, z in forms.items():
        assert z.applies
        assert (y * net(tests - y[:, None] * z.vector)).max() <= (-1.0 if form == "literal" else 0.0)
    assert (y * net(tests - y[:, None] * (0.5 / k) * forms["literal"].u) > 0).all()


def test_bad_input_is_told_in_a_sentence():
    X = np.sqrt(4.0) * np.eye(4)
    with pytest.raises(InputError, match="balance c > 0"):
        vys22_vector(X, np.ones(4))
    with pytest.raises(InputError, match="needs it to be positive"):
        vys22_vector(np.array([[2.0, 0, 0, 0], [1.9, 0.6, 0, 0], [0, 0, 2, 0]]), [1, -1, 1])
    with pytest.raises(InputError, match="form is 'short'"):
        vys22_vector(X, [1, 1, -1, -1], form="short")
    with pytest.raises(InputError, match="below 1/3"):
        fvbs23_vector(X, [1, 1, -1, -1], 1.0)
    with pytest.raises(InputError, match="too close"):
        fvbs23_vector(X, [1, 1, -1, -1], 1.0, form="sharp")


def test_the_vector_of_the_theorem_flips_kkt_networks_of_any_width_and_not_the_robust_one():
    """[VYS22, Sec. 4]: one z, many KKT networks. The closed form of width 2, split into other widths and rescaled."""
    half, d = 50, 400
    m = 2 * half
    X, y = np.sqrt(d) * np.eye(m, d), np.repeat([1.0, -1.0], half)
    lam, s = np.sqrt((half + d) / (half * d * (m + d))), half / (half + d)
    v = np.sqrt(lam * half) * np.array([1.0, -1.0])
    Xt = np.column_stack([X, np.ones(m)])
    up, um = Xt[:half].sum(axis=0), Xt[half:].sum(axis=0)
    W = np.array([v[0] * lam * (up - s * um), v[1] * lam * (s * up - um)])
    pair = TwoLayer(W=W[:, :-1], b=W[:, -1], v=v)
    nets = {
        "2": pair,
        "7": pair.widened(7),
        "30": pair.widened(30).scaled(3.0),
        "robust": one_neuron_per_sample(X, y).network,
    }
    z = vys22_vector(X, y, form="sharp")
    assert z.size < np.sqrt(d) / 2
    found = {name: minimal_step(net, X, y, z.vector) for name, net in nets.items()}
    assert {name: float(steps.flipped_share(1.0)) for name, steps in found.items()} == {
        "2": 1.0,
        "7": 1.0,
        "30": 1.0,
        "robust": 0.0,
    }
    for name in ("2", "7", "30"):
        np.testing.assert_allclose(found[name].all_at_once * z.size, np.sqrt(d / m), rtol=1e-9)
