"""The line: global optima with their proof, local minima, and the dual function, each against a second route."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.limit import line
from marginflow.limit.closed_forms import closed_form
from marginflow.limit.line.integers import exact_excess
from marginflow.networks import TwoLayer


def residuals(point: line.LineLimit) -> dict[str, float]:
    """Plain formulas; nothing is taken from the network but W, b, v."""
    x, y = point.data.X[:, 0], point.data.y
    w, b, v = point.network.W[:, 0], point.network.b, point.network.v
    lam, phi = point.multipliers, point.clarke
    pre = np.outer(x, w) + b
    g = (lam * y)[:, None] * phi
    theta2 = (w**2).sum() + (b**2).sum() + (v**2).sum()
    missing = ((w - v * (g.T @ x)) ** 2).sum() + ((b - v * g.sum(axis=0)) ** 2).sum()
    missing += ((v - (lam * y) @ np.maximum(pre, 0)) ** 2).sum()
    q = y * (np.maximum(pre, 0) @ v)
    settled = np.abs(pre) > 1e-10 * np.hypot(w, b) * np.hypot(x, 1)[:, None]
    return {
        "stationarity": float(np.sqrt(missing / theta2)),
        "infeasibility": float(max(0.0, 1 - q.min())),
        "complementarity": float(np.abs(lam * (q - 1)).max() / lam.max()),
        "negative multiplier": float(max(0.0, -lam.min())),
        "pattern": float(np.abs(phi - (pre > 0))[settled & (lam > 0)[:, None]].max(initial=0.0)),
        "weight outside [0, 1]": float(max(0.0, -phi.min(), phi.max() - 1)),
        "sum of multipliers": float(abs(lam.sum() - theta2 / 2) / lam.sum()),
        "balance": float(np.abs(v**2 - w**2 - b**2).max() / theta2),
    }


def assert_kkt(point: line.LineLimit, tolerance: float) -> None:
    assert {name: value for name, value in residuals(point).items() if value > tolerance} == {}


def rounding(point: line.LineLimit) -> float:
    """Slopes cancel: 1e-16 of the objective is what floating point can tell of a margin."""
    return 1e-13 + 1e-14 * point.objective * float(1 + np.abs(point.data.X).max())


def interval(m: int, p: float, seed: int) -> Dataset:
    rng = np.random.default_rng(seed)
    return Dataset(X=rng.random((m, 1)), y=np.where(rng.random(m) < p, -1.0, 1.0))


def sampled_supremum(data: Dataset, lam: np.ndarray, count: int = 200_001) -> float:
    angle = np.linspace(0, 2 * np.pi, count)
    best = 0.0
    for block in np.array_split(angle, 50):
        F = np.maximum(np.outer(np.cos(block), data.X[:, 0]) + np.sin(block)[:, None], 0) @ (lam * data.y)
        best = max(best, float(np.abs(F).max()))
    return best


def grid_optimum(data: Dataset) -> float:
    """A linear program over many fixed directions: its value is at least the optimum, and close to it."""
    x = data.X[:, 0]
    kink = np.array([np.arctan2(-s * t, s) for t in x for s in (1.0, -1.0)])
    angle = np.concatenate([kink, np.linspace(-np.pi, np.pi, 1500)])
    columns = np.maximum(np.outer(x, np.cos(angle)) + np.sin(angle), 0)
    columns[np.abs(columns) < 1e-12] = 0.0
    A = data.y[:, None] * np.hstack([columns, -columns])
    A = A[:, A.max(axis=0) > 0]
    size = A.max(axis=0)
    solution = linprog(1 / size, A_ub=-A / size, b_ub=-np.ones(x.size), method="highs-ds")
    assert solution.status == 0
    return float(solution.fun)


@pytest.mark.parametrize("p", [0.1, 0.2, 0.3])
@pytest.mark.parametrize(("m", "seed"), [(50, 0), (50, 1), (100, 2), (200, 3)])
def test_interval_samples_have_a_proved_global_optimum(m, p, seed):
    point = line.max_margin(interval(m, p, seed))
    assert point.gap <= 1e-9
    assert 0 <= point.dual_supremum - 1 <= 1e-9
    assert point.least_margin >= 1 - 1e-10
    assert_kkt(point, 1e-9)
    assert point.lower <= point.objective * (1 + 1e-9)
    assert point.lower <= point.upper


@settings(max_examples=25)
@given(
    m=st.integers(1, 12),
    seed=st.integers(0, 10**6),
    law=st.sampled_from(["uniform", "normal", "grid", "far", "wide"]),
)
def test_small_samples_of_any_law_are_solved_to_rounding(m, seed, law):
    rng = np.random.default_rng(seed)
    x = {
        "uniform": rng.random(m),
        "normal": rng.standard_normal(m),
        "grid": np.arange(m, dtype=float) - m // 3,
        "far": 7 + rng.random(m),
        "wide": 100 * rng.standard_normal(m),
    }[law]
    if m > 1 and np.diff(np.sort(x)).min() < 1e-4 * np.ptp(x):
        return
    point = line.max_margin(Dataset(X=x[:, None], y=rng.choice([-1.0, 1.0], m)))
    assert point.gap <= rounding(point)
    assert_kkt(point, rounding(point))


@pytest.mark.parametrize("seed", range(6))
def test_a_linear_program_over_a_grid_of_directions_agrees(seed):
    rng = np.random.default_rng(seed)
    data = Dataset(X=np.arange(9)[:, None] * 0.3 + 0.1 * rng.random((9, 1)), y=rng.choice([-1.0, 1.0], 9))
    point = line.max_margin(data)
    reference = grid_optimum(data)
    assert point.lower <= reference * (1 + 1e-7)
    assert reference <= point.upper * (1 + 1e-4)


def test_one_sample_needs_the_neuron_that_points_at_it():
    point = line.max_margin(Dataset(X=[[2.0]], y=[-1]))
    assert point.objective == pytest.approx(1 / np.sqrt(5), rel=1e-14)
    assert point.network.directions == pytest.approx(np.array([[2.0, 1.0]]) / 5, abs=1e-15)


def test_two_opposite_samples_by_hand():
    """Each neuron has its kink on the other sample: u = (1, 1)/2 and (-1, 1)/2."""
    point = line.max_margin(Dataset(X=[[1.0], [-1.0]], y=[1, -1]))
    assert point.objective == pytest.approx(np.sqrt(2), rel=1e-14)
    assert point.multipliers == pytest.approx([np.sqrt(0.5)] * 2, rel=1e-13)


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6))
def test_mirrored_and_relabelled_samples_have_the_same_optimum(seed):
    data = interval(10, 0.4, seed)
    if np.diff(np.sort(data.X[:, 0])).min() < 1e-3:
        return
    value = line.max_margin(data).objective
    assert line.max_margin(Dataset(X=-data.X, y=data.y)).objective == pytest.approx(value, rel=1e-9)
    assert line.max_margin(Dataset(X=data.X, y=-data.y)).objective == pytest.approx(value, rel=1e-9)


def test_coinciding_samples_share_their_multiplier():
    once = line.max_margin(Dataset(X=[[0.0], [1.0], [2.0]], y=[1, -1, 1]))
    twice = line.max_margin(Dataset(X=[[0.0], [1.0], [2.0], [1.0]], y=[1, -1, 1, -1]))
    assert twice.objective == pytest.approx(once.objective, rel=1e-12)
    assert twice.multipliers[1] == twice.multipliers[3] == pytest.approx(once.multipliers[1] / 2, rel=1e-12)
    assert_kkt(twice, 1e-12)


def test_splitting_to_a_width_keeps_every_condition():
    point = line.max_margin(interval(12, 0.4, 5))
    wide = point.widened(40)
    assert wide.network.width == 40
    assert_kkt(wide, rounding(point))
    again = line.max_margin(point.data, width=40)
    assert again.network.width == 40


@pytest.mark.parametrize("seed", range(4))
def test_the_sign_of_the_global_network_is_that_of_the_nearest_sample(seed):
    """Observed on every sample so far [KYS23, FN4]: an independent prediction of the whole function's sign."""
    data = interval(40, 0.25, seed)
    x, y = data.X[:, 0], data.y
    order = np.argsort(x)
    middles = (x[order][1:] + x[order][:-1]) / 2
    points = np.linspace(0, 1, 4001)
    points = points[np.abs(points[:, None] - middles).min(axis=1) > 1e-5]
    nearest = y[np.abs(points[:, None] - x).argmin(axis=1)]
    assert np.array_equal(np.sign(line.max_margin(data).network(points[:, None])), nearest)


