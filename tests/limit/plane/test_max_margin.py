"""The global optimum in the plane against closed forms, the line, all patterns by a conic solver, and its own proof."""

from __future__ import annotations

import itertools
import re
import time
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from spherical_suprema import spherical_suprema

import marginflow as mf
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.limit import line, plane
from marginflow.limit.budget import OutOfTimeError
from marginflow.limit.plane import finish
from marginflow.limit.plane.arrangement import survey
from marginflow.limit.plane.program import Program
from marginflow.limit.plane.samples import PlanarSamples
from marginflow.limit.plane.solver import _first_columns


def moons(n, noise, seed):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < n // 2, 1.0, -1.0)
    t = np.pi * rng.random(n)
    X = np.column_stack([np.where(y > 0, np.cos(t), 1 - np.cos(t)), np.where(y > 0, np.sin(t), 0.5 - np.sin(t))])
    return Dataset(X=X + noise * rng.standard_normal((n, 2)), y=y)


def random_labels(n, dimension, seed):
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], n)
    y[:2] = 1.0, -1.0
    return Dataset(X=rng.standard_normal((n, dimension)), y=y)


def certificate(limit):
    mu = limit.multipliers[:, None] * limit.clarke
    return mf.certify(limit.network, limit.data, penalty=limit.penalty, multipliers=(limit.multipliers, mu))


def test_xor_has_four_neurons_of_norm_one_half_root_two():
    data = Dataset(X=[[1, 1], [-1, -1], [1, -1], [-1, 1]], y=[1, 1, -1, -1])
    best = plane.max_margin(data)
    assert best.objective == pytest.approx(2 * np.sqrt(2), rel=1e-12)  # a neuron of size 1/sqrt(2) along each sample
    assert best.gap < 1e-11


@pytest.mark.parametrize("seed", range(6))
def test_samples_on_a_line_of_the_plane_have_the_optimum_of_the_line(seed):
    rng = np.random.default_rng(seed)
    x = np.sort(rng.random(9))[:, None]
    y = rng.choice([-1.0, 1.0], 9)
    y[:2] = 1.0, -1.0
    expected = line.max_margin(Dataset(X=x, y=y)).objective
    turned = Dataset(X=x * [[np.cos(1.0), np.sin(1.0)]], y=y)
    assert plane.max_margin(turned).objective == pytest.approx(expected, rel=1e-9)
    assert plane.max_margin(Dataset(X=x, y=y)).objective == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("penalty", [None, 0.3, 3.0, 100.0])
@pytest.mark.parametrize("seed", range(3))
def test_point_is_an_exact_kkt_point_and_its_bracket_is_closed(seed, penalty):
    data = moons(60, 0.25, seed)
    best = plane.max_margin(data, penalty=penalty)
    assert certificate(best).holds(1e-10)
    assert 0 <= best.gap < 1e-9
    assert best.lower <= best.objective * (1 + 1e-12)
    # The proof by another route, which shares no code with the sweep.
    assert max(spherical_suprema(_rows(data), best.multipliers * data.y)) < 1 + 1e-9


def _rows(data):
    return np.column_stack([data.X, np.ones(data.n_samples)])


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_optimum_is_that_of_all_patterns_by_a_conic_solver(seed, bias):
    data = random_labels(6, 2 if bias else 3, seed)
    penalty = None if seed % 2 else 0.7
    best = plane.max_margin(data, bias=bias, penalty=penalty)
    assert best.objective == pytest.approx(_all_patterns(data, bias, penalty), rel=1e-6)


