r"""Lower bounds on the radius min{||delta|| : y N(x + delta) <= level} that need no search.

From cheap to sharp: one Lipschitz constant for all; a Lipschitz constant of the ball; neuron by neuron; chords;
a quadratic majorant. Each is rigorous up to a stated allowance for rounding, and the last two are recomputed from the
multipliers that prove them. A point that is flipped already has radius 0, and the result says so.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import BoolArray, FloatArray, labels, matrix, read_only, real_number, vector
from marginflow.errors import InputError
from marginflow.networks import TwoLayer
from marginflow.robustness.chord import ROUNDING_SHARE, Relaxation, chord_bound_of
from marginflow.robustness.neighbourhood import Neighbourhood, neighbourhood
from marginflow.robustness.piecewise import first_steps
from marginflow.robustness.radius.minorant import distance, minorant
from marginflow.robustness.radius.quadratic import bound_by_parabolas, start_at
from marginflow.robustness.radius.reduction import reduce_network
from marginflow.robustness.radius.tightening import ball as intervals_of_ball

# Breakpoints that differ by less than this share count as one.
_SAME_EDGE = 1e-9
# How often a ball may be doubled when no flip is known and the bound certifies the whole ball.
_MAX_DOUBLINGS = 30


@dataclass(frozen=True, eq=False, kw_only=True)
class LowerBounds:
    """Certified radii: no perturbation smaller than radii[i] flips point i.

    Parameters
    ----------
    name : str
        Which bound.
    radii : array, shape (n,)
        Infinity where the network provably never flips the point; 0 where it is flipped already, and where a time limit
        was over before anything was proved.
    already : boolean array, shape (n,)
        Points flipped before any perturbation.
    level : float
        Flipped means y N <= level.
    """

    name: str
    radii: FloatArray
    already: BoolArray
    level: float

    def __repr__(self) -> str:
        return f"LowerBounds({self.name}: {self.radii.size} points, median radius {np.median(self.radii):.6g})"


def lipschitz_bound(network: TwoLayer, X: ArrayLike, y: ArrayLike, *, level: float = 0.0) -> LowerBounds:
    r"""Radius at least (y N(x) - level) / L with one Lipschitz constant L of the network.

    .. math:: L = \tfrac12 \Big\| \sum_j u_j \Big\|
       + \tfrac12 \Big(\sum_j \|u_j\|\Big)^{1/2} \big\| [u_j / \|u_j\|^{1/2}]_j \big\|_2 , \qquad u_j = v_j w_j ,

    since every gradient is sum_j s_j u_j with s_j = 1/2 + e_j, |e_j| <= 1/2. Never more than sum_j |v_j| ||w_j||, and
    unchanged when neurons are split or rescaled.
    """
    seen = neighbourhood(network, X, y, level)
    u = seen.C[0][:, None] * seen.W  # the sign y_0 does not matter
    total = float(np.linalg.norm(u, axis=1).sum())
    spread = min(total, float(np.sqrt(total)) * _stretch(u))
    constant = 0.5 * float(np.linalg.norm(u.sum(axis=0))) + 0.5 * spread
    return _result("Lipschitz", seen, _ratio(_safe_values(seen), np.full(seen.n_points, constant)))


def local_lipschitz_bound(
    network: TwoLayer, X: ArrayLike, y: ArrayLike, *, level: float = 0.0, time_limit: float | None = None
) -> LowerBounds:
    r"""The largest min(R, f(0) / L(R)) over balls, L(R) a Lipschitz constant of f inside the ball of radius R.

    Inside the ball a neuron with |a_j| >= R ||w_j|| is decided; only the others have a free slope, and they enter L(R)
    as in `lipschitz_bound`. R runs over the breakpoints |a_j| / ||w_j||. Points are taken in turn; those that are left
    after `time_limit` seconds have radius 0.
    """
    deadline = _deadline(time_limit)
    seen = neighbourhood(network, X, y, level)
    return _result("local Lipschitz", seen, _local_radii(seen, deadline))


def interval_bound(network: TwoLayer, X: ArrayLike, y: ArrayLike, *, level: float = 0.0) -> LowerBounds:
    r"""Neuron by neuron: the first zero of the least that every neuron can contribute at distance r.

    .. math:: \varphi(r) = \sum_{C_j > 0} C_j \mathrm{relu}(a_j - r \|w_j\|)
       + \sum_{C_j < 0} C_j \mathrm{relu}(a_j + r \|w_j\|)

    f(delta) >= phi(||delta||), and phi is piecewise linear, so its zero is exact. Where one supporting neuron is active
    and dies before any opposing one can wake, as in `one_neuron_per_sample`, it is the radius itself.
    """
    seen = neighbourhood(network, X, y, level)
    size = np.linalg.norm(seen.W, axis=1)
    radii = first_steps(seen.A, np.where(seen.C > 0, -size, size), seen.C, seen.level)
    return _result("interval", seen, radii)


def chord_bound(
    network: TwoLayer,
    X: ArrayLike,
    y: ArrayLike,
    *,
    level: float = 0.0,
    balls: ArrayLike | None = None,
    time_limit: float | None = None,
) -> LowerBounds:
    r"""Every opposing relu replaced by its chord over a ball; see `marginflow.robustness.chord`.

    Parameters
    ----------
    balls : array, shape (n,), or None
        Radius of the ball for each point, best a known upper bound on its radius (sizes of an attack). The bound is
        min(ball, what the chords prove), so any positive value is sound. None: an exact flip along the gradient,
        or doubling where that ray never flips.
    time_limit : float or None
        Seconds after which every point has what was proved of it so far; points are taken in turn.
    """

    seen, deadline = neighbourhood(network, X, y, level), _deadline(time_limit)

    def of_point(i: int, ball: float) -> float:
        relaxation = Relaxation.on_ball(seen.only(np.array([i])), np.ones(1), ball)
        return min(chord_bound_of(relaxation, deadline=deadline).lower, ball)

    return _over_balls("chord", seen, balls, of_point, rounds=8, deadline=deadline)


def parabola_bound(
    network: TwoLayer,
    X: ArrayLike,
    y: ArrayLike,
    *,
    level: float = 0.0,
    balls: ArrayLike | None = None,
    time_limit: float | None = None,
) -> LowerBounds:
    r"""Every opposing relu replaced by a parabola that touches it, held together by one matrix (an S-lemma bound).

    The relaxation is that of the root of `exact_radius` (see `marginflow.robustness.radius.quadratic`); the bound is
    recomputed from its multipliers by `marginflow.robustness.radius.minorant`, which knows no solver. Sharper than
    chords where many samples share few dimensions, and slower. Parameters as in `chord_bound`.
    """
    points, signs = matrix("X", X), labels("y", y)
    reduction = reduce_network(network)
    seen, deadline = neighbourhood(network, X, y, level), _deadline(time_limit)

    def of_point(i: int, ball: float) -> float:
        problem = reduction.at(points[i], float(signs[i]), seen.level)
        box = intervals_of_ball(problem, ball * (1.0 + ROUNDING_SHARE))
        slope = problem.gradient(np.zeros(problem.rank))
        length = float(np.linalg.norm(slope))
        downhill = -ball / length * slope if length > 0 else np.zeros(problem.rank)
        best = 0.0
        # Newton's method may stall where it begins; the far side of the ball is best, half way there rarely better.
        for share in (1.0, 0.5):
            found = bound_by_parabolas(
                problem,
                box,
                np.zeros(problem.width, dtype=np.int64),
                start_at(problem, box, share * downhill, ball),
                radius=ball,
                deadline=deadline,
            )
            proved = distance(minorant(problem, found.step, box))
            # The square is a difference of numbers of the size of ball^2; its rounding is given up.
            best = max(best, min(float(np.sqrt(max(proved**2 - 1e-11 * ball**2, 0.0))), ball))
            if best >= 0.98 * ball or time.monotonic() > deadline:
                break
        return best

    return _over_balls("parabola", seen, balls, of_point, rounds=3, deadline=deadline)


def _deadline(time_limit: float | None) -> float:
    """The value of `time.monotonic()` at which time is over."""
    return np.inf if time_limit is None else time.monotonic() + real_number("time_limit", time_limit, at_least=0.0)


def _result(name: str, seen: Neighbourhood, radii: FloatArray) -> LowerBounds:
    already = seen.already()
    certified = np.where(already, 0.0, radii * (1.0 - ROUNDING_SHARE))
    return LowerBounds(name=name, radii=read_only(certified), already=read_only(already), level=seen.level)


def _safe_values(seen: Neighbourhood) -> FloatArray:
    """f_i(0) less its rounding error, at least 0."""
    return np.maximum(seen.values_at_zero() - seen.rounding(), 0.0)


def _ratio(values: FloatArray, constants: FloatArray) -> FloatArray:
    """values / constants; infinity where a positive value meets a constant function."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(values > 0, values / constants, 0.0)