@settings(max_examples=25)
@given(m=st.integers(1, 9), seed=st.integers(0, 10**6))
def test_the_dual_function_agrees_with_dense_sampling(m, seed):
    rng = np.random.default_rng(seed)
    data = Dataset(X=rng.standard_normal((m, 1)), y=rng.choice([-1.0, 1.0], m))
    lam = rng.exponential(size=m)
    F = line.dual_function(data, lam)
    x = data.X[:, 0]

    def value(w, b):
        return float((lam * data.y) @ np.maximum(w * x + b, 0))

    for kink, facing, expected in zip(F.kinks, F.facing, F.values, strict=True):
        size = np.hypot(kink, 1)
        assert value(facing / size, -facing * kink / size) == pytest.approx(expected, abs=1e-12)
    for sign, row in ((1, 0), (-1, 1)):
        for (w, b), expected in zip(F.positions[row], F.maxima[row], strict=True):
            assert np.hypot(w, b) == pytest.approx(1, abs=1e-14)
            assert sign * value(w, b) == pytest.approx(expected, abs=1e-12)
    dense = sampled_supremum(data, lam, 20_001)
    lipschitz = float(lam @ np.hypot(x, 1))
    assert dense - 1e-12 <= F.supremum <= dense + lipschitz * np.pi / 20_000


