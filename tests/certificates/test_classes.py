"""The KKT certificate of classifiers: closed forms, two classes as `certify`, invariances, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest

from marginflow.certificates import certify, certify_classifier
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.limit import kkt_point
from marginflow.networks import Classifier, TwoLayer


def simplex(n_classes: int) -> tuple[Classifier, np.ndarray, np.ndarray]:
    """One sample per class on the axes, one neuron each: V_j = w q_j, w = sum_t lambda (v_jj - v_jt)."""
    K = n_classes
    V = K * np.eye(K) - np.ones((K, K))  # v_jj - v_jt = K for every rival
    return Classifier(W=np.sqrt(K * (K - 1)) * np.eye(K), V=V), np.eye(K), np.arange(K)


@pytest.mark.parametrize("n_classes", [2, 3, 5, 10])
def test_simplex_is_a_kkt_point_with_equal_multipliers(n_classes: int):
    network, X, y = simplex(n_classes)
    certificate = certify_classifier(network, X, y)
    assert certificate.holds(1e-12)
    assert certificate.norm_identity < 1e-12
    assert certificate.shared_weights
    off = ~np.eye(n_classes, dtype=bool)
    # Multipliers are unique only in sum: q_i = sum_t lambda_it (e_i - e_t) must be that of equal ones.
    assert np.allclose(certificate.multipliers[off], certificate.multipliers[0, 1])


@pytest.mark.parametrize("factor", [1e-300, 1e-200, 1e-160, 1e-3, 1.0, 1e3, 1e100, 1e200])
def test_scale_does_not_matter_and_perturbations_do(factor: float):
    network, X, y = simplex(4)
    assert certify_classifier(network.scaled(factor), X, y).holds(1e-12)
    broken = replace(network, V=network.V + 0.01 * np.random.default_rng(0).standard_normal((4, 4)))
    assert 1e-4 < certify_classifier(broken.scaled(factor), X, y).residual < 0.1


def random_binary(seed: int) -> tuple[TwoLayer, Dataset]:
    """A network that separates labels of its own making, far from a KKT point; some pairs sit on kinks."""
    rng = np.random.default_rng(seed)
    network = TwoLayer(W=rng.standard_normal((6, 3)), b=rng.standard_normal(6), v=rng.standard_normal(6))
    X = rng.standard_normal((8, 3))
    for i in range(3):
        w = network.W[i]
        X[i] -= w * (w @ X[i] + network.b[i]) / (w @ w)
    return network, Dataset(X=X, y=np.where(network(X) > 0, 1.0, -1.0))


@pytest.mark.parametrize("seed", range(8))
def test_two_classes_have_the_certificate_of_the_network_with_one_output(seed: int):
    network, data = random_binary(seed)
    binary = certify(network, data)
    two = certify_classifier(Classifier.of_two(network), data.X, (data.y > 0).astype(int))
    assert int(two.kinks.sum()) == int(binary.kinks.sum())
    assert two.total == pytest.approx(binary.total, rel=1e-6)
    assert two.stationarity == pytest.approx(binary.stationarity, rel=1e-4)
    assert two.multipliers.sum(axis=1) == pytest.approx(binary.multipliers / np.sqrt(2.0), rel=1e-3, abs=1e-4)


def test_exact_point_of_two_classes_is_exact_as_a_classifier():
    data = Dataset(X=[[1.0, 0.0], [0.0, 1.0]], y=[1, -1])
    network = TwoLayer(W=np.eye(2), v=[1.0, -1.0])
    assert certify(network, data).holds()
    assert certify_classifier(Classifier.of_two(network), data.X, [1, 0]).holds(1e-12)


def test_rotations_permutations_of_classes_and_neurons_change_nothing():
    rng = np.random.default_rng(0)
    network = Classifier(W=rng.standard_normal((7, 3)), b=rng.standard_normal(7), V=rng.standard_normal((3, 7)))
    X = rng.standard_normal((9, 3))
    y = network.predict(X)
    total = certify_classifier(network, X, y).total
    Q = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    order, classes = rng.permutation(7), rng.permutation(3)
    other = Classifier(W=(network.W @ Q.T)[order], b=network.b[order], V=network.V[np.argsort(classes)][:, order])
    assert certify_classifier(other, X @ Q.T, classes[y]).total == pytest.approx(total, rel=1e-6)
    # More coordinates than samples: the span of the samples is used.
    wide = replace(network, W=np.hstack([network.W, np.zeros((7, 20))]))
    assert certify_classifier(wide, np.hstack([X, np.zeros((9, 20))]), y).total == pytest.approx(total, rel=1e-6)


def test_no_random_multipliers_do_better():
    rng = np.random.default_rng(1)
    network = Classifier(W=rng.standard_normal((5, 2)), V=rng.standard_normal((3, 5)))
    X = rng.standard_normal((6, 2))
    y = network.predict(X)
    certificate = certify_classifier(network, X, y)
    at_one, norm = certificate.network, np.sqrt(certificate.network.norm_squared())
    H = np.maximum(X @ at_one.W.T, 0.0)

    def total(lam: np.ndarray) -> float:
        dv = at_one.V[y][:, None, :] - at_one.V
        slopes = np.where(H > 0, np.einsum("it,itj->ij", lam, dv), 0.0)
        q = -lam.copy()
        q[np.arange(6), y] += lam.sum(axis=1)
        gap = np.where(np.isfinite(certificate.margins), certificate.margins - 1.0, 0.0)
        parts = (at_one.W - slopes.T @ X, at_one.V - q.T @ H, 2.0 * (lam * gap).sum() / norm)
        return float(np.sqrt(sum((np.asarray(part) ** 2).sum() for part in parts))) / norm

    assert total(certificate.multipliers) == pytest.approx(certificate.total, rel=1e-9)
    top = certificate.multipliers.max()
    for _ in range(300):
        lam = np.maximum(certificate.multipliers + 10.0 ** rng.uniform(-6, 0) * top * rng.standard_normal((6, 3)), 0.0)
        lam[np.arange(6), y] = 0.0
        assert total(lam) >= certificate.total * (1 - 1e-9)


def test_what_does_not_separate_or_fit_is_said():
    network, X, y = simplex(3)
    wrong = certify_classifier(network, X, [1, 2, 0])
    assert wrong.status == "does not separate"
    assert not wrong.holds()
    with pytest.raises(TypeError, match="holds"):
        bool(wrong)
    with pytest.raises(InputError, match="output bias"):
        certify_classifier(replace(network, c=np.ones(3)), X, y)
    with pytest.raises(InputError, match="squares exceed float64"):
        certify_classifier(network, 1e200 * X, y)
    with pytest.raises(InputError, match="nothing to certify"):
        certify_classifier(replace(network, W=0 * network.W, V=0 * network.V), X, y)
    with pytest.raises(InputError, match="0 to 2"):
        certify_classifier(network, X, [0, 1, 3])


def test_an_exact_point_of_raw_measurements_is_one_from_its_file_alone() -> None:
    """Long samples: pairs that rounding alone makes attractive must not spoil what was found without them."""
    iris = pytest.importorskip("sklearn.datasets").load_iris()
    point = kkt_point(Dataset(iris.data, iris.target), width=20)
    assert point.exact
    assert certify_classifier(point.network, iris.data, iris.target).residual <= 1e-9  # what "exact" means


def test_certify_sends_a_network_of_classes_to_its_own_door():
    network = Classifier(W=np.eye(3), V=2.0 * np.eye(3) - 1.0)
    with pytest.raises(InputError, match=r"each of 3 classes.*certify_classifier\(network, X, y\), with y from 0 to 2"):
        certify(network, Dataset(X=np.eye(3)[:2], y=[1, -1]))
