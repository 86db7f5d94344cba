"""What every distribution owes: same seed same bits, a plain law, independent test points, clear refusals."""

import json

import numpy as np
import pytest

from marginflow.data import (
    AbstractDistribution,
    Ball,
    BoundaryNoise,
    ClusterNoise,
    Clusters,
    Dataset,
    DirectionNoise,
    ExactCountNoise,
    Gaussian,
    GramReduction,
    Interval,
    NoisySphere,
    Orthogonal,
    SmoothNoise,
    Sphere,
    UniformNoise,
    XorClusters,
    distribution_of,
    isotropic,
    redraw,
)
from marginflow.errors import InputError

LAWS: list[AbstractDistribution] = [
    Sphere(dimension=7),
    Sphere(dimension=7, radius=1, labels="both", noise=UniformNoise(rate=0.3)),
    NoisySphere(dimension=5, p=0.3),
    NoisySphere(dimension=5, p=0.3, count="exact"),
    Gaussian(dimension=4),
    Gaussian(dimension=4, variance=2.0, labels="balanced", noise=ExactCountNoise(rate=0.25)),
    Ball(dimension=3, labels="halves"),
    Orthogonal(dimension=20),
    Orthogonal(dimension=20, design="hadamard", rotated=True),
    Orthogonal(dimension=30, design="gram", p=1.0, pattern="signs", rotated=True, labels="random"),
    Orthogonal(dimension=30, design="gram", p=1.0, pattern="uniform"),
    Clusters(dimension=30, n_clusters=3),
    Clusters(dimension=30, n_clusters=4, means="sphere", sigma=0.1, noise=ClusterNoise(rate=0.2)),
    Clusters(dimension=30, n_clusters=4, means="equicorrelated", correlation=-0.2, allocation="stratified"),
    Clusters(dimension=2, means=[[1.0, 0.0], [0.0, -3.0]], mean_labels=[-1, 1], sigma=0.0),
    Clusters(dimension=30, n_clusters=3, cluster_law=isotropic.Gamma(shape=3.0)),
    Interval(p=0.2),
    Interval(p=0.2, count="exact", design="jittered", jitter=0.3, runs=2, run_length=3),
    XorClusters(dimension=6, sigma=0.1),
    XorClusters(dimension=6, sigma=0.1, means="random", cluster_law="laplace", noise=DirectionNoise(rate=0.2)),
    XorClusters(dimension=2, means=[[0.6, 0.8], [-0.8, 0.6]], noise=BoundaryNoise(rate=0.2)),
    XorClusters(dimension=6, sigma=0.2, allocation="stratified", noise=SmoothNoise(rate=0.2, slope=0.3)),
    GramReduction(Sphere(dimension=1000, noise=UniformNoise(rate=0.3))),
    GramReduction(NoisySphere(dimension=10**12, p=0.1)),
    GramReduction(Clusters(dimension=10**6, n_clusters=3, means="sphere", sigma=1.0), spare=4),
    GramReduction(XorClusters(dimension=10**6, noise=DirectionNoise(rate=0.1))),
]
POPULATIONS = [law for law in LAWS if not isinstance(law, Orthogonal)]


def everything(data: Dataset) -> tuple:
    arrays = (data.X, data.y, data.clean_labels, data.clusters, data.means, data.mean_labels)
    return (*(None if array is None else array.tobytes() for array in arrays), data.ambient_dimension, data.origin)


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_the_same_seed_gives_the_same_bits(law: AbstractDistribution) -> None:
    assert everything(law.sample(12, seed=5)) == everything(law.sample(12, seed=5))


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_labels_are_signs_and_clean_labels_are_known(law: AbstractDistribution) -> None:
    data = law.sample(12, seed=1)
    assert data.n_samples == 12
    assert data.clean_labels is not None
    if data.clusters is not None:
        assert data.mean_labels is not None
        assert np.array_equal(data.clean_labels, data.mean_labels[data.clusters])


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_the_law_is_plain_and_redraws_the_very_same_sample(law: AbstractDistribution) -> None:
    data = law.sample(12, seed=2)
    plain = json.loads(json.dumps(data.origin))
    assert plain == data.origin
    assert everything(redraw(plain)) == everything(data)


@pytest.mark.parametrize("law", POPULATIONS, ids=repr)
def test_other_seeds_and_test_points_are_other_points(law: AbstractDistribution) -> None:
    train = law.sample(12, seed=0)
    other, test = law.sample(12, seed=1), law.fresh(12, train=train, seed=0)
    assert test.X.shape == train.X.shape
    assert test.ambient_dimension == train.ambient_dimension
    assert everything(redraw(test.origin, train=train)) == everything(test)
    if isinstance(law, Clusters) and law.sigma_value == 0:
        return  # every sample is a mean
    assert not np.isin(test.X, train.X[train.X != 0]).any()
    assert not np.array_equal(other.X, train.X)
    if train.means is not None:
        assert np.array_equal(test.means, train.means)  # the means belong to the law, not to the draw


