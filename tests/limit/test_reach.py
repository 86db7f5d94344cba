"""What `kkt_point` must reach: residuals of 1e-9 and margins of 1 - 1e-10, judged by the certificates room."""

import numpy as np
import pytest

import marginflow as mf

FEW_SEEDS = range(2)


def assert_reached(limit: mf.limit.Limit, data: mf.data.Dataset, width: int) -> None:
    fresh = mf.certify(limit.network, data)  # the judge finds its own multipliers
    assert limit.exact, limit.status
    for certificate in (limit.certificate, fresh):
        assert certificate.stationarity <= 1e-9
        assert certificate.complementarity <= 1e-9
        assert certificate.margins.min() >= 1.0 - 1e-10
    assert abs(limit.gap) <= 1e-9
    assert limit.network.width == width
    assert limit.compact(data.X) == pytest.approx(limit.network(data.X), rel=1e-9)


@pytest.mark.parametrize("seed", FEW_SEEDS)
@pytest.mark.parametrize(
    ("d", "m", "width"), [(100, 10, 1000), (20, 20, 50), (40, 100, 150), (100, 100, 200), (100, 251, 500)]
)
def test_random_labels_on_the_sphere(d, m, width, seed):
    data = mf.data.Sphere(dimension=d, labels="both").sample(m, seed=seed)
    assert_reached(mf.kkt_point(data, width=width, seed=seed), data, width)


@pytest.mark.parametrize("seed", FEW_SEEDS)
def test_clusters(seed):
    data = mf.data.Clusters(dimension=549, n_clusters=2).sample(80, seed=seed)
    assert_reached(mf.kkt_point(data, width=60, seed=seed), data, 60)


@pytest.mark.parametrize("seed", FEW_SEEDS)
@pytest.mark.parametrize("outputs", ["trained", "frozen"])
def test_exclusive_or_without_bias(outputs, seed):
    data = mf.data.XorClusters(dimension=20).sample(60, seed=seed)
    limit = mf.kkt_point(data, width=100, bias=False, outputs=outputs, seed=seed)
    assert_reached(limit, data, 100)
    total = limit.network.norm_squared() / limit.network.degree
    assert limit.certificate.multipliers.sum() == pytest.approx(total, rel=1e-9)


@pytest.mark.parametrize(("d", "p"), [(20, 0.1), (20, 0.3), (100, 0.1), (100, 0.3), (1000, 0.3)])
def test_constant_label_with_noise(d, p):
    data = mf.data.NoisySphere(dimension=d, p=p).sample(100, seed=0)
    assert_reached(mf.kkt_point(data, width=300), data, 300)


@pytest.mark.parametrize("p", [0.1, 0.2, 0.3])
def test_uniform_points_on_the_line_have_their_global_network(p):
    data = mf.data.Interval(p=p).sample(50, seed=0)
    limit = mf.kkt_point(data, width=100)
    assert_reached(limit, data, 100)
    assert limit.moved is None


@pytest.mark.parametrize("outputs", ["trained", "frozen"])
def test_soft_margins_cap_the_multipliers(outputs):
    data = mf.data.Sphere(dimension=10).sample(80, seed=2)
    limit = mf.kkt_point(data, width=60, penalty=0.2, outputs=outputs)
    certificate = mf.certify(limit.network, data, penalty=0.2)
    assert limit.exact, limit.status
    assert certificate.holds(1e-9)
    assert certificate.multipliers.max() <= 0.2 * (1 + 1e-12)
    inside = certificate.margins < 1 - 1e-9
    assert inside.any()
    assert certificate.multipliers[inside] == pytest.approx(0.2)


def test_rotating_the_samples_rotates_the_network():
    data = mf.data.Orthogonal(dimension=30).sample(20, seed=1)
    rotation = np.linalg.qr(np.random.default_rng(0).standard_normal((30, 30)))[0]
    turned = mf.data.Dataset(X=data.X @ rotation, y=data.y)
    points = np.random.default_rng(1).standard_normal((50, 30))
    here, there = mf.kkt_point(data, width=20), mf.kkt_point(turned, width=20)
    assert there.network(points @ rotation) == pytest.approx(here.network(points), abs=1e-9)


def test_orthogonal_samples_end_at_the_closed_form():
    data = mf.data.Orthogonal(dimension=100).sample(30, seed=0)
    known = mf.limit.orthogonal(data)
    limit = mf.kkt_point(data, width=40)
    assert limit.network.norm_squared() == pytest.approx(known.network.norm_squared(), rel=1e-12)
    points = np.random.default_rng(2).standard_normal((50, 100))
    assert limit.network(points) == pytest.approx(known.network(points), abs=1e-11)
    assert limit.certificate.multipliers == pytest.approx(known.multipliers, rel=1e-10)


def test_the_same_seed_gives_the_same_bits():
    data = mf.data.Sphere(dimension=30).sample(40, seed=3)
    first, second = (mf.kkt_point(data, width=80, seed=5) for _ in range(2))
    assert np.array_equal(first.network.W, second.network.W)
    assert np.array_equal(first.certificate.multipliers, second.certificate.multipliers)


def test_a_time_limit_returns_a_certified_point_that_says_so():
    data = mf.data.Sphere(dimension=100).sample(600, seed=0)
    limit = mf.kkt_point(data, width=300, time_limit=0.5)
    assert limit.status.startswith("Stopped early")
    assert not limit.exact
    assert limit.certificate.stationarity > 1e-9


@pytest.mark.parametrize(
    ("data", "options", "says"),
    [
        (mf.data.Dataset(X=[[1.0], [2.0]], y=[1, 1]), {}, "both -1 and"),
        (mf.data.Dataset(X=[[1.0, 2.0], [1.0, 2.0]], y=[1, -1]), {}, "identical"),
        (mf.data.Dataset(X=[[1.0, 2.0], [2.0, 1.0]], y=[1, -1]), {"width": 1}, "at least 2 neurons"),
        (mf.data.Dataset(X=[[1.0, 2.0], [2.0, 1.0]], y=[1, -1]), {"penalty": -1.0}, "penalty is -1"),
        (mf.data.Dataset(X=[[1.0, 2.0], [2.0, 1.0]], y=[1, -1]), {"time_limit": 0.0}, "time_limit is 0"),
    ],
)
def test_bad_input_is_told_in_a_sentence(data, options, says):
    with pytest.raises(mf.InputError, match=says):
        mf.kkt_point(data, **options)
