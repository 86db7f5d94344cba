"""Problems that no network solves are named; problems that are not solved end with advice."""

from types import SimpleNamespace

import numpy as np
import pytest

import marginflow as mf
from marginflow.data import Dataset, Sphere
from marginflow.limit import assemble
from marginflow.limit.advice import advice
from marginflow.limit.separable import require_separable
from marginflow.limit.starts import Finished
from marginflow.limit.task import Task
from marginflow.networks import TwoLayer


@pytest.mark.parametrize("factor", [2.0, 1.0 / 3.0, 1e6, 1e-6])
def test_opposite_labels_on_one_ray_are_named_without_bias(factor):
    X = np.random.default_rng(0).normal(size=(40, 5))
    X[17] = factor * X[4]
    y = np.ones(40)
    y[4] = -1
    with pytest.raises(mf.InputError, match="Samples 4 and 17 lie on one ray"):
        mf.kkt_point(Dataset(X=X, y=y), bias=False, width=20)
    require_separable(Dataset(X=X, y=y), bias=True)


def test_the_opposite_ray_and_equal_labels_are_no_obstacle():
    X = np.array([[1.0, 2.0], [-1.0, -2.0], [2.0, 4.0], [0.0, 1.0]])
    require_separable(Dataset(X=X, y=[1, -1, 1, -1]), bias=False)
    with pytest.raises(mf.InputError, match="Samples 0 and 2 lie on one ray"):
        require_separable(Dataset(X=X, y=[1, -1, -1, -1]), bias=False)


def test_a_zero_sample_is_named_without_bias():
    with pytest.raises(mf.InputError, match="Sample 1 is zero"):
        mf.kkt_point(Dataset(X=[[1.0, 3.0], [0.0, 0.0]], y=[1, -1]), bias=False, width=4)


def test_advice_for_opposite_labels_that_nearly_coincide_is_followed():
    sample = Sphere(dimension=5).sample(20, seed=0)
    X = np.vstack([sample.X, sample.X[:1] + 1e-7])
    data = Dataset(X=X, y=np.append(sample.y, -sample.y[0]))
    task = Task(data, TwoLayer.initialise(10, 5, seed=0))
    assert advice(task).startswith("Samples 0 and 20 have opposite labels, ")
    assert "Leave one of each such pair out" in advice(task)
    assert "penalty=10" in advice(task)
    assert mf.kkt_point(data, width=60, penalty=10.0).exact
    assert mf.kkt_point(data.subset(np.arange(20)), width=60).exact


@pytest.mark.parametrize("factor", [1e-8, 1.0])
def test_advice_to_standardise_is_followed(factor):
    sample = Sphere(dimension=5).sample(20, seed=0)
    X = factor * sample.X + 1e4 * factor
    task = Task(Dataset(X=X, y=sample.y), TwoLayer.initialise(10, 5, seed=0))
    assert "standardise" in advice(task)
    assert mf.kkt_point(Dataset(X=(X - X.mean(axis=0)) / X.std(axis=0), y=sample.y), width=60).exact


@pytest.mark.parametrize(
    ("offset", "word"), [(0.0, "larger width"), (1e7, "standardise them (marginflow convert --standardise)")]
)
def test_a_point_that_is_not_exact_says_what_to_try(offset, word):
    sample = Sphere(dimension=5).sample(20, seed=0)
    data = Dataset(X=sample.X + offset, y=sample.y)
    task = Task(data, TwoLayer.initialise(10, 5, seed=0))
    point = Finished(task.given, np.zeros(20), np.zeros((20, 10)), "", 1.0)
    judged = SimpleNamespace(
        stationarity=0.1, margins=np.array([0.5]), network=task.given, holds=lambda tolerance: tolerance > 1.0
    )
    status = assemble._status(task, point, judged, False, None, 1e-9)
    assert status.startswith("Not exact")
    assert word in status


def test_samples_that_all_have_a_neighbour_of_the_other_label_end_in_a_sentence_that_counts_them():
    rng = np.random.default_rng((1, 1))
    X, far = rng.standard_normal((10, 5)), np.arange(20) % 10 < 5
    data = Dataset(X=np.vstack([X, X + 1e-7 * rng.standard_normal((10, 5))]), y=np.repeat([1.0, -1.0], 10))
    limit = mf.kkt_point(data, width=60, max_iterations=200)
    assert not limit.exact
    assert "10 samples have one of the opposite label right beside them" in limit.status
    left = data.subset(np.flatnonzero((data.y > 0) == far))
    assert mf.kkt_point(left, width=60).exact


def test_what_is_not_separated_is_by_more_neurons_or_at_a_price():
    data = Dataset(X=[[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], y=[1, 1, -1, -1])
    limit = mf.kkt_point(data, width=2)
    assert limit.status.startswith("Not separated: no network of 2 neurons")
    assert "larger width" in limit.status
    assert "penalty=10" in limit.status
    assert mf.kkt_point(data, width=20).exact
    assert mf.kkt_point(data, width=2, penalty=10.0).exact


def test_a_time_limit_says_that_more_time_may_help_and_it_does():
    data = Sphere(dimension=5).sample(60, seed=0)
    early = mf.kkt_point(data, width=60, time_limit=1e-3)
    assert early.stopped_by == "time limit"
    assert "More time" in early.status
    assert mf.kkt_point(data, width=60).exact


def test_a_faithful_point_comes_after_the_long_flow_and_is_nearer_to_it():
    data = Sphere(dimension=10).sample(10, seed=0)
    limit = mf.kkt_point(data, width=20, seed=0, faithful=True)
    plain = mf.kkt_point(data, width=20, seed=0, flow_steps=5000, angle=0.004)
    assert limit.exact
    assert limit.moved is not None
    assert plain.moved is not None
    assert limit.moved.cosine >= plain.moved.cosine - 1e-3
    with pytest.raises(mf.InputError, match="faithful"):
        mf.kkt_point(data, width=20, faithful=True, flow_steps=5)


@pytest.mark.parametrize("options", [{}, {"bias": False}, {"outputs": "frozen"}, {"optimum": "global"}])
@pytest.mark.parametrize("X", [[[1.0], [1.0]], [[1.0, 2.0], [3.0, 0.5]] * 2, [[1.0, 2.0, 3.0, 4.0]] * 6])
def test_labels_that_cancel_at_every_point_are_named_with_a_soft_margin(X, options):
    y = [1.0] * (len(X) // 2) + [-1.0] * (len(X) // 2)
    if len(X[0]) > 2:
        options = {name: value for name, value in options.items() if name != "optimum"}
    with pytest.raises(mf.InputError, match="labels cancel wherever samples are"):
        mf.kkt_point(Dataset(X=X, y=y), width=10, penalty=1.0, **options)


def test_labels_that_cancel_along_rays_are_named_in_the_plane_without_bias():
    data = Dataset(X=[[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]], y=[1.0, 1.0, -1.0])
    with pytest.raises(mf.InputError, match="labels cancel wherever samples are"):
        mf.kkt_point(data, width=10, penalty=1.0, bias=False, optimum="global")
