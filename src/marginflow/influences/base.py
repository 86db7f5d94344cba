"""The limit that samples are left out of: the problem, and the structure of its point."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from marginflow.arrays import FloatArray, IntArray
from marginflow.certificates import Certificate, certify
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.limit import Limit, kkt_point
from marginflow.limit.budget import Budget, OutOfTimeError
from marginflow.limit.problem import Problem
from marginflow.limit.solver.newton import NewtonResult, Structure, newton
from marginflow.limit.solver.pairs import ACTIVE, INACTIVE, KINK
from marginflow.networks import TwoLayer


@dataclass(frozen=True, eq=False)
class Base:
    """The point with all samples.

    Attributes
    ----------
    data : Dataset
    network : TwoLayer
        As few neurons as the limit has directions, at margin 1.
    certificate : Certificate
        Of that network.
    penalty : float
        Infinite for the hard margin.
    problem : Problem
        Its rows are samples `problem.order` of the data.
    point : NewtonResult or None
        The same point by Newton's method, with its structure; None where the method does not end there.
    """

    data: Dataset
    network: TwoLayer
    certificate: Certificate
    penalty: float
    problem: Problem
    point: NewtonResult | None

    @classmethod
    def of(cls, limit: Limit, data: Dataset, budget: Budget) -> Base:
        """Read the structure off the limit, and let Newton's method confirm it."""
        network = limit.compact
        if network.dimension != data.dimension or len(limit.certificate.multipliers) != data.n_samples:
            raise InputError(
                f"The limit belongs to {len(limit.certificate.multipliers)} samples of dimension {network.dimension}, "
                f"the data hold {data.n_samples} of dimension {data.dimension}; the data of the limit are expected."
            )
        if network.outputs != "trained":
            raise InputError("The outputs of the limit are frozen; influence is computed for trained outputs.")
        if not limit.exact:
            raise InputError(f"The limit is not exact, so nothing can be said about its samples: {limit.status}")
        return cls.at(network, data, limit.certificate.penalty, budget)

    @classmethod
    def at(cls, network: TwoLayer, data: Dataset, penalty: float | None, budget: Budget) -> Base:
        """The same of a network that is a KKT point of the data."""
        certificate = certify(network, data, penalty=penalty, time_limit=budget.time_limit)
        C = np.inf if penalty is None else penalty
        problem = Problem.of(data.X, data.y, bias=network.b is not None, penalty=C)
        guess = _structure(certificate, problem)
        confirmed = newton(problem, guess, frozen=False, damping=0.0, inertia=0.0, deadline=budget.deadline)
        same = confirmed.converged and abs(float(confirmed.lam.sum()) / float(guess.lam.sum()) - 1.0) < _SAME
        base = cls(data, network, certificate, C, problem, confirmed if same else None)
        if not same:
            return base
        # The point of Newton's method, whose multipliers are zero where those of the certificate are rounding.
        judged = base.judged(confirmed, problem, data)
        if judged.residuals.largest > max(certificate.residuals.largest, ROUNDING):
            return base
        return replace(base, network=judged.network, certificate=judged)

    @property
    def soft_penalty(self) -> float | None:
        """The penalty as the doors take it: None for the hard margin."""
        return None if np.isinf(self.penalty) else self.penalty

    @property
    def multipliers(self) -> FloatArray:
        """lambda (n,) in the order of the data."""
        return self.certificate.multipliers

    @property
    def residual(self) -> float:
        """The largest of the certificate's numbers."""
        return self.certificate.residuals.largest

    def without(self, rows: IntArray) -> tuple[Problem, IntArray]:
        """The problem of the samples that are not in `rows` (rows of `problem`), in the same coordinates, and its rows.

        Newton's method needs no coordinates that diagonalise X^T X.
        """
        kept = np.setdiff1d(np.arange(self.problem.n_samples), rows)
        p = self.problem
        smaller = replace(p, X=p.X[kept], y=p.y[kept], order=p.order[kept])
        return smaller, kept

    @cached_property
    def near(self) -> IntArray:
        """Rows of `problem` that may come to the margin: those on it, and about as many again of the least margin.

        Samples beyond the margin have lambda_i = 0 and occur in no other condition (`limit.starts.working_set`).
        """
        margins, lam = self.certificate.margins[self.problem.order], self.multipliers[self.problem.order]
        count = min(_NEAR * int((lam > 0).sum()) + _AT_LEAST, len(lam))
        return np.union1d(np.flatnonzero(lam > 0), np.argsort(margins, kind="stable")[:count])

    def on(self, rows: IntArray) -> Base:
        """The same point on some rows of `problem`, among them all with a multiplier."""
        p, at = self.problem, self.point
        assert at is not None
        part = replace(p, X=p.X[rows], y=p.y[rows], order=p.order[rows])
        structure = None if at.structure is None else at.structure.on(rows)
        return replace(self, problem=part, point=replace(at, lam=at.lam[rows], mu=at.mu[rows], structure=structure))

    def judged(self, found: NewtonResult, problem: Problem, data: Dataset) -> Certificate:
        """The certificate of a point of such a problem, by its own multipliers; rows are samples of these data."""
        bias, back = self.network.b is not None, np.argsort(problem.order)
        network = TwoLayer.from_directions(problem.ambient(found.U), found.s, bias=bias)
        given = (found.lam[back], found.mu[back])
        return certify(network, data, penalty=self.soft_penalty, multipliers=given, as_given=True)


# Sums of multipliers that differ by more belong to different points.
_SAME = 1e-6
# Samples that a path looks at: twice those on the margin, and some. What lies beyond is looked at when it has arrived.
_NEAR, _AT_LEAST = 2, 50


def solved_again(base: Base, data: Dataset, budget: Budget) -> Limit:
    """The point of other data that the polish reaches from the base; an `OutOfTimeError` once time is over."""
    budget.check()
    penalty, seconds = base.soft_penalty, budget.time_limit
    near: Limit = kkt_point(data, start=base.network, flow_steps=0, penalty=penalty, time_limit=seconds)
    if near.stopped_by == "time limit":
        raise OutOfTimeError
    return near


def _structure(certificate: Certificate, problem: Problem) -> Structure:
    """What is discrete about a network that is a KKT point, in the order of the problem."""
    network, order = certificate.network, problem.order
    U = problem.reduced(network.directions)
    by_sign = np.argsort(-network.signs, kind="stable")
    U, s = U[by_sign], network.signs[by_sign]
    clarke, kinks = certificate.clarke[order][:, by_sign], certificate.kinks[order][:, by_sign]
    lam, margins = certificate.multipliers[order], certificate.margins[order]
    carries = lam > 0.0
    opposite = problem.y[:, None] * s < 0
    held = kinks & opposite & carries[:, None]
    Z = problem.X @ U.T
    state = np.where(Z > 0, ACTIVE, INACTIVE)
    inside = held & (clarke > ROUNDING) & (clarke < 1.0 - ROUNDING)
    state = np.where(held, np.where(clarke >= 0.5, ACTIVE, INACTIVE), state)
    state = np.where(inside, KINK, state)
    support = lam > ROUNDING * lam.max()
    capped = support & (margins < 1.0 - ROUNDING) if np.isfinite(problem.penalty) else np.zeros(len(lam), dtype=bool)
    return Structure(s, state, support & ~capped, capped, lam, np.linalg.norm(U, axis=1))


# Clarke weights, multipliers and missing margins below this are zero.
ROUNDING = 1e-8
