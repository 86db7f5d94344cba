"""Newton's method on the structure of an interior point: neurons that are zero."""

from __future__ import annotations

import numpy as np

from marginflow.data import Sphere
from marginflow.limit.interior.finish import Face
from marginflow.limit.interior.program import InteriorProgram
from marginflow.limit.interior.structure import Guess
from marginflow.limit.problem import Problem
from marginflow.limit.solver.pairs import ACTIVE, INACTIVE, KINK


def face(*, all_kinks: bool) -> Face:
    """Two neurons of twelve samples in three dimensions, the second of which is zero."""
    data = Sphere(dimension=3).sample(12, seed=0)
    program = InteriorProgram.of(Problem.of(data.X, data.y, bias=False))
    s = np.array([1.0, -1.0])
    U = np.array([[0.5, 0.2, -0.1], [0.0, 0.0, 0.0]])
    state = np.where(program.X @ U.T > 0, ACTIVE, INACTIVE)
    if all_kinks:
        state[program.y > 0, 1] = KINK
        state[program.y < 0, 1] = ACTIVE
    lam, free = np.full(12, 0.1), np.ones(12, dtype=bool)
    return Face(program, Guess(U, s, lam, state, free, ~free, np.arange(2)))


def test_a_neuron_that_is_orthogonal_to_everything_has_weights_that_cancel_what_pulls_on_it() -> None:
    zero = face(all_kinks=True)
    zero.converge(0.0)
    point = zero.point()
    assert (point.U[1] == 0).all()
    assert np.isfinite(point.mu).all()
    pull = (zero.sigma[:, 1] * point.mu[:, 1]) @ zero.program.X
    np.testing.assert_allclose(pull, 0.0, atol=1e-12 * np.abs(point.lam).max())


def test_a_neuron_that_is_zero_ends_the_method_without_a_step() -> None:
    steps, residual = face(all_kinks=False).converge(0.0)
    assert steps == 0
    assert residual == np.inf
