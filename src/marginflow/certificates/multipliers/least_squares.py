r"""The convex problem behind a certificate: which multipliers explain theta best?

With theta at margin 1, xt_i = (x_i, 1), and M_ij = lambda_i on active pairs, mu_ij in [0, lambda_i] on kinks, 0 else,

.. math:: \min_{\lambda, \mu} \; \sum_j \Big\| (w_j, b_j) - v_j \sum_i y_i M_{ij} \tilde x_i \Big\|^2
          + \sum_j \Big( v_j - \sum_i \lambda_i y_i \mathrm{relu}(\mathrm{pre}_{ij}) \Big)^2
          + \Big( \sum_i \omega_i \lambda_i + \omega_0 \Big)^2

The second sum is there when outputs are trained. The last term is the complementarity row (`kkt.py`). The set of
(lambda, mu) is a convex cone - or a box-bounded part of it for a soft margin - so any feasible pair bounds the
minimum from above, and `lower_bound` bounds it from below.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from marginflow.arrays import BoolArray, FloatArray, IntArray
from marginflow.certificates.pattern import pair_blocks

Point = tuple[FloatArray, FloatArray]
"""lambda (n,) and mu (n, k)."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Residual:
    """What the multipliers leave unexplained: hidden layer (k, r), output layer (p,), complementarity row."""

    hidden: FloatArray
    output: FloatArray
    row: float

    def norm(self) -> float:
        """Euclidean norm of all three parts."""
        return float(np.sqrt(np.vdot(self.hidden, self.hidden) + self.output @ self.output + self.row**2))

    def stacked(self) -> FloatArray:
        """All three parts as one vector."""
        return np.concatenate([self.hidden.ravel(), self.output, [self.row]])


class ScoreSums(NamedTuple):
    """Sums over the pairs of `StationarityProblem.scores`.

    `s` (n,); over the kinks of each sample the sums of the positive and of the negative scores (n,); and the inner
    product of mu with the scores of the kinks.
    """

    s: FloatArray
    positive: FloatArray
    negative: FloatArray
    explained: float


@dataclass(frozen=True, eq=False, kw_only=True)
class StationarityProblem:
    """The data of the problem in coordinates of the span of the samples.

    Attributes
    ----------
    T : array, shape (n, r)
        Samples xt_i; an isometry of the ambient ones.
    y : array, shape (n,)
    U : array, shape (k, r)
        Targets (w_j, b_j) in the same coordinates.
    v : array, shape (k,)
    active, kink : bool arrays, shape (n, k)
    rho : array, shape (n, p)
        relu(pre_ij); p = 0 when outputs are frozen.
    target : array, shape (p,)
        The output weights that rho must explain.
    omega : array, shape (n,), and omega0 : float
        The complementarity row.
    cap : float
        Upper bound of every lambda_i; inf for a hard margin.
    """

    T: FloatArray
    y: FloatArray
    U: FloatArray
    v: FloatArray
    active: BoolArray
    kink: BoolArray
    rho: FloatArray
    target: FloatArray
    omega: FloatArray
    omega0: float = 0.0
    cap: float = np.inf

    @cached_property
    def gram(self) -> FloatArray:
        """T T'."""
        return self.T @ self.T.T

    @cached_property
    def usable(self) -> BoolArray:
        """The kinks whose Clarke weights matter."""
        usable: BoolArray = self.kink & (self.v != 0)
        return usable

    def rows(self, index: IntArray | slice) -> StationarityProblem:
        """The problem in which only the samples `index` may carry a multiplier."""
        return replace(
            self,
            T=self.T[index],
            y=self.y[index],
            active=self.active[index],
            kink=self.kink[index],
            rho=self.rho[index],
            omega=self.omega[index],
        )

    def residual(self, lam: FloatArray, mu: FloatArray) -> Residual:
        """Residual of feasible (lambda (n,), mu (n, k)); mu is read on the kinks only."""
        product = np.zeros((self.active.shape[1], self.T.shape[1]))
        for block in pair_blocks(self.active):
            carry = np.flatnonzero(lam[block]) + (block.start or 0)  # mu_ij <= lambda_i: the other rows are zero
            M = np.where(self.kink[carry], mu[carry], 0.0)
            M += lam[carry, None] * self.active[carry]
            M *= self.y[carry, None]
            product += M.T @ self.T[carry]
        return Residual(
            hidden=self.U - self.v[:, None] * product,
            output=self.target - self.rho.T @ (self.y * lam),
            row=-self.omega0 - float(self.omega @ lam),
        )

    def scores(self, residual: Residual) -> tuple[FloatArray, FloatArray]:
        """Inner products of the residual with what mu_ij and lambda_i add: P (n, k), on every pair, and s (n,).

        -P on the kinks and -s are the gradients of half the squared residual.
        """
        P = (self.T @ residual.hidden.T) * self.v
        P *= self.y[:, None]
        s = np.einsum("ij,ij->i", P, self.active) + self.y * (self.rho @ residual.output) + self.omega * residual.row
        return P, s

    def score_sums(self, residual: Residual, mu: FloatArray | None = None) -> ScoreSums:
        """What is needed of the scores of all pairs, without keeping them; mu is read on the kinks only."""
        n = self.y.size
        s, positive, negative, explained = np.empty(n), np.empty(n), np.empty(n), 0.0
        for block in pair_blocks(self.active):
            P, s[block] = self.rows(block).scores(residual)
            P[~self.kink[block]] = 0.0
            positive[block], negative[block] = np.maximum(P, 0.0).sum(axis=1), np.minimum(P, 0.0).sum(axis=1)
            if mu is not None:
                explained += float(np.vdot(mu[block], P))
        return ScoreSums(s, positive, negative, explained)

    @property
    def base(self) -> Residual:
        """The residual of zero multipliers: theta itself."""
        return Residual(hidden=self.U, output=self.target, row=-self.omega0)

    def norm(self) -> float:
        """Norm of the residual of zero multipliers."""
        return self.base.norm()


