r"""Upper bounds: witnesses delta with g(delta) <= 0, each as near as local search makes it.

Along a ray g is piecewise linear and its first zero is exact. From a witness, fix the set S of opposing neurons that
are active there: {constant + C(delta) + sum_S c_j z_j <= 0} is convex, lies inside {g <= 0} and contains the witness.
Project 0 on it, update S, repeat: distances never grow, and there are finitely many S (convex-concave procedure).
"""

from math import sqrt

import numpy as np

from marginflow.arrays import BoolArray, FloatArray
from marginflow.robustness.attacks import nearest_of_two
from marginflow.robustness.neighbourhood import Neighbourhood
from marginflow.robustness.radius.certificate import ProofStep
from marginflow.robustness.radius.cuts import Cuts, project
from marginflow.robustness.radius.reduction import RadiusProblem, farthest

_MAX_ROUNDS = 30
_SMOOTHINGS = 12
# Rays along single neurons and random starts that are tried once the root has stayed open.
_RAYS, _FEW_STARTS = 16, 5
# A crossing farther away than this many times the farthest neuron is a slope that rounding has made negative.
_FAR = 1e9


class Witness:
    """The nearest witness so far; patterns that were projected on once are not tried again.

    `touching` also counts points where g is zero up to rounding. `tangents` are the shares of the weights of supporting
    neurons with which the projection that led to the witness is proved: 0 or 1, and in between at a kink.
    """

    def __init__(self, problem: RadiusProblem, *, touching: bool = True) -> None:
        self.problem = problem
        self.upper = float("inf")
        self.delta: FloatArray | None = None
        self.tangents: FloatArray | None = None
        self._tried: set[bytes] = set()
        # A value below this is zero as far as float64 can tell; where g only touches zero nothing better is to be had.
        size = float(np.abs(problem.c) @ np.abs(problem.a)) + abs(problem.constant)
        rounding = 64.0 * float(np.finfo(np.float64).eps) * float(np.sqrt(problem.width + problem.rank)) * size
        self._rounding = min(rounding, 1e-9 * problem.at_zero) if touching else 0.0
        self._far = _FAR * farthest(problem)
        self._no_signs = np.zeros(problem.width, dtype=np.int64)

    def offer(self, direction: FloatArray) -> bool:
        """The exact first crossing along a direction; whether it is the nearest witness so far."""
        size = sqrt(direction @ direction)
        if not 0 < size < np.inf:
            return False
        p = self.problem
        unit = direction / size
        t = _first_crossing(p.a, p.W @ unit, p.c, p.constant - self._rounding, min(self.upper, self._far))
        if not t < self.upper:
            return False
        self.upper, self.delta = t, t * unit
        return True

    def descend(self, delta: FloatArray, cuts: Cuts) -> None:
        """Convex-concave steps from the pattern of opposing neurons at delta."""
        p = self.problem
        active: BoolArray = p.opposing.a + p.opposing.W @ delta > 0
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
                tolerance=1e-12,
            )
            if found.lower >= self.upper * (1 - 1e-11) or not np.isfinite(found.lower):
                return
            cuts = found.cuts
            nearer = self.offer(found.delta)
            if not nearer or self.upper > found.lower * (1 + 1e-9):
                nearer = self.offer(found.inner) or nearer
            if nearer:
                self.tangents = _tangents(p, found.step)
            active = p.opposing.a + p.opposing.W @ found.delta > 0

    def explore(self, cuts: Cuts) -> None:
        """A first witness, and a better one."""
        self.begin(cuts)
        self.improve(cuts)

    def begin(self, cuts: Cuts) -> None:
        """A first witness: downhill from 0, and from random directions only if need be."""
        p = self.problem
        start = np.zeros(p.rank)
        self.offer(-p.gradient(start))
        if self.delta is None:
            for direction in (-p.c @ p.W, -p.opposing.c @ p.opposing.W):
                self.offer(direction)
        if self.delta is None:
            self._wander(np.random.default_rng(0))
        self.descend(start if self.delta is None else self.delta, cuts)

    def improve(self, cuts: Cuts) -> None:
        """A better one along the smoothed gradient."""
        self.anneal(0.3, cuts)
        if self.delta is not None:
            self.descend(self.delta, cuts)

    def anneal(self, width: float, cuts: Cuts, start: FloatArray | None = None) -> None:
        """Follow the gradient of a smoothed network on the sphere of the best radius while the smoothing shrinks.

        relu' is replaced by a ramp over |z| <= width upper, so that neurons that a short perturbation can reach count
        before they are reached. From there, convex-concave steps. A start on the sphere is left only gradually.
        """
        p = self.problem
        if self.delta is None or self.upper == 0:
            return
        delta = np.zeros(p.rank) if start is None else start
        for i in range(_SMOOTHINGS):
            ramp = width * self.upper * (1.0 - i / _SMOOTHINGS)
            g = (p.c * np.clip(0.5 + 0.5 * (p.a + p.W @ delta) / ramp, 0.0, 1.0)) @ p.W
            size = sqrt(g @ g)
            if size == 0:
                return
            move = -g / size if start is None else delta / self.upper - g / size
            length = sqrt(move @ move)
            if not length > 0:  # the start is where the gradient leads away from
                return
            delta = self.upper * (move / length)
        self.offer(delta)
        self.descend(delta, cuts)

    def scatter(self, count: int, cuts: Cuts) -> None:
        """The same from random points of the sphere."""
        if not np.isfinite(self.upper):
            return
        rng = np.random.default_rng(0)
        for _ in range(count):
            start = rng.standard_normal(self.problem.rank)
            self.anneal(0.3, cuts, self.upper / float(np.linalg.norm(start)) * start)

    def attack(self, cuts: Cuts) -> None:
        """DDN, FMN, rays across the strongest neurons and a few random starts, then convex-concave steps.

        A search that is stopped early thus never ends above DDN and FMN, and seldom above another attack.
        """
        p = self.problem
        seen = Neighbourhood(A=p.a[None, :], C=p.c[None, :], W=p.W, basis=None, level=-p.constant)
        for (delta,) in nearest_of_two(seen):
            self.offer(delta)
            if delta.any():
                self.descend(delta, cuts)
        strongest = np.argsort(-np.abs(p.c), kind="stable")[:_RAYS]
        for direction in (p.gradient(np.zeros(p.rank)), *(-np.sign(p.c[strongest, None]) * p.W[strongest])):
            if self.offer(direction) and self.delta is not None:
                self.descend(self.delta, cuts)
        self.scatter(_FEW_STARTS, cuts)

    def _wander(self, rng: np.random.Generator) -> None:
        """Subgradient descent on the slope of g at infinity over the unit sphere, from several starts."""
        p = self.problem
        total = float(np.abs(p.c).sum())
        if total == 0:
            return
        starts = np.vstack([-p.c[:, None] * p.W, rng.standard_normal((32, p.rank))])[-64:]
        for direction in starts:
            x = direction / max(float(np.linalg.norm(direction)), 1e-300)
            for i in range(30):
                x = x - (p.c * (p.W @ x > 0)) @ p.W / (0.3 * total * (i + 1))
                x /= max(float(np.linalg.norm(x)), 1e-300)
            if self.offer(x):
                return


