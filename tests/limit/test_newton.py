"""Newton's method on the structure: closed forms, wrong guesses repaired, and its equations recomputed by hand."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

from marginflow.data import Dataset, Orthogonal, Sphere, XorClusters
from marginflow.flow import angle_flow
from marginflow.limit import ClosedForm, orthogonal
from marginflow.limit.neurons import Neurons, add_up, gather
from marginflow.limit.problem import Problem
from marginflow.limit.solver.admm import Admm
from marginflow.limit.solver.newton import NewtonResult, Structure, newton
from marginflow.limit.solver.pairs import ACTIVE, INACTIVE, KINK
from marginflow.limit.solver.polish import identify
from marginflow.networks import TwoLayer


def structure_of(problem: Problem, exact: ClosedForm) -> Structure:
    """The structure of a closed-form point: one neuron per class, every opposite pair on a kink."""
    U = problem.reduced(exact.network.directions)
    Z = problem.X @ U.T
    state = np.where(np.abs(Z) < 1e-9, KINK, np.where(Z > 0, ACTIVE, INACTIVE))
    free = np.ones(problem.n_samples, dtype=bool)
    lengths = np.linalg.norm(U, axis=1)
    return Structure(
        s=exact.network.signs,
        state=state,
        free=free,
        capped=~free,
        lam=exact.multipliers[problem.order],
        t=lengths,
    )


def settled_structure(
    data: Dataset, *, width: int, seed: int, bias: bool = True, penalty: float = np.inf, frozen: bool = False
) -> tuple[Problem, Structure]:
    """What ADMM has found out after a short flow and a few hundred iterations."""
    outputs = "frozen" if frozen else "trained"
    net = TwoLayer.initialise(width, data.dimension, scale=0.01, bias=bias, outputs=outputs, seed=seed)
    end = angle_flow(net.W, net.b, net.v, data.X, data.y, steps=150, angle=0.05, outputs=outputs)
    network = replace(net, W=end.W, b=end.b, v=end.v)
    problem = Problem.of(data.X, data.y, bias=bias, penalty=penalty)
    U = problem.reduced(network.directions) / network.margins(data.X, data.y).mean()
    neurons = Neurons(U, network.signs, network.v**2 if frozen else None)
    bundles = add_up(neurons, gather(neurons.U, neurons.s, 40))
    admm = Admm(problem, bundles, problem.warm_multipliers(bundles.U, bundles.s))
    admm.run(1500)
    return problem, identify(admm)


def assert_kkt(problem: Problem, found: NewtonResult, *, outputs_squared: np.ndarray | None = None) -> None:
    """The KKT conditions of (P) in reduced coordinates, written out with Clarke weights mu and nothing else."""
    X, y, C = problem.X, problem.y, problem.penalty
    U, s, lam, mu = found.U, found.s, found.lam, found.mu
    Z = X @ U.T
    pull = s[:, None] * ((y[:, None] * mu).T @ X)  # = d/du_j of sum_i lambda_i margin_i
    lengths = np.linalg.norm(U, axis=1)
    gradient = U / lengths[:, None] if outputs_squared is None else U / outputs_squared[:, None]
    np.testing.assert_allclose(pull, gradient, atol=1e-10)
    margins = y * (np.maximum(Z, 0.0) @ s)
    assert lam.min() >= 0.0
    assert lam.max() <= C
    assert margins[lam < C].min() >= 1 - 1e-10
    np.testing.assert_allclose(margins[(lam > 0) & (lam < C)], 1.0, atol=1e-10)
    tiny = 1e-10 * np.outer(problem.norms, lengths)
    slack = 1e-10 * lam.max()
    weight = np.broadcast_to(lam[:, None], mu.shape)
    np.testing.assert_allclose(mu[tiny < Z], weight[tiny < Z], atol=slack)
    np.testing.assert_allclose(mu[-tiny > Z], 0.0, atol=slack)
    assert (mu >= -slack).all()
    assert (mu <= weight + slack).all()
    if outputs_squared is None:
        objective = lengths.sum() + (C * np.maximum(1 - margins, 0.0).sum() if np.isfinite(C) else 0.0)
        assert lam.sum() == pytest.approx(objective, rel=1e-10)  # the duality gap of (C) is closed


@pytest.mark.parametrize("dimension", [8, 20])
@pytest.mark.parametrize("seed", range(3))
def test_a_perturbed_closed_form_is_restored_to_rounding_error(seed, dimension):
    data = Orthogonal(dimension=dimension).sample(dimension - 2, seed=seed)
    exact = orthogonal(data)
    problem = Problem.of(data.X, data.y, bias=True)
    guess = structure_of(problem, exact)
    rng = np.random.default_rng(seed)
    noisy = replace(
        guess,
        lam=guess.lam * (1 + 0.1 * rng.normal(size=guess.lam.size)),
        t=guess.t * (1 + 0.1 * rng.normal(size=guess.t.size)),
    )
    found = newton(problem, noisy, frozen=False)
    assert found.converged
    assert found.violations == 0
    assert found.iterations <= 10  # quadratic: one digit becomes sixteen
    np.testing.assert_allclose(found.lam, exact.multipliers[problem.order], rtol=1e-12)
    np.testing.assert_allclose(problem.ambient(found.U), exact.network.directions, atol=1e-13)
    np.testing.assert_allclose(found.mu, (exact.multipliers[:, None] * exact.clarke)[problem.order], atol=1e-13)


def test_a_wrong_guess_of_single_pairs_and_samples_is_repaired():
    data = Orthogonal(dimension=12).sample(10, seed=0)
    exact = orthogonal(data)
    problem = Problem.of(data.X, data.y, bias=True)
    right = structure_of(problem, exact)
    opposite = problem.y[:, None] != right.s
    kinks = np.argwhere(opposite)
    for row, column in kinks:
        for wrong in (INACTIVE, ACTIVE):
            state = right.state.copy()
            state[row, column] = wrong
            found = newton(problem, replace(right, state=state), frozen=False)
            assert found.converged
            np.testing.assert_allclose(found.lam, right.lam, rtol=1e-12)
    for row in range(problem.n_samples):
        free = right.free.copy()
        free[row] = False
        found = newton(problem, replace(right, free=free), frozen=False)
        assert found.converged
        np.testing.assert_allclose(found.lam, right.lam, rtol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_what_it_calls_converged_satisfies_every_kkt_condition(seed):
    problem, guess = settled_structure(Sphere(dimension=15).sample(25, seed=seed), width=60, seed=seed)
    found = newton(problem, guess, frozen=False)
    assert found.converged
    assert found.residual < 1e-12
    assert_kkt(problem, found)
    assert (found.s == guess.s[found.keep]).all()
    assert (guess.state == KINK).any()  # the projections P_j were needed


@pytest.mark.parametrize("seed", range(3))
def test_frozen_outputs_have_fixed_scales(seed):
    data = XorClusters(dimension=10).sample(30, seed=seed)
    problem, guess = settled_structure(data, width=20, seed=seed, bias=False, frozen=True)
    found = newton(problem, guess, frozen=True)
    assert found.converged
    assert_kkt(problem, found, outputs_squared=guess.t[found.keep])


@pytest.mark.parametrize("seed", range(3))
def test_a_soft_margin_has_samples_at_the_cap(seed):
    data = Sphere(dimension=6).sample(40, seed=seed)
    problem, guess = settled_structure(data, width=40, seed=seed, penalty=0.15)
    assert guess.capped.any()
    found = newton(problem, guess, frozen=False)
    assert found.converged
    assert_kkt(problem, found)
    assert (found.lam == 0.15).any()


def test_many_and_few_kinks_a_neuron_go_through_the_same_equations():
    """Three negative samples among twelve positive ones. The negative neuron has more kinks than half of the rank;
    there a basis of the complement is used. The positive one has fewer; there the kink samples are factorised."""
    data = Dataset(X=np.sqrt(20) * np.eye(20)[:15], y=np.r_[np.ones(12), -np.ones(3)])
    exact = orthogonal(data)
    problem = Problem.of(data.X, data.y, bias=True)
    guess = structure_of(problem, exact)
    many = 2 * (guess.state == KINK).sum(axis=0) > problem.X.shape[1]
    assert many.tolist() == [False, True]
    found = newton(problem, replace(guess, lam=1.1 * guess.lam), frozen=False)
    assert found.converged
    np.testing.assert_allclose(found.lam, exact.multipliers[problem.order], rtol=1e-12)
    assert_kkt(problem, found)


def test_a_hopeless_guess_is_given_up_without_a_word():
    problem, guess = settled_structure(Sphere(dimension=10).sample(12, seed=0), width=30, seed=0)
    nobody = np.zeros(problem.n_samples, dtype=bool)
    assert not newton(problem, replace(guess, free=nobody), frozen=False).converged
    upside_down = replace(guess, state=np.where(guess.state == ACTIVE, INACTIVE, ACTIVE), lam=guess.lam[::-1])
    assert not newton(problem, upside_down, frozen=False, max_iterations=1).converged


def test_a_deadline_in_the_past_ends_it_at_once():
    problem, guess = settled_structure(Sphere(dimension=10).sample(12, seed=0), width=30, seed=0)
    found = newton(problem, guess, frozen=False, deadline=time.monotonic() - 1.0)
    assert not found.converged
    assert found.U.shape == (0, problem.X.shape[1])
