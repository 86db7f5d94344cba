r"""What the statements of [KYS23, sec. 3 and App. A] see of a network on the line: kinks, jumps of slope, values, gaps.

A neuron changes the slope at its kink by :math:`v_j |w_j|`, whichever way it faces: v > 0 bends N up ("convex"), v < 0
bends it down. The paper reads the sign off :math:`v_j w_j`, which is right for right-facing neurons only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy import special

from marginflow.arrays import FloatArray, IntArray
from marginflow.certificates import minimality
from marginflow.data import Dataset, Interval
from marginflow.generalisation import line_error
from marginflow.limit import line
from marginflow.networks import TwoLayer
from marginflow.theory.frame import Check, Instance, at_least, equal, is_kkt_point, require, true, unmet

STRUCTURE: Final = 1e-6
"""Relative tolerance for values, kinks and bends of a point whose KKT conditions hold to `DEFAULT_TOLERANCE`."""
UNLIKELY: Final = 1e-4
"""Counts that are less likely than this under a law are not taken for a sample of it."""
SAME_KINK: Final = 1e-9
"""Kinks closer than this are one point: split and merged networks have the same ones."""


def line_samples(data: Dataset) -> tuple[FloatArray, FloatArray]:
    """Distinct samples in order and their labels, of equal samples the first; none where the dimension is not 1."""
    if data.dimension != 1:
        return np.zeros(0), np.zeros(0)
    x, first = np.unique(data.X[:, 0], return_index=True)
    return x, data.y[first]


@dataclass(frozen=True, eq=False, kw_only=True)
class Bends:
    """The distinct points at which the slope of a one-dimensional network changes, in order, and by how much.

    Changes that cancel are left out.
    """

    network: TwoLayer
    kinks: FloatArray
    jumps: FloatArray

    @classmethod
    def of(cls, network: TwoLayer) -> Bends:
        """From the neurons of a network."""
        w = network.W[:, 0]
        b = np.zeros_like(w) if network.b is None else network.b
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            positions = -b / w
        # A weight so small that the kink is beyond the largest number bends nothing that can be evaluated.
        turning = (w != 0) & (network.v != 0) & np.isfinite(positions)
        kinks, jumps = positions[turning], network.v[turning] * np.abs(w[turning])
        order = np.argsort(kinks, kind="stable")
        kinks, jumps = kinks[order], jumps[order]
        fresh = np.diff(kinks, prepend=-np.inf) > SAME_KINK * np.maximum(1.0, np.abs(kinks))
        group = np.cumsum(fresh) - 1
        sums = np.bincount(group, weights=jumps).astype(np.float64)
        real = np.abs(sums) > SAME_KINK * np.bincount(group, weights=np.abs(jumps))
        return cls(network=network, kinks=kinks[fresh][real], jumps=sums[real])

    def inside(self, left: float, right: float) -> FloatArray:
        """Kinks strictly between two points, by more than `STRUCTURE` of their distance."""
        margin = STRUCTURE * (right - left)
        return self.kinks[(self.kinks > left + margin) & (self.kinks < right - margin)]

    def rising(self, left: float, right: float) -> int:
        """Number of points in [left, right] at which N' increases; the ends count."""
        margin = SAME_KINK * max(1.0, abs(left), abs(right))
        there = (self.kinks >= left - margin) & (self.kinks <= right + margin)
        return int((there & (self.jumps > STRUCTURE * np.abs(self.jumps).max(initial=0.0))).sum())

    def range(self, left: float, right: float) -> tuple[float, float]:
        """Least and largest value on [left, right]: attained at its ends or at kinks."""
        points = np.concatenate([[left, right], self.kinks[(self.kinks > left) & (self.kinks < right)]])
        values = self.network(points[:, None])
        return float(values.min()), float(values.max())

    def nonlinearity(self, left: float, right: float) -> float:
        """The largest distance of N from its chord on [left, right]; zero exactly where N is linear."""
        kinks = self.inside(left, right)
        if not kinks.size:
            return 0.0
        ends = self.network(np.array([[left], [right]]))
        chord = ends[0] + (ends[1] - ends[0]) * (kinks - left) / (right - left)
        return float(np.abs(self.network(kinks[:, None]) - chord).max())


def plus_minus_plus(y: FloatArray) -> IntArray:
    """The indices i with labels +, -, + at i - 1, i, i + 1 (among samples in order)."""
    return np.flatnonzero((y[:-2] > 0) & (y[1:-1] < 0) & (y[2:] > 0)) + 1 if y.size > 2 else np.zeros(0, dtype=np.int64)


