"""Starts: their order, and what the caller fixed stays fixed; a new one is in test_new_start."""

from __future__ import annotations

import numpy as np
import pytest

import marginflow as mf
from marginflow.data import Sphere
from marginflow.errors import InputError
from marginflow.limit import all_starts, task
from marginflow.limit.budget import Budget
from marginflow.limit.settings import FLOW_DAMPED
from marginflow.limit.starts import Finished, Start, interior
from marginflow.limit.starts.flow import LongFlow
from marginflow.limit.starts.interior import _plane_is_surer
from marginflow.limit.task import Task
from marginflow.networks import TwoLayer

DATA = Sphere(dimension=8).sample(12, seed=0)


def some_task(**options) -> Task:
    return Task(DATA, TwoLayer.initialise(30, 8, scale=0.01, seed=0), **options)


def test_the_order_is_that_of_the_ranks():
    names = [start.name for start in all_starts()]
    expected = ["line", "working set", "own", "flow", "interior", "plane", "columns", "interior elsewhere", "long flow"]
    expected += ["rising", "feasible", "fine bundles"]
    assert [name for name in names if name in expected] == expected
    assert len(set(names)) == len(names)


def test_in_the_plane_the_global_optimum_comes_before_points_that_are_not_near_the_flow_either(monkeypatch):
    """The interior point finds nothing near the flow here; a width below that of the optimum leaves other points."""
    data, found = Sphere(dimension=2).sample(40, seed=3), []

    def nothing_near_the_flow(problem, neurons, budget, *, multipliers=None):
        found.append(multipliers is not None)
        return None if multipliers is None else of_few(problem, neurons, budget, multipliers=multipliers)

    of_few = interior.interior_point_of_few
    monkeypatch.setattr(interior, "interior_point_of_few", nothing_near_the_flow)
    best = mf.kkt_point(data, width=100, starts=["interior", "plane", "interior elsewhere"])
    assert best.status.startswith("Global max-margin network")
    assert found == [False]
    neurons = best.compact.width
    point = mf.kkt_point(data, width=neurons - 1, starts=["interior", "plane", "interior elsewhere"])
    assert point.exact
    assert "from other neurons than those of the flow" in point.status
    assert point.network.norm_squared() > best.network.norm_squared()


def test_a_start_by_name_is_the_only_one_tried():
    data = Sphere(dimension=2).sample(10, seed=0)
    limit = mf.kkt_point(data, width=40, starts=["columns"])
    assert limit.exact
    assert "columns" in limit.status


def test_an_unknown_start_is_refused_with_the_known_ones():
    known = ", ".join(start.name for start in all_starts())
    with pytest.raises(InputError, match=f"'nonsense'; known are {known}"):
        mf.kkt_point(DATA, width=30, starts=["nonsense"])


def test_starts_of_which_none_applies_end_in_a_sentence():
    with pytest.raises(InputError, match="None of the starts"):
        mf.kkt_point(DATA, width=30, starts=["rising"])


@pytest.mark.parametrize("way", all_starts(), ids=lambda way: way.name)
def test_every_start_proposes_something_a_polish_can_use_or_nothing(way):
    for options in ({}, {"penalty": 1.0}, {"flow_steps": 0}):
        proposed = way.propose(some_task(**options), Budget())
        if isinstance(proposed, Start):
            assert proposed.groups.shape == (30,)
            assert proposed.neurons.U.shape[1] == 8 + 1
            assert (np.diff(proposed.neurons.s) <= 0).all()  # positive neurons first
        elif proposed is not None:
            assert isinstance(proposed, Finished)
            assert proposed.network.width == 30


def test_no_start_flows_where_the_caller_wants_no_flow(monkeypatch):
    def refuse(*_args, **_options):
        raise AssertionError("a flow was made")

    monkeypatch.setattr(task.AngleSteps, "take", refuse)
    for way in all_starts():
        way.propose(some_task(flow_steps=0), Budget())


def test_a_fixed_number_of_steps_is_that_number_in_every_start(monkeypatch):
    made = []
    original = task.AngleSteps.take

    def count(flow, steps, **options):
        made.append(original(flow, steps, **options))
        return made[-1]

    monkeypatch.setattr(task.AngleSteps, "take", count)
    for way in all_starts():
        made.clear()
        way.propose(some_task(flow_steps=30), Budget())
        assert sum(made) in (0, 30)


def flow_of(width: int, **options) -> tuple[list[float], float]:
    """The angles of the flow's steps, and ln of the loss where it ended."""
    made, original = [], task.AngleSteps.take

    def record(flow, *args, **how):
        taken = original(flow, *args, **how)
        made.append((flow.angle, flow.log_loss))
        return taken

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(task.AngleSteps, "take", record)
        Task(DATA, TwoLayer.initialise(width, 8, scale=0.01, seed=0), **options).flow(None, Budget())
    return [angle for angle, _ in made], made[-1][1]


def test_a_cheap_flow_goes_to_a_tiny_loss_in_small_steps():
    angles, log_loss = flow_of(30)
    assert max(angles) < 0.01
    assert log_loss < np.log(1e-300)