def _all_patterns(data, bias, penalty):
    """min sum ||u|| over one neuron for every activation pattern and sign, each in the cone of its pattern."""
    clarabel = pytest.importorskip("clarabel", reason="the outside conic solver comes with the extra 'test'")
    rows = _rows(data) if bias else data.X
    points = np.random.default_rng(0).standard_normal((20_000, 3))
    patterns = np.unique(points @ rows.T > 0, axis=0)
    pieces = [(pattern, sign) for pattern in patterns for sign in (1.0, -1.0)]
    n, p = len(rows), len(pieces)
    size = 4 * p + n  # (t, u) of every piece, then slack
    cost = np.concatenate([np.tile([1.0, 0, 0, 0], p), np.full(n, 0.0 if penalty is None else penalty)])
    G, h = [], []
    margins = np.zeros((n, size))
    for index, (pattern, sign) in enumerate(pieces):
        at = slice(4 * index + 1, 4 * index + 4)
        margins[:, at] = -(data.y * sign * pattern)[:, None] * rows
        cone = np.zeros((n, size))
        cone[:, at] = np.where(pattern, -1.0, 1.0)[:, None] * rows
        G.append(cone)
        h.append(np.zeros(n))
    margins[:, 4 * p :] = -np.eye(n)
    slack = np.zeros((n, size))
    slack[:, 4 * p :] = -np.eye(n)
    G += [margins, slack]
    h += [-np.ones(n), np.zeros(n)]
    if penalty is None:
        G.append(-slack)
        h.append(np.zeros(n))
    linear = sum(len(part) for part in h)
    G.append(-np.eye(4 * p, size))
    h.append(np.zeros(4 * p))
    options = clarabel.DefaultSettings()
    options.verbose = False
    cones = [clarabel.NonnegativeConeT(linear), *[clarabel.SecondOrderConeT(4)] * p]
    quadratic = scipy.sparse.csc_matrix((size, size))
    solved = clarabel.DefaultSolver(
        quadratic, cost, scipy.sparse.csc_matrix(np.vstack(G)), np.concatenate(h), cones, options
    ).solve()
    return float(cost @ np.array(solved.x))


@given(st.integers(0, 10**6))
@settings(max_examples=8)
def test_optimum_is_invariant_under_rotations_permutations_and_exchanged_labels(seed):
    data = random_labels(12, 2, seed)
    rng = np.random.default_rng(seed)
    turn, order = np.linalg.qr(rng.standard_normal((2, 2)))[0], rng.permutation(12)
    other = Dataset(X=(data.X @ turn)[order], y=-data.y[order])
    first, second = plane.max_margin(data), plane.max_margin(other)
    assert second.objective == pytest.approx(first.objective, rel=1e-8)


def test_optimum_scales_with_the_samples_without_bias():
    data = random_labels(10, 2, 3)
    small = Dataset(X=1e-3 * data.X, y=data.y)
    expected = plane.max_margin(data, bias=False).objective
    assert plane.max_margin(small, bias=False).objective == pytest.approx(1e3 * expected, rel=1e-8)


@pytest.mark.parametrize("penalty", [None, 1.0])
def test_samples_on_a_grid_are_no_harder(penalty):
    X = np.array([(i, j) for i in range(5) for j in range(5)], dtype=float)
    best = plane.max_margin(Dataset(X=X, y=(-1.0) ** X.sum(axis=1)), penalty=penalty)
    assert best.gap < 1e-9
    assert certificate(best).holds(1e-9)


def test_a_large_penalty_is_a_hard_margin_and_a_small_one_costs_less():
    data = moons(40, 0.2, 1)
    hard = plane.max_margin(data)
    large = plane.max_margin(data, penalty=2 * hard.multipliers.max())
    small = plane.max_margin(data, penalty=0.2 * hard.multipliers.max())
    assert large.objective == pytest.approx(hard.objective, rel=1e-9)
    assert small.objective < hard.objective
    assert (small.multipliers <= small.penalty).all()


def test_contradicting_samples_need_a_penalty_and_then_have_an_optimum():
    data = Dataset(X=[[0.0, 0], [0, 0], [1, 0], [0, 1]], y=[1, -1, 1, -1])
    with pytest.raises(mf.InputError, match="opposite labels"):
        plane.max_margin(data)
    best = plane.max_margin(data, penalty=2.0)
    assert best.gap < 1e-9
    assert certificate(best).holds(1e-9)


@pytest.mark.parametrize("bias", [True, False])
def test_the_sentence_about_the_zero_network_names_the_least_penalty_of_another(bias):
    data = mf.data.moons(40, seed=1)
    with pytest.raises(mf.InputError, match="best network is the zero function") as refused:
        plane.max_margin(data, penalty=1e-5, bias=bias)
    least = float(re.search(r"better from (\S+) on", str(refused.value)).group(1))
    assert plane.max_margin(data, penalty=1.001 * least, bias=bias).network.width >= 1
    with pytest.raises(mf.InputError, match="best network is the zero function"):
        plane.max_margin(data, penalty=0.999 * least, bias=bias)


