"""KKT points on the line that are no local minima: by hand, by plain formulas, and by an independent judge."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

from marginflow.certificates import certify, minimality
from marginflow.data import Dataset, Interval
from marginflow.errors import InputError
from marginflow.generalisation import line_error
from marginflow.limit import line
from marginflow.limit.closed_forms import closed_form
from marginflow.limit.line.neurons import Position
from marginflow.limit.line.planar import NotSettledError, PlanarProgram
from marginflow.limit.line.result import line_samples
from marginflow.limit.line.saddle_solver import certainly_no_minimum
from marginflow.limit.line.walk import Walk

SAMPLES = [(12, 0.2, 1), (12, 0.4, 1), (50, 0.05, 0), (50, 0.2, 1)]


def uniform(m: int, p: float, seed: int) -> Dataset:
    return Interval(p=p, count="exact").sample(m, seed=seed)


def s(kink: float) -> float:
    return float(np.hypot(kink, 1.0))


def own_kinks(point: line.LineLimit) -> list[tuple[int, int]]:
    """(sample, neuron) with the neuron's kink on the sample, labels alike, and a multiplier there."""
    x, y, lam = point.data.X[:, 0], point.data.y, point.multipliers
    w, b, v = point.network.W[:, 0], point.network.b, point.network.v
    on = np.abs(np.outer(x, w) + b) <= 1e-12 * np.hypot(w, b)
    rows, columns = np.nonzero(on & (y[:, None] * v > 0) & (lam[:, None] > 1e-9 * lam.max()))
    return list(zip(rows.tolist(), columns.tolist(), strict=True))


def stationarity(point: line.LineLimit) -> float:
    """Plain formulas; nothing is taken from the network but W, b, v."""
    x, y, lam, phi = point.data.X[:, 0], point.data.y, point.multipliers, point.clarke
    w, b, v = point.network.W[:, 0], point.network.b, point.network.v
    g = (lam * y)[:, None] * phi
    missing = ((w - v * (g.T @ x)) ** 2).sum() + ((b - v * g.sum(axis=0)) ** 2).sum()
    missing += ((v - (lam * y) @ np.maximum(np.outer(x, w) + b, 0)) ** 2).sum()
    return float(np.sqrt(missing / ((w**2).sum() + (b**2).sum() + (v**2).sum())))


@pytest.mark.parametrize(("m", "p", "seed"), SAMPLES)
def test_the_kkt_conditions_hold_by_plain_formulas(m, p, seed):
    point = line.saddle_point(uniform(m, p, seed), seed=seed)
    x, y, lam, phi = point.data.X[:, 0], point.data.y, point.multipliers, point.clarke
    pre = np.outer(x, point.network.W[:, 0]) + point.network.b
    margins = y * (np.maximum(pre, 0) @ point.network.v)
    assert stationarity(point) <= 1e-10
    assert margins.min() >= 1 - 1e-10
    assert lam.min() >= 0
    assert np.abs(lam * (margins - 1)).max() <= 1e-10 * lam.max()
    assert phi.min() >= 0
    assert phi.max() <= 1
    settled = np.abs(pre) > 1e-11 * np.linalg.norm(point.network.augmented, axis=1)
    assert np.array_equal(phi[settled], (pre > 0)[settled])
    assert lam.sum() == pytest.approx(point.objective, rel=1e-11)


@pytest.mark.parametrize(("m", "p", "seed"), SAMPLES)
def test_an_independent_judge_finds_a_kkt_point_and_a_feasible_descent(m, p, seed):
    point = line.saddle_point(uniform(m, p, seed), seed=seed)
    X, y = point.data.X, point.data.y
    judged = minimality(point.network, point.data)  # with multipliers of its own
    assert judged.certificate.total <= 1e-9
    assert judged.verdict == "not a local minimum"
    assert judged.zero_neurons == 0
    below = judged.descent.network
    assert (y * below(X)).min() >= 1 - 1e-12
    assert below.norm_squared() < point.network.norm_squared() * (1 - 1e-9)
    assert len(judged.descent.path) >= 3
    assert all(decrease > 0 for _, decrease in judged.descent.path)