def test_the_supremum_keeps_its_digits_where_floats_cancel():
    """Two large opposite weights side by side: the true value is their difference, far below their rounding."""
    data = Dataset(X=[[0.0], [1.0], [1.0 + 2.0**-30]], y=[1, 1, -1])
    F = line.dual_function(data, [0.0, 2.0**60, 2.0**60])
    # Right-facing at x = 0: 2^60 (1 - (1 + 2^-30)) = -2^30 exactly.
    at_zero = F.values[(F.kinks == 0) & (F.facing > 0)]
    assert at_zero.tolist() == [-(2.0**30)]


def test_multipliers_of_any_size_give_a_valid_lower_bound():
    data = interval(8, 0.5, 3)
    best = line.max_margin(data)
    rng = np.random.default_rng(0)
    for _ in range(20):
        lam = best.multipliers * rng.uniform(0.2, 2.0, 8)
        assert lam.sum() / line.dual_function(data, lam).supremum <= best.upper


def test_the_five_points_are_found_again_from_themselves():
    known = closed_form.five_points()
    found = line.local_minimum(known.data, start=known.network)
    assert found.objective == pytest.approx(known.objective, rel=1e-13)
    assert found.multipliers == pytest.approx(known.multipliers, rel=1e-11, abs=1e-11)
    assert found.dual_supremum == pytest.approx(2.009, abs=5e-4)
    assert known.objective / line.max_margin(known.data).objective == pytest.approx(1.338, abs=5e-4)


@pytest.mark.parametrize("seed", range(25))
def test_every_neuron_of_a_local_minimum_is_at_a_peak_of_the_dual_function(seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(3, 10))
    data = Dataset(X=np.arange(m)[:, None] + 0.6 * rng.random((m, 1)), y=rng.choice([-1.0, 1.0], m))
    point = line.local_minimum(data, seed=seed, neurons=int(rng.integers(2, m + 2)))
    assert_kkt(point, rounding(point))
    x, g = data.X[:, 0], point.multipliers * data.y
    size = np.linalg.norm(point.network.augmented, axis=1)
    assert size.min() > 0
    for (w, b), s in zip(point.network.augmented, point.network.signs, strict=True):
        angle = np.arctan2(b, w)
        turns = angle + np.array([0.0, 1e-4, -1e-4, 1e-6, -1e-6])
        F = s * np.maximum(np.outer(np.cos(turns), x) + np.sin(turns)[:, None], 0) @ g
        assert F[0] == pytest.approx(1.0, abs=1e-10)
        assert F[1:].max() <= 1 + 1e-10
    best = line.max_margin(data)
    assert point.objective >= best.objective * (1 - 1e-10)
    assert point.lower <= best.upper
    assert point.gap >= point.objective / best.objective - 1 - 1e-9


