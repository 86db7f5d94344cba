"""Interrupts and time limits: what is done is kept, whoever does it at the moment."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

import marginflow as mf
from marginflow.data import Dataset, Sphere
from marginflow.errors import InputError
from marginflow.limit import assemble, line, plane, point, task
from marginflow.limit.bracket import columns
from marginflow.limit.budget import Budget, OutOfTimeError, Progress
from marginflow.limit.line import master
from marginflow.limit.starts import flow
from marginflow.limit.starts.flow import Flow
from marginflow.limit.starts.plane import Line
from marginflow.networks import TwoLayer

DATA = Sphere(dimension=8).sample(30, seed=0)
PLANE = Sphere(dimension=2).sample(20, seed=3)


def raising(original, *, at_call: int):
    """The function, but Ctrl-C at one of its calls."""
    calls = 0

    def wrapped(*args, **options):
        nonlocal calls
        calls += 1
        if calls == at_call:
            raise KeyboardInterrupt
        return original(*args, **options)

    return wrapped


@pytest.mark.parametrize("at_call", [1, 2, 3])
def test_an_interrupt_of_the_flow_returns_the_best_point_so_far(monkeypatch, at_call):
    monkeypatch.setattr(task.AngleSteps, "take", raising(task.AngleSteps.take, at_call=at_call))
    limit = mf.kkt_point(DATA, width=40, seed=0)
    assert limit.stopped_by == "interrupt"
    assert limit.status.startswith("Stopped early by an interrupt")
    assert limit.network.width == 40


def test_an_interrupt_of_the_columns_keeps_what_the_flow_has_found(monkeypatch):
    monkeypatch.setattr(columns.Columns, "price", raising(columns.Columns.price, at_call=2))
    limit = mf.kkt_point(PLANE, width=60, max_iterations=100, starts=["flow", "columns"])
    assert limit.stopped_by == "interrupt"
    assert limit.certificate.margins.shape == (20,)


@pytest.mark.parametrize("at_call", [1, 2])
def test_a_certificate_that_is_interrupted_judges_the_point_as_it_is(monkeypatch, at_call):
    monkeypatch.setattr(assemble, "certify", raising(assemble.certify, at_call=at_call))
    limit = mf.kkt_point(PLANE, width=60, max_iterations=100, starts=["flow", "fine bundles"])
    assert not limit.exact
    assert limit.stopped_by == "interrupt"
    assert limit.status.startswith("Stopped early by an interrupt")


@pytest.mark.parametrize("optimum", ["local", "global"])
def test_an_interrupt_before_anything_is_found_returns_what_the_search_began_from(monkeypatch, optimum):
    for way in (Flow, Line):
        monkeypatch.setattr(way, "propose", raising(way.propose, at_call=1))
    limit = mf.kkt_point(PLANE, width=60, seed=4, optimum=optimum, starts=["flow"])
    assert limit.stopped_by == "interrupt"
    assert not limit.exact
    start = TwoLayer.initialise(60, 2, scale=0.01, seed=4)
    cosine = np.vdot(limit.network.W, start.W) / np.linalg.norm(limit.network.W) / np.linalg.norm(start.W)
    assert cosine == pytest.approx(1.0)


def test_a_time_limit_before_the_global_optimum_is_said():
    limit = mf.kkt_point(PLANE, width=60, optimum="global", time_limit=1e-9)
    assert limit.stopped_by == "time limit"
    assert not limit.exact


def test_an_optimum_that_has_no_bound_is_stopped_by_the_time_and_not_called_unseparable(monkeypatch):
    """The clock of the linear program may be ahead of the budget's, which is not over then."""
    original = plane.max_margin

    def cut_short(*args, **options):
        found = original(*args, **options)
        return replace(found, network=TwoLayer.initialise(4, 2, seed=0), dual_supremum=np.inf, lower=0.0)

    monkeypatch.setattr("marginflow.limit.starts.plane.plane.max_margin", cut_short)
    limit = mf.kkt_point(PLANE, width=60, optimum="global", time_limit=1000.0)
    assert limit.stopped_by == "time limit"
    assert limit.status.startswith("Stopped early at the time limit")


