r"""Is a KKT point a local minimum of the max-margin problem?

Write u_j = |v_j| (w_j, b_j). Near theta the problem is min sum_j ||u_j|| with constraints that are linear in u on
each cell of the kinks, so theta is a local minimum exactly when it is stationary on each cell. A kink whose label
is opposite to the neuron's sign bends the constraint concavely, and Clarke stationarity is all that is needed. A
kink of the same label bends it convexly: both of its branches - weight 0 and weight 1 - need multipliers of their
own. So

* no sample with lambda_i > 0 on a kink of its own label, and no zero neuron: local minimum;
* a branch that no multipliers explain: its residual is a descent direction;
* zero neurons need sup |F| <= 1, which is decided exactly in augmented dimension two. [KYS23, Def.LocMin]
"""

import itertools
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from marginflow.arrays import BoolArray, FloatArray, real_number
from marginflow.certificates.certificate import DEFAULT_TOLERANCE, Certificate
from marginflow.certificates.kkt import certify, clarke_weights, stationarity_problem
from marginflow.certificates.minimality.descent import DescentDirection, Direction, exhibit
from marginflow.certificates.minimality.dual_function import DualSupremum, supremum
from marginflow.certificates.multipliers.best import best_multipliers
from marginflow.certificates.multipliers.box_quadratic import solve_ridged
from marginflow.certificates.multipliers.elimination import EliminatedKinks
from marginflow.certificates.pattern import recognise
from marginflow.data import Dataset
from marginflow.display import Brief
from marginflow.errors import InputError
from marginflow.networks import TwoLayer
from marginflow.networks.evaluation import augmented_samples
from marginflow.plain import Plain

Verdict = Literal["local minimum", "not a local minimum", "undecided"]

_ALL_BRANCHES = 6  # up to this many repelling kinks every combination of branches is tried
_SOME_BRANCHES = 12


@dataclass(frozen=True, eq=False, kw_only=True)
class Minimality(Brief, Plain):
    """The verdict, its reason, and the evidence.

    Attributes
    ----------
    verdict : "local minimum", "not a local minimum" or "undecided"
    reason : str
    certificate : Certificate
        Of the KKT conditions; the verdict is about the point it identifies, up to its tolerance.
    repelling : bool array, shape (n, k)
        Kinks of the same label whose sample carries a multiplier.
    zero_neurons : int
    supremum : Supremum or None
        Bounds of sup |F|; None when outputs are frozen. With upper <= 1 the point is a global minimum, and in any case
        the least ||theta||^2 is at least ||theta||^2 / upper.
    descent : Descent or None
        A feasible network close by with a smaller norm, when the verdict is "not a local minimum".
    """

    plain_names = (
        *("verdict", "reason", "global_minimum", "repelling_kinks", "zero_neurons"),
        *("dual_supremum_lower", "dual_supremum_upper", "descent"),
    )

    verdict: Verdict
    reason: str
    certificate: Certificate
    repelling: BoolArray
    zero_neurons: int
    supremum: DualSupremum | None
    descent: DescentDirection | None

    @property
    def repelling_kinks(self) -> int:
        """How many there are."""
        return int(self.repelling.sum())

    @property
    def dual_supremum_lower(self) -> float | None:
        """Lower bound of sup |F|."""
        return None if self.supremum is None else self.supremum.lower

    @property
    def dual_supremum_upper(self) -> float | None:
        """Upper bound of sup |F|."""
        return None if self.supremum is None else self.supremum.upper

    @property
    def global_minimum(self) -> bool:
        """Whether the dual function proves that no network of any width has a smaller norm."""
        return (
            self.supremum is not None
            and self.verdict == "local minimum"
            and self.supremum.upper <= 1.0 + DEFAULT_TOLERANCE
        )

    def __bool__(self) -> bool:
        raise InputError("A Minimality is neither true nor false; ask .verdict.")

    def __str__(self) -> str:
        line = f"{self.verdict}: {self.reason}"
        if self.descent is not None:
            line += (
                f" A feasible network at relative distance {self.descent.distance:.1e} has ||theta||^2 smaller by "
                f"{100 * self.descent.decrease:.2g} %."
            )
        return line