@pytest.mark.parametrize("law", LAWS, ids=repr)
@pytest.mark.parametrize("n_samples", [0, -3, 2.5, True, "many", None])
def test_bad_sample_sizes_are_refused(law: AbstractDistribution, n_samples: object) -> None:
    with pytest.raises(InputError, match="n_samples is"):
        law.sample(n_samples)


@pytest.mark.parametrize("seed", [-1, 0.5, None, "0"])
def test_bad_seeds_are_refused(seed: object) -> None:
    with pytest.raises(InputError, match="seed is"):
        Sphere(dimension=3).sample(2, seed=seed)


def test_noise_does_not_change_the_samples() -> None:
    quiet, noisy = Sphere(dimension=5), Sphere(dimension=5, noise=UniformNoise(rate=0.5))
    first, second = quiet.sample(50, seed=3), noisy.sample(50, seed=3)
    assert np.array_equal(first.X, second.X)
    assert second.clean_labels is not None
    assert np.array_equal(first.y, second.clean_labels)
    assert second.noisy is not None
    assert 10 < second.noisy.sum() < 40


def test_samples_that_fit_no_machine_are_refused_with_the_way_out() -> None:
    for law in (Sphere(dimension=10**12), Gaussian(dimension=10**12), Clusters(dimension=10**12, n_clusters=3)):
        with pytest.raises(InputError, match="GramReduction"):
            law.sample(100)


def test_test_points_need_matching_coordinates() -> None:
    law = Sphere(dimension=50)
    reduced = GramReduction(law)
    with pytest.raises(InputError, match="GramReduction"):
        law.fresh(3, train=reduced.sample(5))
    with pytest.raises(InputError, match="stands for dimension None"):
        reduced.fresh(3, train=law.sample(5))
    with pytest.raises(InputError, match="no population"):
        Orthogonal(dimension=4).fresh(3, train=Orthogonal(dimension=4).sample(2))


@pytest.mark.parametrize(
    "make",
    [
        lambda: Sphere(dimension=0),
        lambda: Sphere(dimension=-3),
        lambda: Sphere(dimension=2.0),
        lambda: Sphere(dimension=3, radius=0.0),
        lambda: Sphere(dimension=3, radius=-1),
        lambda: Sphere(dimension=3, radius=float("nan")),
        lambda: Sphere(dimension=3, radius="d"),
        lambda: Sphere(dimension=3, labels="even"),
        lambda: Sphere(dimension=3, noise=0.1),
        lambda: Gaussian(dimension=3, variance=0),
        lambda: Gaussian(dimension=3, variance="1/n"),
        lambda: Ball(dimension=3, radius=float("inf")),
        lambda: NoisySphere(dimension=3, p=1.1),
        lambda: NoisySphere(dimension=3, p=-0.1),
        lambda: NoisySphere(dimension=3, p=float("nan")),
        lambda: NoisySphere(dimension=3, count="some"),
        lambda: Interval(p=2.0),
        lambda: Interval(design="grid"),
        lambda: Interval(jitter=1.0),
        lambda: Interval(runs=-1),
        lambda: Interval(run_length=0),
        lambda: GramReduction(Interval()),
        lambda: Sphere(dimension=10**16),
        lambda: Sphere(dimension=10**400),
        lambda: Clusters(dimension=10**30, n_clusters=2),
        lambda: Interval().sample(10**14),
        lambda: GramReduction(Sphere(dimension=10**12)).sample(10**9),
        lambda: Orthogonal(dimension=1 << 20, design="hadamard").sample(2),
        lambda: redraw({"name": "Sphere", "dimension": 3, "n_samples": 3, "seed": 0, "then": ["subset"]}),
        lambda: redraw({"name": "Sphere", "dimension": 3, "n_samples": 3, "seed": 0, "then": [{"name": "subset"}]}),
        lambda: GramReduction(Sphere(dimension=10), spare=-1),
        lambda: GramReduction(XorClusters(dimension=5, cluster_law="cube")),
        lambda: GramReduction(Clusters(dimension=5, n_clusters=2, cluster_law="cube")),
        lambda: distribution_of({"name": "Cauchy"}),
        lambda: distribution_of({"name": ["Sphere"], "dimension": 3}),
        lambda: distribution_of({"name": "UniformNoise", "rate": 0.1}),
        lambda: distribution_of({"name": "Sphere", "dimension": 3, "colour": 1}),
        lambda: distribution_of({"name": "Sphere"}),
        lambda: distribution_of({}),
        lambda: redraw({"name": "Sphere", "dimension": 3}),
        lambda: redraw({"name": "Sphere", "dimension": 3, "n_samples": 3, "seed": 0, "fresh": True}),
        lambda: redraw({"name": "Sphere", "dimension": 3, "n_samples": 3, "seed": 0, "then": [{"name": "Normal"}]}),
    ],
)
def test_bad_parameters_are_refused_in_one_sentence(make: object) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")
