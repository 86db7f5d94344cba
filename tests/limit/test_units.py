"""Samples of any size: the same network in other units, and the same verdict."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import marginflow as mf
from marginflow.data import Dataset, Sphere
from marginflow.limit.neurons import Neurons
from marginflow.limit.problem import Problem
from marginflow.limit.solver.proximal import shrink
from marginflow.limit.units import Units
from marginflow.networks import TwoLayer


@cache
def in_other_units(k: int, n_samples: int, outputs: str = "trained", penalty: float | None = None) -> mf.limit.Limit:
    """The point of samples times 4^k; without bias that is the same problem in other units, from the same start."""
    data = Sphere(dimension=6).sample(n_samples, seed=1)
    begin = TwoLayer.initialise(40, 6, scale=0.01, bias=False, outputs=outputs, seed=0)
    frozen = outputs == "frozen"
    start = TwoLayer(
        W=begin.W * 2.0 ** (-2 * k if frozen else -k), v=begin.v * (1.0 if frozen else 2.0**-k), outputs=begin.outputs
    )
    cost = None if penalty is None else penalty * (4.0 ** (-2 * k) if frozen else 4.0**-k)
    return mf.kkt_point(Dataset(X=data.X * 4.0**k, y=data.y), start=start, penalty=cost)


@settings(max_examples=12)
@given(
    k=st.integers(-20, 20),
    problem=st.sampled_from(
        [(12, "trained", None), (60, "trained", None), (24, "trained", 1.0), (12, "frozen", None), (24, "frozen", 1.0)]
    ),
)
def test_samples_times_a_power_of_four_have_the_same_network_in_other_units(k, problem):
    n_samples, outputs, penalty = problem
    here, there = (in_other_units(power, n_samples, outputs, penalty) for power in (0, k))
    assert there.exact == here.exact
    assert there.exact, there.status
    points = Sphere(dimension=6).sample(50, seed=2).X
    np.testing.assert_allclose(there.network(points * 4.0**k), here.network(points), rtol=0, atol=1e-9)
    total = there.certificate.multipliers.sum() * (4.0 ** (2 * k) if outputs == "frozen" else 4.0**k)
    assert total == pytest.approx(here.certificate.multipliers.sum(), rel=1e-9)


@settings(max_examples=8)
@given(k=st.integers(-50, 50))
def test_samples_of_every_size_end_at_an_exact_point(k):
    data = Sphere(dimension=5).sample(15, seed=3)
    limit = mf.kkt_point(Dataset(X=data.X * 2.0**k, y=data.y), width=30, bias=False)
    assert limit.exact, limit.status


@pytest.mark.parametrize("outputs_squared", [None, np.array([0.3, 5e-7])])
def test_units_round_nothing_and_keep_every_margin_and_every_share_of_the_cost(outputs_squared):
    data = Sphere(dimension=4).sample(9, seed=0)
    problem = Problem.of(3e8 * data.X, data.y, bias=True, penalty=0.7)
    neurons = Neurons(
        np.array([[1.0, 2.0, -1.0, 0.5, 0.1], [0.3, -2.0, 1.0, 0.0, 1.0]]), np.array([1.0, -1.0]), outputs_squared
    )
    units = Units.of(problem, outputs_squared)
    there, scaled = units.problem(problem), units.neurons(neurons)
    assert 0.5 <= there.norms.max() <= 1.0
    assert there.penalty == 0.7 * units.price
    np.testing.assert_array_equal(there.margins(scaled.U, scaled.s), problem.margins(neurons.U, neurons.s))
    if outputs_squared is None:
        cost, other = (np.linalg.norm(rows.U, axis=1).sum() for rows in (neurons, scaled))
    else:
        cost, other = ((rows.U**2).sum(axis=1) @ (1 / rows.outputs_squared) for rows in (neurons, scaled))
    assert other == pytest.approx(cost * units.price, rel=1e-14)


def test_a_neuron_that_comes_back_from_zero_does_so_in_any_units():
    """Neurons times 4^-k, samples times 4^k, the penalty term times 4^-k: powers of two leave no rounding."""
    rng = np.random.default_rng(0)
    R, s2, rho = 3.0 * rng.standard_normal((5, 4)), rng.uniform(0.5, 2.0, 4), rng.uniform(0.5, 2.0, 5)
    found = []
    for unit in (1.0, 4.0**5, 4.0**-5):
        t, U = np.array([0.0, 0.3, 0.0, 0.7, 0.0]) / unit, np.empty((5, 4))
        live = shrink(R, t, unit**2 * s2, rho / unit, 0.0, U)
        found.append((live, t * unit, U * unit))
    for live, t, U in found[1:]:
        np.testing.assert_array_equal(live, found[0][0])
        np.testing.assert_array_equal(t, found[0][1])
        np.testing.assert_array_equal(U, found[0][2])
