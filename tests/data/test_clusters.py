import numpy as np
import pytest
from scipy import stats

from marginflow.data import Clusters, GramReduction, UniformNoise, in_span
from marginflow.errors import InputError


def test_orthogonal_means_are_scaled_basis_vectors() -> None:
    data = Clusters(dimension=9, n_clusters=3).sample(4)
    assert np.array_equal(data.means, 3.0 * np.eye(3, 9))
    assert data.mean_labels is not None
    assert data.mean_labels.tolist() == [1, -1, 1]


@pytest.mark.parametrize("k", [1, 2, 5, 9])
@pytest.mark.parametrize("r", ["least", -0.05, 0.0, 0.02, 0.5, 1.0])
def test_equicorrelated_means_have_the_prescribed_gram_matrix(k: int, r: float | str) -> None:
    correlation = (-1 / (k - 1) if k > 1 else -1.0) if r == "least" else float(r)
    law = Clusters(dimension=12, n_clusters=k, means="equicorrelated", correlation=correlation)
    wanted = 12 * ((1 - correlation) * np.eye(k) + correlation)
    if k == 1:
        wanted = np.array([[12.0]])
    M = law.ambient_means()
    np.testing.assert_allclose(M @ M.T, wanted, atol=2e-14 * 12)
    C = law.mean_coordinates()
    np.testing.assert_allclose(C @ C.T, wanted, atol=2e-14 * 12)


def test_random_means_are_uniform_on_the_sphere() -> None:
    d = 6
    means = np.array(
        [Clusters(dimension=d, n_clusters=2, means="sphere", means_seed=seed).ambient_means() for seed in range(600)]
    )
    np.testing.assert_allclose((means**2).sum(axis=2), d, rtol=1e-13)
    coordinate = stats.beta(0.5, (d - 1) / 2)
    for which in (0, 1):
        for axis in (0, d - 1):
            assert stats.kstest(means[:, which, axis] ** 2 / d, coordinate.cdf).pvalue > 1e-3
            assert stats.binomtest(int((means[:, which, axis] > 0).sum()), 600).pvalue > 1e-3
    inner = (means[:, 0] * means[:, 1]).sum(axis=1)
    assert stats.kstest((inner / d) ** 2, coordinate.cdf).pvalue > 1e-3


@pytest.mark.parametrize(("dimension", "k"), [(40, 5), (5, 5), (3, 7)])
def test_random_means_have_the_same_inner_products_reduced_and_ambient(dimension: int, k: int) -> None:
    law = Clusters(dimension=dimension, n_clusters=k, means="sphere", means_seed=4)
    M, C = law.ambient_means(), law.mean_coordinates()
    np.testing.assert_allclose(M @ M.T, C @ C.T, atol=1e-13 * dimension)
    reduced = GramReduction(law).sample(6).means
    assert reduced is not None
    np.testing.assert_allclose(reduced @ reduced.T, C @ C.T, atol=1e-13 * dimension)


@pytest.mark.parametrize("sigma", ["1/sqrt(d)", 0.3, 1])
def test_noise_is_gaussian_around_the_mean_of_the_own_cluster(sigma: float | str) -> None:
    data = Clusters(dimension=25, n_clusters=3, sigma=sigma, means="sphere").sample(300, seed=7)
    assert data.means is not None
    assert data.clusters is not None
    scale = 0.2 if sigma == "1/sqrt(d)" else float(sigma)
    noise = (data.X - data.means[data.clusters]).ravel()
    assert stats.kstest(noise, stats.norm(scale=scale).cdf).pvalue > 1e-3


def test_independent_clusters_are_uniform_and_stratified_ones_equal() -> None:
    drawn = Clusters(dimension=6, n_clusters=5).sample(5000, seed=0).clusters
    assert drawn is not None
    assert stats.chisquare(np.bincount(drawn)).pvalue > 1e-3
    shared = Clusters(dimension=6, n_clusters=5, allocation="stratified").sample(12).clusters
    assert shared is not None
    assert np.bincount(shared).tolist() == [3, 3, 2, 2, 2]


def test_test_points_are_independent_of_the_allocation() -> None:
    law = Clusters(dimension=6, n_clusters=5, allocation="stratified")
    counts = np.bincount(law.fresh(5000, train=law.sample(5)).clusters)
    assert len(set(counts.tolist())) > 1
    assert stats.chisquare(counts).pvalue > 1e-3


