r"""One step of a proof: a quadratic minorant of g, neuron by neuron, and the bound that follows from it.

For any numbers s >= 0, pi_j, kappa_j and z in [l_j, u_j],

.. math:: s c_j \mathrm{relu}(z) \ge \kappa_j z^2 + \pi_j z + \theta_j , \qquad
   \theta_j = \min_{l_j \le z \le u_j} \{ s c_j \mathrm{relu}(z) - \kappa_j z^2 - \pi_j z \} ,

so every delta of the region with g(delta) <= 0 satisfies psi(delta) <= 0, psi = s constant + sum_j (kappa_j z_j^2 +
pi_j z_j + theta_j) with z_j = a_j + w_j . delta. Nothing is asked of the numbers: whatever a solver returns is safe.

* All kappa = 0: psi is linear and ||delta|| >= psi(0) / ||grad psi||. Chords, subgradient cuts and the multipliers of
  branching half-spaces are all special choices of pi.
* Otherwise, with H = I + sum_j kappa_j w_j w_j^T positive definite, ||delta||^2 >= min (||.||^2 + psi). A touching
  parabola relu(z) <= (z + t)^2 / (4 t) is kappa = s c / (4 t), pi = s c / 2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from marginflow.arrays import BoolArray, FloatArray
from marginflow.robustness.radius.certificate import ProofStep
from marginflow.robustness.radius.reduction import RadiusProblem

_UNIT = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False, kw_only=True)
class Box:
    """Intervals of the pre-activations: low_j <= a_j + w_j . delta <= high_j."""

    low: FloatArray
    high: FloatArray

    @property
    def empty(self) -> bool:
        """Whether no perturbation is left."""
        return bool((self.low > self.high).any())

    @property
    def undecided(self) -> BoolArray:
        """Neurons that may be active and may be not."""
        return (self.low < 0) & (self.high > 0)

    def within(self, low: FloatArray, high: FloatArray) -> Box:
        """Both sets of intervals at once."""
        return Box(low=np.maximum(self.low, low), high=np.minimum(self.high, high))

    def branched(self, neuron: int, sign: int) -> Box:
        """The half in which the neuron is active (+1) or inactive (-1)."""
        low, high = self.low.copy(), self.high.copy()
        if sign > 0:
            low[neuron] = max(low[neuron], 0.0)
        else:
            high[neuron] = min(high[neuron], 0.0)
        return Box(low=low, high=high)


def remainders(problem: RadiusProblem, step: ProofStep, box: Box) -> FloatArray:
    """theta_j, the largest constants that keep every neuron's parabola below it on its interval."""
    sc = step.scale * problem.c
    kappa = step.curvatures
    left = _least(-step.slopes, kappa, box.low, np.minimum(box.high, 0.0))
    right = _least(sc - step.slopes, kappa, np.maximum(box.low, 0.0), box.high)
    return np.minimum(np.where(box.low <= 0, left, np.inf), np.where(box.high >= 0, right, np.inf))


def _least(p: FloatArray, kappa: FloatArray | None, low: FloatArray, high: FloatArray) -> FloatArray:
    """min of p z - kappa z^2 over low <= z <= high; an infinite end with p = 0 counts as 0."""
    if kappa is None:
        with np.errstate(invalid="ignore"):
            at_low, at_high = p * low, p * high
        flat = p == 0
        return np.minimum(np.where(flat, 0.0, at_low), np.where(flat, 0.0, at_high))
    with np.errstate(divide="ignore", invalid="ignore"):
        turn = np.where(kappa == 0, low, np.clip(0.5 * p / kappa, low, high))
    values = [p * z - kappa * z * z for z in (low, high, turn)]
    return np.minimum(np.minimum(values[0], values[1]), values[2])


@dataclass(frozen=True, eq=False, kw_only=True)
class Quadratic:
    """psi(delta) = constant + gradient . delta + sum_i eigenvalues_i (axes_i . delta)^2, orthonormal columns `axes`.

    A minorant as long as ||delta|| <= reach, with all rounding charged to its constant. `noise` is the share of their
    magnitudes by which sums err in the coordinates of the axes.
    """

    constant: float
    gradient: FloatArray
    eigenvalues: FloatArray
    axes: FloatArray
    reach: float = np.inf
    noise: float = 0.0

    @property
    def is_linear(self) -> bool:
        """Whether there is no quadratic part."""
        return self.eigenvalues.size == 0


def minorant(problem: RadiusProblem, step: ProofStep, box: Box, radius: float | None = None) -> Quadratic:
    """psi of one step for ||delta|| <= radius, charged with what the checker charges.

    Without a radius it is that of the smallest ball that could have these intervals.
    """
    if radius is None:
        radius = 0.5 * float((box.high - box.low).max(initial=0.0))
    a, s, pi, kappa, noise = problem.a, step.scale, step.slopes, step.curvatures, problem.noise
    theta = remainders(problem, step, box)
    Z = np.abs(a) + radius
    blur = problem.blur + problem.blur_per_length * radius
    magnitude = s * (abs(problem.constant) + blur + float(np.abs(problem.c) @ Z)) + float(np.abs(pi) @ Z)
    constant = s * (problem.constant - blur) + float(pi @ a) + float(theta.sum())
    if kappa is None:
        return Quadratic(
            constant=constant - 2.0 * noise * magnitude,
            gradient=pi @ problem.W,
            eigenvalues=np.zeros(0),
            axes=np.zeros((problem.rank, 0)),
            reach=radius if pi.any() else np.inf,
            noise=noise,
        )
    magnitude += float(np.abs(kappa) @ Z**2)
    noise += 2.0 * _UNIT * problem.dimension**2
    eigenvalues, axes = _eigen(problem.W, kappa)
    return Quadratic(
        constant=constant + float(kappa @ a**2) - 2.0 * noise * magnitude,
        gradient=(pi + 2.0 * kappa * a) @ problem.W,
        eigenvalues=eigenvalues,
        axes=axes,
        reach=radius,
        noise=noise,
    )


def _eigen(W: FloatArray, kappa: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues of sum_j kappa_j w_j w_j^T, least first, and orthonormal axes of the span of the curved neurons."""
    curved = np.flatnonzero(kappa)
    V, curvature = W[curved], kappa[curved]
    if curved.size >= W.shape[1]:
        eigenvalues, axes = np.linalg.eigh(V.T @ (curvature[:, None] * V))
        return eigenvalues, axes
    Q, R = np.linalg.qr(V.T)
    eigenvalues, turn = np.linalg.eigh((R * curvature) @ R.T)
    return eigenvalues, Q @ turn


def distance(psi: Quadratic) -> float:
    """Lower bound on ||delta|| over psi(delta) <= 0; 0 if nothing follows, infinity if no delta is left."""
    if not psi.constant > 0:
        return 0.0
    square = float(psi.gradient @ psi.gradient)
    if psi.is_linear:
        size = float(np.sqrt(square)) * (1.0 + 2.0 * psi.noise)
        return min(psi.constant / size if size > 0 else float("inf"), psi.reach)
    H = 1.0 + psi.eigenvalues
    largest = 1.0 + float(np.abs(psi.eigenvalues).max())
    if H[0] <= psi.noise * largest:
        return 0.0
    along = psi.gradient @ psi.axes
    drop = 0.25 * (square + float(along**2 @ (1.0 / H - 1.0)))
    least = psi.constant - drop
    least -= 2.0 * psi.noise * (max(least, 0.0) * largest + drop)
    return min(float(np.sqrt(least)), psi.reach) if least > 0 else 0.0
