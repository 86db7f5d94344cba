"""What the doors accept, what they say, and how they stop."""

import numpy as np
import pytest

from marginflow.errors import InputError
from marginflow.networks import TwoLayer
from marginflow.robustness.radius import check_certificate, exact_radii, exact_radius


@pytest.fixture
def network() -> TwoLayer:
    return TwoLayer.initialise(width=30, dimension=5, seed=0)


def test_misclassified_point_has_radius_zero_and_says_so(network):
    x = np.arange(5.0)
    right = exact_radius(network, x).label
    radius = exact_radius(network, x, label=-right)
    assert (radius.status, radius.lower, radius.upper) == ("misclassified", 0.0, 0.0)
    assert radius.proved
    assert np.array_equal(radius.witness, x)
    assert check_certificate(radius.certificate, network).holds
    assert "misclassified" in repr(radius)


def test_point_on_the_boundary_has_radius_zero():
    radius = exact_radius(TwoLayer(W=np.eye(2), v=[1.0, -1.0]), [1.0, 1.0])
    assert (radius.status, radius.upper) == ("misclassified", 0.0)


def test_network_that_is_positive_everywhere_has_infinite_radius():
    constant = TwoLayer(W=[[0.0, 0.0]], b=[1.0], v=[2.0])
    convex = TwoLayer(W=[[1.0, 0.0], [0.0, 0.0]], b=[0.0, 1.0], v=[1.0, 0.5])
    # relu(z + 1) - relu(z) + 1/2 lies in [1/2, 3/2], with an opposing neuron.
    step = TwoLayer(W=[[1.0], [1.0], [0.0]], b=[1.0, 0.0, 1.0], v=[1.0, -1.0, 0.5])
    # |x| + |y| - relu(x + y) + 1 >= 1
    cone = TwoLayer(W=[[1, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [0, 0]], b=[0, 0, 0, 0, 0, 1], v=[1.0, 1, 1, 1, -1, 1])
    for network, settled in ((constant, True), (convex, True), (step, False), (cone, False)):
        radius = exact_radius(network, np.full(network.dimension, 0.3))
        # Where neurons oppose the label, a search within a horizon says nothing of what lies beyond.
        assert radius.proved == settled
        assert radius.status == ("infinite" if settled else "bounded")
        assert settled or repr(radius).startswith("Radius(none within ")
        assert radius.upper == np.inf
        assert radius.lower > 1e5
        assert radius.witness is None
        assert radius.perturbation is None
        assert check_certificate(radius.certificate, network).holds


def test_time_that_runs_out_gives_bounds_and_not_a_number():
    network = TwoLayer.initialise(width=80, dimension=20, seed=0)
    x = 2.0 * np.random.default_rng(0).standard_normal(20)
    exact = exact_radius(network, x)
    hurried = exact_radius(network, x, time_limit=1e-9)
    assert hurried.status == "bounded"
    assert not hurried.proved
    assert hurried.lower <= exact.upper
    assert hurried.upper >= exact.lower
    assert hurried.lower < hurried.upper
    assert "in [" in repr(hurried)
    assert check_certificate(hurried.certificate, network).holds


def test_label_is_the_sign_of_the_network_unless_given(network):
    x = np.ones(5)
    value = network(x[None, :])[0]
    radius = exact_radius(network, x)
    assert radius.label == np.sign(value)
    assert exact_radius(network, x, label=radius.label).upper == radius.upper


def test_batches_agree_with_single_points_and_report_progress(network):
    X = np.random.default_rng(1).standard_normal((5, 5))
    seen: list[tuple[int, int]] = []
    radii = exact_radii(network, X, progress=lambda done, total: seen.append((done, total)), certificate=True)
    assert seen == [(i + 1, 5) for i in range(5)]
    for x, radius in zip(X, radii, strict=True):
        single = exact_radius(network, x)
        assert (radius.lower, radius.upper, radius.nodes) == (single.lower, single.upper, single.nodes)
        assert check_certificate(radius.certificate, network).holds
    assert exact_radii(network, X)[0].certificate is None


def test_workers_give_the_same_bits(network):
    X = np.random.default_rng(1).standard_normal((4, 5))
    y = np.array([1.0, -1.0, 1.0, -1.0])
    seen: list[int] = []
    parallel = exact_radii(network, X, y=y, workers=2, progress=lambda done, total: seen.append(done))
    assert seen == [1, 2, 3, 4]
    for alone, other in zip(exact_radii(network, X, y=y), parallel, strict=True):
        assert (alone.lower, alone.upper, alone.status, alone.label) == (
            other.lower,
            other.upper,
            other.status,
            other.label,
        )


def test_plain_values_are_plain(network):
    import json

    for certificate in (True, False):
        radius = exact_radius(network, np.ones(5), certificate=certificate)
        plain = json.loads(json.dumps(radius.to_dict(), allow_nan=False))
        assert plain["status"] == "proved"
        assert plain["upper"] == radius.upper
        assert (plain["certificate"] is None) != certificate
    infinite = exact_radius(TwoLayer(W=[[0.0]], b=[1.0], v=[1.0]), [0.0])
    assert infinite.to_dict()["upper"] is None


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"x": np.ones(4)}, "x has 4 entries, but the network has dimension 5"),
        ({"x": np.ones((1, 5))}, "a vector"),
        ({"x": [1.0, 2.0, np.nan, 0.0, 0.0]}, "must be finite"),
        ({"label": 0.0}, "labels must be -1 or"),
        ({"level": np.inf}, "level"),
        ({"tolerance": 0.0}, "tolerance"),
        ({"time_limit": -1.0}, "time_limit"),
        ({"max_nodes": 0}, "max_nodes"),
    ],
)
def test_bad_input_is_named(network, options, sentence):
    arguments = {"x": np.ones(5), **options}
    with pytest.raises(InputError, match=sentence):
        exact_radius(network, arguments.pop("x"), **arguments)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"X": np.ones((2, 4))}, "X has 4 columns"),
        ({"X": np.ones(5)}, "a matrix"),
        ({"y": [1.0]}, "2 are expected"),
        ({"y": [1.0, 2.0]}, "labels must be -1 or"),
        ({"workers": 0}, "workers"),
    ],
)
def test_bad_batches_are_named(network, options, sentence):
    arguments = {"X": np.ones((2, 5)), **options}
    with pytest.raises(InputError, match=sentence):
        exact_radii(network, arguments.pop("X"), **arguments)


def test_a_radius_is_neither_true_nor_false(network):
    radius = exact_radius(network, np.zeros(network.dimension))
    with pytest.raises(TypeError, match=r"radius\.proved"):
        bool(radius)
