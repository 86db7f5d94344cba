from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize

from marginflow.certificates import certify, kkt
from marginflow.certificates.multipliers.best import best_multipliers
from marginflow.certificates.multipliers.corrective import _Atoms, by_atoms
from marginflow.certificates.multipliers.least_squares import lower_bound
from marginflow.certificates.pattern import recognise
from marginflow.data import Dataset
from marginflow.networks import TwoLayer


def problem_of(case, tolerance):
    network = case.network.at_margin_one(case.data.X, case.data.y)
    pattern, Z = recognise(network, case.data.X, tolerance)
    return kkt.stationarity_problem(network, case.data, pattern, Z, cap=np.inf, weight=1.0)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("tolerance", [1e-8, 0.1])
def test_atoms_and_pivoting_agree(known, seed, tolerance):
    case = known.separating(12, 3, 6, seed, bias=bool(seed % 2))
    problem = problem_of(case, tolerance)
    lam, mu = by_atoms(problem, max_rounds=500)
    assert (mu >= 0).all()
    assert (mu <= lam[:, None]).all()
    size = problem.residual(lam, mu).norm()
    assert size == pytest.approx(best_multipliers(problem).size, rel=1e-8)
    assert lower_bound(problem, lam, mu) <= size * (1 + 1e-12)


def test_without_kinks_atoms_are_samples_and_the_answer_is_that_of_lawson_and_hanson(known):
    problem = problem_of(known.separating(15, 3, 5, 3), 1e-8)
    assert not problem.kink.any()
    columns = []
    for i in range(15):
        hidden = np.outer(problem.active[i] * problem.v, problem.y[i] * problem.T[i])
        columns.append(np.r_[hidden.ravel(), problem.y[i] * problem.rho[i], problem.omega[i]])
    target = np.r_[problem.U.ravel(), problem.target, 0.0]
    _, expected = scipy.optimize.nnls(np.array(columns).T, target)
    lam, mu = by_atoms(problem, max_rounds=500)
    assert problem.residual(lam, mu).norm() == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("gap", [1e-2, 1e-4, 1e-5])
def test_nearly_equal_samples_of_opposite_label_cost_no_digits(gap):
    # Two samples at distance `gap` on the line; the five-point construction with h = gap at one end and a far sample.
    h, x = gap, 0.1 + gap * np.arange(4)
    s = np.sqrt(1 + x**2)
    lam4 = (s[3] + s[0] / 2 + 1.5 * s[2]) / (1.5 * h)
    lam3, lam2 = s[1] / h + 2 * lam4, (2 * s[1] + s[0]) / h + lam4
    lam = np.array([(lam2 - s[2] / h) / 2, lam2, lam3, lam4, 0.0])
    size = np.sqrt(np.array([3, 4, 4, 3]) / h / s)
    w = np.array([1, 1, -1, -1]) * size
    network = TwoLayer(W=w[:, None], b=-w * x, v=np.array([-1, 1, -1, 1]) * s * size)
    data = Dataset(X=np.append(x, x[-1] + 10 * h)[:, None], y=[1, -1, 1, -1, 1])
    certificate = certify(network, data)
    assert certificate.total < 1e-14 / gap
    np.testing.assert_allclose(certificate.multipliers, lam, rtol=1e-11 / gap, atol=1e-9 * lam.max())


def test_an_atom_whose_best_weight_is_exactly_zero_is_dropped_without_a_division(known):
    """Lawson and Hanson's step is sought among weights that fall below zero; 0 / 0 would be a warning."""
    atoms = _Atoms(problem_of(known.separating(12, 3, 6, 0), 1e-8))
    atoms.columns, atoms.target = np.eye(3)[:, :2], np.array([1.0, 0.0, 0.0])
    atoms.atoms = [(i, np.zeros(1, dtype=bool), 1.0) for i in (0, 1)]
    atoms.weights = np.zeros(2)
    atoms.correct()
    np.testing.assert_array_equal(atoms.weights, [1.0])
    assert [sample for sample, *_ in atoms.atoms] == [0]
