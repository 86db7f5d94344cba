"""Solutions with a Cholesky factor in blocks, against LAPACK's."""

import numpy as np
import pytest
import scipy.linalg

from marginflow import threads
from marginflow.limit.solver import blocked_factor
from marginflow.limit.solver.blocked_factor import BlockedFactor


@pytest.mark.parametrize("columns", [(), (1,), (5,), (30,), (60,)])
@pytest.mark.parametrize("n", [1, 6, 7, 8, 14, 40])
@pytest.mark.parametrize(("dtype", "error"), [(np.float64, 1e-12), (np.float32, 1e-4)])
def test_blocks_solve_what_the_whole_factor_does(monkeypatch, n, columns, dtype, error):
    monkeypatch.setattr(blocked_factor, "BLOCK", 7)
    monkeypatch.setattr(threads, "_WORTH_SHARING", 0.0)
    rng = np.random.default_rng(n)
    A = rng.normal(size=(n, 2 * n))
    H = A @ A.T / n + np.eye(n)
    factor, _ = scipy.linalg.cho_factor(H.astype(dtype), lower=True)  # above the diagonal stands what stood there
    f = rng.normal(size=(n, *columns))
    before = f.copy()
    found = BlockedFactor(factor, threads=2).solve(f)
    np.testing.assert_array_equal(found, BlockedFactor(factor).solve(f))
    assert found.dtype == dtype
    assert found.shape == f.shape
    np.testing.assert_array_equal(f, before)
    np.testing.assert_allclose(found, np.linalg.solve(H, f), atol=error * np.abs(f).max())