def test_the_clock_is_looked_at_in_the_linear_programs(monkeypatch):
    seen = []
    original = columns.linprog

    def watched(*args, **options):
        seen.append(options["options"]["time_limit"])
        return original(*args, **options)

    monkeypatch.setattr(columns, "linprog", watched)
    mf.kkt_point(PLANE, width=60, time_limit=1000.0, starts=["columns"])
    assert seen
    assert all(0.0 < left <= 1000.0 for left in seen)


def test_an_interrupt_of_the_polish_returns_the_best_point_so_far():
    def ctrl_c(_: Progress) -> None:
        raise KeyboardInterrupt

    limit = mf.kkt_point(DATA, width=40, seed=0, progress=ctrl_c)
    assert limit.stopped_by == "interrupt"


def test_after_the_time_limit_no_stage_begins_anew(monkeypatch):
    """The certificate judges what there is, columns are not generated, the flow is not repeated."""
    seen = []
    original = assemble.certify

    def watched(*args, **options):
        seen.append(options["as_given"])
        return original(*args, **options)

    monkeypatch.setattr(assemble, "certify", watched)
    limit = mf.kkt_point(PLANE, width=60, time_limit=1e-9)
    assert limit.stopped_by == "time limit"
    assert seen == [True]


def test_what_a_budget_says_of_itself():
    budget = Budget(time_limit=1000.0)
    assert not budget.over
    assert 0.0 < budget.left <= 1000.0
    assert Budget().left == np.inf
    late = Budget(time_limit=0.0)
    time.sleep(0.001)
    assert late.stopped_by == "time limit"
    with budget.interruptible():
        raise KeyboardInterrupt
    assert budget.stopped_by == "interrupt"


def test_moved_is_measured_from_the_network_that_the_caller_gave():
    own = mf.kkt_point(DATA, width=40, seed=1).network
    shaken = TwoLayer(W=own.W + 0.05 * np.random.default_rng(0).standard_normal(own.W.shape), b=own.b, v=own.v)
    before = shaken.norm_squared() / float(shaken.margins(DATA.X, DATA.y).min())
    for steps in (0, 50, None):
        moved = mf.kkt_point(DATA, start=shaken, flow_steps=steps).moved
        assert moved is not None
        assert moved.norm_squared_before == pytest.approx(before, rel=1e-12)


@pytest.mark.parametrize("factor", [1e-160, 1e150])
def test_a_network_of_any_size_is_polished_as_what_it_is(factor):
    start = mf.kkt_point(DATA, width=40, seed=1).network
    limit = mf.kkt_point(DATA, start=start.scaled(factor), flow_steps=0)
    assert limit.exact
    assert limit.moved is not None
    assert limit.moved.cosine > 0.98


class Ticking:
    """A clock that goes on by one second at every look."""

    def __init__(self) -> None:
        self.looks = 0

    def monotonic(self) -> float:
        self.looks += 1
        return float(self.looks)


def noisy_line(n: int) -> Dataset:
    rng = np.random.default_rng(n)
    return Dataset(X=rng.random((n, 1)), y=np.where(rng.random(n) < 0.3, -1.0, 1.0))


def test_on_the_line_few_looks_at_the_clock_are_left_after_the_time_limit(monkeypatch):
    data, clock = noisy_line(60), Ticking()
    monkeypatch.setattr(time, "monotonic", clock.monotonic)
    whole = line.max_margin(data, time_limit=1e6)
    needed = clock.looks
    assert needed > 10
    brackets, refusals = [], []
    for limit in [*range(0, needed, 3), 2 * needed]:
        clock.looks = 0
        try:
            brackets.append((limit, line.max_margin(data, time_limit=float(limit))))
        except InputError as too_few:
            refusals.append((limit, str(too_few)))
        assert clock.looks <= limit + 4
    assert {said for _, said in refusals} == {
        f"time_limit is {limit} seconds, too few for the first linear program." for limit, _ in refusals
    }
    assert max(limit for limit, _ in refusals) < min(limit for limit, _ in brackets)
    for _, found in brackets:
        assert found.lower <= whole.upper
        assert found.upper >= whole.lower
        assert found.clarke.shape == (60, found.network.width)
    assert {found.gap < 1e-9 for _, found in brackets} == {False, True}


