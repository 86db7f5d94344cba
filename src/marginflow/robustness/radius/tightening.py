r"""Where a witness can still be: every minorant shrinks the region, and with it the intervals of all neurons.

A perturbation shorter than R with g <= 0 satisfies ||delta||^2 <= R^2 and psi(delta) <= 0 for every step so far, hence
||delta||^2 + tau psi(delta) <= R^2 for every tau >= 0: an ellipsoid as long as I + tau M is positive definite. By the
S-lemma nothing else is to be had from one psi; some tau are tried.

For a linear psi these are the balls through the rim of the cap {||delta|| <= R, n . delta >= t}, where
n = -grad psi / ||grad psi|| and t = psi(0) / ||grad psi||. The ball with its centre on n at t + cot(phi) rim,
rim^2 = R^2 - t^2, gives the range of w . delta over the cap exactly when the angle between w and n (or -n) is phi.
"""

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.robustness.radius.minorant import Box, Quadratic
from marginflow.robustness.radius.reduction import RadiusProblem

# The tau of the ellipsoids, as shares of the step's own scale.
TAUS = (0.25, 0.5, 0.7, 0.85, 0.95, 1.0, 1.03)
# Flatter ellipsoids than this are of no use, but for the one with which psi says most.
FLAT = 1e-4
# The cotangents of the angles for which balls are exact; most neurons are nearly orthogonal to n.
COTANGENTS = np.array([0.0, 0.12, 0.25, 0.4, 0.6, 0.9, 1.4, 2.5, 6.0, 30.0])
COTANGENTS = np.concatenate([-COTANGENTS[:0:-1], COTANGENTS])
# Where psi is a positive constant any large tau will do.
_LARGE = 1e16


def ball(problem: RadiusProblem, radius: float) -> Box:
    """Intervals over ||delta|| <= radius."""
    return Box(low=problem.a - radius, high=problem.a + radius)


def useful_taus(psi: Quadratic, radius: float) -> tuple[float, ...]:
    """The tau worth a look, among them the one with which psi alone says most about ||delta||."""
    if not psi.is_linear:
        flattest = float(psi.eigenvalues[0])
        return tuple(tau for tau in TAUS if 1.0 + tau * flattest > (0.0 if tau == 1.0 else FLAT))
    size = float(np.linalg.norm(psi.gradient))
    if not psi.constant > 0:
        return ()
    if size * radius <= psi.constant / _LARGE:
        return (_LARGE * radius**2 / psi.constant,)
    t = psi.constant / size
    if t >= radius:
        return (2.0 * t / size if t < 2.0 * radius else 2.0 * radius**2 / psi.constant,)
    centres = t + COTANGENTS * np.sqrt((radius - t) * (radius + t))
    return tuple((2.0 * centres[centres >= 0] / size).tolist())


def tightened(problem: RadiusProblem, box: Box, psi: Quadratic, radius: float, taus: tuple[float, ...]) -> Box:
    """The box after psi(delta) <= 0 is known too; an empty box if nothing is left."""
    along = psi.gradient @ psi.axes
    square = float(psi.gradient @ psi.gradient)
    slopes: FloatArray = problem.W @ psi.gradient
    shares: FloatArray = problem.W @ psi.axes
    tau = np.array(taus)[:, None]
    H = 1.0 + tau * psi.eigenvalues
    softer = 1.0 / H - 1.0  # the inverse of I + tau M is I + axes diag(softer) axes^T
    room = radius**2 - tau * psi.constant + 0.25 * tau**2 * (square + (softer @ along**2)[:, None])
    if (room < 0).any():
        return Box(low=np.full_like(box.low, np.inf), high=np.full_like(box.high, -np.inf))
    middle = problem.a - 0.5 * tau * (slopes + (along * softer) @ shares.T)
    extent = np.sqrt(room * np.maximum(1.0 + softer @ (shares**2).T, 0.0))
    return box.within((middle - extent).max(axis=0, initial=-np.inf), (middle + extent).min(axis=0, initial=np.inf))
