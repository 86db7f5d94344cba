"""Samples as a working set: the same conditions, on all samples, as if all had been there from the beginning."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import marginflow as mf
from marginflow.data import Dataset, Sphere
from marginflow.limit import problem
from marginflow.limit.budget import Budget
from marginflow.limit.solver.admm import Admm
from marginflow.limit.solver.newton import newton
from marginflow.limit.solver.polish import identify
from marginflow.limit.starts import bundles, working_set
from marginflow.limit.starts.working_set import WorkingSet
from marginflow.limit.task import Task
from marginflow.networks import TwoLayer


def mixture(n: int, seed: int, d: int = 6, noise: float = 0.25) -> Dataset:
    rng = np.random.default_rng(seed)
    means, labels = rng.standard_normal((5, d)), np.array([1, -1, 1, -1, 1])
    own = rng.integers(0, 5, n)
    return Dataset(X=2 * means[own] + noise * rng.standard_normal((n, d)), y=labels[own])


@pytest.fixture(autouse=True)
def small_sets(monkeypatch):
    monkeypatch.setattr(working_set.settings, "FIRST_SET", 40)
    monkeypatch.setattr(working_set.settings, "WORKING_SET_FROM", 200)


@pytest.mark.parametrize("options", [{}, {"penalty": 0.5}, {"outputs": "frozen"}, {"bias": False}, {"flow_steps": 80}])
@pytest.mark.parametrize("seed", range(2))
def test_the_point_is_a_kkt_point_of_all_samples(options, seed):
    data = mixture(260, seed)
    limit = mf.kkt_point(data, width=40, seed=seed, starts=["working set"], **options)
    assert limit.exact, limit.status
    assert "of 260 samples" in limit.status
    again = mf.certify(limit.network, data, penalty=options.get("penalty"))
    assert again.holds(1e-8)
    assert limit.moved is not None
    assert limit.moved.cosine > 0.5
    assert limit.network.width == 40


def test_far_fewer_samples_are_worked_on_than_there_are():
    limit = mf.kkt_point(mixture(1000, 3), width=40, starts=["working set"])
    assert limit.exact
    assert int(limit.status.split(" on ")[1].split()[0]) < 300


def test_where_every_sample_is_near_the_margin_the_set_does_not_become_all_of_them():
    limit = mf.kkt_point(mixture(600, 2, d=40, noise=0.02), width=40, starts=["working set"])
    assert limit.exact
    assert (limit.certificate.margins < 1.1).mean() > 0.9
    assert int(limit.status.split(" on ")[1].split()[0]) < 200


def test_random_labels_are_left_to_others():
    data = Sphere(dimension=6).sample(300, seed=0)
    task = Task(data, TwoLayer.initialise(100, 6, scale=0.01, seed=0))
    assert WorkingSet().propose(task, Budget()) is None


def test_few_samples_are_left_to_others():
    task = Task(mixture(150, 0), TwoLayer.initialise(20, 6, scale=0.01, seed=0))
    assert WorkingSet().propose(task, Budget()) is None


def test_when_time_is_over_the_point_of_the_present_set_is_what_there_is(monkeypatch):
    budget = Budget()
    original = working_set._Rounds._report

    def late(self, *arguments):
        budget.deadline = -1.0
        return original(self, *arguments)

    monkeypatch.setattr(working_set._Rounds, "_report", late)
    task = Task(mixture(1000, 3), TwoLayer.initialise(40, 6, scale=0.01, seed=0))
    point = WorkingSet().propose(task, budget)
    assert point is not None
    assert point.lam.shape == (1000,)


def test_when_time_is_over_after_the_flow_all_samples_are_not_evaluated_any_more(monkeypatch):
    """With many samples and neurons that takes longer than the flow on some of them."""
    task, budget, evaluated = Task(mixture(1000, 3), TwoLayer.initialise(40, 6, seed=0)), Budget(), []
    flow_on, margins = Task.flow_on, TwoLayer.margins

    def late(self, *arguments):
        flowed = flow_on(self, *arguments)
        budget.spend()
        return flowed

    def counted(self, X, y):
        evaluated.append(len(X))
        return margins(self, X, y)

    monkeypatch.setattr(Task, "flow_on", late)
    monkeypatch.setattr(TwoLayer, "margins", counted)
    assert WorkingSet().propose(task, budget) is None
    assert 1000 not in evaluated


def test_a_newton_step_that_comes_too_early_is_made_again_later(monkeypatch):
    tries = []

    def fails_at_first(problem, structure, **options):
        tries.append(structure)
        result = newton(problem, structure, **options)
        return replace(result, converged=False) if len(tries) == 1 else result

    monkeypatch.setattr(working_set, "newton", fails_at_first)
    data = mixture(1000, 3)
    limit = mf.kkt_point(data, width=40, starts=["working set"])
    assert len(tries) > 1
    assert limit.exact, limit.status
    assert mf.certify(limit.network, data).holds(1e-8)


def test_bundles_flow_as_their_members_do(monkeypatch):
    monkeypatch.setattr(bundles, "FLOW_TURNS", 4)
    monkeypatch.setattr(bundles, "FLOW_BUNDLES", 10)
    data = mixture(60, 1, d=12)
    few = TwoLayer.initialise(8, 12, scale=0.01, seed=3).balanced()
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.ones(6), size=8).ravel()
    many = TwoLayer.from_directions(
        shares[:, None] * np.repeat(few.directions, 6, axis=0), np.repeat(few.signs, 6), bias=True
    )
    task, rows = Task(data, many), np.arange(60)
    plain = task.flow_on(rows, 8, Budget()).network
    made = []
    whole = Task.flow_on

    def seen(self, *arguments):
        made.append(self.width)
        return whole(self, *arguments)

    monkeypatch.setattr(Task, "flow_on", seen)
    bundled = bundles.flow_in_bundles(task, rows, 8, Budget()).network
    assert made == [48, 8]
    apart = np.linalg.norm(bundled.directions - plain.directions)
    assert apart < 1e-5 * np.linalg.norm(plain.directions)
    frozen = Task(data, replace(many, outputs="frozen"))
    assert np.array_equal(bundles.flow_in_bundles(frozen, rows, 8, Budget()).network.v, many.v)


def test_with_many_samples_that_decide_newton_waits_for_admm_whatever_the_number_of_neurons(monkeypatch):
    residuals, weights = [], []

    class Watched(Admm):
        def run(self, iterations, **options):
            super().run(iterations, **options)
            if self.problem.n_samples > working_set.settings.LIGHT_SET * self.problem.X.shape[1]:
                weights.append(self.weight)

    def identified(admm):
        residuals.append(max(admm.primal_residual, admm.dual_residual))
        return identify(admm)

    monkeypatch.setattr(working_set, "Admm", Watched)
    monkeypatch.setattr(working_set, "identify", identified)
    monkeypatch.setattr(problem, "STEEP", 3.0)
    monkeypatch.setattr(working_set.settings, "LIGHT_SET", 2.0)
    data = mixture(900, 1, d=20, noise=1.2)
    limit = mf.kkt_point(Dataset(X=data.X + 1.0, y=data.y), width=40, starts=["working set"])
    assert limit.exact, limit.status
    assert set(weights) == {working_set.settings.SET_HEAVY}
    assert residuals[0] <= 0.01
