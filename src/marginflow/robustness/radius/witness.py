r"""Upper bounds: witnesses delta with g(delta) <= 0, each as near as local search makes it.

Along a ray g is piecewise linear and its first zero is exact. From a witness, fix the set S of opposing neurons that
are active there: {constant + C(delta) + sum_S c_j z_j <= 0} is convex, lies inside {g <= 0} and contains the witness.
Project 0 on it, update S, repeat: distances never grow, and there are finitely many S (convex-concave procedure).
"""

from __future__ import annotations

import numpy as np

from marginflow.arrays import BoolArray, FloatArray
from marginflow.robustness.piecewise import first_steps
from marginflow.robustness.radius.cuts import Cuts, project
from marginflow.robustness.radius.reduction import Problem

_MAX_ROUNDS = 30


class Witness:
    """The nearest witness so far; patterns that were projected on once are not tried again."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.upper = float("inf")
        self.delta: FloatArray | None = None
        self._tried: set[bytes] = set()
        self._no_signs = np.zeros(problem.width, dtype=np.int64)

    def offer(self, direction: FloatArray) -> bool:
        """The exact first crossing along a direction; whether it is the nearest witness so far."""
        size = float(np.linalg.norm(direction))
        if not (size > 0 and np.isfinite(size)):
            return False
        p = self.problem
        unit = direction / size
        speed = p.W @ unit
        t = float(first_steps(p.a[None, :], speed[None, :], p.c[None, :], -p.constant)[0])
        if not t < self.upper:
            return False
        self.upper, self.delta = t, t * unit
        return True

    def descend(self, delta: FloatArray, cuts: Cuts) -> None:
        """Convex-concave steps from the pattern of opposing neurons at delta."""
        p = self.problem
        active: BoolArray = p.a[p.opposing] + p.W_opposing @ delta > 0
        zero = np.zeros(active.size)
        for _ in range(_MAX_ROUNDS):
            key = np.packbits(active).tobytes()
            if key in self._tried:
                return
            self._tried.add(key)
            found = project(
                p,
                active.astype(np.float64),
                zero,
                signs=self._no_signs,
                cuts=cuts,
                target=self.upper * (1 - 1e-11),
                rtol=1e-12,
            )
            if found.lower >= self.upper * (1 - 1e-11) or not np.isfinite(found.lower):
                return
            cuts = found.cuts
            self.offer(found.delta)
            active = p.a[p.opposing] + p.W_opposing @ found.delta > 0

    def explore(self, cuts: Cuts, *, seed: int = 0) -> None:
        """A first witness: downhill from 0, then from random directions of the same search space if need be."""
        p = self.problem
        start = np.zeros(p.rank)
        slope = p.gradient(start)
        full = p.c @ p.W  # every neuron active
        for direction in (-slope, -full, (-p.c[p.opposing]) @ p.W_opposing):
            self.offer(direction)
        if self.delta is None:
            self._wander(np.random.default_rng(seed))
        self.descend(start, cuts)
        if self.delta is not None:
            self.descend(self.delta, cuts)

    def _wander(self, rng: np.random.Generator) -> None:
        """Subgradient descent on the slope of g at infinity over the unit sphere, from several starts."""
        p = self.problem
        starts = np.vstack([-p.c[:, None] * p.W, rng.standard_normal((32, p.rank))])[-64:]
        for direction in starts:
            x = direction / max(float(np.linalg.norm(direction)), 1e-300)
            for i in range(30):
                x = x - (p.c * (p.W @ x > 0)) @ p.W / (float(np.abs(p.c).sum()) * 0.3 * (i + 1))
                x /= max(float(np.linalg.norm(x)), 1e-300)
            if self.offer(x):
                return
