"""Points from generated columns: exact, never below a proved bound, and refused where the method does not belong."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest

import marginflow as mf
from marginflow.data import Sphere
from marginflow.limit import global_bounds
from marginflow.limit.bracket.dual_supremum import SignedDual
from marginflow.limit.budget import Budget
from marginflow.limit.problem import Problem
from marginflow.limit.starts.columns import column_point
from marginflow.networks import TwoLayer


@pytest.mark.parametrize("seed", range(4))
def test_a_generated_point_is_a_kkt_point_and_not_below_the_proved_bound(seed: int) -> None:
    data = Sphere(dimension=2).sample(10, seed=seed)
    problem = Problem.of(data.X, data.y, bias=True)
    point = column_point(problem, Budget(), seed=0)
    assert point is not None
    network = TwoLayer.from_directions(problem.ambient(point.U), point.s, bias=True)
    assert mf.certify(network, data).holds(1e-9)
    bracket = global_bounds(data)
    half_norm = float(np.linalg.norm(point.U, axis=1).sum())
    assert half_norm >= bracket.lower * (1 - 1e-9)
    assert half_norm <= 1.5 * bracket.upper  # near the optimum, as it comes from the program over all directions


def test_random_labels_on_a_circle_have_an_exact_point_that_says_where_it_comes_from() -> None:
    data = Sphere(dimension=2).sample(12, seed=1)
    limit = mf.kkt_point(data, width=60, seed=1, max_iterations=500, starts=["flow", "columns"])
    assert limit.exact
    assert limit.certificate.holds(1e-9)
    assert limit.network.width == 60
    assert "generating columns" in limit.status
    assert limit.moved is None


@pytest.mark.parametrize(
    ("dimension", "samples", "penalty"), [(30, 10, np.inf), (2, 101, np.inf), (2, 10, 1.0)], ids=["d", "m", "soft"]
)
def test_many_dimensions_many_samples_and_soft_margins_are_left_alone(
    dimension: int, samples: int, penalty: float
) -> None:
    data = Sphere(dimension=dimension).sample(samples, seed=0)
    assert column_point(Problem.of(data.X, data.y, bias=True, penalty=penalty), Budget(), seed=0) is None


def test_the_search_for_directions_looks_at_the_clock(monkeypatch) -> None:
    """A clock that moves by one whenever somebody looks at it: few ascents are begun once time is over."""
    data = Sphere(dimension=3).sample(20, seed=0)
    problem = Problem.of(data.X, data.y, bias=True)
    ascents = 0
    original = SignedDual.ascend

    def counted(self, u):
        nonlocal ascents
        ascents += 1
        return original(self, u)

    monkeypatch.setattr(SignedDual, "ascend", counted)
    now = itertools.count()
    monkeypatch.setattr(time, "monotonic", lambda: float(next(now)))
    for looks in (10, 25, 40):
        ascents = 0
        assert column_point(problem, Budget(time_limit=looks), seed=0) is None
        assert 0 < ascents <= looks


def test_no_column_is_generated_after_the_deadline() -> None:
    data = Sphere(dimension=2).sample(10, seed=0)
    problem = Problem.of(data.X, data.y, bias=True)
    assert column_point(problem, Budget(time_limit=0.0), seed=0) is None


def test_too_few_neurons_for_the_generated_point_are_not_called_exact() -> None:
    data = Sphere(dimension=2).sample(12, seed=1)
    limit = mf.kkt_point(data, width=4, seed=1, max_iterations=300)
    assert limit.network.width == 4
    assert not limit.exact
