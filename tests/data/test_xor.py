import numpy as np
import pytest
from scipy import stats

from marginflow.data import ExactCountNoise, XorClusters, isotropic
from marginflow.errors import InputError

EPS = float(np.finfo(np.float64).eps)


def ideal_error(sigma: float) -> float:
    """Clean error of |<mu1, x>| - |<mu2, x>| on Gaussian clusters: 2 q (1 - q), q = Phi(-1/(sigma sqrt 2))."""
    q = stats.norm.cdf(-1 / (sigma * np.sqrt(2)))
    return float(2 * q * (1 - q))


@pytest.mark.parametrize("means", ["axes", "random", [[0.6, 0.8, 0.0], [0.8, -0.6, 0.0]]])
def test_means_are_two_orthonormal_pairs_of_opposites(means: object) -> None:
    M = XorClusters(dimension=3, means=means).ambient_means()
    wanted = np.array([[1, -1, 0, 0], [-1, 1, 0, 0], [0, 0, 1, -1], [0, 0, -1, 1]], dtype=float)
    np.testing.assert_allclose(M @ M.T, wanted, atol=50 * EPS)


def test_clusters_labels_and_noise_within_clusters() -> None:
    data = XorClusters(dimension=4, sigma=0.3, means="random").sample(4000, seed=0)
    assert data.clusters is not None
    assert data.means is not None
    assert stats.chisquare(np.bincount(data.clusters)).pvalue > 1e-3
    assert np.array_equal(data.y, np.where(data.clusters < 2, 1.0, -1.0))
    z = (data.X - data.means[data.clusters]) / 0.3
    assert stats.kstest(z.ravel(), stats.norm().cdf).pvalue > 1e-3
    assert stats.kstest((z**2).sum(axis=1), stats.chi2(4).cdf).pvalue > 1e-3


def test_the_ideal_classifier_has_its_closed_form_error() -> None:
    assert ideal_error(np.sqrt(1 / 50)) == pytest.approx(5.73e-7, rel=1e-3)  # the setting of [FCB22, Fig. 1]
    data = XorClusters(dimension=5, sigma=0.5, means="random").sample(20_000, seed=1)
    assert data.means is not None
    ideal = np.sign(np.abs(data.X @ data.means[0]) - np.abs(data.X @ data.means[2]))
    assert stats.binomtest(int((ideal != data.y).sum()), 20_000, ideal_error(0.5)).pvalue > 1e-3


def test_a_linear_classifier_beats_chance_only_on_skewed_clusters() -> None:
    # Along mu1 with sigma = 1 the exponential law gives (3 + e^-2 - 2 e^-1)/4 = 0.600, symmetric laws give 1/2.
    exact = (3 + np.exp(-2) - 2 * np.exp(-1)) / 4
    assert exact == pytest.approx(0.600, abs=5e-4)
    for law, accuracy in (("exponential", exact), ("gaussian", 0.5), ("laplace", 0.5), ("cube", 0.5)):
        data = XorClusters(dimension=3, sigma=1.0, cluster_law=law).sample(20_000, seed=2)
        right = int((np.sign(data.X[:, 0]) == data.y).sum())
        assert stats.binomtest(right, 20_000, accuracy).pvalue > 1e-3
    assert [isotropic.LAWS[law].symmetric for law in ("exponential", "gaussian", "laplace", "cube")] == [False] + 3 * [
        True
    ]


def test_the_setting_of_the_figure() -> None:
    law = XorClusters(dimension=2, sigma=np.sqrt(1 / 50), noise=ExactCountNoise(rate=0.15))
    data = law.sample(5000, seed=0)
    assert data.noisy is not None
    assert data.noisy.sum() == 750


def test_random_means_are_uniform() -> None:
    first = np.array([XorClusters(dimension=3, means="random", means_seed=s).ambient_means()[0] for s in range(500)])
    for axis in range(3):
        assert stats.kstest(first[:, axis], stats.uniform(-1, 2).cdf).pvalue > 1e-3


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: XorClusters(dimension=1), "at least 2"),
        (lambda: XorClusters(dimension=3, sigma=-0.1), "sigma is -0.1"),
        (lambda: XorClusters(dimension=3, means="diagonal"), "means is 'diagonal'"),
        (lambda: XorClusters(dimension=3, means=[[1.0, 0.0, 0.0]]), "two rows"),
        (lambda: XorClusters(dimension=2, means=[[1.0, 0.0], [1.0, 0.0]]), "orthonormal only up to 1"),
        (lambda: XorClusters(dimension=2, means=[[1.0, 0.0], [np.inf, 0.0]]), "finite"),
        (lambda: XorClusters(dimension=3, cluster_law="student-t"), "polynomial"),
        (lambda: XorClusters(dimension=3, cluster_law="hypercube"), "no density"),
        (lambda: XorClusters(dimension=3, cluster_law="separated-mixture"), "several modes"),
        (lambda: XorClusters(dimension=3, cluster_law="anisotropic"), "covariance"),
        (lambda: XorClusters(dimension=3, noise=0.15), "noise is 0.15"),
        (lambda: XorClusters(dimension=3, allocation="stratified").sample(3), "need at least as many"),
    ],
)
def test_bad_mixtures_are_refused(make: object, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        make()
