r"""L-BFGS [Liu and Nocedal 1989] for a few hundred variables, where calls of a general library cost more than it does.

The direction is -H g with H made of the last pairs s = theta' - theta, y = g' - g by the two-loop recursion. A step
must lower the objective enough (Armijo): else it is shortened, to the minimum of the parabola through what is known of
it; where the slope is as steep as before it is lengthened, as long as that is lower still. Pairs without curvature,
s . y <= 0, are left out. Where it ends is only a place to begin.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable

import numpy as np

from marginflow.arrays import FloatArray

Objective = Callable[[FloatArray], tuple[float, FloatArray]]
# Pairs that are kept; the share of the linear fall that a step must bring, and of the slope that makes it too short.
_PAIRS, _ENOUGH, _STEEP = 10, 1e-3, 0.9
# How much a step that is too short is lengthened, and how many lengths are tried.
_LONGER, _LOOKS = 4.0, 20
# Relative falls and gradients below these end the descent.
_FLAT, _STILL = 2e-9, 1e-5


def lowered(objective: Objective, theta: FloatArray, steps: int, deadline: float = math.inf) -> FloatArray:
    """Where the objective, (value, gradient), is lower: after so many steps, where it is flat, or at the deadline.

    One step is made in any case.

    Examples
    --------
    >>> import numpy as np
    >>> from marginflow.limit.support.lbfgs import lowered
    >>> bowl = np.array([1.0, 100.0])
    >>> found = lowered(lambda x: (float(bowl @ x**2), 2.0 * bowl * x), np.array([3.0, -2.0]), 50)
    >>> bool(np.abs(found).max() < 1e-4)
    True
    """
    value, g = objective(theta)
    pairs: deque[tuple[FloatArray, FloatArray, float]] = deque(maxlen=_PAIRS)
    for _ in range(steps):
        if np.abs(g).max(initial=0.0) <= _STILL:
            break
        d = _direction(g, pairs)
        slope = float(d @ g)
        if not slope < 0.0:
            pairs.clear()
            d, slope = -g, -float(g @ g)
        length = 1.0 if pairs else min(1.0, 1.0 / math.sqrt(-slope))
        step = _along(objective, theta, value, d, slope, length)
        if step is None:
            break
        moved, reached, h = step
        s, y = moved - theta, h - g
        curvature = float(s @ y)
        if curvature > 1e-12 * float(y @ y):
            pairs.append((s, y, 1.0 / curvature))
        flat = value - reached <= _FLAT * max(abs(value), abs(reached), 1.0)
        theta, value, g = moved, reached, h
        if flat or time.monotonic() > deadline:
            break
    return theta


def _along(
    objective: Objective, theta: FloatArray, value: float, d: FloatArray, slope: float, length: float
) -> tuple[FloatArray, float, FloatArray] | None:
    """A point along d that is low enough, its value and gradient; None where none was found."""
    best: tuple[FloatArray, float, FloatArray] | None = None
    shortened = False
    for _ in range(_LOOKS):
        moved = theta + length * d
        reached, h = objective(moved)
        enough = reached <= value + _ENOUGH * length * slope
        if best is not None and not (enough and reached < best[1]):
            return best
        if enough:
            best = (moved, reached, h)
            if shortened or float(h @ d) >= _STEEP * slope:
                return best
            length *= _LONGER
            continue
        shortened = True
        bend = reached - value - length * slope  # of the parabola with this slope at 0 and this value here
        length *= min(0.5, max(0.1, -0.5 * length * slope / bend)) if bend > 0.0 else 0.5
    return best


def _direction(g: FloatArray, pairs: deque[tuple[FloatArray, FloatArray, float]]) -> FloatArray:
    """-H g by two loops over the pairs."""
    q = -g
    if not pairs:
        return q
    shares = []
    for s, y, inverse in reversed(pairs):
        share = inverse * float(s @ q)
        q = q - share * y
        shares.append(share)
    s, y, inverse = pairs[-1]
    q = q / (inverse * float(y @ y))
    for (s, y, inverse), share in zip(pairs, reversed(shares), strict=True):
        q = q + (share - inverse * float(y @ q)) * s
    return q