def test_a_point_on_the_line_that_ran_out_of_time_is_the_best_so_far_and_says_so(monkeypatch):
    data, clock = noisy_line(60), Ticking()
    monkeypatch.setattr(time, "monotonic", clock.monotonic)
    statuses = set()
    for limit in range(1, 80, 4):
        clock.looks = 0
        found = mf.kkt_point(data, width=120, time_limit=float(limit))
        assert found.exact == (found.stopped_by is None)
        assert found.network.width == 120
        statuses.add(found.status.split(":")[0])
    assert statuses == {"Stopped early at the time limit", "Global max-margin network on the line"}


def test_a_program_that_ends_at_the_limit_of_its_own_clock_ends_the_budget(monkeypatch):
    original = master.linprog

    def out_of_time(*args, **options):
        found = original(*args, **options)
        found.status = 1
        return found

    monkeypatch.setattr(master, "linprog", out_of_time)
    found = mf.kkt_point(noisy_line(20), width=60, time_limit=1000.0)
    assert found.stopped_by == "time limit"


def test_a_step_that_would_end_after_the_limit_is_not_begun():
    Budget().check(1e9)
    budget = Budget(time_limit=100.0)
    budget.check(1.0)
    assert budget.affords(1.0)
    assert not budget.over
    with pytest.raises(OutOfTimeError):
        budget.check(1000.0)
    assert budget.stopped_by == "time limit"
    assert not budget.affords(0.0)


def test_what_is_reserved_is_at_most_half_of_what_is_left():
    budget = Budget(time_limit=1000.0)
    budget.reserve(100.0)
    assert 890.0 < budget.left <= 900.0
    budget.reserve(1e9)
    assert 440.0 < budget.left <= 450.0
    budget.spend()
    assert (budget.left, budget.stopped_by) == (0.0, "time limit")
    with pytest.raises(OutOfTimeError):
        budget.check()
    free = Budget()
    free.reserve(1.0)
    assert free.left == np.inf


@pytest.fixture
def parts(monkeypatch) -> list[None]:
    """The parts of the flow so far, each of which takes a second of the clock; nothing else takes any time."""
    made, original = [], task.AngleSteps.take

    def slow(*arguments, **named):
        made.append(None)
        return original(*arguments, **named)

    monkeypatch.setattr(time, "monotonic", lambda: float(len(made)))
    monkeypatch.setattr(task.AngleSteps, "take", slow)
    return made


@pytest.mark.parametrize("options", [{}, {"flow_steps": 400}])
def test_no_part_of_the_flow_is_begun_that_would_end_after_the_limit(parts, options):
    data = mf.data.Sphere(dimension=6).sample(6, seed=1)
    for limit, expected in ((0.5, 1), (2.5, 2), (3.5, 3)):
        parts.clear()
        found = mf.kkt_point(data, width=12, time_limit=limit, starts=["flow"], **options)
        assert len(parts) == expected
        assert found.stopped_by == "time limit"


@pytest.mark.parametrize("feasible", [False, True])
@pytest.mark.parametrize("outputs", ["trained", "frozen"])
def test_a_start_that_comes_when_time_is_over_is_returned_as_it_is(monkeypatch, outputs, feasible):
    """Its network, or neurons that were made to satisfy the margins, with what they came from."""
    original = point.named_starts

    class Late(Flow):
        def propose(self, task, budget):
            proposed = replace(super().propose(task, budget), feasible=feasible)
            budget.spend()
            return proposed

    monkeypatch.setattr(point, "named_starts", lambda names: [Late()] if names == ["flow"] else original(names))
    monkeypatch.setattr(point, "polish", lambda *_, **__: pytest.fail("polished after the end of its time"))
    found = mf.kkt_point(DATA, width=40, outputs=outputs, time_limit=1000.0, starts=["flow"])
    assert found.stopped_by == "time limit"
    assert found.network.width == 40
    assert found.certificate.margins.min() > 0.0
    assert not found.exact
    assert (found.moved is not None) == feasible


def test_a_flow_that_ends_with_the_time_is_returned_as_it_is(monkeypatch, parts):
    monkeypatch.setattr(flow, "first", lambda *_: pytest.fail("bundled after the end of its time"))
    found = mf.kkt_point(DATA, width=40, time_limit=2.5, starts=["flow"])
    assert parts
    assert found.stopped_by == "time limit"
    assert found.network.width == 40
