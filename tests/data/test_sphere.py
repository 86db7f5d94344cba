import numpy as np
import pytest
from scipy import stats

import marginflow.data.sphere as sphere
from marginflow.data import Ball, Gaussian, GramReduction, NoisySphere, Sphere
from marginflow.data.sphere import sphere_points

EPS = float(np.finfo(np.float64).eps)


def p_value(values: np.ndarray, law: object) -> float:
    return float(stats.kstest(values, law.cdf).pvalue)


@pytest.mark.parametrize("radius", ["sqrt(d)", 1, 2.5])
@pytest.mark.parametrize("dimension", [1, 2, 30, 400])
def test_all_norms_equal_the_radius(dimension: int, radius: float | str) -> None:
    data = Sphere(dimension=dimension, radius=radius).sample(50)
    wanted = np.sqrt(dimension) if radius == "sqrt(d)" else radius
    np.testing.assert_allclose(np.linalg.norm(data.X, axis=1), wanted, rtol=50 * EPS)


@pytest.mark.parametrize(("count", "dimension"), [(5, 3), (40, 9000), (3, 200_000)])
def test_blocks_of_rows_do_not_change_a_bit(count: int, dimension: int) -> None:
    rows = np.random.default_rng(4).standard_normal((count, dimension))
    whole = rows * (2.0 / np.linalg.norm(rows, axis=1, keepdims=True))
    np.testing.assert_array_equal(sphere_points(count, dimension, 2.0, np.random.default_rng(4)), whole)


@pytest.mark.parametrize("dimension", [2, 3, 10, 100])
def test_squared_inner_products_follow_the_beta_law(dimension: int) -> None:
    X = Sphere(dimension=dimension, radius=1).sample(4000, seed=1).X
    inner = (X[:2000] * X[2000:]).sum(axis=1)
    assert p_value(inner**2, stats.beta(0.5, (dimension - 1) / 2)) > 1e-3
    assert stats.binomtest(int((inner > 0).sum()), 2000).pvalue > 1e-3


def test_one_coordinate_on_the_sphere_in_three_dimensions_is_uniform() -> None:
    # Archimedes: the projection of the sphere on an axis is uniform.
    X = Sphere(dimension=3, radius=1).sample(3000, seed=2).X
    for axis in range(3):
        assert p_value(X[:, axis], stats.uniform(-1, 2)) > 1e-3


def test_ball_radius_and_covariance() -> None:
    d, r = 5, 2.0
    X = Ball(dimension=d, radius=r).sample(4000, seed=3).X
    assert p_value((np.linalg.norm(X, axis=1) / r) ** d, stats.uniform()) > 1e-3
    direction = X / np.linalg.norm(X, axis=1, keepdims=True)
    assert p_value(direction[:, 0] ** 2, stats.beta(0.5, (d - 1) / 2)) > 1e-3
    np.testing.assert_allclose(np.cov(X.T, bias=True), r**2 / (d + 2) * np.eye(d), atol=0.05)


@pytest.mark.parametrize(("variance", "wanted"), [("1/d", 1 / 7), (1, 1.0), (0.04, 0.04)])
def test_gaussian_entries_have_the_variance(variance: float | str, wanted: float) -> None:
    X = Gaussian(dimension=7, variance=variance).sample(1000, seed=4).X
    assert p_value(X.ravel(), stats.norm(scale=np.sqrt(wanted))) > 1e-3
    assert p_value((X**2).sum(axis=1) / wanted, stats.chi2(7)) > 1e-3


def test_noisy_sphere_has_a_constant_target_and_independent_flips() -> None:
    data = NoisySphere(dimension=20, p=0.3).sample(5000, seed=5)
    assert data.clean_labels is not None
    assert (data.clean_labels == 1).all()
    assert stats.binomtest(int((data.y < 0).sum()), 5000, 0.3).pvalue > 1e-3
    np.testing.assert_allclose(np.linalg.norm(data.X, axis=1), 1.0, rtol=50 * EPS)
    # labels are independent of the samples
    assert stats.ks_2samp(data.X[data.y > 0, 0], data.X[data.y < 0, 0]).pvalue > 1e-3


@pytest.mark.parametrize(("p", "n", "count"), [(0.0, 10, 0), (1.0, 10, 10), (0.25, 10, 3), (0.1, 200, 20)])
def test_exact_counts_are_exact(p: float, n: int, count: int) -> None:
    data = NoisySphere(dimension=3, p=p, count="exact").sample(n)
    assert (data.y < 0).sum() == count


@pytest.mark.parametrize("reduced", [False, True])
def test_random_data_meets_the_sample_size_condition_only_for_very_few_samples(reduced: bool) -> None:
    # [VYS22, A.msize] m <= (d+1)/(3(p+1)): over prefixes of random samples the largest m was found to be
    # 2 / 5 / 7 (min / median / max over draws) at d = 1000.
    d = 1000
    law = GramReduction(Sphere(dimension=d)) if reduced else Sphere(dimension=d)
    largest = []
    for seed in range(100):
        X = law.sample(12, seed=seed).X
        inner = np.abs(X @ X.T)
        best = 1
        for m in range(2, 13):
            p = inner[:m, :m][~np.eye(m, dtype=bool)].max()
            if m <= (d + 1) / (3 * (p + 1)):
                best = m
        largest.append(best)
    assert np.median(largest) == 5
    assert min(largest) >= 2
    assert max(largest) <= 8


def test_points_that_a_law_has_just_drawn_are_not_copied(monkeypatch) -> None:
    drawn: list[np.ndarray] = []

    def noted(*arguments):
        drawn.append(sphere_points(*arguments))
        return drawn[-1]

    monkeypatch.setattr(sphere, "sphere_points", noted)
    data = Sphere(dimension=7).sample(5, seed=3)
    assert data.X is drawn[0]
    with pytest.raises(ValueError, match="read-only"):
        data.X[0, 0] = 1.0
