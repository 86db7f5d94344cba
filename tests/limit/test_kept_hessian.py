"""A Hessian that is kept as preconditioner: its inverse on its own rows and on others, and the steps that it makes."""

from __future__ import annotations

import numpy as np
import pytest

from marginflow.data import Dataset, Sphere
from marginflow.limit.neurons import Neurons
from marginflow.limit.problem import Problem
from marginflow.limit.solver import conjugate_gradients as steps_room
from marginflow.limit.solver.admm import Admm
from marginflow.limit.solver.conjugate_gradients import Curvature, GradientSteps, Saddle, solve_by_gradients
from marginflow.limit.solver.hessian import hessian
from marginflow.limit.solver.kept_hessian import KeptHessian
from marginflow.limit.solver.kink_basis import KinkBases, KinkBasis
from marginflow.limit.solver.kink_factors import KinkFactors
from marginflow.limit.solver.mean_field import MeanField
from marginflow.limit.solver.newton import Structure, newton
from marginflow.limit.solver.pairs import KINK, Pairs
from marginflow.limit.solver.polish import identify

DAMPING = 0.01


def found(data: Dataset, penalty: float = np.inf) -> tuple[Problem, Structure]:
    """What ADMM has found out from random neurons."""
    problem = Problem.of(data.X, data.y, bias=True, penalty=penalty)
    s = np.r_[np.ones(15), -np.ones(15)]
    U = np.random.default_rng(0).standard_normal((30, problem.X.shape[1]))
    U /= np.abs(problem.margins(U, s)).mean()
    admm = Admm(problem, Neurons(U, s), problem.warm_multipliers(U, s))
    admm.run(250)
    return problem, identify(admm)


@pytest.fixture(scope="module", name="settled")
def fixture_settled() -> tuple[Problem, Structure]:
    """On a sphere, where every direction counts."""
    return found(Sphere(dimension=20).sample(40, seed=1))


def formed(problem: Problem, guess: Structure, rows: np.ndarray) -> np.ndarray:
    """The Hessian on these rows, in double precision and from bases of the kinks."""
    pairs = Pairs(problem, KinkBases(problem), guess.s, guess.state, guess.lam)
    bases = [basis for basis in pairs.bases if isinstance(basis, KinkBasis)]
    H = hessian(problem, rows, pairs.active[rows], bases, guess.t)
    return H + DAMPING * np.eye(len(rows))


def test_on_its_own_rows_it_is_the_inverse(settled):
    problem, guess = settled
    rows = np.flatnonzero(guess.free)
    pairs = Pairs(problem, KinkFactors(problem), guess.s, guess.state, guess.lam)
    assert (guess.state == KINK).any()  # the projections were needed
    kept = KeptHessian(rows, pairs, guess.t, DAMPING).on(rows, pairs, guess.t)
    f = np.random.default_rng(0).standard_normal((len(rows), 3))
    np.testing.assert_allclose(formed(problem, guess, rows) @ kept.solve(f), f, atol=1e-3)
    np.testing.assert_allclose(kept.solve(f[:, 0]), kept.solve(f)[:, 0], atol=1e-4)


def test_rows_that_left_are_taken_out_exactly_and_new_ones_are_on_their_own(settled):
    problem, guess = settled
    rows = np.flatnonzero(guess.free)
    pairs = Pairs(problem, KinkFactors(problem), guess.s, guess.state, guess.lam)
    before, now = rows[3:], rows[:-5]
    kept = KeptHessian(before, pairs, guess.t, DAMPING).on(now, pairs, guess.t)
    f = np.random.default_rng(0).standard_normal(len(now))
    x = kept.solve(f)
    H = formed(problem, guess, now)
    np.testing.assert_allclose(H[3:, 3:] @ x[3:], f[3:], atol=1e-3)
    assert (x[:3] / f[:3] > 0.1 / np.diag(H)[:3]).all()
    assert (x[:3] / f[:3] < 10.0 / np.diag(H)[:3]).all()


@pytest.mark.parametrize("penalty", [np.inf, 0.5])
def test_newton_with_a_kept_hessian_ends_where_it_ends_with_its_own(monkeypatch, penalty):
    monkeypatch.setattr(steps_room, "MEAN_FIELD_STEPS", 0)
    problem, guess = found(Sphere(dimension=20).sample(40, seed=3), penalty)
    made: list[float] = []

    class Counted(KeptHessian):
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments)
            made.append(self.damping)

    monkeypatch.setattr(steps_room, "KeptHessian", Counted)
    own, kept = (newton(problem, guess, frozen=False, lean=lean) for lean in (False, True))
    assert own.converged
    assert kept.converged
    assert 1 <= len(made) < kept.iterations  # it was kept
    np.testing.assert_allclose(kept.U, own.U, atol=1e-11)
    np.testing.assert_allclose(kept.lam, own.lam, atol=1e-11 * own.lam.max())


def test_where_the_mean_field_is_poor_steps_are_still_near_those_with_the_hessian():
    """Samples that are positive and smooth, as images are: most of their length is in few directions."""
    rng = np.random.default_rng(0)
    rotation = np.linalg.qr(rng.standard_normal((60, 60)))[0]
    X = 8.0 / np.sqrt(60) + (rng.standard_normal((150, 60)) / np.arange(1, 61)) @ rotation
    problem, guess = found(Dataset(X, np.where(rng.random(150) < 0.5, 1.0, -1.0)))
    rows = np.flatnonzero(guess.free)
    pairs = Pairs(problem, KinkFactors(problem), guess.s, guess.state, guess.lam)
    H, C = formed(problem, guess, rows), (pairs.XD * pairs.active)[rows]
    f, g = rng.standard_normal(len(rows)), np.zeros(C.shape[1])
    whole = np.block([[H, C], [C.T, np.zeros((len(g), len(g)))]])
    exact = np.linalg.lstsq(whole, np.r_[f, g])[0][: len(rows)]

    def error(x: np.ndarray) -> float:
        return float((x - exact) @ H @ (x - exact) / (exact @ H @ exact))

    curvature = Curvature(rows, pairs, guess.t, DAMPING)
    mean_field = Saddle(MeanField(rows, pairs, guess.t, damping=DAMPING), C, 0.0)
    guessed, _, count = solve_by_gradients(curvature, mean_field, f, g, tolerance=1e-2, most=15)
    assert count > 15
    x, _ = GradientSteps(problem).step(rows, pairs, guess.t, C, f, g, damping=DAMPING, inertia=0.0)
    assert error(x) < min(1e-2, 0.05 * error(guessed))  # products in single precision leave 1e-4 of it
