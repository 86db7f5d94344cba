"""The clean error on a line: against a second exact route, closed forms, sampling, and symmetries."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginflow import InputError
from marginflow.data import Interval
from marginflow.generalisation import exact_error_intervals, line_error, nearest_neighbour_line_error, sampled_error
from marginflow.limit import five_points
from marginflow.networks import TwoLayer

EPS = float(np.finfo(np.float64).eps)

NUMBERS = st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.25, 0.3, 1.0, 1.5])


def exact_value(network: TwoLayer, x: Fraction) -> Fraction:
    b = np.zeros(network.width) if network.b is None else network.b
    rows = zip(network.v.tolist(), network.W[:, 0].tolist(), b.tolist(), strict=True)
    return sum((Fraction(v) * max(Fraction(w) * x + Fraction(c), Fraction(0)) for v, w, c in rows), Fraction(0))


def judged(network: TwoLayer, ties: str, low: Fraction, high: Fraction) -> Fraction:
    """Second route: cut at kinks and at zeros of chords, then ask the midpoint of every part."""
    b = np.zeros(network.width) if network.b is None else network.b
    rows = zip(network.W[:, 0].tolist(), b.tolist(), strict=True)
    cuts = {low, high} | {-Fraction(c) / Fraction(w) for w, c in rows if w}
    ends = sorted(cut for cut in cuts if low <= cut <= high)
    more = set(ends)
    for left, right in itertools.pairwise(ends):
        a, c = exact_value(network, left), exact_value(network, right)
        if a * c < 0:
            more.add(left + (right - left) * a / (a - c))
    total = Fraction(0)
    parts = sorted(more)
    for left, right in itertools.pairwise(parts):
        middle = exact_value(network, (left + right) / 2)
        if middle < 0 or (middle == 0 and ties == "error"):
            total += right - left
    return total


@settings(max_examples=150)
@given(st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), min_size=1, max_size=7), st.sampled_from(["error", "correct"]))
def test_intervals_agree_with_a_second_exact_route(rows: list[tuple[float, float, float]], ties: str) -> None:
    w, b, v = np.array(rows).T
    network = TwoLayer(W=w[:, None], b=b, v=v)
    found = exact_error_intervals(network, ties=ties)
    wanted = judged(network, ties, Fraction(0), Fraction(1))
    assert sum((right - left for left, right in found), Fraction(0)) == wanted
    assert line_error(network, ties=ties).value == pytest.approx(float(wanted), abs=50 * EPS)
    assert all(a[1] < b[0] for a, b in itertools.pairwise(found)), "maximal intervals do not touch"


@pytest.mark.parametrize("seed", range(5))
def test_random_wide_networks_agree_with_sampling_and_the_second_route(seed: int) -> None:
    rng = np.random.default_rng(seed)
    kinks = rng.uniform(-0.2, 1.2, 60)
    w = rng.choice([-1.0, 1.0], 60) * rng.exponential(size=60)
    network = TwoLayer(W=w[:, None], b=-w * kinks, v=rng.standard_normal(60))
    error = line_error(network)
    assert error.value == pytest.approx(float(judged(network, "error", Fraction(0), Fraction(1))), abs=50 * EPS)
    counted = sampled_error(network, Interval(p=0.2), 20_000, seed=seed, confidence=0.9999)
    assert counted.lower <= error.value <= counted.upper


def test_ties_matter_only_on_flat_pieces() -> None:
    flat = TwoLayer(W=[[1.0], [1.0], [1.0]], b=[-0.25, -0.5, -0.75], v=[-1.0, 1.0, 1.0])
    # zero on [0, 1/4], negative up to the zero beyond 3/4
    assert line_error(flat, ties="error").value - line_error(flat, ties="correct").value == 0.25
    generic = TwoLayer(W=[[1.0]], b=[-0.3], v=[1.0])
    shifted = TwoLayer(W=[[1.0], [-1.0]], b=[-0.3, 0.3], v=[1.0, -1.0])
    assert line_error(generic).value == 0.3
    assert line_error(generic, ties="correct").value == 0.0
    assert line_error(shifted).value == line_error(shifted, ties="correct").value == 0.3


def test_error_of_the_five_points_is_a_quarter() -> None:
    """Closed form: N < 0 on (.15, .25) and (.35, .5); N(0) = 0 leaves an interval of rounding there."""
    error = line_error(five_points().network)
    assert error.value == pytest.approx(0.25, abs=50 * EPS)
    long = error.intervals[np.diff(error.intervals, axis=1)[:, 0] > 1e-12]
    np.testing.assert_allclose(long, [[0.15, 0.25], [0.35, 0.5]], atol=1e-13)


def test_splitting_and_scaling_change_nothing_and_reflection_reflects() -> None:
    network = five_points().network
    error = line_error(network)
    assert line_error(network.scaled(3.0)).value == pytest.approx(error.value, abs=50 * EPS)
    assert line_error(network.widened(20)).value == pytest.approx(error.value, abs=1e-13)
    assert network.b is not None
    mirrored = TwoLayer(W=-network.W, b=network.b + network.W[:, 0], v=network.v)
    assert line_error(mirrored).value == pytest.approx(error.value, abs=1e-12)


def test_other_intervals_are_uniform_laws_of_their_own() -> None:
    network = TwoLayer(W=[[1.0]], v=[1.0])
    assert line_error(network, interval=(-1.0, 3.0)).value == 0.25
    for bad in ((1.0, 0.0), (0.0, np.inf), (0.0, 0.0), (0.0, 1.0, 2.0), "ab"):
        with pytest.raises(InputError, match="interval is"):
            line_error(network, interval=bad)
    with pytest.raises(InputError, match="dimension 1"):
        line_error(TwoLayer(W=np.eye(2), v=[1.0, 1.0]))
    with pytest.raises(InputError, match="ties"):
        line_error(network, ties="wrong")


def test_nearest_neighbour_error_is_that_of_the_rule_on_a_fine_grid() -> None:
    data = Interval(p=0.4).sample(30, seed=3)
    error = nearest_neighbour_line_error(data.X, data.y)
    grid = (np.arange(200_000) + 0.5) / 200_000
    nearest = np.abs(grid[:, None] - data.X[:, 0]).argmin(axis=1)
    assert error.value == pytest.approx(float((data.y[nearest] < 0).mean()), abs=2e-4)
    order = np.random.default_rng(0).permutation(30)
    assert nearest_neighbour_line_error(data.X[order, 0], data.y[order]).value == error.value
    flipped = nearest_neighbour_line_error(data.X, -data.y)
    assert error.value + flipped.value == pytest.approx(1.0, abs=50 * EPS)


def test_nearest_neighbour_refuses_contradictions_and_takes_repetitions() -> None:
    assert nearest_neighbour_line_error([0.5, 0.5, 0.0], [-1, -1, 1]).value == 0.75
    assert nearest_neighbour_line_error([2.0, -3.0], [-1, 1]).value == 1.0, "both cells are cut to [0, 1]"
    with pytest.raises(InputError, match="both labels"):
        nearest_neighbour_line_error([0.5, 0.5], [-1, 1])
    with pytest.raises(InputError, match="one column"):
        nearest_neighbour_line_error(np.eye(2), [-1, 1])
