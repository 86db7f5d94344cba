r"""The cost of the neurons in the interior point: cones ||u_j|| <= t_j, or squares where outputs are frozen.

For a cone with p = (t, u) and dual d = (1, q) the Nesterov-Todd scaling is the matrix

.. math:: W = \eta \begin{pmatrix} w_0 & w_1^T \\ w_1 & I + w_1 w_1^T / (1 + w_0) \end{pmatrix}, \qquad
          W p = W^{-1} d = \ell, \qquad W^2 = \eta^2 (2 w w^T - J),

and eliminating t from the linearised complementarity ell o (W dp + W^-1 dd) = rhs leaves for u the matrix
eta^2 (I - 2 w1 w1^T / (2 w0^2 - 1)). [Nesterov and Todd 1997]
"""

import numpy as np

from marginflow.arrays import BoolArray, FloatArray
from marginflow.limit.interior.settings import CONE_ROUNDING


def row_sums(a: FloatArray | BoolArray, b: FloatArray) -> FloatArray:
    """sum_j a_ij b_ij, shape (m,)."""
    sums: FloatArray = np.einsum("ij,ij->i", a, b)
    return sums


def _reach(t: FloatArray, u: FloatArray, dt: FloatArray, du: FloatArray) -> float:
    """The largest step in [0, 1e30] that keeps every (t, u) + step (dt, du) in its cone."""
    length = np.linalg.norm(u, axis=1)
    c = np.maximum((t - length) * (t + length), 0.0)
    b = t * dt - row_sums(u, du)
    a = dt**2 - row_sums(du, du)
    # The first positive root of c + 2 b x + a x^2.
    root = np.sqrt(np.maximum(b**2 - a * c, 0.0))
    below = np.where((a < 0) | (b < 0), root - b, 0.0)  # c / (root - b) is the first root if that is positive
    crosses = (below > 0) & ((a < 0) | (b**2 >= a * c))
    steps = np.where(crosses, c / np.where(crosses, below, 1.0), 1e30)
    return float(steps.min(initial=1e30))


class Scaling:
    """W of every cone: eta (k,), w0 (k,), w1 (k, r), and the scaled point ell = (l0, l1)."""

    def __init__(self, t: FloatArray, u: FloatArray, q: FloatArray) -> None:
        """The scaling of (t, u) and (1, q)."""
        lu, lq = np.linalg.norm(u, axis=1), np.linalg.norm(q, axis=1)
        a = np.sqrt((t - lu) * (t + lu))
        b = np.sqrt((1.0 - lq) * (1.0 + lq))
        p0, p1, d0, d1 = t / a, u / a[:, None], 1.0 / b, q / b[:, None]
        gamma = np.sqrt(0.5 * (1.0 + p0 * d0 + row_sums(p1, d1)))
        self.w1: FloatArray = (d1 - p1) / (2.0 * gamma)[:, None]
        self.w0: FloatArray = np.sqrt(1.0 + row_sums(self.w1, self.w1))
        self.eta: FloatArray = np.sqrt(b / a)
        self.l0, self.l1 = self.apply(t, u)

    def apply(self, p0: FloatArray, p1: FloatArray) -> tuple[FloatArray, FloatArray]:
        """W p."""
        along = row_sums(self.w1, p1)
        return (
            self.eta * (self.w0 * p0 + along),
            self.eta[:, None] * (p1 + (p0 + along / (1.0 + self.w0))[:, None] * self.w1),
        )

    def invert(self, d0: FloatArray, d1: FloatArray) -> tuple[FloatArray, FloatArray]:
        """W^-1 d."""
        along = row_sums(self.w1, d1)
        return (
            (self.w0 * d0 - along) / self.eta,
            (d1 + (along / (1.0 + self.w0) - d0)[:, None] * self.w1) / self.eta[:, None],
        )

    def divide(self, r0: FloatArray, r1: FloatArray) -> tuple[FloatArray, FloatArray]:
        """x with ell o x = r."""
        size = np.linalg.norm(self.l1, axis=1)
        x0 = (self.l0 * r0 - row_sums(self.l1, r1)) / ((self.l0 - size) * (self.l0 + size))
        return x0, (r1 - x0[:, None] * self.l1) / self.l0[:, None]


