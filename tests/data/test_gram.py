"""The reduction is exact in law: closed forms, and agreement with ambient samples where those are affordable."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import special, stats

from marginflow.data import (
    AbstractDistribution,
    Ball,
    Clusters,
    Dataset,
    Gaussian,
    GramReduction,
    NoisySphere,
    Sphere,
    UniformNoise,
    XorClusters,
    bartlett,
)
from marginflow.errors import InputError

EPS = float(np.finfo(np.float64).eps)

REPEATS = 300


def agree(first: list, second: list) -> None:
    """Two-sample Kolmogorov-Smirnov test of every column."""
    a, b = np.round(first, 9), np.round(second, 9)  # norms on a sphere differ by rounding only
    for column in range(a.shape[1]):
        assert stats.ks_2samp(a[:, column], b[:, column]).pvalue > 1e-3, f"column {column}"


def gram_statistics(data: Dataset) -> list[float]:
    """Numbers that depend on the Gram matrix in different ways: entries, eigenvalues, inner products with means."""
    G = data.X @ data.X.T
    eigenvalues = np.linalg.eigvalsh(G)
    numbers = [G[0, 0], G[-1, -1], G[0, -1], G[1, 2], eigenvalues[0], eigenvalues[-1], np.abs(G).sum()]
    if data.means is not None:
        inner = data.X @ data.means.T
        numbers += [inner[0, 0], inner[-1, 1], inner.max(), (inner**2).sum()]
    return [float(number) for number in numbers]


def fresh_statistics(train: Dataset, test: Dataset) -> list[float]:
    """Numbers that depend on test points through a network in the span of the data, and on their mutual dependence."""
    w = train.y @ train.X
    scores = test.X @ w
    inner = test.X @ train.X.T
    return [
        float(v) for v in (scores[0], scores.max(), inner[0, 0], inner[0, -1], np.abs(inner).max(), (inner**2).sum())
    ]


# Small dimensions, where a wrong degree of freedom shows; the last of each kind has more samples than dimensions.
CASES: list[tuple[AbstractDistribution, int]] = [
    (Gaussian(dimension=6, variance=1.0), 5),
    (Gaussian(dimension=4), 7),
    (Sphere(dimension=6), 5),
    (Sphere(dimension=3, radius=1), 6),
    (NoisySphere(dimension=8, p=0.2), 5),
    (Ball(dimension=4, radius=2.0), 3),
    (Clusters(dimension=8, n_clusters=2, sigma=0.7), 4),
    (Clusters(dimension=8, n_clusters=3, sigma=0.7, means="equicorrelated", correlation=0.3), 5),
    (Clusters(dimension=8, n_clusters=2, sigma=1.0, means="sphere", means_seed=3), 5),
    (Clusters(dimension=5, means=[[1.0, 2.0, 0.0, 0.0, 1.0], [0.0, 1.0, 1.0, -1.0, 0.5]], sigma=0.5), 6),
    (XorClusters(dimension=5, sigma=0.5, means="random"), 5),
]


@pytest.mark.parametrize(("law", "n"), CASES, ids=repr)
def test_reduced_samples_have_the_law_of_ambient_ones(law: AbstractDistribution, n: int) -> None:
    reduced = GramReduction(law)
    ambient_numbers, reduced_numbers = [], []
    for seed in range(REPEATS):
        ambient_numbers.append(gram_statistics(law.sample(n, seed=seed)))
        reduced_numbers.append(gram_statistics(reduced.sample(n, seed=10_000 + seed)))
    agree(ambient_numbers, reduced_numbers)


@pytest.mark.parametrize(("law", "n"), CASES, ids=repr)
def test_reduced_test_points_have_the_law_of_ambient_ones(law: AbstractDistribution, n: int) -> None:
    reduced = GramReduction(law)
    ambient_numbers, reduced_numbers = [], []
    for seed in range(REPEATS):
        train = law.sample(n, seed=seed)
        ambient_numbers.append(fresh_statistics(train, law.fresh(4, train=train, seed=seed)))
        train = reduced.sample(n, seed=10_000 + seed)
        reduced_numbers.append(fresh_statistics(train, reduced.fresh(4, train=train, seed=10_000 + seed)))
    agree(ambient_numbers, reduced_numbers)


@pytest.mark.parametrize("wrong", [lambda d: d - 1, lambda d: d + 1])
def test_a_wrong_degree_of_freedom_would_be_noticed(wrong: Callable[[int], int]) -> None:
    # The control of the tests above: the same comparison must fail when the dimension is off by one.
    ambient = [gram_statistics(Gaussian(dimension=6, variance=1.0).sample(5, seed=seed)) for seed in range(REPEATS)]
    rng = np.random.default_rng(0)
    shifted = [gram_statistics(Dataset(X=bartlett(5, wrong(6), rng), y=np.ones(5))) for _ in range(REPEATS)]
    with pytest.raises(AssertionError):
        agree(ambient, shifted)


@pytest.mark.parametrize(("n", "d"), [(4, 4), (4, 9), (5, 10**6)])
def test_the_log_determinant_has_its_closed_form_moments(n: int, d: int) -> None:
    # det(L L^T) is a product of independent chi-squared variables with d, d - 1, ..., d - n + 1 degrees.
    rng = np.random.default_rng(1)
    values = [2 * np.log(np.abs(np.diagonal(bartlett(n, d, rng)))).sum() for _ in range(3000)]
    degrees = d - np.arange(n)
    mean = (special.digamma(degrees / 2) + np.log(2)).sum()
    variance = special.polygamma(1, degrees / 2).sum()
    assert abs(np.mean(values) - mean) < 4.5 * np.sqrt(variance / 3000)
    assert np.var(values) == pytest.approx(variance, rel=0.25)


@pytest.mark.parametrize("d", [10**6, 10**12, 10**15])
def test_norms_and_inner_products_in_astronomical_dimensions(d: int) -> None:
    law = GramReduction(NoisySphere(dimension=d, p=0.1))
    train = law.sample(300, seed=0)
    assert train.ambient_dimension == train.full_dimension == d
    assert train.X.shape == (300, 300)
    np.testing.assert_allclose(np.linalg.norm(train.X, axis=1), 1.0, rtol=50 * EPS)
    G = train.X @ train.X.T
    pairs = G[np.triu_indices(300, 1)] * np.sqrt(d)
    assert stats.kstest(pairs, stats.norm().cdf).pvalue > 1e-3  # the pairs are pairwise independent
    test = law.fresh(100, train=train, seed=0)
    inner = (test.X @ train.X.T)[:, ::10].ravel() * np.sqrt(d)
    assert stats.kstest(inner, stats.norm().cdf).pvalue > 1e-3
    # What a test point has inside the span is a small part of its norm: |P x|^2 ~ Beta(n/2, (d-n)/2).
    inside = (test.X**2).sum(axis=1) * d
    assert stats.kstest(inside, stats.chi2(300).cdf).pvalue > 1e-3


def test_the_part_of_a_test_point_inside_the_span_follows_the_beta_law() -> None:
    n, d = 3, 8
    law = GramReduction(Sphere(dimension=d, radius=1))
    inside = (law.fresh(4000, train=law.sample(n), seed=1).X ** 2).sum(axis=1)
    assert stats.kstest(inside, stats.beta(n / 2, (d - n) / 2).cdf).pvalue > 1e-3


def test_clusters_in_astronomical_dimensions_keep_their_structure() -> None:
    d, k, n = 1_415_388, 2, 100
    law = GramReduction(Clusters(dimension=d, n_clusters=k, sigma=1.0))
    data = law.sample(n, seed=0)
    assert data.X.shape == (n, k + n)
    assert data.means is not None
    assert data.clusters is not None
    np.testing.assert_allclose(data.means @ data.means.T, d * np.eye(k), rtol=50 * EPS)
    xi = data.X - data.means[data.clusters]
    assert abs((xi**2).sum() / (n * d) - 1) < 4.5 * np.sqrt(2 / (n * d))
    cross = (xi @ xi.T)[np.triu_indices(n, 1)] / np.sqrt(d)
    assert stats.kstest(cross, stats.norm().cdf).pvalue > 1e-3
    assert stats.kstest((xi @ data.means.T).ravel() / np.sqrt(d), stats.norm().cdf).pvalue > 1e-3


def test_spare_columns_are_empty_on_samples_and_filled_on_test_points() -> None:
    law = GramReduction(Gaussian(dimension=1000, variance=1.0), spare=3)
    train = law.sample(10, seed=0)
    test = law.fresh(2000, train=train, seed=0)
    assert train.X.shape == (10, 13)
    assert not train.X[:, 10:].any()
    assert stats.kstest(test.X[:, 10:].ravel(), stats.norm().cdf).pvalue > 1e-3
    with pytest.raises(InputError, match="spare is 3"):
        GramReduction(Gaussian(dimension=12), spare=3).sample(10)


def test_noise_of_the_law_acts_on_reduced_samples() -> None:
    law = GramReduction(Clusters(dimension=10**9, n_clusters=4, noise=UniformNoise(rate=0.3)))
    data = law.sample(1000, seed=0)
    assert data.noisy is not None
    assert stats.binomtest(int(data.noisy.sum()), 1000, 0.3).pvalue > 1e-3