def test_clusters_without_noise_are_their_means() -> None:
    means = np.array([[1.0, 2.0, 3.0], [-1.0, 0.0, 1.0]])
    data = Clusters(dimension=3, means=means, mean_labels=[-1, 1], sigma=0, allocation="stratified").sample(4)
    assert np.array_equal(data.X, means[[0, 1, 0, 1]])
    assert data.y.tolist() == [-1, 1, -1, 1]


def test_large_noise_is_as_rare_as_its_exact_tail() -> None:
    # [FVBS23, P1 and Lem. A.1] P(||xi|| >= sigma sqrt(2d)) is a chi-squared tail; at d = 38 it is 2.6e-4, which the
    # union over a few thousand samples makes visible.
    d, sigma, n = 38, 0.01, 40_000
    data = Clusters(dimension=d, n_clusters=2, sigma=sigma).sample(n, seed=0)
    assert data.means is not None
    assert data.clusters is not None
    xi = data.X - data.means[data.clusters]
    square = (xi**2).sum(axis=1) / sigma**2
    assert stats.binomtest(int((square >= 2 * d).sum()), n, stats.chi2(d).sf(2 * d)).pvalue > 1e-3
    assert stats.kstest(square, stats.chi2(d).cdf).pvalue > 1e-3
    # [FVBS23, Lem. A.4] <mu, xi> / (sigma sqrt d) is standard normal for each mean.
    for mean in data.means:
        assert stats.kstest(xi @ mean / (sigma * np.sqrt(d)), stats.norm().cdf).pvalue > 1e-3


def test_label_noise_keeps_the_label_of_the_cluster() -> None:
    data = Clusters(dimension=6, n_clusters=4, noise=UniformNoise(rate=0.4)).sample(500, seed=1)
    assert data.noisy is not None
    assert stats.binomtest(int(data.noisy.sum()), 500, 0.4).pvalue > 1e-3


def test_given_means_are_reduced_to_their_span() -> None:
    means = np.random.default_rng(0).standard_normal((3, 50))
    C = Clusters(dimension=50, means=means).mean_coordinates()
    np.testing.assert_allclose(C, in_span(means)[0])
    assert C.shape == (3, 3)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Clusters(dimension=3, n_clusters=4), "at most 3 orthogonal means"),
        (lambda: Clusters(dimension=3, n_clusters=4, means="equicorrelated"), "at most 3 equicorrelated means"),
        (lambda: Clusters(dimension=3), "n_clusters is None"),
        (lambda: Clusters(dimension=3, n_clusters=2, sigma=-1), "sigma is -1"),
        (lambda: Clusters(dimension=3, n_clusters=2, sigma="1/d"), "sigma is '1/d'"),
        (lambda: Clusters(dimension=3, n_clusters=2, means="grid"), "means is 'grid'"),
        (lambda: Clusters(dimension=3, means=[[1.0, 0.0]]), "means has 2 columns"),
        (lambda: Clusters(dimension=2, means=[[1.0, np.nan]]), "finite"),
        (lambda: Clusters(dimension=2, n_clusters=3, means=[[1.0, 0.0]]), "means has 1 rows"),
        (lambda: Clusters(dimension=3, n_clusters=2, correlation=0.1), "only equicorrelated means"),
        (lambda: Clusters(dimension=3, n_clusters=3, means="equicorrelated", correlation=-0.6), "at least -0.5"),
        (lambda: Clusters(dimension=3, n_clusters=2, mean_labels=[1, 0]), "labels must be -1 or"),
        (lambda: Clusters(dimension=3, n_clusters=2, mean_labels=[1]), "2 are expected"),
        (lambda: Clusters(dimension=3, n_clusters=2, allocation="all"), "allocation is 'all'"),
        (lambda: Clusters(dimension=3, n_clusters=2, means_seed=-1), "means_seed is -1"),
        (lambda: Clusters(dimension=3, n_clusters=2, cluster_law="student-t"), "tails are polynomial"),
        (lambda: Clusters(dimension=3, n_clusters=3, allocation="stratified").sample(2), "need at least as many"),
    ],
)
def test_bad_clusters_are_refused(make: object, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        make()
