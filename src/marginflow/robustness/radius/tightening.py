r"""Where a witness can still be: every minorant shrinks the region, and with it the intervals of all neurons.

A perturbation shorter than R with g <= 0 satisfies ||delta||^2 <= R^2 and psi(delta) <= 0 for every step so far.

* psi linear: the cap {||delta|| <= R, n . delta >= t}, n = -grad psi / ||grad psi||, t = psi(0) / ||grad psi||. The
  range of w . delta over a cap is closed form.
* psi quadratic: for every tau >= 0 the set {||delta||^2 + tau psi(delta) <= R^2}, an ellipsoid as long as
  I + tau M is positive definite. Several tau are tried; by the S-lemma nothing else is to be had from one psi.
"""

from __future__ import annotations

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.robustness.radius.minorant import Box, Quadratic
from marginflow.robustness.radius.reduction import Problem

# The tau of the ellipsoids, as shares of the step's own scale.
TAUS = (0.25, 0.5, 0.7, 0.85, 0.95, 1.0, 1.03)
# Flatter ellipsoids are used to exclude only, not to tighten: their rounding is not worth bounding.
FLAT = 1e-4


def ball(problem: Problem, radius: float) -> Box:
    """Intervals over ||delta|| <= radius."""
    return Box(low=problem.a - radius, high=problem.a + radius)


def tightened(problem: Problem, box: Box, psi: Quadratic, radius: float) -> Box:
    """The box after psi(delta) <= 0 is known too; an empty box if nothing is left."""
    if psi.is_linear:
        return _cap(problem, box, psi, radius)
    return _ellipsoids(problem, box, psi, radius)


def _cap(problem: Problem, box: Box, psi: Quadratic, radius: float) -> Box:
    size = float(np.linalg.norm(psi.gradient))
    if not (psi.constant > 0 and size > 0 and np.isfinite(radius)):
        return box
    t = psi.constant / size
    if t > radius:
        return Box(low=np.full_like(box.low, np.inf), high=np.full_like(box.high, -np.inf))
    normal = psi.gradient / -size
    cosine: FloatArray = problem.W @ normal
    sine = np.sqrt(np.maximum(1.0 - cosine**2, 0.0))
    near = np.flatnonzero(np.abs(cosine) > 0.9)  # here the square cancels
    sine[near] = np.linalg.norm(problem.W[near] - cosine[near, None] * normal, axis=1)
    rim = np.sqrt((radius - t) * (radius + t)) * sine
    highest = np.where(cosine * radius >= t, radius, t * cosine + rim)
    lowest = np.where(-cosine * radius >= t, -radius, t * cosine - rim)
    return box.within(problem.a + lowest, problem.a + highest)


def _ellipsoids(problem: Problem, box: Box, psi: Quadratic, radius: float) -> Box:
    along = psi.gradient @ psi.axes
    square = float(psi.gradient @ psi.gradient)
    slopes: FloatArray = problem.W @ psi.gradient
    shares: FloatArray = problem.W @ psi.axes
    squares = shares**2
    for tau in TAUS:
        H = 1.0 + tau * psi.eigenvalues
        if H[0] <= 0:
            break
        softer = 1.0 / H - 1.0  # the inverse of I + tau M is I + axes diag(softer) axes^T
        room = radius**2 - tau * psi.constant + 0.25 * tau**2 * (square + float(along**2 @ softer))
        if room < 0:
            return Box(low=np.full_like(box.low, np.inf), high=np.full_like(box.high, -np.inf))
        if H[0] < FLAT:
            continue
        middle = problem.a - 0.5 * tau * (slopes + shares @ (along * softer))
        reach = np.sqrt(room * np.maximum(1.0 + squares @ softer, 0.0))
        box = box.within(middle - reach, middle + reach)
    return box