def minimality(
    network: TwoLayer, data: Dataset, *, certificate: Certificate | None = None, tolerance: float = DEFAULT_TOLERANCE
) -> Minimality:
    """Decide whether a network is a local minimum of the max-margin problem.

    Parameters
    ----------
    network : TwoLayer
        Rescaled to margin 1 first; it must separate the data.
    data : Dataset
    certificate : Certificate or None
        Of this network and these data, if at hand.
    tolerance : float
        A point counts as a KKT point when its certificate holds at `tolerance`; neurons smaller than `tolerance`
        ||theta|| count as zero.

    Returns
    -------
    Minimality
    """
    tolerance = real_number("tolerance", tolerance, above=0.0, below=1.0)
    judged = certify(network, data) if certificate is None else certificate
    if judged.penalty is not None:
        raise InputError("Minimality is decided for the hard margin; the certificate has a penalty.")
    if judged.status == "does not separate":
        raise InputError("The network does not separate the data; only a feasible point can be a local minimum.")
    judge = _Judge(judged, data, tolerance)
    if not judged.holds(tolerance):
        return judge.not_stationary()
    by_kinks = judge.repelled() if judge.repelling.any() else judge.attracted()
    if by_kinks.verdict == "not a local minimum" or not judge.zero.any():
        return by_kinks
    by_growth = judge.with_zero_neurons()
    return by_kinks if by_growth.verdict == "local minimum" else by_growth