@pytest.mark.parametrize(("m", "p", "seed"), SAMPLES)
def test_one_neuron_stands_in_a_valley_of_the_dual_function(m, p, seed):
    point = line.saddle_point(uniform(m, p, seed), seed=seed)
    ((i, j),) = own_kinks(point)
    assert 1e-6 < point.clarke[i, j] < 1 - 1e-6
    w, b = point.network.augmented[j]
    turns = np.arctan2(b, w) + np.array([0.0, 1e-7, -1e-7])
    F = np.maximum(np.outer(np.cos(turns), point.data.X[:, 0]) + np.sin(turns)[:, None], 0)
    heights = point.network.signs[j] * F @ (point.multipliers * point.data.y)
    assert heights[0] == pytest.approx(1.0, abs=1e-10)
    assert heights[1] > 1 + 1e-10
    assert heights[2] > 1 + 1e-10


@pytest.mark.parametrize(("m", "p", "seed"), SAMPLES)
def test_turning_that_neuron_either_way_makes_room_for_a_smaller_norm(m, p, seed):
    """A linear program over sizes: the other neurons may turn a little, too, which does not help where this one is."""
    point = line.saddle_point(uniform(m, p, seed), seed=seed)
    ((_, j),) = own_kinks(point)
    x, y, signs = point.data.X[:, 0], point.data.y, point.network.signs
    angles = np.arctan2(point.network.b, point.network.W[:, 0])
    others = np.arange(angles.size) != j
    little = np.array([0.0, *(d * size for d in (1, -1) for size in (1e-3, 1e-4, 1e-5, 1e-6))])

    def least_sum(turn: float) -> float:
        angle = np.append((angles[others, None] + little).ravel(), angles[j] + turn)
        sign = np.append(np.repeat(signs[others], little.size), signs[j])
        values = np.outer(x, np.cos(angle)) + np.sin(angle)
        columns = y[:, None] * sign * np.where(values > 1e-13, values, 0.0)
        unit = 1.0 / np.abs(columns).max(axis=0)
        found = linprog(unit, A_ub=-columns * unit, b_ub=-np.ones(x.size), method="highs-ds")
        assert found.status == 0
        return float(found.fun)

    value, left, right = (least_sum(turn) for turn in (0.0, 1e-5, -1e-5))
    assert value == pytest.approx(point.objective, rel=1e-8)
    assert max(left, right) < value * (1 - 1e-8)


def test_a_saddle_of_the_five_points_by_hand():
    """A positive neuron faces left from the last sample, where N is its own: 0.6 a = 1 at x = 0.3, and so on down."""
    data = closed_form.five_points().data
    a = 1 / 0.6
    f, g = 10 * (1 + 0.7 * a), 10 * (1 + 0.5 * a)
    c, e = 10 * (1 + 0.2 * f - 0.8 * a), 2 * (1 + 0.6 * g)
    by_hand = a * s(0.9) + c * s(0.2) + e * s(0.4) + (f + g) * s(0.3)
    assert by_hand == pytest.approx(110.644, abs=5e-4)
    points = list(line.saddle_points(data, starts=1))
    nearest = min(points, key=lambda point: abs(point.objective - by_hand))
    assert nearest.objective == pytest.approx(by_hand, rel=1e-13)
    assert own_kinks(nearest) == [(4, int(np.argmin(np.abs(nearest.network.augmented @ [0.9, 1.0]))))]
    assert nearest.multipliers.sum() == pytest.approx(by_hand, rel=1e-12)


def test_all_points_of_a_sample_are_different_and_above_the_optimum():
    data = closed_form.five_points().data
    points = list(line.saddle_points(data, seed=3, starts=3))
    assert len(points) >= 4
    best = line.max_margin(data)
    for point, other in itertools.combinations(points, 2):
        assert np.abs(point.multipliers - other.multipliers).max() > 1e-3
    for point in points:
        assert point.objective > best.objective * (1 + 1e-6)
        assert point.lower <= best.upper
        assert point.dual_supremum > 1 + 1e-6
        assert minimality(point.network, data).verdict == "not a local minimum"


