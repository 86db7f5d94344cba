"""The ideal XOR classifier, exact errors in the plane and Rademacher complexity, each against brute force."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, special

from marginflow import InputError
from marginflow.data import XorClusters
from marginflow.generalisation.ideal_xor import coordinate_law, ideal_xor_error, ideal_xor_network
from marginflow.generalisation.plane import decision_rays, gaussian_cone_probability, plane_error
from marginflow.generalisation.rademacher import one_neuron_suprema, rademacher_complexity
from marginflow.networks import TwoLayer

MEANS = [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]
LABELS = [1, 1, -1, -1]


def random_network(seed: int, width: int = 9) -> TwoLayer:
    rng = np.random.default_rng(seed)
    return TwoLayer(W=rng.standard_normal((width, 2)), v=rng.standard_normal(width), outputs="frozen")


def ideal_xor_error_of(law: str, sigma: float) -> float:
    r"""The clean error of the ideal classifier for a law with independent coordinates and means along the axes.

    The mean over the four clusters of

    .. math:: P(|\sigma z_2| \ge |c + \sigma z_1|) = \int p(t) \, [1 - F(|c + \sigma t|/\sigma)
              + F(-|c + \sigma t|/\sigma)] \, dt, \qquad c = +1, -1,

    by adaptive quadrature; both coordinates have the same law, so mu1 and mu2 contribute alike.
    """
    coordinate = coordinate_law(law)
    low, high = coordinate.ppf(1e-18), coordinate.isf(1e-18)
    total = 0.0
    for centre in (1.0, -1.0):

        def density(t: float, centre: float = centre) -> float:
            reach = abs(centre + sigma * t) / sigma
            return float(coordinate.pdf(t) * (coordinate.sf(reach) + coordinate.cdf(-reach)))

        corners = sorted({low, *(p for p in (-centre / sigma, 0.0, -1.0) if low < p < high), high})
        for a, b in itertools.pairwise(corners):
            total += 0.5 * integrate.quad(density, a, b, epsabs=1e-15, epsrel=1e-12, limit=500)[0]
    return total


# Ideal classifier ---------------------------------------------------------------------------------


def test_error_of_the_ideal_classifier_at_the_figure() -> None:
    assert ideal_xor_error(math.sqrt(1 / 50)) == pytest.approx(5.733e-7, rel=1e-3)
    assert ideal_xor_error(0.0) == 0.0


@pytest.mark.parametrize("law", ["gaussian", "laplace", "logistic", "cube", "exponential", "gumbel"])
def test_quadrature_agrees_with_counting(law: str) -> None:
    sigma, n = 0.6, 40_000
    data = XorClusters(dimension=2, sigma=sigma, cluster_law=law).sample(n, seed=1)
    values = ideal_xor_network([1.0, 0.0], [0.0, 1.0])(data.X)
    exact = ideal_xor_error_of(law, sigma)
    assert float((data.y * values <= 0).mean()) == pytest.approx(exact, abs=4 * math.sqrt(exact / n))


def test_narrow_cube_clusters_are_never_wrong() -> None:
    assert ideal_xor_error_of("cube", 0.25) == pytest.approx(0.0, abs=1e-15)  # 2 sqrt(3) sigma < 1


# Exact error in the plane -------------------------------------------------------------------------


@pytest.mark.parametrize("sigma", [0.05, 0.1414, 0.5, 3.0])
def test_plane_error_of_the_ideal_network_is_its_formula(sigma: float) -> None:
    network = ideal_xor_network([1.0, 0.0], [0.0, 1.0])
    assert plane_error(network, MEANS, LABELS, sigma) == pytest.approx(ideal_xor_error(sigma), rel=1e-9)


def test_cone_probabilities_add_up_and_match_half_planes() -> None:
    for sigma, mean in itertools.product((0.1, 1.0, 4.0), ([1.0, 0.0], [0.3, -0.7])):
        cuts = [-1.0, 0.2, 1.4, 3.0, 2 * math.pi - 1.0]
        parts = [gaussian_cone_probability(mean, sigma, a, b) for a, b in itertools.pairwise(cuts)]
        assert math.fsum(parts) == pytest.approx(1.0, rel=1e-12)
    # The far half plane has probability Phi(-10): 7.6e-24, found to 9 digits.
    far = gaussian_cone_probability([1.0, 0.0], 0.1, 0.5 * math.pi, 1.5 * math.pi)
    assert far == pytest.approx(special.ndtr(-10.0), rel=1e-9)


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.sampled_from([0.2, 0.7]))
def test_plane_error_is_the_integral_of_the_density_where_the_sign_is_wrong(seed: int, sigma: float) -> None:
    network = random_network(seed)
    t = (np.arange(40_000) + 0.5) * (2 * math.pi / 40_000)
    sign = np.sign(network(np.column_stack([np.cos(t), np.sin(t)])))
    expected = 0.0
    for mean, label in zip(MEANS, LABELS, strict=True):
        s = np.cos(t - math.atan2(mean[1], mean[0])) / sigma
        ratio = math.sqrt(math.pi / 2) * special.erfcx(-s / math.sqrt(2))
        density = math.exp(-0.5 / sigma**2) * (1 + s * ratio) / (2 * math.pi)
        expected += 0.25 * float(density[label * sign <= 0].sum()) * (2 * math.pi / t.size)
    assert plane_error(network, MEANS, LABELS, sigma) == pytest.approx(expected, abs=2e-4)


@settings(max_examples=30)
@given(st.integers(0, 10_000))
def test_decision_rays_are_where_the_sign_changes(seed: int) -> None:
    network = random_network(seed)
    angles, signs = decision_rays(network)
    for angle, sign in zip(angles, signs, strict=True):
        before, after = network([[math.cos(a), math.sin(a)] for a in (angle - 1e-7, angle + 1e-7)])
        assert np.sign(after) == sign != np.sign(before)
    t = np.linspace(0, 2 * math.pi, 5001)
    seen = np.sign(network(np.column_stack([np.cos(t), np.sin(t)])))
    assert np.count_nonzero(np.diff(seen)) <= angles.size


def test_a_network_of_one_sign_is_wrong_on_the_other_clusters() -> None:
    positive = TwoLayer(W=np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]]), v=np.ones(3), outputs="frozen")
    assert plane_error(positive, MEANS, LABELS, 0.3) == pytest.approx(0.5, abs=1e-12)


def test_dead_cones_count_as_wrong() -> None:
    single = TwoLayer(W=np.array([[1.0, 0.0]]), v=np.ones(1), outputs="frozen")  # zero on the left half plane
    right = special.ndtr(1 / 0.3)
    expected = 0.25 * ((1 - right) + right + 1 + 1)  # +mu1, -mu1, and both -1 clusters: wrong wherever N >= 0
    assert plane_error(single, MEANS, LABELS, 0.3) == pytest.approx(expected, rel=1e-9)


def test_networks_beyond_the_plane_are_refused() -> None:
    with pytest.raises(InputError, match="in the plane without bias"):
        decision_rays(TwoLayer(W=np.eye(3), v=np.ones(3)))
    with pytest.raises(InputError, match="at most one turn"):
        gaussian_cone_probability([1.0, 0.0], 1.0, 0.0, 7.0)


# Rademacher complexity ----------------------------------------------------------------------------


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.integers(1, 30))
def test_one_neuron_suprema_beat_and_meet_a_grid(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    X, eps = rng.standard_normal((n, 2)), rng.choice([1.0, -1.0], n)
    t = np.linspace(0, 2 * math.pi, 20_001)
    h = np.maximum(np.column_stack([np.cos(t), np.sin(t)]) @ X.T, 0.0) @ eps
    plus, minus = one_neuron_suprema(X, eps[None])[0]
    slack = 1e-3 * np.linalg.norm(X, axis=1).sum()
    assert max(0.0, h.max()) - 1e-12 <= plus <= max(0.0, h.max()) + slack
    assert max(0.0, -h.min()) - 1e-12 <= minus <= max(0.0, -h.min()) + slack


def test_the_collapse_to_two_neurons_is_the_supremum_over_all_weights() -> None:
    """Random weights never beat the formula, and the weights that it describes reach it."""
    rng = np.random.default_rng(0)
    X, eps = rng.standard_normal((12, 2)), rng.choice([1.0, -1.0], 12)
    a = np.array([0.5, 0.5, -0.5, -0.5])
    G = one_neuron_suprema(X, eps[None])[0]
    claimed = math.sqrt(0.5 * float(G @ G))
    W = rng.standard_normal((20_000, 4, 2))
    W /= np.linalg.norm(W, axis=(1, 2), keepdims=True)
    values = np.einsum("kjd,nd->kjn", W, X).clip(0) @ eps @ a
    assert values.max() <= claimed + 1e-12
    t = np.linspace(0, 2 * math.pi, 400_001)
    u = np.column_stack([np.cos(t), np.sin(t)])
    h = np.maximum(u @ X.T, 0.0) @ eps
    best = np.stack([u[h.argmax()], u[h.argmax()], u[h.argmin()], u[h.argmin()]])
    lengths = 0.5 * np.array([G[0], G[0], G[1], G[1]])
    best *= (lengths / np.linalg.norm(lengths))[:, None]
    assert np.maximum(X @ best.T, 0.0).T @ eps @ a == pytest.approx(claimed, rel=1e-6)


def test_complexity_of_two_orthogonal_samples_by_hand() -> None:
    """(+,+): G = (sqrt2, 0), (+,-) and (-,+): (1, 1), (-,-): (0, sqrt2); balanced outputs give 1 each time."""
    found = rademacher_complexity([[1.0, 0.0], [0.0, 1.0]], [math.sqrt(0.5), -math.sqrt(0.5)])
    assert found.exact
    assert found.value == pytest.approx(0.5)


def test_drawn_signs_agree_with_all_signs_within_the_interval() -> None:
    X = XorClusters(dimension=2, sigma=0.2).sample(12).X
    exact = rademacher_complexity(X, [0.5, 0.5, -0.5, -0.5])
    X13 = np.vstack([X, np.zeros((1, 2))])  # a sample at the origin only changes n
    drawn = rademacher_complexity(X13, [0.5, 0.5, -0.5, -0.5], draws=2000)
    assert not drawn.exact
    assert drawn.low <= exact.value * 12 / 13 <= drawn.high
    assert drawn.value == pytest.approx(exact.value * 12 / 13, rel=0.05)


@pytest.mark.parametrize(("n", "ratio"), [(50, 0.32), (200, 0.34), (800, 0.31)])
def test_exact_complexity_is_a_third_of_the_bound(n: int, ratio: float) -> None:
    X = XorClusters(dimension=2, sigma=math.sqrt(1 / 50)).sample(n).X
    found = rademacher_complexity(X, [0.5, 0.5, -0.5, -0.5], draws=100)
    assert found.value * n / (2 * math.sqrt(float((X**2).sum()))) == pytest.approx(ratio, abs=0.05)


def test_gaussian_marginal_quadrature_by_another_route() -> None:
    """2 q (1 - q) against a two-dimensional integral in polar coordinates."""
    sigma = 0.5

    def density(r: float, t: float) -> float:
        x, y = r * math.cos(t) - 1, r * math.sin(t)
        return r * math.exp(-(x * x + y * y) / (2 * sigma**2)) / (2 * math.pi * sigma**2)

    wrong = sum(
        integrate.dblquad(density, low, low + math.pi / 2, 0, 12, epsabs=1e-11)[0]
        for low in (math.pi / 4, 5 * math.pi / 4)
    )
    assert wrong == pytest.approx(ideal_xor_error(sigma), rel=1e-8)
