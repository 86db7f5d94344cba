"""The bracket on the global optimum, against the line's exact solver, brute force and every KKT point we can find."""

import numpy as np
import pytest

import marginflow as mf
from marginflow.limit import global_bounds, line


def test_on_the_line_the_bracket_contains_the_exact_optimum():
    data = mf.data.Interval(p=0.3).sample(10, seed=1)
    bracket, exact = global_bounds(data), line.max_margin(data)
    assert bracket.proved
    assert bracket.lower <= exact.upper * (1 + 1e-12)
    assert exact.lower <= bracket.upper * (1 + 1e-12)
    assert bracket.gap <= 1e-6


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
