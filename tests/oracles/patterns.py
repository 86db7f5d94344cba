"""Radii by brute force: every pattern of opposing neurons is a convex quadratic program, solved by Clarabel."""

import itertools

import numpy as np

from marginflow.networks import TwoLayer


def least_over_all_subsets(network: TwoLayer, x: np.ndarray, label: float, level: float = 0.0) -> float:
    """min over S of min ||delta|| s.t. sum_{c > 0} c t + sum_S c z <= level, t >= 0, t >= z: 2^q quadratic programs."""
    import clarabel
    from scipy import sparse

    b = np.zeros(network.width) if network.b is None else network.b
    c, a, W, d = label * network.v, network.W @ x + b, network.W, network.dimension
    positive, negative = np.flatnonzero(c > 0), np.flatnonzero(c < 0)
    p = positive.size
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    P = sparse.csc_matrix(np.diag(np.append(np.ones(d), np.zeros(p))))
    above = np.hstack([W[positive], -np.eye(p)])
    nonnegative = np.hstack([np.zeros((p, d)), -np.eye(p)])
    best = np.inf
    for size in range(negative.size + 1):
        for chosen in itertools.combinations(negative, size):
            S = list(chosen)
            row = np.concatenate([c[S] @ W[S], c[positive]])
            A = sparse.csc_matrix(np.vstack([row, above, nonnegative]))
            h = np.concatenate([[level - c[S] @ a[S]], -a[positive], np.zeros(p)])
            cones = [clarabel.NonnegativeConeT(h.size)]
            solution = clarabel.DefaultSolver(P, np.zeros(d + p), A, h, cones, settings).solve()
            if str(solution.status) in ("Solved", "AlmostSolved"):
                best = min(best, float(np.linalg.norm(np.array(solution.x)[:d])))
    return best