def test_multipliers_that_are_too_large_prove_proportionally_less():
    best = plane.max_margin(moons(30, 0.1, 0))
    lower, supremum = plane.dual_bound(best.data, 1.25 * best.multipliers)
    assert supremum == pytest.approx(1.25, rel=1e-9)
    assert lower == pytest.approx(best.lower, rel=1e-9)
    other = best.multipliers[::-1].copy()
    assert plane.dual_bound(best.data, other)[0] < best.lower


def test_a_wider_network_is_the_same_point():
    best = plane.max_margin(moons(30, 0.1, 0), width=50)
    assert best.network.width == 50
    assert certificate(best).holds(1e-10)


@pytest.mark.parametrize("penalty", [None, 1.0])
def test_kkt_point_hands_out_the_global_optimum(penalty):
    data = moons(50, 0.2, 2)
    limit = mf.kkt_point(data, optimum="global", penalty=penalty, width=80)
    assert limit.exact
    assert limit.network.width == 80
    assert "no network of any width" in limit.status
    near = mf.kkt_point(data, penalty=penalty, width=80)
    if near.exact and penalty is None:
        assert limit.network.norm_squared() <= near.network.norm_squared() * (1 + 1e-9)


def test_a_proof_that_falls_short_of_the_tolerance_is_called_so_and_the_tolerance_it_names_accepts_it():
    data = mf.data.Sphere(dimension=2).sample(200, seed=0)
    limit = mf.kkt_point(data, optimum="global", bias=False, width=200, tolerance=1e-10)
    assert not limit.exact
    assert limit.certificate.holds(1e-10)
    found = re.fullmatch(
        r"Not proved to be the optimum to within 1e-10: no network of any width is better by more than (\S+), and the "
        r"point is a KKT point \(relative stationarity \S+\)\. tolerance=(\S+) accepts that\.",
        limit.status,
    )
    assert float(found[1]) == pytest.approx(limit.gap, rel=0.1)
    assert mf.kkt_point(data, optimum="global", bias=False, width=200, tolerance=float(found[2])).exact


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (mf.data.Sphere(dimension=2).sample(200, seed=0), {"bias": False, "optimum": "global"}),
        (random_labels(220, 1, 0), {}),
    ],
)
def test_a_width_that_was_left_open_grows_to_that_of_the_global_optimum(data, options):
    limit = mf.kkt_point(data, **options)
    assert limit.exact
    assert limit.network.width > 100
    assert limit.network.width == limit.compact.width
    with pytest.raises(mf.InputError, match=f"width is 100, but .* {limit.network.width} neurons"):
        mf.kkt_point(data, width=100, **options)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"data": random_labels(8, 4, 0)}, "span 5 dimensions"),
        ({"data": random_labels(8, 2, 0), "width": 2}, "different neurons"),
        ({"data": random_labels(8, 2, 0), "penalty": -1.0}, "penalty"),
        ({"data": random_labels(8, 2, 0), "penalty": 1e-9}, "zero function"),
    ],
)
def test_bad_input_is_named(options, sentence):
    data = options.pop("data")
    with pytest.raises(mf.InputError, match=sentence):
        plane.max_margin(data, **options)


def test_global_takes_no_start():
    data = moons(20, 0.1, 0)
    with pytest.raises(mf.InputError, match="trained outputs and no start"):
        mf.kkt_point(data, optimum="global", outputs="frozen")


def test_a_program_ends_at_its_deadline_and_goes_on_later() -> None:
    samples = PlanarSamples.of(moons(30, 0.1, 0), bias=True)
    program = Program(samples.rows, samples.y, np.full(30, 100.0))
    program.add(*_first_columns(samples.rows, samples.y))
    with pytest.raises(OutOfTimeError):
        program.solve(deadline=0.0)
    assert program.sizes.size == 0
    program.solve(deadline=time.monotonic() + 1000.0)
    assert program.sizes.any()


