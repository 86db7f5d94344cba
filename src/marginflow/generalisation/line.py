r"""The clean test error of a network on a line: a sum of lengths of intervals, exact for the numbers as stored.

A two-layer network of one variable is linear between its kinks -b_j / w_j. Weights in double precision are dyadic
rationals, so kinks, slopes and zeros are rationals; they are computed as such and rounded once. A grid would miss the
intervals of length 1/m^2 on which the error of [KYS23, sec. 3] lives.
"""

import itertools
from dataclasses import dataclass
from fractions import Fraction
from math import fsum

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import FloatArray, labels, matrix, one_of, read_only
from marginflow.display import Brief
from marginflow.errors import InputError
from marginflow.generalisation.sampled import TIES, Ties
from marginflow.limit.line.integers import integers
from marginflow.networks import TwoLayer

Segment = tuple[Fraction, Fraction]


@dataclass(frozen=True, eq=False, kw_only=True)
class LineError(Brief):
    """The error of a classifier on a line under the uniform law, and where it errs. The target is +1 everywhere.

    Parameters
    ----------
    value : float
        Total length of the intervals over the length of the domain.
    intervals : array, shape (k, 2)
        The maximal intervals of error, in order; isolated points (of length 0) are left out.
    domain : (float, float)
        The law is uniform on it.
    ties : "error" or "correct"
        Whether pieces on which the classifier is exactly 0 are among the intervals.
    """

    value: float
    intervals: FloatArray
    domain: tuple[float, float]
    ties: Ties

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"error {self.value:.6g} on {len(self.intervals)} intervals of [{self.domain[0]:g}, {self.domain[1]:g}]"


def line_error(network: TwoLayer, *, interval: tuple[float, float] = (0.0, 1.0), ties: Ties = "error") -> LineError:
    r"""The probability that a one-dimensional network is not positive, exactly.

    .. math:: L = P(N(x) \le 0) \quad\text{or}\quad P(N(x) < 0), \qquad x \sim \mathrm{Unif}[a, b]

    Source: [KYS23, Def.Lcl].

    Parameters
    ----------
    network : TwoLayer of dimension 1, with or without bias
    interval : (float, float)
        a < b.
    ties : "error" or "correct"
        "error" is P(N(x) <= 0), the definition of the paper; "correct" is P(N(x) < 0), which its proofs use. They
        differ only by pieces on which N is zero.

    Examples
    --------
    >>> from marginflow.generalisation import line_error
    >>> from marginflow.networks import TwoLayer
    >>> network = TwoLayer(W=[[1.0], [-1.0]], b=[-0.5, 0.25], v=[1.0, -1.0])
    >>> line_error(network).intervals, line_error(network).value
    (array([[0. , 0.5]]), 0.5)
    >>> line_error(network, ties="correct").value
    0.25
    """
    domain = _domain(interval)
    return _rounded(exact_error_intervals(network, interval=domain, ties=ties), domain, ties)


def exact_error_intervals(
    network: TwoLayer, *, interval: tuple[float, float] = (0.0, 1.0), ties: Ties = "error"
) -> tuple[Segment, ...]:
    """The intervals of error of `line_error` as fractions: nothing is rounded.

    Examples
    --------
    >>> from marginflow.generalisation import exact_error_intervals
    >>> from marginflow.networks import TwoLayer
    >>> exact_error_intervals(TwoLayer(W=[[3.0]], b=[-1.0], v=[1.0]))
    ((Fraction(0, 1), Fraction(1, 3)),)
    """
    one_of("ties", ties, TIES)
    if network.dimension != 1:
        raise InputError(f"The network has dimension {network.dimension}; dimension 1 (a line) is expected.")
    low, high = (Fraction(end) for end in _domain(interval))
    found: list[Segment] = []
    for left, right, slope, height in _pieces(network, low, high):
        segment = _not_positive(left, right, slope, height, ties)
        if segment is not None:
            _append(found, segment)
    return tuple(found)


