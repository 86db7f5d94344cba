"""Points from the samples near the margin alone, judged on all of them."""

import time
from dataclasses import replace

import numpy as np
import pytest

from marginflow import certify
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.limit.budget import Budget
from marginflow.limit.limit import Limit
from marginflow.limit.starts.start import Finished
from marginflow.limit.support import support_point, support_points, watched
from marginflow.limit.support.descent import descend
from marginflow.limit.support.watched import Watched, begun, solve
from marginflow.limit.task import Task
from marginflow.networks import TwoLayer


def clusters(n: int = 120, seed: int = 0) -> Dataset:
    """Two clusters that overlap a little."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    return Dataset(X=(rng.standard_normal((n, 4)) + 1.2 * y[:, None]) / 3.0, y=y)


def start(data: Dataset, width: int = 8) -> TwoLayer:
    return TwoLayer.initialise(width, data.dimension, scale=0.3, seed=0)


def proposed(task: Task, multipliers: np.ndarray, budget: Budget) -> Finished | None:
    run = begun(task, budget, multipliers)
    assert run is not None
    solve([run], budget)
    return Watched(run).propose(task, budget)


def test_the_point_is_one_of_all_samples_without_the_multipliers_that_were_offered():
    data = clusters()
    found = support_point(data, start(data), penalty=1.0)
    assert found.exact
    assert certify(found.network, data, penalty=1.0).holds(1e-8)
    assert (found.certificate.multipliers == 0).any()


def test_a_hard_margin_is_one_for_every_sample():
    rng = np.random.default_rng(1)
    y = np.where(np.arange(60) % 2, 1.0, -1.0)
    data = Dataset(X=(rng.standard_normal((60, 6)) + 2.0 * y[:, None]) / 4.0, y=y)
    found = support_point(data, start(data))
    assert found.exact
    assert found.network.margins(data.X, data.y).min() == pytest.approx(1.0, abs=1e-9)
    assert certify(found.network, data).holds(1e-8)


def test_a_deadline_ends_the_descent_on_the_way():
    data = clusters()

    def objective(network: TwoLayer) -> float:
        return network.norm_squared() / 2 + np.maximum(1.0 - network.margins(data.X, data.y), 0.0).sum()

    late, _ = descend(data, start(data), 1.0, deadline=-np.inf)
    whole, _ = descend(data, start(data), 1.0)
    assert objective(whole) < objective(late) < objective(start(data))


def test_frozen_outputs_and_bad_numbers_are_refused():
    data = clusters(20)
    with pytest.raises(InputError, match="outputs of start are frozen"):
        support_point(data, TwoLayer.initialise(8, 4, outputs="frozen", seed=0), penalty=1.0)
    with pytest.raises(InputError, match="penalty is -1"):
        support_point(data, start(data), penalty=-1.0)


def test_samples_that_the_first_set_misses_are_taken_in(monkeypatch):
    """Begun with three samples of each label and those on the wrong side, the point is one of all samples."""
    monkeypatch.setattr(watched, "NEAR_MARGIN", 0.0)
    monkeypatch.setattr(watched, "LEAST_SUPPORT", 3)
    data = clusters(200)
    network, lam = descend(data, start(data), 1.0)
    task = Task(data, network, penalty=1.0, flow_steps=0)
    found = proposed(task, lam, Budget())
    assert found is not None
    assert any(entry.flips > 0 for entry in found.history)
    assert certify(found.network, data, penalty=1.0, multipliers=(found.lam, found.mu)).holds(1e-9)


def test_units_of_the_samples_do_not_matter():
    """Powers of two round nothing: samples 2^20 times as long have the same point, 2^20 times as small."""
    data = clusters()
    long = Dataset(X=2.0**20 * data.X, y=data.y)
    plain = TwoLayer.initialise(8, 4, scale=0.3, bias=False, seed=0)
    descended, lam = descend(data, plain, 1.0)
    small = replace(descended, W=2.0**-20 * descended.W)
    # u and the multipliers carry the unit once, so does the penalty
    one = proposed(Task(data, descended, penalty=1.0, flow_steps=0), lam, Budget())
    other = proposed(Task(long, small, penalty=2.0**-20, flow_steps=0), 2.0**-20 * lam, Budget())
    assert one is not None
    assert other is not None
    np.testing.assert_array_equal(other.network(long.X), one.network(data.X))


def test_nothing_is_proposed_where_time_is_over():
    data = clusters()
    task = Task(data, start(data), penalty=1.0, flow_steps=0)
    assert proposed(task, np.zeros(data.n_samples), Budget(time_limit=1e-9)) is None


def several() -> list[tuple[Dataset, TwoLayer]]:
    """Problems of other sizes and dimensions, so that none fills the arrays of all."""
    found = []
    for seed, (n, d, width) in enumerate([(120, 4, 8), (60, 7, 5), (90, 3, 10)]):
        rng = np.random.default_rng(seed)
        y = np.where(np.arange(n) % 2, 1.0, -1.0)
        data = Dataset(X=(rng.standard_normal((n, d)) + 1.2 * y[:, None]) / 3.0, y=y)
        found.append((data, TwoLayer.initialise(width, d, scale=0.3, seed=seed)))
    return found


def test_points_in_step_are_those_of_each_problem_by_itself():
    problems = several()
    together = support_points(problems, penalty=1.0)
    for (data, begin), found in zip(problems, together, strict=True):
        alone = support_point(data, begin, penalty=1.0)
        assert found.exact
        assert certify(found.network, data, penalty=1.0).holds(1e-8)
        np.testing.assert_allclose(found.network(data.X), alone.network(data.X), atol=1e-7)


def test_a_time_limit_is_for_each_of_several_problems():
    found = support_points(several(), penalty=1.0, time_limit=60.0)
    assert all(limit.exact for limit in found)


def test_one_problem_that_is_wrong_is_refused_before_any_is_solved():
    problems = several()
    frozen = TwoLayer.initialise(8, 4, outputs="frozen", seed=0)
    with pytest.raises(InputError, match="outputs of start are frozen"):
        support_points([*problems, (problems[0][0], frozen)], penalty=1.0)


def interrupt(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    "where",
    ["support.point.descend", "solver.in_step.FewPairs.project", "support.point.Watched.propose"],
)
def test_an_interrupt_ends_all_problems(monkeypatch, where):
    """Swallowed by one stage it would begin each of the others anew, the slow way."""
    monkeypatch.setattr(f"marginflow.limit.{where}", interrupt)
    with pytest.raises(KeyboardInterrupt):
        support_points(several(), penalty=1.0)


def test_an_interrupt_of_the_other_way_ends_all_problems_too(monkeypatch):
    found = support_points(several()[:1], penalty=1.0)[0]
    calls = []

    def interrupted(*_: object, **__: object) -> Limit:
        calls.append(1)
        return replace(found, stopped_by="interrupt")  # what a search returns then

    monkeypatch.setattr("marginflow.limit.support.point._settled", lambda *_: None)
    monkeypatch.setattr("marginflow.limit.support.point.search", interrupted)
    with pytest.raises(KeyboardInterrupt):
        support_points(several(), penalty=1.0)
    assert len(calls) == 1


@pytest.mark.parametrize("settled", [True, False])
def test_seconds_are_those_of_each_and_its_share_of_what_was_done_for_all(monkeypatch, settled):
    def slow(*arguments: object, **options: object) -> object:
        time.sleep(0.05)
        return descend(*arguments, **options)

    monkeypatch.setattr("marginflow.limit.support.point.descend", slow)
    if not settled:  # what is found instead took the descent before it too
        monkeypatch.setattr("marginflow.limit.support.point._settled", lambda *_: None)
    began = time.monotonic()
    found = support_points(several(), penalty=1.0)
    assert all(limit.exact and limit.seconds >= 0.05 for limit in found)
    assert sum(limit.seconds for limit in found) <= time.monotonic() - began


def in_each_other(kind: str, n: int, seed: int) -> Dataset:
    """Two classes in the plane that no network tells apart."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    X = rng.standard_normal((n, 2)) + (0.5 * y[:, None] if kind == "clusters" else 0.0)
    return Dataset(X=(X - X.mean(axis=0)) / X.std(axis=0), y=y)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["clusters", "noise"])
def test_classes_in_the_plane_that_lie_in_each_other_end_at_an_exact_point(kind, seed):
    data = in_each_other(kind, 200, seed)
    (found,) = support_points([(data, start(data, 20))], penalty=2.0, width_is_open=True)
    assert found.exact
    assert certify(found.network, data, penalty=2.0, hard_patterns=False).holds(1e-8)


def test_a_search_that_goes_astray_is_not_called_a_fault_of_the_penalty():
    for seed in range(6):
        data = in_each_other("noise", 60, seed)
        found = support_point(data, TwoLayer.initialise(4, 2, seed=seed), penalty=2.0, max_iterations=20)
        assert found.network.width == 4
        assert found.exact or found.status.startswith("Not exact")
    with pytest.raises(InputError, match="so small that the best network found is the zero function"):
        support_point(data, TwoLayer.initialise(4, 2, seed=0), penalty=1e-6)