def test_a_sweep_ends_at_its_deadline() -> None:
    data = moons(30, 0.1, 0)
    samples = PlanarSamples.of(data, bias=True)
    with pytest.raises(OutOfTimeError):
        survey(samples.rows, np.ones(len(samples.rows)), level=0.0, deadline=0.0)
    assert plane.dual_bound(data, np.ones(30), time_limit=0.0) == (0.0, np.inf)


def test_a_time_limit_too_short_for_anything_is_said() -> None:
    with pytest.raises(InputError, match="time_limit is 0 seconds, too few for the first linear program"):
        plane.max_margin(moons(30, 0.1, 0), time_limit=0.0)


@pytest.mark.parametrize("penalty", [None, 3.0])
def test_a_program_that_ends_by_its_own_clock_is_a_matter_of_time_not_of_the_penalty(monkeypatch, penalty) -> None:
    def out_of_time(self: Program, deadline: float) -> None:
        raise OutOfTimeError

    monkeypatch.setattr(Program, "solve", out_of_time)
    data = moons(30, 0.1, 0)
    with pytest.raises(InputError, match="time_limit is 1000 seconds, too few for the first linear program"):
        plane.max_margin(data, penalty=penalty, time_limit=1000.0)
    limit = mf.kkt_point(data, width=60, penalty=penalty, optimum="global", time_limit=1000.0)
    assert limit.stopped_by == "time limit"


@pytest.mark.parametrize("looks", [5, 10, 20, 40])
def test_at_the_time_limit_there_is_a_bracket(monkeypatch: pytest.MonkeyPatch, looks: int) -> None:
    data = moons(60, 0.3, 0)
    best = plane.max_margin(data)
    ticks = itertools.count(0.0)
    monkeypatch.setattr(time, "monotonic", lambda: next(ticks))
    found = plane.max_margin(data, time_limit=float(looks))
    assert found.lower <= best.upper
    assert found.upper >= best.lower
    assert next(ticks) <= looks + 8


@pytest.mark.parametrize("penalty", [None, 3.0])
def test_either_of_newtons_methods_ends_at_the_optimum(monkeypatch: pytest.MonkeyPatch, penalty) -> None:
    """Steps scaled neuron by neuron take over where the others do not settle; here these are not asked."""
    data = mf.data.moons(60, noise=0.2, seed=3)
    known = plane.max_margin(data, penalty=penalty)
    monkeypatch.setattr(finish, "_newton", lambda *_: None)
    scaled = plane.max_margin(data, penalty=penalty)
    assert scaled.clarke is not None
    assert scaled.gap <= 1e-9
    assert scaled.objective == pytest.approx(known.objective, rel=1e-9)


@pytest.mark.parametrize("penalty", [None, 3.0])
def test_a_point_whose_bracket_is_not_closed_is_an_exact_kkt_point_but_not_called_global(
    monkeypatch: pytest.MonkeyPatch, penalty
) -> None:
    solved = plane.max_margin

    def loosely(*arguments, **options):
        best = solved(*arguments, **options)
        return replace(best, lower=best.lower * (1 - 1e-6))

    monkeypatch.setattr(plane, "max_margin", loosely)
    data = mf.data.moons(40, noise=0.2, seed=3)
    point = mf.kkt_point(data, width=60, penalty=penalty, starts=["plane"])
    assert point.exact
    assert point.status.startswith("Exact KKT point")
    assert "better by more than 1.0e-06" in point.status
    assert not mf.kkt_point(data, width=60, penalty=penalty, optimum="global").exact


@pytest.mark.parametrize("seed", [1, 2])
def test_program_settles_where_multipliers_are_so_large_that_rounding_exceeds_its_least_tolerance(seed):
    """Neighbours of opposite labels 2e-6 apart on a circle: sums of 2e6, of which double precision leaves 4e-10."""
    rng = np.random.default_rng(seed)
    angle, y = rng.uniform(0.0, 2.0 * np.pi, 80), rng.choice([-1.0, 1.0], 80)
    angle[1], y[1] = angle[0] + 2e-6, -y[0]
    best = plane.max_margin(Dataset(X=np.column_stack([np.cos(angle), np.sin(angle)]), y=y))
    assert 1e6 < best.upper < 1e7
    assert 0.0 < best.gap < 1e-7