class _Judge:
    """One decision: the point, its patterns, and the tests that end in an answer."""

    def __init__(self, certificate: Certificate, data: Dataset, tolerance: float) -> None:
        self.certificate, self.data, self.tolerance = certificate, data, tolerance
        self.network = net = certificate.network
        self.pattern, self.Z = recognise(net, data.X, certificate.kink_report.tolerance)
        self.T = augmented_samples(data.X, bias=net.b is not None)
        sizes = np.sqrt(np.linalg.norm(net.augmented, axis=1) ** 2 + (net.v**2 if net.outputs == "trained" else 0.0))
        # A frozen neuron with v_j = 0 influences nothing and does not count as a zero neuron, which could grow.
        self.zero = (sizes <= tolerance * np.sqrt(net.norm_squared())) & ((net.v != 0) | (net.outputs == "trained"))
        lam = certificate.multipliers
        same = data.y[:, None] * net.v > 0
        carrying = lam > tolerance * lam.max()
        self.repelling = self.pattern.kink & same & carrying[:, None] & ~self.zero
        self.supremum: DualSupremum | None = None
        if net.outputs == "trained":
            hints = net.augmented[~self.zero]
            self.supremum = supremum(self.T, lam * data.y, hints, search=bool(self.zero.any()))

    def answer(self, verdict: Verdict, reason: str, descent: DescentDirection | None = None) -> Minimality:
        return Minimality(
            verdict=verdict,
            reason=reason,
            certificate=self.certificate,
            repelling=self.repelling,
            zero_neurons=int(self.zero.sum()),
            supremum=self.supremum,
            descent=descent,
        )

    def _residual_direction(self, lam: FloatArray, clarke: FloatArray) -> Direction:
        """Minus the residual of the best multipliers: no margin falls along it to first order, and the norm does."""
        net, y = self.network, self.data.y
        hidden = net.augmented - net.v[:, None] * (((y * lam)[:, None] * clarke).T @ self.T)
        trained = net.outputs == "trained"
        output = net.v - np.maximum(self.Z, 0.0).T @ (y * lam) if trained else np.zeros(net.width)
        return Direction(A=-hidden, v=-output)

    def not_stationary(self) -> Minimality:
        """Every local minimum is a KKT point, for <theta, d(y_i N(x_i))> > 0 is a constraint qualification."""
        direction = self._residual_direction(self.certificate.multipliers, self.certificate.clarke)
        found = exhibit(self.network, self.data, direction, noise=0.0)
        if found is None:
            return self.answer(
                "undecided", f"not a KKT point at {self.tolerance:.0e}, but no descent was found either."
            )
        reason = f"the KKT conditions, necessary for a local minimum, fail (total {self.certificate.total:.1e})."
        return self.answer("not a local minimum", reason, found)

    def attracted(self) -> Minimality:
        """No kink repels: the multipliers at hand serve every cell."""
        rest = "and no neuron is zero." if not self.zero.any() else "and zero neurons cannot grow."
        return self.answer("local minimum", f"no sample with a multiplier sits on a kink of its own label, {rest}")

    def repelled(self) -> Minimality:
        """Try the branches of the kinks of the same label: each needs multipliers of its own."""
        rows, columns = np.nonzero(self.repelling)
        explained = True
        for branch in self._branches(self.certificate.clarke[rows, columns]):
            forced = np.zeros_like(self.repelling)
            forced[rows, columns] = branch
            pattern = replace(
                self.pattern, active=self.pattern.active | forced, kink=self.pattern.kink & ~self.repelling
            )
            problem = stationarity_problem(self.network, self.data, pattern, self.Z, cap=np.inf, weight=1.0)
            found = best_multipliers(problem)
            if found.size <= self.tolerance * problem.norm():
                other = pattern.kink & (self.data.y[:, None] * self.network.v > 0) & (found.lam[:, None] > 0)
                explained &= not other.any()
                continue
            direction = self._residual_direction(found.lam, clarke_weights(pattern, found.lam, found.mu))
            descent = exhibit(self.network, self.data, direction, noise=self.certificate.total)
            if descent is not None:
                i, j = int(rows[0]), int(columns[0])
                reason = (
                    f"{rows.size} kinks repel (the first: sample {i} on neuron {j}), and one of their branches has "
                    "no multipliers."
                )
                return self.answer("not a local minimum", reason, descent)
            explained = False
        if explained and rows.size <= _ALL_BRANCHES:
            return self.answer("local minimum", f"all branches of the {rows.size} repelling kinks have multipliers.")
        return self.answer("undecided", f"{rows.size} kinks repel, but no branch that was tried gives descent.")

    def _branches(self, weights: FloatArray) -> list[BoolArray]:
        count = weights.size
        if count <= _ALL_BRANCHES:
            return [np.array(branch, dtype=bool) for branch in itertools.product((False, True), repeat=count)]
        near = weights > 0.5
        flips = [near ^ (np.arange(count) == index) for index in np.argsort(-np.abs(weights - near))[:_SOME_BRANCHES]]
        return [~near, np.zeros(count, dtype=bool), np.ones(count, dtype=bool), *flips]

    def with_zero_neurons(self) -> Minimality:
        """A zero neuron may grow in any direction: trained outputs need |F| <= 1, frozen ones v_j F <= 0."""
        count = int(self.zero.sum())
        trained = self.network.outputs == "trained"
        lam, y = self.certificate.multipliers, self.data.y
        neuron = int(np.flatnonzero(self.zero)[0])
        threshold = 1.0 if trained else 0.0
        signs = (1.0, -1.0) if trained else (float(np.sign(self.network.v[neuron])),)
        highest = supremum(self.T, lam * y, self.network.augmented[~self.zero], signs=signs)
        if highest.upper <= threshold + self.tolerance:
            return self.answer("local minimum", f"the dual function stays at or below {threshold:g}.")
        if highest.lower <= threshold + self.tolerance:
            reason = f"{count} neurons are zero, and sup |F| is known only to lie in "
            return self.answer("undecided", reason + f"[{highest.lower:.4g}, {highest.upper:.4g}].")
        growth = self._growth(neuron, highest.sign, highest.direction)
        descent = exhibit(self.network, self.data, growth, noise=self.certificate.total)
        if descent is not None:
            reason = (
                f"{count} neurons are zero and can grow: the dual function reaches {highest.lower:.4g} > {threshold:g}."
            )
            return self.answer("not a local minimum", reason, descent)
        return self.answer("undecided", f"{count} neurons are zero, and growing one gave no descent.")

    def _growth(self, neuron: int, sign: float, u: FloatArray) -> Direction:
        """Let a zero neuron grow along u while the others keep every margin of the margin set, their kinks held."""
        net, y = self.network, self.data.y
        trained = net.outputs == "trained"
        problem = stationarity_problem(net, self.data, self.pattern, self.Z, cap=np.inf, weight=0.0)
        rows = np.flatnonzero(self.certificate.margins <= 1.0 + 1e3 * self.tolerance)
        part = problem.rows(rows)
        free = part.kink & (net.v != 0) & ~self.zero
        reduced = EliminatedKinks(part, free, np.zeros_like(free))
        effect = sign * (1.0 if trained else abs(float(net.v[neuron])))
        wanted = -effect * y[rows] * np.maximum(self.T[rows] @ u, 0.0)
        z = solve_ridged(reduced.hessian(), wanted, 1e-14)
        M = reduced.lift(z)
        A = net.v[:, None] * ((y[rows, None] * M).T @ self.T[rows])
        v = np.maximum(self.Z[rows], 0.0).T @ (y[rows] * z) if trained else np.zeros(net.width)
        A[self.zero], v[self.zero] = 0.0, 0.0
        A[neuron] = u
        v[neuron] = sign if trained else 0.0
        return Direction(A=A, v=v, born=neuron, power=0.5 if trained else 1.0)