def lower_bound(problem: StationarityProblem, lam: FloatArray, mu: FloatArray, *, charged: bool = True) -> float:
    r"""A number that the norm of the residual of no feasible (lambda, mu) can go below, rounding included.

    The distance of b = theta from a convex set Z is max over q of (<b, q> - sup_{z in Z} <z, q>) / ||q||, and any q
    bounds it. Here q comes from the residual r of the given feasible multipliers. For a soft margin the supremum is
    finite: cap * sum_i (h_i)_+, with h_i = s_i + sum over the kinks of i of (P_ij)_+. For a hard margin Z is a cone and
    q must lie in its polar, h_i <= 0; r - t theta does for t = max_i (h_i)_+ / <theta, g_i>, because by homogeneity
    <theta, g_i> = degree * y_i N(x_i) > 0 for every generator g_i of sample i.

    Rounding is charged. With gamma = m eps and m the number of operations behind an entry, the computed h_i is off by
    at most gamma ||g_i|| ||r||, <theta, g_i> by gamma ||g_i|| ||theta||, and <theta, r> by gamma ||r|| (||theta|| +
    2 sum_i lambda_i ||g_i||). The bound meets the residual at the optimum up to that charge; below a relative residual
    of about 1e-8 it reads 0. Without the charge it is where a solver may stop, not what a certificate may say.
    """
    operations = sum(problem.T.shape) + 2 * problem.v.size + 8
    gamma = operations * float(np.finfo(np.float64).eps) if charged else 0.0
    residual = problem.residual(lam, mu)
    size = residual.norm()
    if size == 0.0:
        return 0.0
    outputs = np.concatenate([np.linalg.norm(problem.rho[block], axis=1) for block in pair_blocks(problem.active)])
    reach = np.linalg.norm(problem.T, axis=1) * np.linalg.norm(problem.v) + outputs
    generator = reach + np.abs(problem.omega)  # at least ||g_i||
    scores = problem.score_sums(residual, mu)
    h = scores.s + scores.positive + gamma * generator * size
    h = np.maximum(h, 0.0)
    # <b, r> = ||r||^2 + <Ax, r>; the second term, small at the optimum, is summed from the scores: no cancellation.
    explained = float(lam @ scores.s) + scores.explained
    base = problem.base
    length = base.norm()
    reached = size**2 + explained - gamma * size * (size + length + 2.0 * float(lam @ generator))
    if np.isfinite(problem.cap):
        return max(0.0, (reached - (1.0 + gamma) * problem.cap * float(h.sum())) / size)
    of_base = problem.score_sums(base)
    least = of_base.s + of_base.negative - gamma * generator * length
    # With a wide kink tolerance <theta, g_i> may be negative for some Clarke weights; the estimate forgives rounding.
    if ((least <= 0) & (h > (0.0 if gamma else 1e-13 * reach * size))).any():
        return 0.0
    t = float(np.max(h[least > 0] / least[least > 0], initial=0.0))
    polar = Residual(
        hidden=residual.hidden - t * base.hidden,
        output=residual.output - t * base.output,
        row=residual.row - t * base.row,
    )
    shifted = polar.norm()
    return 0.0 if shifted == 0.0 else max(0.0, (reached - (1.0 + gamma) * t * length**2) / ((1.0 + gamma) * shifted))
