"""Radii that can be computed by hand."""

import numpy as np
import pytest

from marginflow.data import Dataset
from marginflow.limit import orthogonal
from marginflow.networks import TwoLayer
from marginflow.robustness.radius import check_certificate, exact_radius


def assert_radius(network: TwoLayer, x: np.ndarray, expected: float, **options: float) -> None:
    radius = exact_radius(network, x, **options)
    assert radius.status == "proved"
    assert radius.upper == pytest.approx(expected, rel=1e-9)
    assert expected * (1 - 1e-6) <= radius.lower <= expected * (1 + 1e-12)
    assert radius.witness is not None
    assert radius.label * network(radius.witness[None, :])[0] <= radius.level + 1e-12
    judgement = check_certificate(radius.certificate, network)
    assert judgement.holds, judgement.reason
    assert judgement.lower == radius.lower
    assert judgement.upper == pytest.approx(radius.upper, rel=1e-15)


def test_linear_network_has_the_distance_to_its_hyperplane():
    rng = np.random.default_rng(0)
    w, b, x = rng.standard_normal(7), 0.3, rng.standard_normal(7)
    network = TwoLayer(W=np.array([w, -w]), b=[b, -b], v=[1.0, -1.0])  # relu(z) - relu(-z) = z
    assert_radius(network, x, abs(w @ x + b) / np.linalg.norm(w))
    value = abs(w @ x + b)
    assert_radius(network, x, (value + 0.5) / np.linalg.norm(w), level=-0.5)
    assert_radius(network, x, (value - 0.1) / np.linalg.norm(w), level=0.1)


def test_one_neuron_has_the_distance_to_where_it_dies():
    network = TwoLayer(W=[[3.0, 4.0]], b=[-1.0], v=[2.0])
    x = np.array([1.0, 2.0])
    assert_radius(network, x, (3.0 + 8.0 - 1.0) / 5.0)
    assert_radius(network, x, (3.0 + 8.0 - 1.0) / 5.0 - 0.7 / 10.0, level=0.7)


def test_zero_set_that_is_a_single_point_is_found():
    network = TwoLayer(W=np.vstack([np.eye(3), -np.eye(3)]), v=np.ones(6))  # ||x||_1
    assert_radius(network, np.array([1.0, -2.0, 2.0]), 3.0)


def test_zero_set_with_a_corner_is_reached_at_the_corner():
    network = TwoLayer(W=np.eye(2), v=[1.0, 1.0])  # zero on the negative quadrant
    assert_radius(network, np.array([3.0, 4.0]), 5.0)
    assert_radius(network, np.array([3.0, -4.0]), 3.0)


@pytest.mark.parametrize(("m", "d"), [(6, 10), (10, 10), (20, 50)])
def test_orthogonal_kkt_point_has_radius_root_d_over_m_at_every_sample(m: int, d: int):
    # Balanced classes: the gradient with both neurons active has norm sqrt(m / d) and N = 1 [VYS22, X.orthKKT].
    X = np.sqrt(d) * np.eye(d)[:m]
    y = np.where(np.arange(m) < m // 2, 1.0, -1.0)
    point = orthogonal(Dataset(X=X, y=y))
    for network in (point.network, point.widened(9).network):
        for i in (0, m - 1):
            assert_radius(network, X[i], np.sqrt(d / m), label=y[i])


@pytest.mark.parametrize("d", [16, 100])
def test_robust_construction_has_radius_half_root_d(d: int):
    # [VYS22, Thm 3.1] with c_corr = 0: zero between the samples, and level 0 counts zero as the other side.
    m = d // 2
    X = np.sqrt(d) * np.eye(d)[:m]
    y = np.where(np.arange(m) % 2 == 0, 1.0, -1.0)
    network = TwoLayer(W=2.0 * X / d, b=-np.ones(m), v=y)
    assert_radius(network, X[0], np.sqrt(d) / 2.0)


def test_robust_construction_is_farther_when_zero_does_not_count():
    # s along -e_i until the own neuron is dead, t along e_j until the other one reaches epsilon.
    d, m, epsilon = 16, 12, 1e-3
    X = np.sqrt(d) * np.eye(d)[:m]
    y = np.where(np.arange(m) % 2 == 0, 1.0, -1.0)
    network = TwoLayer(W=2.0 * X / d, b=-np.ones(m), v=y)
    s = np.sqrt(d) / 2.0
    t = np.sqrt(d) * (1.0 + epsilon) / 2.0
    assert_radius(network, X[0], np.hypot(s, t), level=-epsilon)