def test_some_local_minima_are_not_global_and_say_so():
    gaps = []
    for seed in range(12):
        rng = np.random.default_rng(100 + seed)
        data = Dataset(X=np.arange(6)[:, None] + 0.5 * rng.random((6, 1)), y=np.array([1.0, -1, 1, -1, 1, 1]))
        point = line.local_minimum(data, seed=seed, neurons=4)
        best = line.max_margin(data)
        if point.objective > best.objective * (1 + 1e-6):
            gaps.append(point.gap)
            assert point.dual_supremum > 1 + 1e-6
    assert len(gaps) >= 3
    assert min(gaps) > 1e-6


def test_small_steps_away_from_a_local_minimum_do_not_help():
    known = closed_form.five_points()
    net, X, y = known.network, known.data.X, known.data.y
    start = net.margins(X, y).min() / net.norm_squared()
    rng = np.random.default_rng(0)
    for size in (1e-2, 1e-3, 1e-4):
        for _ in range(300):
            moved = TwoLayer(
                W=net.W + size * rng.standard_normal(net.W.shape),
                b=net.b + size * rng.standard_normal(4),
                v=net.v + size * rng.standard_normal(4),
            )
            assert moved.margins(X, y).min() / moved.norm_squared() <= start * (1 + 1e-12)


def test_the_same_seed_gives_the_same_bits():
    data = interval(9, 0.4, 8)
    first, second = (line.local_minimum(data, seed=4) for _ in range(2))
    assert np.array_equal(first.network.W, second.network.W)
    assert np.array_equal(first.multipliers, second.multipliers)


def test_bad_input_is_told_in_one_sentence():
    with pytest.raises(InputError, match="dimension 2; samples on a line"):
        line.max_margin(Dataset(X=[[1.0, 2.0]], y=[1]))
    with pytest.raises(InputError, match="identical but have opposite labels"):
        line.max_margin(Dataset(X=[[1.0], [1.0]], y=[1, -1]))
    with pytest.raises(InputError, match="width is 1, but this point has"):
        line.max_margin(Dataset(X=[[0.0], [1.0]], y=[1, -1]), width=1)
    with pytest.raises(InputError, match=r"multipliers has 3 entries; 1 are expected"):
        line.dual_function(Dataset(X=[[0.0]], y=[1]), [1.0, 2.0, 3.0])
    data = Dataset(X=[[0.0], [1.0]], y=[1, -1])
    with pytest.raises(InputError, match="dimension 1 with bias"):
        line.local_minimum(data, start=TwoLayer(W=[[1.0]], v=[1.0]))
    with pytest.raises(InputError, match="does not classify sample 1"):
        line.local_minimum(data, start=TwoLayer(W=[[0.0]], b=[1.0], v=[1.0]))
    with pytest.raises(InputError, match="seed is -1"):
        line.local_minimum(data, seed=-1)
    with pytest.raises(InputError, match="does not settle in floating point"):
        line.max_margin(Dataset(X=[[1.0], [1.0 + 1e-15], [1.0 + 2e-15]], y=[1, -1, 1]))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("rows", [False, True])
def test_margins_on_a_line_are_exact_whatever_the_neurons_are(seed, rows):
    rng = np.random.default_rng(seed)
    size = 2.0 ** rng.integers(-40, 40, size=9)
    x = rng.integers(-6, 7, size=12) * float(rng.choice([1.0, 0.1, 1e-300, 1e150]))  # several coincide
    w, b, v = rng.integers(-3, 4, size=(3, 9)) * size  # blind neurons, dead ones, kinks at samples
    y = rng.choice([-1.0, 1.0], size=12)
    exact = [
        Fraction(label) * sum(Fraction(a) * max(Fraction(0), Fraction(s) * Fraction(at) + Fraction(o)) for s, o, a in
        zip(w, b, v, strict=True)) - 1
        for at, label in zip(x, y, strict=True)
    ]  # fmt: skip
    if rows:
        network, points = TwoLayer(W=np.column_stack([w, b]), v=v), np.column_stack([x, np.ones(12)])
    else:
        network, points = TwoLayer(W=w[:, None], b=b, v=v), x[:, None]
    assert exact_excess(network, points, y).tolist() == [float(value) for value in exact]