def plus_plus(y: FloatArray) -> IntArray:
    """The indices i with labels +, + at i, i + 1."""
    return np.flatnonzero((y[:-1] > 0) & (y[1:] > 0))


def minus_runs(y: FloatArray, length: int) -> list[tuple[int, int]]:
    """First and last index of every maximal run of at least `length` labels -1."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], (y < 0).astype(int), [0]])))
    return [(int(a), int(b) - 1) for a, b in zip(edges[::2], edges[1::2], strict=True) if b - a >= length]


def symmetric_difference(first: FloatArray, second: FloatArray) -> float:
    """The length of the set that belongs to exactly one of two unions of disjoint intervals."""
    ends = np.unique(np.concatenate([first.ravel(), second.ravel()]))
    middles = (ends[:-1] + ends[1:]) / 2
    inside = [((part[:, :1] <= middles) & (middles <= part[:, 1:])).any(axis=0) for part in (first, second)]
    return float(np.diff(ends)[inside[0] != inside[1]].sum())


def dual_supremum(instance: Instance) -> float:
    """sup |F_lambda| over all directions for the multipliers of the certificate; 1 proves a global optimum."""
    return line.dual_function(instance.the_data(), instance.certificate.multipliers).supremum


def on_the_line(instance: Instance) -> tuple[Check, ...]:
    """The samples are on a line, and no two of them at one place with different labels."""
    data = instance.the_data()
    contradicting = False
    if data.dimension == 1:
        x, y = line_samples(data)
        contradicting = bool((y[np.searchsorted(x, data.X[:, 0])] != data.y).any())
    return (equal("dimension d", data.dimension, 1.0), true("no sample has both labels", not contradicting))


def in_the_interval(instance: Instance) -> Check:
    """All samples in [0, 1], where the clean error is measured."""
    X = instance.the_data().X
    return true("samples in [0, 1]", bool((X >= 0).all() and (X <= 1).all()))


def exact_error(
    instance: Instance, hypotheses: tuple[Check, ...], *, one_label: bool = False
) -> tuple[FloatArray, FloatArray, float]:
    """The samples in order, their labels, and the exact clean error; a judge ends here where there is no line."""
    data, network = instance.the_data(), instance.the_network()
    on_a_line = network.dimension == data.dimension == 1
    if one_label:
        on_a_line = on_a_line and not unmet(on_the_line(instance))
        require(hypotheses, "the theorem is about samples on a line, one label at each place", given=on_a_line)
    require(hypotheses, "the theorem is about the line", given=on_a_line)
    return *line_samples(data), line_error(network).value


def noise_rate(instance: Instance) -> float:
    """p: the parameter, or else that of the law; an `InputError` where neither is given."""
    law = instance.law if "p" not in instance.parameters else None
    return instance.number("p", law.p if isinstance(law, Interval) else None)


def sampled_labels(y: FloatArray, p: float) -> Check:
    """Labels as a sample with noise rate p has them: the chance of so few, or so many, labels -1."""
    m, k = y.size, int((y < 0).sum())
    few = float(special.bdtr(k, m, p)) if p < 1 else float(k == m)
    many = float(special.bdtrc(k - 1, m, p)) if k else 1.0
    note = f"{k} of {m} labels are -1"
    return at_least("P(as few, or as many, labels -1) at this p", min(few, many), UNLIKELY, tolerance=0.0, note=note)


def kkt_point(instance: Instance) -> tuple[Check, ...]:
    """On the line, with bias, interpolating, and the KKT conditions (2)-(5) hold."""
    network = instance.the_network()
    trained = network.b is not None and network.outputs == "trained"
    checks = (*on_the_line(instance), true("hidden biases, trained outputs", trained))
    if unmet(checks):
        return checks
    certificate = instance.certificate
    separates = certificate.status != "does not separate"
    return (*checks, true("interpolates: y_i N(x_i) > 0", separates), is_kkt_point(certificate))


def local_minimum(instance: Instance) -> tuple[Check, ...]:
    """A KKT point that is a local minimum of problem (1), by the decision procedure of `certificates.minimality`."""
    checks = kkt_point(instance)
    if unmet(checks):
        return checks
    decision = minimality(instance.the_network(), instance.the_data(), certificate=instance.certificate)
    return (*checks, true("local minimum of problem (1)", decision.verdict == "local minimum", note=decision.reason))
