r"""Bounds for all rivals: a line below each of them at once, and further lines for those that this leaves open.

The rivals of a class see the same neurons from the same point, with other output weights. Supporting neurons are
replaced by tangents, opposing ones by their chords over the ball: a line below g for every rival, of the same shares of
its weights, so that ten rivals cost about as much as one. Most end there. Where a rival is left open, what lies beyond
its line within the ball shrinks the intervals of the neurons (see `tightening`), on which the next line is better.

Tangents are taken at the last relaxed solution, first at 0. Where the nearest witness is known, they are taken there,
with the shares of the neurons that are at their kinks that its projection has found: then the last line is as good as
the projection itself.
"""

from bisect import bisect_right
from dataclasses import dataclass, field
from math import isfinite, sqrt

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.robustness.radius.certificate import ProofStep
from marginflow.robustness.radius.minorant import Box
from marginflow.robustness.radius.problems import Problems
from marginflow.robustness.radius.tightening import COTANGENTS

_ROUNDS = 16
# What a round must bring to be followed by another, as a share of the gap that is left.
_GAIN = 0.08
_WIDER = np.sqrt(1.0 + COTANGENTS**2)
# Where w . n passes one of these the ball that bounds w . delta best from below is the next one.
_TURNS = np.diff(_WIDER) / np.diff(COTANGENTS)
_LAST = COTANGENTS.size - 1
_SORTED = COTANGENTS.tolist()


@dataclass(eq=False, kw_only=True)
class Screened:
    """What is known of one rival: the intervals that are left, a bound, and the steps that prove both."""

    box: Box
    lower: float = 0.0
    steps: list[ProofStep] = field(default_factory=list)


def screen(problems: Problems, horizon: float, tolerance: float, tangents: FloatArray | None = None) -> list[Screened]:
    """Bounds on ||delta|| over g_t(delta) <= 0.

    A rival whose bound reaches (1 - tolerance) horizon is done. Rounding is charged as in `minorant`.

    Parameters
    ----------
    tangents : array, shape (k,), or None
        Shares in [0, 1] of the weights of supporting neurons, for the first problem: its tangents at the witness.
    """
    R, a, c, noise = horizon, problems.a, problems.c, problems.noise
    ball = Box(low=a - R, high=a + R)
    if not 0.0 < R * R < np.inf:  # far from the unit of distances: nothing is said
        return [Screened(box=ball) for _ in range(len(problems))]
    Z = np.abs(a) + R
    blurs = problems.blurs + problems.drifts * R
    heights = problems.constants - blurs - 2.0 * noise * (np.abs(problems.constants) + blurs + np.abs(c) @ Z)
    chords = np.clip(0.5 + 0.5 * a / R, 0.0, 1.0)
    shares = np.where(c < 0, chords, a > 0)
    if tangents is not None:
        shares[0] = np.where(c[0] < 0, chords, tangents)
    slopes = c * shares
    below = np.minimum(slopes, 0.0) @ np.where(np.abs(a) < R, a - R, 0.0)  # by how much the chords miss 0
    h = heights + slopes @ a - below - 2.0 * noise * (np.abs(slopes) @ Z)
    gradients = slopes @ problems.W
    lengths = np.sqrt(np.einsum("ij,ij->i", gradients, gradients))
    found = []
    for i, (value, length) in enumerate(zip(h.tolist(), lengths.tolist(), strict=True)):
        region = _Region(problems, i, R, float(heights[i]), tangents if i == 0 else None)
        found.append(region.screened(ball, _Line(slopes[i], gradients[i], value, length), tolerance))
    return found


@dataclass(frozen=True, eq=False, slots=True)
class _Line:
    """h + gradient . delta <= g(delta) on the region, and what the slopes of the neurons are in it."""

    slopes: FloatArray
    gradient: FloatArray
    h: float
    length: float

    @property
    def distance(self) -> float:
        """h / ||gradient||; where a number has overflowed nothing is said."""
        t = self.h / self.length if self.h > 0 and self.length > 0 else 0.0
        return t if isfinite(t) else 0.0


