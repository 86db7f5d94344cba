r"""Bounds for all rivals at once: one line below each, its region shrunk, and again while that pays.

The rivals of a class see the same neurons from the same point, with other output weights. Supporting neurons are
replaced by their tangents at the last relaxed solution (first at 0), opposing ones by their chords: a line below g for
every rival, and what lies beyond it within the ball shrinks the intervals of the neurons (see `tightening`). Nothing is
projected, so a round for ten rivals costs about as much as for one. Most rivals end here, often the nearest too.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.robustness.radius.certificate import ProofStep
from marginflow.robustness.radius.minorant import Box
from marginflow.robustness.radius.reduction import RadiusProblem
from marginflow.robustness.radius.tightening import COTANGENTS

_ROUNDS = 16
# What a round must bring to be followed by another, as a share of the gap that is left.
_GAIN = 0.08
_WIDER = np.sqrt(1.0 + COTANGENTS**2)


@dataclass(eq=False, kw_only=True)
class Screened:
    """What is known of one rival: the intervals that are left, a bound, and the steps that prove both."""

    box: Box
    lower: float = 0.0
    steps: list[ProofStep] = field(default_factory=list)


def values_and_slopes(problems: list[RadiusProblem]) -> tuple[FloatArray, FloatArray]:
    """g(0) and ||grad g(0)|| of problems that differ in c and the constants only."""
    a, W = problems[0].a, problems[0].W
    C = np.stack([problem.c for problem in problems])
    gradients = (C * (a > 0)) @ W
    values = np.array([problem.constant for problem in problems]) + C @ np.maximum(a, 0.0)
    return values, np.sqrt((gradients * gradients).sum(axis=1))


def screen(problems: list[RadiusProblem], horizon: float, tolerance: float) -> list[Screened]:
    """Bounds on ||delta|| over g(delta) <= 0 for problems that differ in c and the constants only.

    A rival whose bound reaches (1 - tolerance) horizon is done. Rounding is charged as in `minorant`.
    """
    first, R = problems[0], horizon
    a, W, noise = first.a, first.W, first.noise
    Z = np.abs(a) + R
    c = np.stack([problem.c for problem in problems])
    blurs = np.array([problem.blur + problem.blur_per_length * R for problem in problems])
    constants = np.array([problem.constant for problem in problems])
    heights = constants - blurs - 2.0 * noise * (np.abs(constants) + blurs + np.abs(c) @ Z)
    low, high = np.tile(a - R, (c.shape[0], 1)), np.tile(a + R, (c.shape[0], 1))
    z = np.tile(a, (c.shape[0], 1))
    found = [Screened(box=Box(low=low[i], high=high[i])) for i in range(c.shape[0])]
    rivals, lower = list(found), np.zeros(c.shape[0])
    for _ in range(_ROUNDS):
        crossing = (c < 0) & (low < 0) & (high > 0)
        chord = np.where(crossing, high, 0.0) / np.where(crossing, high - low, 1.0)
        slopes = c * np.where(crossing, chord, np.where(c < 0, low >= 0, z > 0))
        below = np.where(crossing, slopes * low, 0.0).sum(axis=1)  # by how much the chords miss 0
        gradients = slopes @ W
        lengths = np.sqrt((gradients * gradients).sum(axis=1))
        h = heights + slopes @ a - below - 2.0 * noise * (np.abs(slopes) @ Z)
        t = np.where((h > 0) & (lengths > 0), h / lengths, 0.0)
        t[~np.isfinite(t)] = 0.0  # where a number has overflowed nothing is said
        reached = np.minimum(t / (1.0 + 2.0 * noise), R)
        done = reached >= R * (1.0 - tolerance)
        more = ~done & (reached > lower) & (reached - lower >= _GAIN * (R - lower))
        for i in np.flatnonzero(done).tolist():
            centre = t[i] if t[i] < 2.0 * R else R * R / t[i]
            rivals[i].steps.append(ProofStep(scale=1.0, slopes=slopes[i], taus=(float(2.0 * centre / lengths[i]),)))
            rivals[i].lower = float(reached[i])
        if not more.any():
            break
        if not more.all():
            rivals = [rival for rival, stays in zip(rivals, more, strict=True) if stays]
            c, heights, low, high, crossing = c[more], heights[more], low[more], high[more], crossing[more]
            slopes, gradients, lengths, t, reached = (array[more] for array in (slopes, gradients, lengths, t, reached))
        lower = np.maximum(lower[more], reached)
        along = gradients @ W.T / -lengths[:, None]
        z = a + t[:, None] * along
        for i, rival in enumerate(rivals):
            columns = np.flatnonzero(crossing[i])
            taus, lowest, highest = _beyond(along[i, columns], float(t[i]), R)
            low[i, columns] = np.maximum(low[i, columns], a[columns] + lowest)
            high[i, columns] = np.minimum(high[i, columns], a[columns] + highest)
            rival.box, rival.lower = Box(low=low[i], high=high[i]), float(reached[i])
            rival.steps.append(ProofStep(scale=1.0, slopes=slopes[i], taus=tuple((taus / lengths[i]).tolist())))
    return found


def _beyond(along: FloatArray, t: float, R: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The range of w . delta over the balls that hold the cap {||delta|| <= R, n . delta >= t}, along = w . n.

    Of the balls only those that are the best for some w are kept, as twice the distances of their centres: the others
    would only cost the judge time.
    """
    rim = np.sqrt((R - t) * (R + t))
    centres = t + rim * COTANGENTS
    ahead = centres > 0
    centres, extents = centres[ahead], rim * _WIDER[ahead]
    middle = centres[:, None] * along
    lowest, highest = middle - extents[:, None], middle + extents[:, None]
    least, most = lowest.argmax(axis=0), highest.argmin(axis=0)
    each = np.arange(along.size)
    used = np.zeros(centres.size, dtype=np.bool_)
    used[least] = used[most] = True
    return 2.0 * centres[used], lowest[least, each], highest[most, each]