def _tangents(problem: RadiusProblem, step: ProofStep) -> FloatArray | None:
    """The shares of the weights of the supporting neurons in a step of a projection, None if it has no cut."""
    if not step.scale > 0:
        return None
    shares = np.zeros(problem.width)
    slopes = step.slopes[problem.supporting.index]
    shares[problem.supporting.index] = np.minimum(slopes / (step.scale * problem.supporting.c), 1.0)
    return shares


def _first_crossing(a: FloatArray, speed: FloatArray, c: FloatArray, constant: float, limit: float) -> float:
    """The first t in [0, limit) with constant + sum_j c_j relu(a_j + t speed_j) <= 0, infinity if there is none.

    Knots are sorted, values at the knots are prefix sums; the crossing itself is computed and confirmed by a fresh sum.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        knots = -a / speed
    ahead = ((knots > 0) & (knots < limit)).nonzero()[0]
    ahead = ahead[knots[ahead].argsort()]
    falls = c * speed
    starting = a > 0
    if np.count_nonzero(a) < a.size:
        starting |= (knots == 0) & (speed > 0)
    t = np.empty(ahead.size + 2)
    t[0], t[1:-1], t[-1] = 0.0, knots[ahead], limit
    slope = np.zeros(ahead.size + 1)
    np.cumsum(c[ahead] * np.abs(speed[ahead]), out=slope[1:])
    slope += float(falls @ starting)
    first = constant + float(c @ np.maximum(a, 0.0))
    values = first + np.cumsum(slope * (t[1:] - t[:-1]))
    for piece in np.flatnonzero(values <= 0):
        low, high = float(t[piece]), float(t[piece + 1])
        active = a + 0.5 * (low + high) * speed > 0
        fall = float(falls @ active)
        height = constant + float((c * a) @ active)
        if height + fall * high <= 0:  # prefix sums may have rounded a value that is positive
            root = -height / fall if fall < 0 else high
            return min(max(root, low), high)
    return float("inf")