def test_a_dear_flow_and_one_before_a_soft_margin_take_large_steps_and_few():
    for width, options, angle in (
        (300_000, {}, 0.15),
        (100_000, {"penalty": 1.0}, 0.05),
        (30, {"penalty": 1.0}, 0.05),
        (30, {"angle": 0.04}, 0.04),
    ):
        angles, log_loss = flow_of(width, **options)
        assert set(angles) == {angle}
        assert log_loss > np.log(1e-300)


def test_samples_that_small_steps_do_not_separate_get_large_ones_after_all():
    rng = np.random.default_rng(0)
    crowd = mf.data.Dataset(X=rng.standard_normal((60, 2)), y=np.where(rng.permutation(60) % 2, 1.0, -1.0))
    by_default = Task(crowd, TwoLayer.initialise(20, 2, scale=0.01, seed=0))
    in_large_steps = Task(crowd, by_default.given, angle=0.05)
    assert by_default._small_steps(0.01, Budget()) is None
    np.testing.assert_array_equal(
        by_default.flow(None, Budget()).network.W,
        in_large_steps._flow(crowd.X, crowd.y, None, Budget(), angle=0.05).network.W,
    )


def test_in_the_plane_a_flow_that_has_not_found_the_classes_leaves_many_samples_to_the_global_optimum():
    corner = TwoLayer(W=[[1.0, 0.0], [-1.0, 0.0]], b=[0.0, 0.0], v=[1.0, -1.0])  # the sign of the first coordinate
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 2))
    right, chance = np.where(X[:, 0] > 0, 1.0, -1.0), rng.choice([-1.0, 1.0], 600)

    def surer(X: np.ndarray, y: np.ndarray, **options) -> bool:
        fits = TwoLayer(W=np.pad(corner.W, ((0, 0), (0, X.shape[1] - 2))), b=corner.b, v=corner.v)
        one = Task(mf.data.Dataset(X=X, y=y), fits, **options)
        return _plane_is_surer(one, one.given)

    assert surer(X, chance)
    assert surer(X, chance, penalty=100.0)
    assert not surer(X, chance, penalty=0.01)
    assert not surer(X, right)
    assert not surer(X[:400], chance[:400])
    assert surer(X[:400], chance[:400], penalty=100.0)
    assert not surer(X[:400], chance[:400], penalty=100.0, callers_own=True)
    assert not surer(np.column_stack([X, X[:, ::-1] ** 2]), chance)


@pytest.mark.parametrize(("samples", "options", "sets"), [(40, {}, 8), (40, {"outputs": "frozen"}, 3), (260, {}, 3)])
def test_the_interior_point_begins_from_more_sets_where_samples_are_few(monkeypatch, samples, options, sets):
    begun = []
    monkeypatch.setattr(interior, "interior_point_of_few", lambda *_, **__: begun.append(1))
    with pytest.raises(mf.InputError, match="None of the starts"):
        mf.kkt_point(Sphere(dimension=12).sample(samples, seed=0), width=60, starts=["interior"], **options)
    assert len(begun) == 1 + sets


def test_a_soft_margin_in_the_plane_does_not_end_beside_a_flow_that_has_not_found_the_classes():
    """Near this flow there is a KKT point of four times the least objective, with every fifth sample misplaced."""
    data = mf.data.moons(200, noise=0.2, seed=7)
    limit = mf.kkt_point(data, width=200, penalty=10.0)
    assert limit.exact
    assert limit.status.startswith("Global max-margin network")
    assert (data.y * limit.network(data.X) <= 0).mean() < 0.05


def test_gradients_are_averaged_where_long_steps_do_not_separate_the_samples(monkeypatch):
    """Labels that no network of two neurons can fit: the path of long steps ends, and steps with momentum follow."""
    made, original = [], task.AngleSteps.take

    def record(flow, *args, **how):
        taken = original(flow, *args, **how)
        made.extend([(flow.angle, flow.momentum)] * taken)
        return taken

    monkeypatch.setattr(task.AngleSteps, "take", record)
    rng = np.random.default_rng(0)
    crowd = mf.data.Dataset(X=rng.standard_normal((40, 2)), y=np.where(rng.permutation(40) % 2, 1.0, -1.0))
    some = Task(crowd, TwoLayer.initialise(2, 2, scale=0.01, seed=0))
    some._flow(some.X, crowd.y, None, Budget(), angle=0.1, most=400)
    assert made == [(0.1, 0.0)] * 100 + [FLOW_DAMPED] * 300


def test_no_long_flow_where_a_flow_on_all_samples_is_dear(monkeypatch):
    """30,000 images afford 170 steps; the 2000 of a long flow took more than ten minutes."""
    monkeypatch.setattr(task, "FLOW_DEAREST", 1e6)
    one = Task(DATA, TwoLayer.initialise(40, 8, seed=1))
    assert one.most_steps < 500
    assert LongFlow().propose(one, Budget()) is None
    monkeypatch.setattr(task, "FLOW_DEAREST", 3e6)
    assert isinstance(LongFlow().propose(one, Budget()), Start)
