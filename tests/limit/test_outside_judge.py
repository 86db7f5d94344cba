"""The judge of benchmarks/limit_judge.py: it accepts what is known to be exact and sees every way to spoil it."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import marginflow as mf
from marginflow.limit import plane

_SPEC = importlib.util.spec_from_file_location(
    "limit_judge", Path(__file__).parents[2] / "benchmarks" / "limit_judge.py"
)
judge_of = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(judge_of)


def test_it_knows_nothing_of_the_library():
    assert "marginflow" not in {line.split()[1] for line in _code() if line.startswith(("import", "from"))}


def _code():
    return Path(_SPEC.origin).read_text().splitlines()


# XOR in closed form: a neuron of size 1/sqrt(2) along each sample, both of its factors of length 2^(-1/4).
X, Y = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]]), np.array([1.0, 1.0, -1.0, -1.0])
SIZE = 2.0**-0.25
POINT = {
    "W": X / np.sqrt(2) * SIZE,
    "b": None,
    "v": Y * SIZE,
    "multipliers": np.full(4, 1 / np.sqrt(2)),
    "clarke": np.eye(4),
}


def judged(point, **options):
    return judge_of.judge(
        *(point[name] for name in ("W", "b", "v")), X, Y, point["multipliers"], point["clarke"], **options
    )


def test_a_closed_form_is_exact():
    assert judged(POINT).worst < 1e-15
    assert judged(POINT, penalty=1.0).worst < 1e-15


@pytest.mark.parametrize(
    ("name", "factor", "number"),
    [
        ("W", [[1.01], [1], [1], [1]], "stationarity"),
        ("v", [1, 1, 1, 0.99], "missing"),
        ("W", [[1], [1], [1.1], [1]], "complementarity"),
        ("multipliers", [1, 1.01, 1, 1], "stationarity"),
        ("multipliers", [1, 1, 1, -1], "multipliers"),
        ("clarke", [[1.2, 1, 1, 1]] * 4, "weights"),
    ],
)
def test_whatever_is_spoiled_is_seen(name, factor, number):
    assert getattr(judged(POINT | {name: POINT[name] * np.array(factor)}), number) > 1e-3


def test_multipliers_above_the_penalty_and_weights_away_from_kinks_are_seen():
    assert judged(POINT, penalty=0.5).multipliers > 0.1
    assert judged(POINT).inside < 1e-15
    assert judged(POINT | {"clarke": np.eye(4)[[1, 0, 2, 3]]}).inside > 0.1
    assert judged(POINT | {"v": -POINT["v"]}).worst == np.inf


@pytest.mark.parametrize("options", [{}, {"penalty": 2.0}, {"outputs": "frozen"}, {"bias": False}])
def test_exact_points_are_exact_for_it_too(options):
    data = mf.data.Sphere(dimension=6).sample(20, seed=3)
    limit = mf.kkt_point(data, width=40, **options)
    network, c = limit.network, limit.certificate
    verdict = judge_of.judge(
        *(network.W, network.b, network.v, data.X, data.y, c.multipliers, c.clarke),
        penalty=options.get("penalty"),
        frozen="outputs" in options,
    )
    assert limit.exact
    assert verdict.worst < 1e-12
    assert verdict.inside < 1e-9
    spoiled = replace(network, W=network.W + 1e-4)
    assert (
        judge_of.judge(
            *(spoiled.W, spoiled.b, spoiled.v, data.X, data.y, c.multipliers, c.clarke),
            penalty=options.get("penalty"),
            frozen="outputs" in options,
        ).worst
        > 1e-5
    )


@pytest.mark.parametrize("bias", [True, False])
def test_supremum_by_all_vertices_is_that_of_the_sweep_and_of_no_direction_less(bias):
    rng = np.random.default_rng(5)
    data = mf.data.Dataset(X=rng.standard_normal((25, 2 if bias else 3)), y=np.where(np.arange(25) % 2, 1.0, -1.0))
    multipliers = rng.uniform(0.0, 1.0, 25)
    found = judge_of.supremum(data.X, data.y, multipliers, bias=bias)
    assert plane.dual_bound(data, multipliers, bias=bias)[1] == pytest.approx(found, rel=1e-12)
    rows = np.column_stack([data.X, np.ones(25)]) if bias else data.X
    directions = rng.standard_normal((20_000, 3))
    values = np.abs(np.maximum(directions @ rows.T, 0) @ (multipliers * data.y)) / np.linalg.norm(directions, axis=1)
    assert found * 0.98 < values.max() <= found * (1 + 1e-12)