class Cones:
    """Trained outputs: the cost is sum_j t_j with ||u_j|| <= t_j."""

    def __init__(self, U: FloatArray, nu: float) -> None:
        """Every cone on the central path: t - ||u||^2 / t = nu, q = -u / t."""
        self.t = 0.5 * (nu + np.sqrt(nu**2 + 4.0 * row_sums(U, U)))
        self.q: FloatArray = -U / self.t[:, None]
        self.dt, self.dq = np.zeros_like(self.t), np.zeros_like(self.q)

    def take(self, live: BoolArray) -> None:
        """Keep the selected neurons."""
        self.t, self.q = self.t[live], self.q[live]

    @property
    def degree(self) -> int:
        """How many complementarity products the cones count for."""
        return len(self.t)

    def cost(self, U: FloatArray) -> float:
        """sum_j t_j."""
        return float(self.t.sum())

    def products(self, U: FloatArray) -> float:
        """sum_j (t_j + q_j . u_j)."""
        return float((self.t + row_sums(self.q, U)).sum())

    def idle(self) -> FloatArray:
        """1 - ||q_j||: how far a neuron is from paying for itself, shape (k,)."""
        idle: FloatArray = 1.0 - np.linalg.norm(self.q, axis=1)
        return idle

    def alive(self, t: FloatArray, idle: FloatArray) -> BoolArray:
        """Neurons that stay, as t and `idle` of an earlier iterate show: of the two the one that fell less remains."""
        return self.t / t > self.idle() / idle

    def at_rounding(self, U: FloatArray) -> bool:
        """Whether t - ||u|| or 1 - ||q|| has sunk into the rounding of t or 1."""
        room = np.minimum(1.0 - np.linalg.norm(U, axis=1) / self.t, self.idle())
        return bool(room.min() < CONE_ROUNDING)

    def prepare(self, U: FloatArray) -> None:
        """Prepare a step at the present point."""
        self.scaling = Scaling(self.t, U, self.q)
        self.bend = 2.0 * self.scaling.w0**2 - 1.0

    def matrices(self) -> tuple[FloatArray, FloatArray]:
        """Diagonal h (k,) and vectors a (k, r) of the matrices h I - a a^T that belong to du."""
        eta2 = self.scaling.eta**2
        return eta2, np.sqrt(2.0 * eta2 / self.bend)[:, None] * self.scaling.w1

    def right(self, target: float, U: FloatArray, corrected: bool, dU: FloatArray) -> FloatArray:
        """What stands on the right of the equation of du, before -rq: h1 - V10 h0 / V00; remembers h0."""
        w = self.scaling
        r0 = target - w.l0**2 - row_sums(w.l1, w.l1)
        r1 = -2.0 * w.l0[:, None] * w.l1
        if corrected:
            p0, p1 = w.apply(self.dt, dU)
            d0, d1 = w.invert(np.zeros_like(self.dt), self.dq)
            r0 = r0 - p0 * d0 - row_sums(p1, d1)
            r1 = r1 - p0[:, None] * d1 - d0[:, None] * p1
        self.h0, h1 = w.apply(*w.divide(r0, r1))
        return h1 - (2.0 * w.w0 * self.h0 / self.bend)[:, None] * w.w1

    def advance(self, dU: FloatArray, dq: FloatArray) -> None:
        """dt from du by complementarity, dq as the dual equation gives it."""
        w = self.scaling
        self.dt = (self.h0 / w.eta**2 - 2.0 * w.w0 * row_sums(w.w1, dU)) / self.bend
        self.dq = dq

    def reach(self, U: FloatArray, dU: FloatArray) -> float:
        """The step to the boundary."""
        zero = np.zeros_like(self.dt)
        return min(_reach(self.t, U, self.dt, dU), _reach(np.ones_like(self.t), self.q, zero, self.dq))

    def move(self, step: float) -> None:
        """Take the step."""
        self.t, self.q = self.t + step * self.dt, self.q + step * self.dq


class Squares:
    """Frozen outputs: the cost is sum_j ||u_j||^2 / (2 v_j^2), which has no multipliers; q_j = -u_j / v_j^2."""

    def __init__(self, U: FloatArray, outputs_squared: FloatArray) -> None:
        self.outputs_squared = outputs_squared
        self.t: FloatArray = np.ones(len(U))
        self.q: FloatArray = -U / outputs_squared[:, None]

    def take(self, live: BoolArray) -> None:
        """Keep the selected neurons."""
        self.outputs_squared, self.t, self.q = self.outputs_squared[live], self.t[live], self.q[live]

    @property
    def degree(self) -> int:
        """There are no products."""
        return 0

    def cost(self, U: FloatArray) -> float:
        """sum_j ||u_j||^2 / (2 v_j^2)."""
        return 0.5 * float((row_sums(U, U) / self.outputs_squared).sum())

    def products(self, U: FloatArray) -> float:
        """There are none."""
        return 0.0

    def idle(self) -> FloatArray:
        """A neuron whose output is frozen always pays for itself."""
        return np.zeros(len(self.t))

    def alive(self, t: FloatArray, idle: FloatArray) -> BoolArray:
        """All of them."""
        return np.ones(len(self.t), dtype=bool)

    def at_rounding(self, U: FloatArray) -> bool:
        """Nothing sinks into rounding here."""
        return False

    def prepare(self, U: FloatArray) -> None:
        """Prepare a step at the present point."""
        self.q = -U / self.outputs_squared[:, None]

    def matrices(self) -> tuple[FloatArray, FloatArray]:
        """The matrices h I that belong to du, with vectors that are zero."""
        return 1.0 / self.outputs_squared, np.zeros_like(self.q)

    def right(self, target: float, U: FloatArray, corrected: bool, dU: FloatArray) -> FloatArray:
        """Nothing stands on the right of the equation of du, before -rq."""
        return np.zeros_like(self.q)

    def advance(self, dU: FloatArray, dq: FloatArray) -> None:
        """q follows u by itself."""

    def reach(self, U: FloatArray, dU: FloatArray) -> float:
        """No boundary."""
        return 1e30

    def move(self, step: float) -> None:
        """Nothing moves."""