def _stretch(u: FloatArray) -> float:
    """Spectral norm of the rows u_j / sqrt(||u_j||), slightly enlarged against rounding."""
    lengths = np.linalg.norm(u, axis=1)
    rows = u / np.sqrt(np.where(lengths > 0, lengths, 1.0))[:, None]
    return float(np.linalg.norm(rows, 2)) * (1.0 + 1e-10)


def _local_radii(seen: Neighbourhood, deadline: float) -> FloatArray:
    """The radii of `local_lipschitz_bound`, before the allowance for rounding.

    L(R) need not grow with R, so all pieces between breakpoints are looked at; from one to the next a single neuron
    gets its free slope, which makes the centres of the gradients running sums. Points beyond the deadline have 0.
    """
    n, k = seen.A.shape
    size = np.linalg.norm(seen.W, axis=1)
    lengths = np.abs(seen.C[0]) * size
    stretch = _stretch(seen.C[0][:, None] * seen.W)
    rounding = 4.0 * k * float(np.finfo(np.float64).eps) * float(lengths.sum())  # of the running sums
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.where(size > 0, np.abs(seen.A) / size, np.inf)
    values = _safe_values(seen)
    radii = np.zeros(n)
    for i in range(n):
        if time.monotonic() > deadline:
            break
        order = np.argsort(reach[i], kind="stable")
        edges = np.concatenate([[0.0], reach[i, order], [np.inf]])
        active = np.where(seen.A[i] > 0, 1.0, 0.0)
        freed = ((0.5 - active) * seen.C[i])[order, None] * seen.W[order]
        centres = np.cumsum(np.vstack([(active * seen.C[i]) @ seen.W, freed]), axis=0)
        total = np.concatenate([[0.0], np.cumsum(lengths[order])])
        constants = np.linalg.norm(centres, axis=1) + 0.5 * np.minimum(total, np.sqrt(total) * stretch) + rounding
        # Copies of a neuron have one breakpoint, up to rounding: no piece lies between them.
        pieces = edges[1:] > edges[:-1] * (1.0 + _SAME_EDGE)
        radii[i] = np.minimum(_ratio(values[i], constants), edges[1:])[pieces].max()
    return radii


