r"""The shortest perturbation that flips all samples at once, bounded from both sides.

Two different problems. Signed: z is subtracted from the positive samples and added to the negative
ones, x_i - y_i z, as in [VYS22, Thm 4.1] and [FVBS23, Thm 4.2]. Unsigned: one and the same z is added to all, x_i + z;
for many networks there is none.

From above: exact rays along universal directions, then the convex-concave procedure on all samples jointly; the witness
is evaluated again. From below: z flips each sample by itself, so no radius of a single sample exceeds ||z||; and
the chord relaxation of all samples jointly, tightened on the cap that each round leaves. `check_universal` recomputes
everything from the witness and the multipliers, without a solver.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import BoolArray, FloatArray, read_only, real_number, vector, whole_number
from marginflow.display import Displayed, shortened, shortest_sentence
from marginflow.networks import TwoLayer
from marginflow.robustness.attacks import LENGTHENINGS, flips_beyond_rounding
from marginflow.robustness.chord import ChordBound, Relaxation, bound_from_multipliers, chord_bound_of
from marginflow.robustness.clock import Clock
from marginflow.robustness.convex_concave import descend
from marginflow.robustness.lower_bounds import chord_bound, interval_bound, local_lipschitz_bound, parabola_bound
from marginflow.robustness.neighbourhood import Neighbourhood, neighbourhood, points_and_labels
from marginflow.robustness.rays import RaySteps, minimal_step

# The quadratic bound is the slow one: it is tried on this many samples, those that look hardest to flip.
_QUADRATIC_SAMPLES = 5
# ... and only when this share of the length of z is still open.
_WORTH_IT = 1e-3
# Of a time limit the search for z takes at most the first share, and the bounds of single samples end with the second.
_SEARCH, _SINGLE = 0.5, 0.75
# Steps of a subgradient descent, and rounds of the joint relaxation.
_WANDERING, _JOINT_ROUNDS = 150, 12


@dataclass(frozen=True, eq=False, kw_only=True)
class Universal(Displayed):
    """A universal perturbation with bounds from both sides.

    Parameters
    ----------
    signed : bool
        Whether z acts as x_i - y_i z (True) or x_i + z (False).
    vector : array, shape (d,), or None
        The shortest z found; None if none was found.
    upper, lower : float
        ||z||, infinity if none was found; and a bound that no such z is below.
    share : float
        Share of the samples that z must flip.
    flipped : boolean array, shape (n,)
        Samples that z flips.
    single_bounds : array, shape (n,)
        Lower bounds on the radii of the samples one by one.
    rounds : tuple of ChordBound
        Weights and slopes of the joint relaxation, round by round; empty when it was not used.
    level : float
        Flipped means y N <= level.
    stopped_by : "time limit" or None
        What has ended the work before its time; the bounds hold all the same.
    """

    signed: bool
    vector: FloatArray | None
    upper: float
    lower: float
    share: float
    flipped: BoolArray
    single_bounds: FloatArray
    rounds: tuple[ChordBound, ...]
    level: float
    stopped_by: Literal["time limit"] | None = None

    @property
    def gap(self) -> float:
        """(upper - lower) / upper; 1 when no witness was found, 0 when z is proved to be the shortest."""
        if self.upper == 0:
            return 0.0
        return (self.upper - self.lower) / self.upper if np.isfinite(self.upper) else 1.0

    @property
    def sentence(self) -> str:
        """What was found, without the full stop."""
        how = "as x_i - y_i z" if self.signed else "as x_i + z"
        said = shortest_sentence(self.upper, self.lower, samples=self.flipped.size, share=self.share, how=how, digits=6)
        if self.level != 0.0:
            said += f" (the wrong side is y N <= {self.level:g})"
        return said if self.stopped_by is None else f"{said} (stopped by the {self.stopped_by})"

    def __repr__(self) -> str:
        return shortened(f"Universal({self.sentence})")


def universal_perturbation(
    network: TwoLayer,
    X: ArrayLike,
    y: ArrayLike,
    *,
    signed: bool = True,
    share: float = 1.0,
    directions: Sequence[ArrayLike] = (),
    level: float = 0.0,
    n_random: int | None = None,
    max_steps: int = 30,
    seed: int = 0,
    time_limit: float | None = None,
) -> Universal:
    r"""The shortest z with y_i N(x_i - y_i z) <= level for all samples, or for a share of them.

    Parameters
    ----------
    network : TwoLayer
    X : array, shape (n, d)
    y : array, shape (n,)
    signed : bool
        False for one and the same z that is added to every sample, y_i N(x_i + z) <= level.
    share : float
        Share of the samples to flip, in (0, 1].
    directions : sequence of arrays, shape (d,)
        Further directions to start from; sum_i y_i x_i and the sums of gradients are always tried.
    n_random : int or None
        Number of random starts; None for 4, or for 16 where z is not signed.
    max_steps : int
        Convex-concave steps from each start.
    time_limit : float or None
        Seconds after which the shortest z so far is returned with the bounds that are proved by then; at most half of
        them go into the search for z.

    Examples
    --------
    >>> from marginflow.networks import TwoLayer
    >>> from marginflow.robustness import universal_perturbation
    >>> net = TwoLayer(W=[[3.0, 4.0], [-3.0, -4.0]], v=[1.0, -1.0])      # N(x) = 3 x_1 + 4 x_2
    >>> found = universal_perturbation(net, [[1.0, 0.0], [-2.0, 1.0]], [1, -1])
    >>> round(found.upper, 6), round(found.lower, 6)
    (0.6, 0.6)
    """
    clock = Clock(time_limit)
    asked = _Asked.of(network, X, y, signed=signed, share=share, level=level)
    seen, sigma, everyone = asked.seen, asked.sigma, asked.everyone
    default = 4 if signed else 16
    n_random = default if n_random is None else whole_number("n_random", n_random, minimum=0)
    max_steps = whole_number("max_steps", max_steps, minimum=0)
    rng = np.random.default_rng(whole_number("seed", seed, minimum=0))

    best = None
    search = clock.deadline(_SEARCH)
    for number, direction in enumerate(asked.directions(directions, n_random, rng)):
        if number and clock.over(search):
            break
        steps = minimal_step(network, asked.points, asked.signs, direction, signed=signed, level=seen.level)
        start, mask = asked.start(steps, direction)
        if start is None and everyone:
            start, mask = asked.wander(direction, search)
        if start is None:
            continue
        z = descend(seen.only(mask), sigma[mask], start, max_steps=max_steps, deadline=search)
        candidate = asked.witness(seen.lift(z[None])[0])
        if candidate is not None and (best is None or np.linalg.norm(candidate) < np.linalg.norm(best)):
            best = candidate
    clock.over(search)
    upper = float("inf") if best is None else float(np.linalg.norm(best))
    single = asked.single_bounds(upper if everyone else np.inf, clock)
    lower = float(np.sort(single)[asked.needed - 1])  # whichever are flipped, one of them has at least this radius
    rounds: tuple[ChordBound, ...] = ()
    if everyone and 0 < upper < np.inf:
        joint, rounds = _joint_bound(seen, sigma, upper, clock.deadline())
        lower = max(lower, joint)
        clock.over(clock.deadline())
    if everyone and lower < upper * (1.0 - _WORTH_IT) and not clock.over(clock.deadline()):
        single = asked.hardest_again(single, upper, clock)
        lower = max(lower, float(single.max()))
    return Universal(
        signed=signed,
        vector=None if best is None else read_only(best),
        upper=upper,
        lower=min(lower, upper),
        share=asked.share,
        flipped=read_only(np.zeros(sigma.size, dtype=np.bool_) if best is None else asked.flipped(best)),
        single_bounds=read_only(single),
        rounds=rounds,
        level=seen.level,
        stopped_by="time limit" if clock.missed else None,
    )


def check_universal(network: TwoLayer, X: ArrayLike, y: ArrayLike, claim: Universal) -> tuple[float, float]:
    """(lower, upper) recomputed from the witness and the multipliers alone; no solver, no search.

    The single-sample bounds are not part of the joint proof: when `claim.lower` comes from them, the recomputed lower
    bound is smaller, and each of them is checked by its own function.
    """
    asked = _Asked.of(network, X, y, signed=claim.signed, share=claim.share, level=claim.level)
    upper, lower = np.inf, 0.0
    if claim.vector is not None and int(asked.flipped(claim.vector).sum()) >= asked.needed:
        upper = float(np.linalg.norm(claim.vector))
    if claim.rounds and np.isfinite(upper):
        relaxation = Relaxation.on_ball(asked.seen, asked.sigma, upper)
        for step in claim.rounds:
            proved, normal = bound_from_multipliers(relaxation, step.weights, step.slopes)
            lower = max(lower, float(min(proved, upper)))
            relaxation = relaxation.on_cap(upper, normal, min(proved, upper))
    return lower, upper


@dataclass(frozen=True, eq=False, kw_only=True)
class _Asked:
    """The samples x_i that one z is to flip, as x_i + sigma_i z, and how many of them it must."""

    network: TwoLayer
    points: FloatArray
    signs: FloatArray
    seen: Neighbourhood
    sigma: FloatArray
    share: float
    needed: int

    @classmethod
    def of(cls, network: TwoLayer, X: ArrayLike, y: ArrayLike, *, signed: bool, share: float, level: float) -> _Asked:
        """The question, checked."""
        points, signs = points_and_labels(network, X, y)
        seen = neighbourhood(network, points, signs, level)
        share = real_number("share", share, above=0.0, at_most=1.0)
        sigma = -signs if signed else np.ones(signs.size)
        needed = max(1, int(np.ceil(share * signs.size - 1e-9)))
        return cls(network=network, points=points, signs=signs, seen=seen, sigma=sigma, share=share, needed=needed)

    @property
    def everyone(self) -> bool:
        """Whether all samples must be flipped."""
        return self.needed == self.signs.size

    def flipped(self, z: FloatArray) -> BoolArray:
        """The samples that z flips."""
        return self.signs * self.network(self.points + self.sigma[:, None] * z) <= self.seen.level

    def directions(self, given: Sequence[ArrayLike], n_random: int, rng: np.random.Generator) -> list[FloatArray]:
        """The sum of y_i x_i, downhill sums of gradients (plain and of unit length), the given ones, random ones."""
        seen, d = self.seen, self.network.dimension
        _, gradients = seen.values_and_gradients()
        lengths = np.linalg.norm(gradients, axis=1)
        downhill = -self.sigma[:, None] * seen.lift(gradients)
        units = downhill / np.where(lengths > 0, lengths, 1.0)[:, None]
        found = [self.signs @ self.points, downhill.sum(axis=0), units.sum(axis=0)]
        for index, direction in enumerate(given):
            found.append(vector(f"directions[{index}]", direction, d))
        found.extend(rng.random(units.shape[0]) ** 2 @ units for _ in range(n_random // 2))
        found.extend(rng.normal(size=d) for _ in range(n_random - n_random // 2))
        return [z for z in found if float(np.linalg.norm(z)) > 0]

    def start(self, steps: RaySteps, direction: FloatArray) -> tuple[FloatArray | None, BoolArray]:
        """The exact common flip along a direction, in coordinates, and the samples that it flips."""
        seen, sigma = self.seen, self.sigma
        t = steps.step_for_share(self.needed / sigma.size)
        mask = np.zeros(sigma.size, dtype=np.bool_)
        if not np.isfinite(t):
            return None, mask
        z = t * (direction if seen.basis is None else direction @ seen.basis)
        A = seen.A + sigma[:, None] * (seen.W @ z)
        values = (np.maximum(A, 0.0) * seen.C).sum(axis=1) - seen.level
        mask[np.argsort(values, kind="stable")[: self.needed]] = True  # those deepest inside the other class
        return z, mask

    def wander(self, direction: FloatArray, deadline: float) -> tuple[FloatArray | None, BoolArray]:
        """Where no step along the ray flips all: subgradient descent on sum_i max(0, f_i(z)), with falling steps."""
        seen, sigma, scale = self.seen, self.sigma, float(np.abs(self.points).max())
        everything = np.ones(sigma.size, dtype=np.bool_)
        z = direction if seen.basis is None else direction @ seen.basis
        z = z * (scale / max(float(np.linalg.norm(z)), 1e-300))
        for step in range(_WANDERING):
            if time.monotonic() > deadline:
                break
            values, gradients = seen.values_and_gradients(sigma[:, None] * z)
            left = values > 0
            if not left.any():
                return z, everything
            slope = (sigma[left, None] * gradients[left]).sum(axis=0)
            length = float(np.linalg.norm(slope))
            if length == 0:
                break
            z = z - 0.5 * scale / (1.0 + 0.1 * step) * slope / length
        return None, everything

    def witness(self, z: FloatArray) -> FloatArray | None:
        """z lengthened by the least share with which it flips enough samples beyond rounding; None if it never does."""
        if int(self.flipped(np.zeros_like(z)).sum()) >= self.needed:
            return np.zeros_like(z)
        for lengthening in LENGTHENINGS:
            longer = (1.0 + lengthening) * z
            moved = self.points + self.sigma[:, None] * longer
            if int(flips_beyond_rounding(self.network, moved, self.signs, self.seen.level).sum()) >= self.needed:
                return longer
        return None

    def single_bounds(self, upper: float, clock: Clock) -> FloatArray:
        """Lower bounds on the radii one by one; where z flips all samples, none of the radii exceeds its length.

        The sharper bounds begin with the samples that look hardest to flip: with a time limit not all have their turn.
        """
        network, level = self.network, self.seen.level
        interval = interval_bound(network, self.points, self.signs, level=level).radii
        order = np.argsort(-interval, kind="stable")
        hardest, of_hardest = self.points[order], self.signs[order]
        balls = np.full(order.size, upper) if 0 < upper < np.inf else None
        until = clock.deadline(_SINGLE)
        local = local_lipschitz_bound(network, hardest, of_hardest, level=level, time_limit=clock.left(until))
        chords = chord_bound(network, hardest, of_hardest, level=level, balls=balls, time_limit=clock.left(until))
        clock.over(until)
        best: FloatArray = interval.copy()
        best[order] = np.maximum(best[order], np.maximum(local.radii, chords.radii))
        return best

    def hardest_again(self, single: FloatArray, upper: float, clock: Clock) -> FloatArray:
        """The quadratic bound for the samples with the largest bounds so far."""
        hardest = np.argsort(-single, kind="stable")[:_QUADRATIC_SAMPLES]
        hardest = hardest[np.isfinite(single[hardest]) & (single[hardest] > 0)]
        if hardest.size == 0:
            return single
        points, signs, left = self.points[hardest], self.signs[hardest], clock.left(clock.deadline())
        balls = np.full(hardest.size, upper) if np.isfinite(upper) else None
        some = parabola_bound(self.network, points, signs, level=self.seen.level, balls=balls, time_limit=left)
        clock.over(clock.deadline())
        better = single.copy()
        better[hardest] = np.maximum(better[hardest], some.radii)
        return better


def _joint_bound(
    seen: Neighbourhood, sigma: FloatArray, upper: float, deadline: float
) -> tuple[float, tuple[ChordBound, ...]]:
    """Chords of all samples jointly over the ball of radius `upper`, then over the cap that each round leaves."""
    relaxation = Relaxation.on_ball(seen, sigma, upper)
    rounds: list[ChordBound] = []
    lower = 0.0
    for _ in range(_JOINT_ROUNDS):
        if time.monotonic() > deadline:
            break
        found = chord_bound_of(relaxation, deadline=deadline)
        rounds.append(found)
        gain, lower = found.lower - lower, max(lower, min(found.lower, upper))
        if lower >= upper * (1.0 - 1e-9) or gain <= 1e-4 * upper:
            break
        relaxation = relaxation.on_cap(upper, found.normal, min(found.lower, upper))
    return lower, tuple(rounds)