@pytest.mark.parametrize("seed", range(3))
def test_local_minima_have_no_neuron_on_a_sample_of_their_own_label_and_are_told_apart(seed):
    data = uniform(12, 0.4, seed)
    for point in (line.max_margin(data), line.local_minimum(data, seed=seed)):
        assert own_kinks(point) == []
        judged = minimality(point.network, data)
        assert judged.verdict == "local minimum"
        assert judged.descent is None
        assert not certainly_no_minimum(point)


def test_a_neuron_pinned_where_it_would_slide_off_is_refused():
    """Every border of the five points is tried: where the walk settles is a KKT point, elsewhere it says no."""
    rows, y, _ = line_samples(closed_form.five_points().data)
    walk = Walk(PlanarProgram(rows, y))
    everything = walk.program.everywhere
    settled = refused = 0
    for pin in [Position(sign, True, int(run[0]), pinned=True) for sign in (1, -1) for run in walk.runs[sign]]:
        try:
            solution = walk.down(everything & ~walk.beside(pin), (pin,))
        except NotSettledError:
            refused += 1
            continue
        settled += 1
        u = np.linalg.norm(solution.U, axis=1)
        sums = solution.signs[:, None] * (((solution.multipliers * y)[:, None] * solution.clarke).T @ rows)
        assert np.abs(solution.U / u[:, None] - sums).max() <= 1e-10
    assert settled >= 2
    assert refused >= 2


def test_a_saddle_point_may_leave_the_bounds_that_hold_for_local_minima():
    """Half of the gaps behind the middle of +, -, + bound L from below at the minima [KYS23, Thm 3.2], not here."""
    data = uniform(11, 0.3, 10077)
    x, y = data.X[:, 0], data.y
    spike = (y[:-2] > 0) & (y[1:-1] < 0) & (y[2:] > 0)
    below = 0.5 * float(np.diff(x)[1:][spike].sum())
    errors = []
    for point in line.saddle_points(data, seed=77, starts=2):
        certificate = certify(point.network, data)
        assert certificate.total <= 1e-11
        errors.append(line_error(point.network).value)
    assert line_error(line.max_margin(data).network).value > below
    assert min(errors) < 0.5 * below


def test_one_sample_has_no_saddle_point():
    """A neuron with its kink on the only sample gives it no margin."""
    assert line.saddle_point(Dataset(X=[[2.0]], y=[-1])) is None


def test_coinciding_samples_share_the_multiplier_of_the_kink():
    once = closed_form.five_points().data
    twice = Dataset(X=[*once.X.tolist(), [0.9]], y=[*once.y.tolist(), 1.0])
    single, two = (min(line.saddle_points(data, starts=1), key=lambda point: point.objective) for data in (once, twice))
    assert two.objective == pytest.approx(single.objective, rel=1e-12)
    assert two.multipliers[4] == two.multipliers[5] == pytest.approx(single.multipliers[4] / 2, rel=1e-10)
    assert stationarity(two) <= 1e-12


def test_the_same_seed_gives_the_same_bits():
    data = uniform(12, 0.4, 1)
    first, second = (line.saddle_point(data, seed=4) for _ in range(2))
    assert np.array_equal(first.network.W, second.network.W)
    assert np.array_equal(first.multipliers, second.multipliers)


def test_bad_input_is_told_before_anything_is_searched():
    data = Dataset(X=[[0.0], [1.0]], y=[1, -1])
    with pytest.raises(InputError, match="dimension 2; samples on a line"):
        line.saddle_points(Dataset(X=[[1.0, 2.0]], y=[1]))
    with pytest.raises(InputError, match="seed is -1"):
        line.saddle_points(data, seed=-1)
    with pytest.raises(InputError, match="starts is 0"):
        line.saddle_points(data, starts=0)
    with pytest.raises(InputError, match="does not settle in floating point"):
        line.saddle_point(Dataset(X=[[1.0], [1.0 + 1e-15], [1.0 + 2e-15]], y=[1, -1, 1]))
