import numpy as np
import pytest
from scipy import stats

from marginflow.data import (
    AbstractLabelNoise,
    BoundaryNoise,
    ClusterNoise,
    Dataset,
    DirectionNoise,
    ExactCountNoise,
    GivenNoise,
    SmoothNoise,
    UniformNoise,
    XorClusters,
    redraw,
)
from marginflow.errors import InputError

EPS = float(np.finfo(np.float64).eps)

XOR = XorClusters(dimension=3, sigma=0.2, means="random")
NOISES: list[AbstractLabelNoise] = [
    UniformNoise(rate=0.3),
    ExactCountNoise(rate=0.3),
    ClusterNoise(rate=0.1, cluster=2),
    DirectionNoise(rate=0.2),
    DirectionNoise(rate=0.2, direction=[1.0, 0.0, -1.0]),
    BoundaryNoise(rate=0.2),
    SmoothNoise(rate=0.3, slope=0.4, ceiling=0.6),
    GivenNoise(index=[0, 7]),
]


def clean(n: int = 4000, seed: int = 0) -> Dataset:
    return XOR.sample(n, seed=seed)


@pytest.mark.parametrize("noise", NOISES, ids=repr)
def test_noise_flips_labels_and_keeps_everything_else(noise: AbstractLabelNoise) -> None:
    before = clean(400)
    after = noise(before, seed=1)
    assert np.array_equal(after.X, before.X)
    assert np.array_equal(after.clean_labels, before.y)
    assert np.array_equal(after.clusters, before.clusters)
    assert after.noisy is not None
    assert after.noisy.any()
    assert not np.shares_memory(after.y, before.y)
    assert np.array_equal(noise(before, seed=1).y, after.y)
    assert np.array_equal(redraw(after.origin).y, after.y)


@pytest.mark.parametrize("noise", NOISES, ids=repr)
def test_flips_have_the_stated_probabilities(noise: AbstractLabelNoise) -> None:
    data, repeats = clean(60), 600
    rng = np.random.default_rng(2)
    share = np.mean([noise.flips(data, rng) for _ in range(repeats)], axis=0)
    eta = noise.probability(data)
    assert (np.abs(share - eta) <= 4.5 * np.sqrt(eta * (1 - eta) / repeats) + 1e-12).all()


@pytest.mark.parametrize(
    ("rate", "n", "count"), [(0.0, 5, 0), (1.0, 5, 5), (0.15, 5000, 750), (0.5, 3, 2), (0.1, 4, 0)]
)
def test_exact_counts(rate: float, n: int, count: int) -> None:
    noisy = ExactCountNoise(rate=rate)(clean(n)).noisy
    assert noisy is not None
    assert noisy.sum() == count


def test_all_of_the_noise_falls_on_one_cluster() -> None:
    data = ClusterNoise(rate=0.1, cluster=1)(clean(), seed=3)
    assert data.noisy is not None
    assert data.clusters is not None
    assert not data.noisy[data.clusters != 1].any()
    inside = data.noisy[data.clusters == 1]
    assert stats.binomtest(int(inside.sum()), inside.size, 0.4).pvalue > 1e-3  # 4 * rate inside the cluster


def test_direction_noise_flips_the_farthest_samples() -> None:
    data = DirectionNoise(rate=0.2)(clean(), seed=3)
    assert data.noisy is not None
    assert data.means is not None
    along = data.X @ (data.means[0] + data.means[2]) / np.sqrt(2)
    assert data.noisy.sum() == 800
    assert along[data.noisy].min() > along[~data.noisy].max()


def test_boundary_noise_flips_the_samples_nearest_to_the_ideal_boundary() -> None:
    data = BoundaryNoise(rate=0.2)(clean(), seed=3)
    assert data.noisy is not None
    assert data.means is not None
    distance = np.abs(np.abs(data.X @ data.means[0]) - np.abs(data.X @ data.means[2]))
    assert data.noisy.sum() == 800
    assert distance[data.noisy].max() < distance[~data.noisy].min()


@pytest.mark.parametrize("noise", [DirectionNoise(rate=0.2), BoundaryNoise(rate=0.2)], ids=repr)
def test_frozen_noise_is_one_function_of_x_for_training_and_test_points(noise: AbstractLabelNoise) -> None:
    train = clean(2000, seed=0)
    fixed = noise.frozen(train)
    assert np.array_equal(fixed.probability(train), noise.probability(train))
    few = clean(5, seed=1)
    alone = np.concatenate([fixed.probability(few.subset([i])) for i in range(5)])
    assert np.array_equal(fixed.probability(few), alone)  # does not look at the other test points
    many = clean(20_000, seed=2)
    assert abs(fixed.probability(many).mean() - 0.2) < 4 * np.sqrt(0.16 / 2000)
    assert fixed.frozen(many) is fixed
    none = type(noise)(rate=0.0).frozen(train)
    assert not none.probability(many).any()


