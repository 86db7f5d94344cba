"""The Hessian of Newton's method, formed, and the saddle system that it is part of, solved by elimination."""

from collections.abc import Sequence

import numpy as np
import scipy.linalg

from marginflow.arrays import FloatArray, IntArray
from marginflow.limit.problem import Problem
from marginflow.limit.products import times_transpose
from marginflow.limit.settings import COLUMNS_AT_ONCE
from marginflow.limit.solver.kink_basis import KinkBasis


def hessian(
    problem: Problem, rows: IntArray, signs: FloatArray, bases: Sequence[KinkBasis], t: FloatArray
) -> FloatArray:
    """sum_j t_j H_j on the given rows, H_j the Gram matrix of the projected samples of neuron j.

    `signs` (n, k) are sigma_ij on active pairs of these rows and 0 elsewhere.
    """
    whole = np.where([basis.complement for basis in bases], 0.0, t)
    H: FloatArray = problem.gram(rows, rows) * ((signs * whole) @ signs.T)
    for complement in (False, True):
        pending: list[FloatArray] = []
        columns = 0
        chosen = [j for j, basis in enumerate(bases) if basis.complement == complement]
        for j in chosen:
            # t_j < 0 only while a neuron is on its way out
            pending.append((np.sqrt(max(t[j], 0.0)) * signs[:, j])[:, None] * bases[j].narrow[rows])
            columns += pending[-1].shape[1]
            if columns > COLUMNS_AT_ONCE or j == chosen[-1]:
                E = np.concatenate(pending, axis=1)
                H += times_transpose(E) if complement else -times_transpose(E)
                pending, columns = [], 0
    return H


def solve_saddle(
    H: FloatArray, C: FloatArray, f: FloatArray, g: FloatArray, inertia: float = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Solve [[H, C], [C^T, -delta]] (x, z) = (f, g), H positive semidefinite, by elimination and refinement.

    delta is `inertia` times the average diagonal entry of the Schur complement C^T H^{-1} C.
    """
    n, k = C.shape
    # The shifts keep both Cholesky factors alive when neurons or samples are redundant; refinement removes them.
    shifted = H.copy()
    shifted[np.diag_indices(n)] += 1e-12 * (np.trace(H) / n) + 1e-300
    factor = scipy.linalg.cho_factor(shifted, lower=True, overwrite_a=True, check_finite=False)
    B = scipy.linalg.cho_solve(factor, C, check_finite=False)
    S = C.T @ B
    delta = inertia * float(np.trace(S)) / max(k, 1)
    S[np.diag_indices(k)] += delta + 1e-14 * np.trace(S) / max(k, 1) + 1e-300
    schur = scipy.linalg.cho_factor(S, lower=True, check_finite=False) if k else None

    def eliminate(f: FloatArray, g: FloatArray) -> tuple[FloatArray, FloatArray]:
        x: FloatArray = scipy.linalg.cho_solve(factor, f, check_finite=False)
        if schur is None:
            return x, g
        z: FloatArray = scipy.linalg.cho_solve(schur, C.T @ x - g, check_finite=False)
        return x - B @ z, z

    x, z = eliminate(f, g)
    for _ in range(2):
        dx, dz = eliminate(f - H @ x - C @ z, g - C.T @ x + delta * z)
        x, z = x + dx, z + dz
    return x, z
