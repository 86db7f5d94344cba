r"""A proof that an exact KKT point lies close to a network: Krawczyk's test of the KKT equations, pattern frozen.

Unknowns are lambda_i on the support S, a scale a_j = ||u_j|| per neuron and mu_ij on the kinks K. With
e_j = s_j sum_i y_i m_ij xt_i, m_ij = lambda_i on active pairs and mu_ij on kinks, and u_j = a_j e_j, the equations are

    y_i sum_{j active on i} s_j a_j (xt_i . e_j) = 1   (i in S),     ||e_j||^2 = 1,     xt_i . e_j = 0   ((i, j) in K),

as many as there are unknowns. (Frozen outputs: a_j = v_j^2 is known and the second set is absent.) If Krawczyk's
operator maps a box into its interior, the box holds exactly one solution; if on the whole box multipliers, weights,
pre-activations and the other margins keep the right strict signs, that solution is a KKT point. Both are checked in
ball arithmetic, so "proved" is a proof.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from marginflow.arrays import whole_number
from marginflow.certificates.certificate import DEFAULT_TOLERANCE, Certificate
from marginflow.certificates.exactness.balls import ball, ball_matrix, lower, precision, root, upper
from marginflow.certificates.kkt import certify
from marginflow.data import Dataset
from marginflow.display import Brief
from marginflow.errors import InputError
from marginflow.networks import TwoLayer
from marginflow.networks.evaluation import augmented_samples
from marginflow.plain import Plain

_MOST_UNKNOWNS = 1500
_MOST_UNKNOWNS_IN_BALLS = 400
_NEWTON_STEPS = 12


@dataclass(frozen=True, kw_only=True)
class KKTProof(Brief, Plain):
    """Whether an exact KKT point was proved to exist near a network.

    Attributes
    ----------
    proved : bool
    reason : str
        What was shown, or which step failed.
    distance : float or None
        Upper bound of ||theta* - theta|| / ||theta||, theta the network at margin 1 with parallel neurons merged.
    radius : float or None
        The box has this half-width in every unknown; the solution in it is unique.
    contraction : float or None
        Upper bound of the norm of I - Y J over the box; below 1 in a proof.
    unknowns : int
    smallest_slack : float or None
        The smallest of the strict inequalities over the box, relative to the scale of its kind.
    """

    proved: bool
    reason: str
    distance: float | None = None
    radius: float | None = None
    contraction: float | None = None
    unknowns: int = 0
    smallest_slack: float | None = None

    def __bool__(self) -> bool:
        raise InputError("A KKTProof is neither true nor false; ask .proved.")

    def __str__(self) -> str:
        return f"{'Proved' if self.proved else 'Not proved'}: {self.reason}"


def prove_kkt_point(
    network: TwoLayer, data: Dataset, *, bits: int = 192, tolerance: float = DEFAULT_TOLERANCE
) -> KKTProof:
    """Try to prove that an exact KKT point of the max-margin problem lies close to `network`.

    Works where the KKT point is isolated and strict: every Clarke weight inside (0, 1), every multiplier on the margin
    positive. Parallel neurons are merged and zero neurons dropped first; a KKT point stays one when its neurons are
    split or zero neurons are added.

    Parameters
    ----------
    network : TwoLayer
    data : Dataset
        Up to about 100 samples: the cost is cubic in the number of unknowns.
    bits : int
        Working precision.
    tolerance : float
        The certificate that supplies the pattern must hold at this tolerance.

    Returns
    -------
    KKTProof
    """
    bits = whole_number("bits", bits, minimum=64)
    certificate = certify(network.compact(tolerance=1e-9), data)
    if not certificate.holds(tolerance):
        return KKTProof(proved=False, reason=f"the certificate in floating point does not hold at {tolerance:.0e}.")
    system = _System(certificate, data)
    if system.size > _MOST_UNKNOWNS:
        return KKTProof(
            proved=False, reason=f"{system.size} unknowns are more than {_MOST_UNKNOWNS}.", unknowns=system.size
        )
    proof = KKTProof(proved=False, reason="the Jacobian of the KKT equations is singular.", unknowns=system.size)
    # The inverse in floats first; in balls, if it was not good enough and that does not take too long.
    inverses = (_inverse_by_floats, _inverse_by_balls)[: 1 if system.size > _MOST_UNKNOWNS_IN_BALLS else 2]
    with precision(bits) as flint:
        for invert in inverses:
            x = [flint.arb(value) for value in system.start.tolist()]
            Y = invert(flint, system.jacobian(flint, x))
            if Y is not None:
                proof = _krawczyk(flint, system, x, Y)
            if proof.proved or proof.smallest_slack is not None:
                break
    return proof


class _System:
    """The frozen pattern and the starting values."""

    def __init__(self, certificate: Certificate, data: Dataset) -> None:
        net = certificate.network
        self.live = np.flatnonzero(certificate.live)
        self.rows = np.flatnonzero(certificate.support)
        self.others = np.flatnonzero(~certificate.support)
        T = augmented_samples(data.X, bias=net.b is not None)
        self.T, self.T_others = T[self.rows], T[self.others]
        self.y, self.y_others = data.y[self.rows].astype(int).tolist(), data.y[self.others].astype(int).tolist()
        self.signs = np.sign(net.v[self.live]).astype(int).tolist()
        self.kink = certificate.kinks[np.ix_(self.rows, self.live)]
        self.active = (certificate.clarke[np.ix_(self.rows, self.live)] == 1.0) & ~self.kink
        self.pairs = [(int(i), int(j)) for i, j in np.argwhere(self.kink)]
        self.trained = net.outputs == "trained"
        self.A, self.v = net.augmented[self.live], net.v[self.live]
        lam = certificate.multipliers[self.rows]
        mu = certificate.mu[np.ix_(self.rows, self.live)]
        scales = np.abs(self.v) * np.linalg.norm(self.A, axis=1) if self.trained else np.zeros(0)
        self.start = np.concatenate([lam, scales, [mu[pair] for pair in self.pairs]])
        self.size = self.start.size
        # Which unknown is m_ij, neuron by neuron: pairs of its position and the sample.
        self.of_kinks: list[list[tuple[int, int]]] = [[] for _ in self.live]
        for position, (i, j) in enumerate(self.pairs, start=self.rows.size + scales.size):
            self.of_kinks[j].append((position, i))
        self.of_neuron = [
            [(i, i) for i in np.flatnonzero(column).tolist()] + of_kinks
            for column, of_kinks in zip(self.active.T, self.of_kinks, strict=True)
        ]

    def at(self, flint: Any, x: list[Any]) -> tuple[list[Any], list[Any], list[Any], Any, Any]:
        """lambda, a and mu out of the unknowns, the rows e_j = s_j sum_i y_i m_ij xt_i, and all xt_i . e_j."""
        n, k = self.active.shape
        scales = x[n : n + k] if self.trained else [ball(flint, value) ** 2 for value in self.v.tolist()]
        M = flint.arb_mat(k, n)
        for j, unknowns in enumerate(self.of_neuron):
            for position, i in unknowns:
                M[j, i] = self.signs[j] * self.y[i] * x[position]
        T = ball_matrix(flint, self.T.tolist())
        E = M * T
        return x[:n], scales, x[self.size - len(self.pairs) :], E, T * E.transpose()

    def equations(self, flint: Any, x: list[Any]) -> list[Any]:
        """The left sides minus the right sides, enclosed."""
        n, k = self.active.shape
        _, scales, _, E, Z = self.at(flint, x)
        out = []
        for i in range(n):
            total = flint.arb(0)
            for j in np.flatnonzero(self.active[i]).tolist():
                total += self.signs[j] * self.y[i] * scales[j] * Z[i, j]
            out.append(total - 1)
        if self.trained:
            out.extend(sum((E[j, r] * E[j, r] for r in range(E.ncols())), flint.arb(-1)) for j in range(k))
        out.extend(Z[i, j] for i, j in self.pairs)
        return out

    def jacobian(self, flint: Any, x: list[Any]) -> Any:
        """The matrix of partial derivatives, enclosed over the box x."""
        n, k = self.active.shape
        _, scales, _, _, Z = self.at(flint, x)
        T = ball_matrix(flint, self.T.tolist())
        G = T * T.transpose()
        act = flint.arb_mat(n, k, [int(value) for value in self.active.ravel()])
        weighted = flint.arb_mat(n, k, [act[i, j] * scales[j] for i in range(n) for j in range(k)])
        shared = weighted * act.transpose()
        sign, y = self.signs, self.y
        J = flint.arb_mat(self.size, self.size)
        for i in range(n):
            for m in range(n):
                J[i, m] = y[i] * y[m] * G[i, m] * shared[i, m]
            for j in np.flatnonzero(self.active[i]).tolist():
                if self.trained:
                    J[i, n + j] = sign[j] * y[i] * Z[i, j]
                for column, m in self.of_kinks[j]:
                    J[i, column] = y[i] * y[m] * scales[j] * G[i, m]
        for j in range(k):
            for column, m in self.of_neuron[j]:
                if self.trained:
                    J[n + j, column] = 2 * sign[j] * y[m] * Z[m, j]
                for row, i in self.of_kinks[j]:
                    J[row, column] = sign[j] * y[m] * G[i, m]
        return J


def _inverse_by_floats(flint: Any, J: Any) -> Any:
    """An approximate inverse of the midpoint; equations and unknowns are scaled, since their units differ."""
    middle = np.array([float(value.mid()) for value in J.entries()]).reshape(J.nrows(), J.ncols())
    row = 1.0 / np.maximum(np.abs(middle).max(axis=1), np.finfo(float).tiny)
    column = 1.0 / np.maximum(np.abs(row[:, None] * middle).max(axis=0), np.finfo(float).tiny)
    try:
        inverse = np.linalg.inv(row[:, None] * middle * column)
    except np.linalg.LinAlgError:
        return None
    return ball_matrix(flint, (column[:, None] * inverse * row).tolist())


def _inverse_by_balls(flint: Any, J: Any) -> Any:
    """The same with all bits, for samples that nearly coincide; slow."""
    try:
        return J.mid().inv().mid()
    except ZeroDivisionError:
        return None


def _krawczyk(flint: Any, system: _System, x: list[Any], Y: Any) -> KKTProof:
    size = system.size
    target = 2.0 ** (-flint.ctx.prec // 2)
    for _ in range(_NEWTON_STEPS):
        step = (Y * flint.arb_mat(size, 1, system.equations(flint, x))).entries()
        x = [(value - change).mid() for value, change in zip(x, step, strict=True)]
        newton = max(upper(abs(change)) for change in step)
        if not newton < 1e100:
            return KKTProof(proved=False, reason="Newton's method on the KKT equations diverges.", unknowns=size)
        if newton < target:
            break
    # Krawczyk: K(X) = x - Y F(x) + (I - Y J(X)) (X - x) must lie in the interior of X = x +- radius.
    step = (Y * flint.arb_mat(size, 1, system.equations(flint, x))).entries()
    newton = max(upper(abs(change)) for change in step)
    radius = max(4.0 * newton, target)
    box = [value + flint.arb(0, radius) for value in x]
    product = Y * system.jacobian(flint, box)
    contraction = 0.0
    for i in range(size):
        row = sum((abs((1 if i == j else 0) - product[i, j]) for j in range(size)), flint.arb(0))
        contraction = max(contraction, upper(row))
    inside = upper(flint.arb(newton) + flint.arb(contraction) * flint.arb(radius)) < radius
    failed = f"Krawczyk's test fails (contraction {contraction:.1e}); the KKT point may not be isolated."
    proof = KKTProof(proved=False, reason=failed, radius=radius, contraction=contraction, unknowns=size)
    if not inside:
        return proof
    slack, failed = _inequalities(flint, system, box)
    proof = replace(proof, reason=failed, smallest_slack=slack)
    if failed:
        return proof
    distance = _distance(flint, system, box)
    proved = f"an exact KKT point lies within relative distance {distance:.1e} of the network."
    return replace(proof, proved=True, reason=proved, distance=distance)


def _inequalities(flint: Any, system: _System, box: list[Any]) -> tuple[float, str]:
    """The smallest relative slack of the strict inequalities over the box, and the first that fails."""
    lam, scales, mu, E, Z = system.at(flint, box)
    top = max(upper(value) for value in lam)
    length = max(float(np.linalg.norm(system.T, axis=1).max()), np.finfo(float).tiny)
    checks: list[tuple[float, str]] = [(lower(value) / top, "a multiplier is not positive") for value in lam]
    if system.trained:
        checks += [(lower(value) / upper(value), "the scale of a neuron is not positive") for value in scales]
    for (i, _), value in zip(system.pairs, mu, strict=True):
        checks.append((lower(value) / top, "a Clarke weight is not above 0"))
        checks.append((lower(lam[i] - value) / top, "a Clarke weight is not below 1"))
    n, k = system.active.shape
    for i in range(n):
        for j in range(k):
            if not system.kink[i, j]:
                signed = Z[i, j] if system.active[i, j] else -Z[i, j]
                checks.append((lower(signed) / length, "a pre-activation may change its sign"))
    if system.others.size:
        Z = ball_matrix(flint, system.T_others.tolist()) * E.transpose()
        for i, label in enumerate(system.y_others):
            q = sum((system.signs[j] * scales[j] * Z[i, j].nonnegative_part() for j in range(k)), flint.arb(0))
            checks.append((lower(label * q - 1), "a sample without a multiplier may lie below the margin"))
    slack, reason = min(checks)
    return slack, "" if slack > 0 else f"{reason} (slack {slack:.1e}); the KKT point is not strict."


def _distance(flint: Any, system: _System, box: list[Any]) -> float:
    """Upper bound of ||theta* - theta|| / ||theta|| for the balanced theta* of the box."""
    _, scales, _, E, _ = system.at(flint, box)
    A = ball_matrix(flint, system.A.tolist())
    squares, norm2 = flint.arb(0), flint.arb(0)
    for j, v in enumerate(system.v.tolist()):
        length = scales[j].sqrt()
        for r in range(E.ncols()):
            change = length * E[j, r] - A[j, r]
            squares += change * change
            norm2 += A[j, r] * A[j, r]
        if system.trained:
            change = system.signs[j] * length - ball(flint, v)
            squares += change * change
            norm2 += ball(flint, v) ** 2
    return upper(root(flint, squares / norm2))