class _Region:
    """One rival's region: the opposing neurons that are undecided, and lines on what is left of their intervals."""

    def __init__(self, problems: Problems, number: int, R: float, height: float, tangents: FloatArray | None) -> None:
        self.problems, self.R, self.height, self.tangents = problems, R, height, tangents
        self.c = problems.c[number]

    def screened(self, ball: Box, line: _Line, tolerance: float) -> Screened:
        """Lines while they pay, from the first."""
        R, charge = self.R, 1.0 + 2.0 * self.problems.noise
        found = Screened(box=ball)
        for number in range(_ROUNDS):
            t = line.distance
            reached = min(t / charge, R)
            if reached >= R * (1.0 - tolerance):
                centre = t if t < 2.0 * R else R * R / t
                found.steps.append(ProofStep(scale=1.0, slopes=line.slopes, taus=(2.0 * centre / line.length,)))
                found.lower = reached
                break
            if not (reached > found.lower and reached - found.lower >= _GAIN * (R - found.lower)):
                break
            if number == 0:
                found.box = Box(low=ball.low.copy(), high=ball.high.copy())
                self._prepare(ball)
            along = (self.problems.W @ line.gradient) * (-1.0 / line.length)
            taus = self._shrink(along, t, line.length)
            found.steps.append(ProofStep(scale=1.0, slopes=line.slopes, taus=taus))
            found.lower = reached
            found.box.low[self.open], found.box.high[self.open] = self.low, self.high
            line = self._next(along, t)
        return found

    def _prepare(self, ball: Box) -> None:
        a, c, low, high = self.problems.a, self.c, ball.low, ball.high
        opposing = c < 0
        self.Z = np.abs(a) + self.R
        self.open = (opposing & (low < 0) & (high > 0)).nonzero()[0]
        self.low, self.high, self.a, self.weights = (array[self.open] for array in (low, high, a, c))
        self.decided = np.where(opposing & (low >= 0), c, 0.0)  # slopes of the opposing neurons that are active
        self.supporting = np.maximum(c, 0.0)
        if self.tangents is not None:
            self.decided += self.supporting * self.tangents

    def _next(self, along: FloatArray, t: float) -> _Line:
        """The line on the intervals that are left."""
        open_ = (self.low < 0) & (self.high > 0)
        if not open_.all():
            active = self.low >= 0
            self.decided[self.open[active]] = self.weights[active]
            self.open, self.low, self.high = self.open[open_], self.low[open_], self.high[open_]
            self.a, self.weights = self.a[open_], self.weights[open_]
        if self.tangents is None:
            slopes = self.supporting * (self.problems.a + t * along > 0)
            slopes += self.decided
        else:
            slopes = self.decided.copy()
        chords = self.weights * (self.high / (self.high - self.low))
        slopes[self.open] = chords
        gradient = slopes @ self.problems.W
        h = self.height + float(slopes @ self.problems.a) - float(chords @ self.low)
        h -= 2.0 * self.problems.noise * float(np.abs(slopes) @ self.Z)
        return _Line(slopes, gradient, h, sqrt(gradient @ gradient))

    def _shrink(self, along: FloatArray, t: float, length: float) -> tuple[float, ...]:
        """Shrink the open intervals to the balls that hold the cap {||delta|| <= R, n . delta >= t}, along = w . n.

        The ball whose cotangent is that of the angle between w and n is the best; on the grid of cotangents it is one
        of the two beside it, which depends on w . n alone. Only balls that are the best for some w are kept, by their
        taus: the others would only cost the judge time.
        """
        R = self.R
        slope = along[self.open]
        rim = sqrt((R - t) * (R + t))
        centres, extents = t + rim * COTANGENTS, rim * _WIDER
        behind = bisect_right(_SORTED, -t / rim)  # balls with their centres behind 0 have no tau
        least = _TURNS.searchsorted(slope)
        most = np.maximum(_LAST - least, behind)  # the grid is symmetric
        least = np.maximum(least, behind)
        self.low = np.maximum(self.low, self.a + (centres[least] * slope - extents[least]))
        self.high = np.minimum(self.high, self.a + (centres[most] * slope + extents[most]))
        used = np.zeros(COTANGENTS.size, dtype=np.bool_)
        used[least] = used[most] = True
        return tuple((centres[used] * (2.0 / length)).tolist())
