"""The bracket on the global optimum, against the line's exact solver, brute force and every KKT point we can find."""

import numpy as np
import pytest

import marginflow as mf
from marginflow.limit import global_bounds, line, plane


def test_on_the_line_the_bracket_contains_the_exact_optimum():
    data = mf.data.Interval(p=0.3).sample(10, seed=1)
    bracket, exact = global_bounds(data), line.max_margin(data)
    assert bracket.proved
    assert bracket.lower <= exact.upper * (1 + 1e-12)
    assert exact.lower <= bracket.upper * (1 + 1e-12)
    assert bracket.gap <= 1e-6


@pytest.mark.parametrize(
    "data",
    [mf.data.Sphere(dimension=2, labels="both").sample(8, seed=3), mf.data.moons(10, seed=4)],
    ids=["random labels", "moons"],
)
def test_in_the_plane_the_bracket_of_generated_columns_contains_the_optimum_of_the_sweep(data):
    bracket, exact = global_bounds(data), plane.max_margin(data)
    assert bracket.proved
    assert bracket.gap <= 1e-6
    assert bracket.lower <= exact.upper * (1 + 1e-12)
    assert exact.lower <= bracket.upper * (1 + 1e-12)


@pytest.mark.parametrize(("d", "m"), [(2, 8), (5, 10), (10, 10)])
def test_no_kkt_point_lies_below_the_bracket(d, m):
    data = mf.data.Sphere(dimension=d, labels="both").sample(m, seed=1)
    bracket = global_bounds(data)
    assert bracket.proved
    assert bracket.network is not None
    margins = bracket.network.margins(data.X, data.y)
    assert bracket.upper == pytest.approx(bracket.network.norm_squared() / 2 / margins.min(), rel=1e-9)
    for seed in range(3):
        limit = mf.kkt_point(data, width=60, seed=seed)
        assert limit.network.norm_squared() / 2 >= bracket.lower * (1 - 1e-12)


def test_the_lower_bound_is_the_dual_value_of_its_multipliers():
    data = mf.data.Sphere(dimension=3, labels="both").sample(8, seed=0)
    bracket = global_bounds(data)
    Xt = np.column_stack([data.X, np.ones(8)])
    u = np.random.default_rng(0).standard_normal((200_000, 4))
    u /= np.linalg.norm(u, axis=1)[:, None]
    sampled = float(np.abs(np.maximum(u @ Xt.T, 0.0) @ (bracket.multipliers * data.y)).max())
    # Every sampled direction bounds the supremum from below, hence the dual value from above.
    assert bracket.lower <= bracket.multipliers.sum() / sampled * (1 + 1e-9)
    assert bracket.lower >= 0.9 * bracket.multipliers.sum() / sampled


def test_contradictory_samples_are_refused():
    with pytest.raises(mf.InputError, match="identical"):
        global_bounds(mf.data.Dataset(X=[[1.0, 2.0], [1.0, 2.0]], y=[1, -1]))


@pytest.mark.parametrize(
    ("X", "y", "bias", "value"),
    [
        ([[1, 1], [-1, -1], [1, -1], [-1, 1]], [1, 1, -1, -1], False, 2 * np.sqrt(2)),
        ([[0], [0], [1], [2]], [1, 1, -1, 1], True, 4.5 * np.sqrt(2)),
    ],
)
def test_opposite_and_equal_rows_of_the_plane_are_seen_as_such(X, y, bias, value):
    bracket = global_bounds(mf.data.Dataset(X=np.array(X, dtype=float), y=y), bias=bias)
    assert bracket.proved
    assert bracket.upper == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_small_whole_numbers_of_rank_two_are_bracketed(seed):
    """Whole numbers make equal, opposite and parallel rows; products of vectors make planes in three dimensions."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(3, 8))
    X = [
        rng.integers(-2, 3, (m, 1)),
        rng.integers(-2, 3, (m, 2)),
        rng.integers(-2, 3, (m, 1)) * rng.integers(-2, 3, (1, 3)),
    ][seed % 3].astype(float)
    data = mf.data.Dataset(X=X, y=rng.choice([-1, 1], m))
    try:
        bracket = global_bounds(data, bias=seed % 3 != 1)
    except mf.InputError:
        return  # a contradiction: said in a sentence
    assert bracket.proved