def test_test_points_of_a_law_use_the_threshold_of_the_training_set() -> None:
    law = XorClusters(dimension=3, sigma=0.2, noise=DirectionNoise(rate=0.25))
    train = law.sample(40, seed=0)
    test = law.fresh(5000, train=train, seed=0)
    assert test.noisy is not None
    assert train.noisy is not None
    assert test.means is not None
    v = (test.means[0] + test.means[2]) / np.sqrt(2)
    threshold = (train.X @ v)[train.noisy].min()
    assert np.array_equal(test.noisy, test.X @ v >= threshold)


def test_smooth_noise_is_clipped() -> None:
    data = clean(500)
    assert data.means is not None
    along = data.X @ (data.means[0] + data.means[2]) / np.sqrt(2)
    eta = SmoothNoise(rate=0.3, slope=0.5, ceiling=0.4).probability(data)
    np.testing.assert_allclose(eta, np.clip(0.3 + 0.5 * along, 0.0, 0.4), atol=50 * EPS)
    assert eta.min() == 0.0
    assert eta.max() == 0.4


def test_noise_composes_and_remembers_the_first_labels() -> None:
    data = clean(20_000)
    twice = UniformNoise(rate=0.2)(UniformNoise(rate=0.2)(data, seed=1), seed=1)
    assert np.array_equal(twice.clean_labels, data.y)
    assert twice.noisy is not None
    # Two independent flips cancel: 2 * 0.2 * 0.8; the same seed twice must not undo the first noise.
    assert stats.binomtest(int(twice.noisy.sum()), 20_000, 0.32).pvalue > 1e-3
    assert [step["name"] for step in twice.origin["then"]] == ["UniformNoise", "UniformNoise"]


def test_noise_on_the_users_own_data() -> None:
    data = GivenNoise(index=[1])(Dataset(X=[[1.0], [2.0]], y=[1, 1]))
    assert data.y.tolist() == [1, -1]
    assert data.noisy is not None
    assert data.noisy.tolist() == [False, True]
    assert data.origin["then"] == [{"name": "GivenNoise", "index": [1], "seed": 0}]


PLAIN = Dataset(X=[[1.0, 2.0]], y=[1])


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: UniformNoise(rate=-0.1), "rate is -0.1"),
        (lambda: UniformNoise(rate=1.5), "rate is 1.5"),
        (lambda: UniformNoise(rate=float("nan")), "rate is nan"),
        (lambda: UniformNoise(rate="0.1"), "rate is '0.1'"),
        (lambda: ExactCountNoise(rate=2), "rate is 2"),
        (lambda: ClusterNoise(rate=0.1, cluster=-1), "cluster is -1"),
        (lambda: ClusterNoise(rate=0.1, cluster=4)(clean(10)), "clusters 0 to 3"),
        (lambda: ClusterNoise(rate=0.3)(clean(10)), "at most 0.25"),
        (lambda: ClusterNoise(rate=0.1)(PLAIN), "knows its clusters"),
        (lambda: DirectionNoise(rate=0.1)(PLAIN), "knows its means"),
        (lambda: DirectionNoise(rate=0.1, direction=[0.0, 0.0]), "zero vector"),
        (lambda: DirectionNoise(rate=0.1, direction=[np.nan]), "finite"),
        (lambda: DirectionNoise(rate=0.1, direction=[1.0])(PLAIN), "2 are expected"),
        (lambda: DirectionNoise(rate=0.1, threshold=float("nan")), "threshold is nan"),
        (lambda: BoundaryNoise(rate=0.1, distance="near"), "distance is 'near'"),
        (lambda: BoundaryNoise(rate=0.1)(PLAIN), "knows its means"),
        (lambda: SmoothNoise(rate=0.1, ceiling=1.2), "ceiling is 1.2"),
        (lambda: SmoothNoise(rate=0.1, slope=float("inf")), "slope is inf"),
        (lambda: GivenNoise(index=[-1]), "index is -1"),
        (lambda: GivenNoise(index=5), "index is 5"),
        (lambda: GivenNoise(index="ab"), "index is 'a'"),
        (lambda: GivenNoise(index=[5])(PLAIN), "there are 1 samples"),
        (lambda: GivenNoise(index=[0]).frozen(PLAIN), "no meaning for fresh"),
        (lambda: UniformNoise(rate=0.1)(PLAIN, seed=-1), "seed is -1"),
    ],
)
def test_bad_noise_is_refused(make: object, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        make()
