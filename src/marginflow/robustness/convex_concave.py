r"""The convex-concave procedure for perturbations that flip one sample, or several samples with one vector.

f_i = C_i - D_i with C_i (supporting neurons) and D_i (opposing neurons) convex. Fix the opposing neurons active at a
flipping z: then D_i is replaced by the linear function it equals there and never exceeds elsewhere, the constraint
becomes convex, z stays feasible, and projecting the origin on it cannot make z longer.
"""

import time

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.robustness.convex_projection import ConvexFunctions, project_on_convex
from marginflow.robustness.neighbourhood import Neighbourhood
from marginflow.robustness.piecewise import first_steps, without_noise


def descend(
    seen: Neighbourhood, sigma: FloatArray, start: FloatArray, *, max_steps: int = 30, deadline: float = np.inf
) -> FloatArray:
    r"""Shorten a vector z that flips all points of `seen` at once, x_i + sigma_i z; shape (r,).

    Parameters
    ----------
    seen : Neighbourhood
    sigma : array, shape (n,)
        1 for an unsigned perturbation, -y_i for a signed universal one.
    start : array, shape (r,)
        A vector that flips all points, up to rounding.
    deadline : float
        The value of `time.monotonic()` after which the shortest vector so far is returned.

    Returns
    -------
    array, shape (r,)
        A vector no longer than `start` that flips all points up to rounding; `start` itself if nothing is shorter.
    """
    z, size = start, float(np.linalg.norm(start))
    for _ in range(max_steps):
        if time.monotonic() > deadline:
            break
        a = seen.A + sigma[:, None] * (seen.W @ z)
        fixed = ConvexFunctions(
            A=seen.A,
            C=seen.C,
            W=seen.W,
            sigma=sigma,
            slopes=(a > 0).astype(np.float64),
            constant=np.full(seen.n_points, -seen.level),
        )
        found = project_on_convex(fixed, target=size, deadline=deadline)
        if found.lower >= size or not found.point.any():
            break
        # The projection comes from outside; the exact ray takes it to where all points are flipped.
        step = common_step(seen, sigma, found.point)
        shorter = step * float(np.linalg.norm(found.point))
        if not shorter < size * (1.0 - 1e-10):
            break
        z, size = step * found.point, shorter
    return z


def common_step(seen: Neighbourhood, sigma: FloatArray, direction: FloatArray) -> float:
    """Smallest t near the largest first flip at which t * direction flips all points; infinity if there is none.

    Exact when the flips are monotone; otherwise the candidate max_i first_i is checked and refused if it fails.
    """
    along = without_noise(seen.W @ direction, np.abs(seen.W) @ np.abs(direction))
    G = sigma[:, None] * along
    step = float(first_steps(seen.A, G, seen.C, seen.level).max())
    if not np.isfinite(step):
        return step
    Z = seen.A + step * G
    values = (np.maximum(Z, 0.0) * seen.C).sum(axis=1) - seen.level
    scale = (np.abs(Z) * np.abs(seen.C)).sum(axis=1) + abs(seen.level)
    return step if (values <= 1e-12 * scale).all() else float("inf")
