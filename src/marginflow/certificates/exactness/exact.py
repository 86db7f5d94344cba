r"""The same certificate in ball arithmetic: what it says is then a proof.

Parameters and samples in double precision are dyadic rationals, so their margins, residuals and norms are exact
numbers that balls of 256 bits enclose to 70 digits. "Stationarity at most epsilon" is then a theorem about them. A kink
of a float network is hardly ever exactly 0; the theorem therefore names the largest relative distance of a pair whose
Clarke weight is not its hard 0/1 pattern. Closed forms with square roots are given as balls; then these distances, too,
shrink with the precision.

That an *exact* KKT point lies close by is proved in `existence.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from marginflow.arrays import real_number, whole_number
from marginflow.certificates.certificate import DEFAULT_TOLERANCE, Certificate
from marginflow.certificates.exactness.balls import Ball, ball, ball_matrix, lower, precision, root, upper
from marginflow.data import Dataset
from marginflow.display import Brief
from marginflow.errors import InputError
from marginflow.networks import TwoLayer
from marginflow.plain import Plain

Outcome = Literal["proved", "refuted", "open"]

DEFAULT_BITS = 256


@dataclass(frozen=True, eq=False, kw_only=True)
class BallPoint(Brief):
    """A network and its samples as numbers, fractions (`flint.fmpq`) or balls (`flint.arb`).

    Attributes
    ----------
    A : nested sequence, shape (k, D)
        Rows (w_j, b_j), or w_j without bias.
    v : sequence, shape (k,)
    T : nested sequence, shape (n, D)
        Rows (x_i, 1), or x_i without bias.
    y : sequence of +1 and -1
    outputs : "trained" or "frozen"
    """

    A: Sequence[Sequence[Any]]
    v: Sequence[Any]
    T: Sequence[Sequence[Any]]
    y: Sequence[int]
    outputs: Literal["trained", "frozen"] = "trained"

    @classmethod
    def from_floats(cls, network: TwoLayer, data: Dataset) -> BallPoint:
        """The exact dyadic numbers that the floats are."""
        tail = [] if network.b is None else [1.0]
        return cls(
            A=network.augmented.tolist(),
            v=network.v.tolist(),
            T=[[*row, *tail] for row in data.X.tolist()],
            y=[int(label) for label in data.y],
            outputs=network.outputs,
        )


@dataclass(frozen=True, kw_only=True)
class ExactCertificate(Brief, Plain):
    """Rigorous bounds of every KKT condition at exactly the given numbers.

    The network is rescaled to margin 1 exactly - the formulas are free of scale - so primal feasibility holds
    once `least_margin` is positive.

    Attributes
    ----------
    stationarity, complementarity, dual_feasibility, kink_distance : (float, float)
        Lower and upper bound of each violation, the lower one rounded down and the upper one up. `kink_distance` is
        the largest |pre_ij| / (||(w_j, b_j)|| ||(x_i, 1)||) of a pair with lambda_i > 0 whose Clarke weight differs
        from the hard pattern.
    least_margin : float
        Lower bound of min_i y_i N(x_i) as given.
    norm_identity : float
        Upper bound of |degree * sum_i lambda_i q_i / ||theta||^2 - 1|.
    bits : int
    """

    plain_names = (
        *("outcome", "tolerance", "stationarity", "complementarity", "dual_feasibility", "kink_distance"),
        *("least_margin", "norm_identity", "bits"),
    )

    stationarity: tuple[float, float]
    complementarity: tuple[float, float]
    dual_feasibility: tuple[float, float]
    kink_distance: tuple[float, float]
    least_margin: float
    norm_identity: float
    bits: int

    @property
    def tolerance(self) -> float:
        """At which `outcome` and `holds` judge unless another is given."""
        return DEFAULT_TOLERANCE

    def outcome(self, tolerance: float = DEFAULT_TOLERANCE) -> Outcome:
        """Proved: every violation is at most `tolerance`. Refuted: one exceeds it. Open: the balls are too wide."""
        tolerance = real_number("tolerance", tolerance, at_least=0.0)
        violations = (self.stationarity, self.complementarity, self.dual_feasibility, self.kink_distance)
        if self.least_margin > 0 and all(high <= tolerance for _, high in violations):
            return "proved"
        if any(low > tolerance for low, _ in violations):
            return "refuted"
        return "open"

    def holds(self, tolerance: float = DEFAULT_TOLERANCE) -> bool:
        """Whether it is proved that these multipliers satisfy the KKT conditions up to `tolerance`."""
        return self.outcome(tolerance) == "proved"

    def __bool__(self) -> bool:
        raise InputError("A ExactCertificate is neither true nor false; ask .holds(tolerance) or .outcome(tolerance).")

    def __str__(self) -> str:
        return (
            f"Exact certificate ({self.bits} bits): {self.outcome()} at {DEFAULT_TOLERANCE:.0e}. "
            f"Stationarity <= {self.stationarity[1]:.2e}, complementarity <= {self.complementarity[1]:.2e}, "
            f"multipliers off by <= {self.dual_feasibility[1]:.2e}, kinks off by <= {self.kink_distance[1]:.2e}, "
            f"least margin >= {self.least_margin:.6g}."
        )


def certify_exact(certificate: Certificate, data: Dataset, *, bits: int = DEFAULT_BITS) -> ExactCertificate:
    """Judge the multipliers of a certificate in ball arithmetic, at the very floats that it holds.

    Parameters
    ----------
    certificate : Certificate
        Of a hard margin. Its multipliers and Clarke weights are taken as they are: nothing is optimised here.
    data : Dataset
        The data it was made for.
    bits : int
        Working precision.

    Returns
    -------
    ExactCertificate
    """
    if certificate.penalty is not None:
        raise InputError("The exact certificate is for the hard margin; this certificate has a penalty.")
    if certificate.clarke.shape != (data.n_samples, certificate.network.width):
        raise InputError(
            f"The certificate is for {certificate.clarke.shape[0]} samples; the data have {data.n_samples}."
        )
    point = BallPoint.from_floats(certificate.network, data)
    return certify_balls(point, certificate.multipliers.tolist(), certificate.clarke.tolist(), bits=bits)


def certify_balls(
    point: BallPoint, multipliers: Sequence[Any], clarke: Sequence[Sequence[Any]], *, bits: int = DEFAULT_BITS
) -> ExactCertificate:
    r"""Enclose every KKT condition of a point given by numbers, fractions or balls.

    .. math:: \frac{\|\theta - \sum_i \lambda_i y_i \partial N(x_i)\|}{\|\theta\|}, \qquad
              \frac{p \sum_i \lambda_i (q_i - \min_l q_l)}{\|\theta\|^2}, \qquad q_i = y_i N(x_i)

    Both are what they are at margin 1, for the multipliers that belong to that scale, without a root being taken.

    Parameters
    ----------
    point : BallPoint
    multipliers : sequence, shape (n,)
        lambda of the point at the scale at which it is given.
    clarke : nested sequence, shape (n, k)
        Derivatives of the ReLU, in [0, 1].
    bits : int
        Working precision.

    Returns
    -------
    ExactCertificate
    """
    bits = whole_number("bits", bits, minimum=64)
    n, k = len(point.T), len(point.A)
    if len(multipliers) != n or len(clarke) != n or any(len(row) != k for row in clarke):
        raise InputError(f"{n} multipliers and ({n}, {k}) Clarke weights are expected.")
    with precision(bits) as flint:
        zero = flint.arb(0)
        A, T = ball_matrix(flint, point.A), ball_matrix(flint, point.T)
        D = A.ncols()
        v = [ball(flint, value) for value in point.v]
        lam = [ball(flint, value) for value in multipliers]
        c = [[ball(flint, value) for value in row] for row in clarke]
        pre = T * A.transpose()
        relu = [[pre[i, j].nonnegative_part() for j in range(k)] for i in range(n)]
        q = [point.y[i] * sum((v[j] * relu[i][j] for j in range(k)), zero) for i in range(n)]
        least = q[0]
        for value in q[1:]:
            least = least.min(value)
        trained = point.outputs == "trained"
        degree = 2 if trained else 1
        norm2 = sum((value * value for value in A.entries()), zero)
        if trained:
            norm2 += sum((value * value for value in v), zero)
        # (w_j, b_j) = v_j sum_i y_i lambda_i c_ij xt_i   and   v_j = sum_i y_i lambda_i relu(pre_ij)
        M = flint.arb_mat(k, n, [point.y[i] * lam[i] * c[i][j] for j in range(k) for i in range(n)])
        G = M * T
        squares = zero
        for j in range(k):
            for r in range(D):
                e = A[j, r] - v[j] * G[j, r]
                squares += e * e
            if trained:
                e = v[j] - sum((point.y[i] * lam[i] * relu[i][j] for i in range(n)), zero)
                squares += e * e
        complementarity = degree * sum((lam[i] * (q[i] - least) for i in range(n)), zero) / norm2
        identity = degree * sum((lam[i] * q[i] for i in range(n)), zero) / norm2 - 1
        violation = _dual_violation(flint, lam, c)
        distance = _kink_distance(flint, A, T, pre, lam, c)
        stationarity = root(flint, squares / norm2)
        return ExactCertificate(
            stationarity=_interval(stationarity),
            complementarity=_interval(complementarity.nonnegative_part()),
            dual_feasibility=_interval(violation),
            kink_distance=_interval(distance),
            least_margin=lower(least),
            norm_identity=upper(abs(identity)),
            bits=bits,
        )


def _interval(value: Ball) -> tuple[float, float]:
    return max(0.0, lower(value)), upper(value)


def _dual_violation(flint: Any, lam: list[Ball], c: list[list[Ball]]) -> Ball:
    """How far lambda_i >= 0 and 0 <= c_ij <= 1 fail; lambda relative to the largest."""
    largest = flint.arb(0)
    worst = flint.arb(0)
    for value in lam:
        largest = largest.max(abs(value))
    for value in lam:
        if not value >= 0:
            worst = worst.max((-value).nonnegative_part() / largest)
    for row in c:
        for value in row:
            if not (value >= 0 and value <= 1):
                worst = worst.max((-value).nonnegative_part()).max((value - 1).nonnegative_part())
    return worst


def _kink_distance(flint: Any, A: Any, T: Any, pre: Any, lam: list[Ball], c: list[list[Ball]]) -> Ball:
    """The largest relative distance to a kink among the pairs whose Clarke weight is not the hard pattern."""
    n, k, D = T.nrows(), A.nrows(), A.ncols()
    sizes = [sum((A[j, r] * A[j, r] for r in range(D)), flint.arb(0)).sqrt() for j in range(k)]
    lengths = [sum((T[i, r] * T[i, r] for r in range(D)), flint.arb(0)).sqrt() for i in range(n)]
    worst = flint.arb(0)
    for i in range(n):
        if lam[i].is_zero():
            continue
        for j in range(k):
            hard = (pre[i, j] > 0 and c[i][j] == 1) or (pre[i, j] < 0 and c[i][j] == 0)
            if not hard and not pre[i, j].is_zero():
                worst = worst.max(abs(pre[i, j]) / (sizes[j] * lengths[i]))
    return worst