def _over_balls(
    name: str,
    seen: Neighbourhood,
    balls: ArrayLike | None,
    of_point: Callable[[int, float], float],
    *,
    rounds: int,
    deadline: float,
) -> LowerBounds:
    """The best of `of_point` over a few balls, for every point; each value is sound by itself."""
    radii = np.zeros(seen.n_points)
    already = seen.already()
    if balls is None:
        _, gradients = seen.values_and_gradients()
        slopes, steps = np.linalg.norm(gradients, axis=1), seen.steps(-gradients)
        moving = slopes > 0  # elsewhere f is constant nearby, and the walk along the gradient says nothing
        known = np.full(seen.n_points, np.inf)
        known[moving] = steps[moving] * slopes[moving]
    else:
        known = vector("balls", balls, seen.n_points)
        if (known[~already] <= 0).any():
            raise InputError(f"balls contains the value {known[~already].min():g}; a ball must be positive.")

    def in_time(i: int, ball: float) -> float:
        return of_point(i, ball) if time.monotonic() <= deadline else 0.0

    near = np.minimum(_local_radii(seen, deadline), known)
    for i in np.flatnonzero(~already & (near > 0)):
        if time.monotonic() > deadline:
            break
        radii[i] = _over_balls_of_point(int(i), float(near[i]), float(known[i]), in_time, rounds)
    return _result(name, seen, radii)


def _over_balls_of_point(i: int, near: float, known: float, bound: Callable[[int, float], float], rounds: int) -> float:
    """Bisect for the ball that is just certified: a larger ball proves less, a smaller one cuts the bound off."""
    if not np.isfinite(near):
        return near  # f is constant
    low, high = near, known
    best = max(bound(i, near), bound(i, high) if np.isfinite(high) else 0.0)
    for _ in range(_MAX_DOUBLINGS):
        if np.isfinite(high):
            break
        certified = bound(i, 2.0 * low)
        best = max(best, certified)
        low, high = (2.0 * low, high) if certified >= 2.0 * low * (1.0 - 1e-6) else (low, 2.0 * low)
    if not np.isfinite(high):
        return best
    low = max(low, best)
    for _ in range(rounds):
        if not low < high * (1.0 - 5e-3):
            break
        middle = float(np.sqrt(low * high))
        certified = bound(i, middle)
        best = max(best, certified)
        low, high = (middle, high) if certified >= middle * (1.0 - 1e-6) else (max(low, certified), middle)
    return best