def _pieces(network: TwoLayer, low: Fraction, high: Fraction) -> list[tuple[Fraction, Fraction, int, int]]:
    """Pieces [left, right] of [low, high] and integers with N(x) = (slope x + height) 2^-e on each, e common to all."""
    A = np.column_stack([network.W, np.zeros(network.width) if network.b is None else network.b])
    _, rows = integers(A)
    _, outputs = integers(network.v)
    slope = height = 0
    kinks: list[tuple[float, Fraction, int, int]] = []
    for j, v in enumerate(outputs):
        w, b = rows[2 * j], rows[2 * j + 1]
        if w == 0:
            height += v * max(b, 0)
            continue
        kink = Fraction(-b, w)
        inside = low < kink < high
        if (w > 0 and kink <= low) or (w < 0 and kink > low):  # active to the right of `low`
            slope, height = slope + v * w, height + v * b
        if inside:
            # crossing its kink, a right-facing neuron wakes and a left-facing one falls asleep
            change = 1 if w > 0 else -1
            kinks.append((float(kink), kink, change * v * w, change * v * b))
    kinks.sort(key=lambda kink: kink[:2])  # floats decide, fractions only between equal floats
    pieces = []
    left = low
    for _, kink, d_slope, d_height in kinks:
        if kink > left:
            pieces.append((left, kink, slope, height))
        left, slope, height = kink, slope + d_slope, height + d_height
    pieces.append((left, high, slope, height))
    return pieces


def _not_positive(left: Fraction, right: Fraction, slope: int, height: int, ties: Ties) -> Segment | None:
    """Where slope x + height is at most 0 (or below 0) on a piece: an interval, up to its ends."""
    if slope == 0:
        wrong = height < 0 or (height == 0 and ties == "error")
        return (left, right) if wrong else None
    zero = Fraction(-height, slope)
    segment = (left, min(right, zero)) if slope > 0 else (max(left, zero), right)
    return segment if segment[0] < segment[1] else None


def _append(segments: list[Segment], segment: Segment) -> None:
    """Add a segment of positive length on the right, joined to the last one where they touch."""
    left, right = segment
    if segments and segments[-1][1] == left:
        left, _ = segments.pop()
    if left < right:
        segments.append((left, right))


def nearest_neighbour_line_error(
    X: ArrayLike, y: ArrayLike, *, interval: tuple[float, float] = (0.0, 1.0)
) -> LineError:
    r"""The clean error of 1-nearest neighbour on a line, exactly: the cells of the samples labelled -1.

    .. math:: L = \sum_i 1\{y_i = -1\} \, |\text{cell}_i|, \qquad
              \text{cell}_i = \left[ \tfrac{x_{i-1} + x_i}{2}, \tfrac{x_i + x_{i+1}}{2} \right] \cap [a, b],

    where the first cell begins at a and the last ends at b. With labels that are drawn independently of x the
    expectation is exactly p for every number of samples. Source: [KYS23, Intro.1NN].

    Parameters
    ----------
    X : array, shape (n, 1) or (n,)
        Samples in any order; coinciding samples must agree in their label.
    y : array, shape (n,)
    interval : (float, float)

    Examples
    --------
    >>> from marginflow.generalisation import nearest_neighbour_line_error
    >>> nearest_neighbour_line_error([[0.25], [0.5], [0.75]], [1, -1, 1]).value
    0.25
    """
    column = matrix("X", np.asarray(X)[:, None] if np.ndim(X) == 1 else X)
    if column.shape[1] != 1:
        raise InputError(f"X has {column.shape[1]} columns; samples on a line (one column) are expected.")
    signs = labels("y", y, column.shape[0])
    x, first = np.unique(column[:, 0], return_index=True)
    contradicting = signs != signs[first][np.searchsorted(x, column[:, 0])]
    if contradicting.any():
        index = int(np.argmax(contradicting))
        raise InputError(f"Samples at {column[index, 0]:g} have both labels; the rule is not defined there.")
    domain = _domain(interval)
    low, high = (Fraction(end) for end in domain)
    points = [Fraction(value) for value in x.tolist()]
    borders = [low, *(min(max((a + b) / 2, low), high) for a, b in itertools.pairwise(points)), high]
    cells: list[Segment] = []
    for label, left, right in zip(signs[first], borders, borders[1:], strict=False):
        if label < 0 and left < right:
            _append(cells, (left, right))
    return _rounded(tuple(cells), domain, "error")


def _domain(interval: tuple[float, float]) -> tuple[float, float]:
    try:
        low, high = (float(end) for end in interval)
    except (TypeError, ValueError):
        raise InputError(f"interval is {interval!r}; two numbers are expected.") from None
    if not -np.inf < low < high < np.inf:
        raise InputError(f"interval is ({low:g}, {high:g}); two finite numbers in increasing order are expected.")
    return low, high


def _rounded(segments: tuple[Segment, ...], domain: tuple[float, float], ties: Ties) -> LineError:
    # Lengths are rounded one by one and summed without further loss; one common fraction would grow without bound.
    total = fsum(float(right - left) for left, right in segments)
    ends = np.array([[float(left), float(right)] for left, right in segments]).reshape(-1, 2)
    span = float(Fraction(domain[1]) - Fraction(domain[0]))
    return LineError(value=min(1.0, total / span), intervals=read_only(ends), domain=domain, ties=ties)
