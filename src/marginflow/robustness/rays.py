r"""Exact steps along rays: where a two-layer network changes its sign on x + t e, t >= 0.

On a ray every pre-activation is linear, a_j + t g_j, so y N is piecewise linear in t with at most one breakpoint
per neuron. Sorted breakpoints and prefix sums give its value at every breakpoint, and with them every sign change.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import BoolArray, FloatArray, IntArray, labels, matrix, one_of, read_only, real_number, vector
from marginflow.errors import InputError
from marginflow.networks import TwoLayer

AtZero = Literal["flips", "keeps", "positive", "negative"]
AT_ZERO: tuple[str, ...] = ("flips", "keeps", "positive", "negative")

_EPS = float(np.finfo(np.float64).eps)
# Rows are processed in blocks of at most this many breakpoints (8 MiB of float64 a temporary).
_BLOCK_NUMBERS = 1 << 20


def zero_flips(y: FloatArray, at_zero: AtZero) -> BoolArray:
    """Whether N = 0 counts as flipped, per sample.

    "flips": for both labels (the boundary belongs to both classes; the default, as in `exact_radius`).
    "keeps": for neither (strict y N < 0, as in the experiments of [VYS22, Sec. 6]).
    "positive": sign(0) = +1, so only a negative sample flips at zero [VYS22, Sec. 2].
    "negative": sign(0) = -1, so only a positive sample flips at zero [FVBS23, Sec. 2].
    """
    one_of("at_zero", at_zero, AT_ZERO)
    if at_zero == "flips":
        return np.ones(y.size, dtype=np.bool_)
    if at_zero == "keeps":
        return np.zeros(y.size, dtype=np.bool_)
    return y < 0 if at_zero == "positive" else y > 0


@dataclass(frozen=True, eq=False, kw_only=True)
class RaySteps:
    r"""Every sign change of every sample along its ray, and the steps that flip many samples at once.

    A sample is flipped at t when y_i N(x_i(t)) < level, or equals the level and `at_zero` says so. Steps t are in
    units of the direction as given; `norms` holds ||direction||, so a perturbation of step t has size t * norm.

    Parameters
    ----------
    first : array, shape (n,)
        Infimum of the flipped steps; 0 for a sample that is flipped already, infinity for one that never flips.
    lasting : array, shape (n,)
        Infimum of the steps from which on the sample stays flipped for ever; infinity if there is none.
    already : boolean array, shape (n,)
        Flipped at t = 0: misclassified before any step, so its radius is 0.
    norms : array, shape (n,)
        Euclidean norm of each sample's direction.
    change_sample, change_step : arrays, shape (e,)
        The sign changes, ordered by sample and step; a sample that only touches the level has the same step twice.
    steps, shares : arrays, shape (s,)
        The flip curve in slots: shares[l] is the share of samples flipped at the step steps[l] exactly (even l), or
        between steps[l] and the next step (odd l).
    """

    first: FloatArray
    lasting: FloatArray
    already: BoolArray
    norms: FloatArray
    change_sample: IntArray
    change_step: FloatArray
    steps: FloatArray
    shares: FloatArray
    at_zero: AtZero
    level: float

    @property
    def sizes(self) -> FloatArray:
        """Size ||t e|| of each sample's first flip, shape (n,)."""
        return self.first * self.norms

    @property
    def monotone(self) -> BoolArray:
        """Whether the sample, once flipped, stays flipped (also true if it never flips)."""
        same: BoolArray = self.first == self.lasting
        return same

    @property
    def largest_first(self) -> float:
        """max_i first_i: not the step that flips all at once, unless every flip is monotone."""
        return float(self.first.max())

    @property
    def all_at_once(self) -> float:
        """Infimum of the steps at which all samples are flipped simultaneously; infinity if there is none."""
        return self.step_for_share(1.0)

    def step_for_share(self, share: float) -> float:
        """Infimum of the steps at which at least this share of the samples is flipped simultaneously."""
        share = real_number("share", share, at_least=0.0, at_most=1.0)
        n = self.first.size
        needed = int(np.ceil(share * n - 1e-9))
        enough = np.flatnonzero(np.rint(self.shares * n) >= needed)
        return float(self.steps[enough[0]]) if enough.size else float("inf")

    def size_for_share(self, share: float) -> float:
        """Size ||t e|| of `step_for_share`; only when all directions have one norm."""
        return self.step_for_share(share) * self._one_norm()

    def flipped_share(self, t: ArrayLike) -> FloatArray:
        """Share of samples flipped at the given steps, shape as given."""
        wanted = np.asarray(t, dtype=np.float64)
        if wanted.size and not (wanted >= 0).all():
            raise InputError("A step along a ray is negative or not a number; steps must be at least 0.")
        knots = self.steps[::2]
        place = np.searchsorted(knots, wanted, side="right") - 1
        between: FloatArray = np.where(knots[place] == wanted, self.shares[2 * place], self.shares[2 * place + 1])
        return between

    def changes(self, sample: int) -> FloatArray:
        """The steps at which this sample changes sign, in order."""
        n = self.first.size
        if not -n <= sample < n:
            raise InputError(f"sample is {sample}, but there are {n} samples.")
        low, high = np.searchsorted(self.change_sample, [sample % n, sample % n + 1])
        return self.change_step[low:high]

    def _one_norm(self) -> float:
        if not np.allclose(self.norms, self.norms[0], rtol=1e-12, atol=0.0):
            raise InputError(
                f"The directions have norms from {self.norms.min():g} to {self.norms.max():g}; one common norm is "
                "expected for a common size."
            )
        return float(self.norms[0])

    def __repr__(self) -> str:
        n = self.first.size
        return (
            f"RaySteps({n} samples, {int(np.isfinite(self.first).sum())} flip, {int(self.already.sum())} already "
            f"flipped; median first {np.median(self.first):.6g}, largest first {self.largest_first:.6g}, all at once "
            f"{self.all_at_once:.6g})"
        )


def minimal_step(
    network: TwoLayer,
    X: ArrayLike,
    y: ArrayLike,
    direction: ArrayLike,
    *,
    at_zero: AtZero = "flips",
    level: float = 0.0,
) -> RaySteps:
    r"""Exact steps t that flip the samples along the signed universal perturbation x_i - y_i t z.

    .. math:: t_i = \inf\{t \ge 0 : y_i N(x_i - y_i t z) \le 0\}

    The signed perturbation is the one of [VYS22, Thm 4.1] and [FVBS23, Thm 4.2]: one vector z, subtracted from the
    positive samples and added to the negative ones. For one and the same vector added to every sample, which is a
    different problem, see `minimal_step_unsigned`.

    Parameters
    ----------
    network : TwoLayer
    X : array, shape (n, d)
    y : array, shape (n,)
        Labels -1 or +1.
    direction : array, shape (d,)
        z, of any non-zero length; steps are in units of z.
    at_zero : "flips", "keeps", "positive" or "negative"
        What N = 0 counts as; see `zero_flips`.
    level : float
        A sample counts as flipped when y N falls to this level instead of 0.

    Returns
    -------
    RaySteps

    Deviations
    ----------
    Values within the rounding error of their own sum, 16 eps sqrt(k) sum_j |v_j| (|a_j| + t |g_j|), count as zero:
    without that the exactly flat zero regions of constructed networks would be decided by noise.

    Examples
    --------
    >>> import numpy as np
    >>> from marginflow.networks import TwoLayer
    >>> from marginflow.robustness import minimal_step
    >>> net = TwoLayer(W=[[1.0, 0.0], [-1.0, 0.0]], v=[1.0, -1.0])        # N(x) = x_1
    >>> found = minimal_step(net, [[2.0, 0.0], [-3.0, 1.0]], [1, -1], [0.5, 0.0])
    >>> found.first, found.all_at_once, found.sizes
    (array([4., 6.]), 6.0, array([2., 3.]))
    """
    z = _direction(network, direction)
    points, signs = _samples(network, X, y)
    h = _without_noise(network.W @ z, np.abs(network.W) @ np.abs(z))
    return _scan(network, points, signs, -signs, h, float(np.linalg.norm(z)), at_zero, level)


def minimal_step_unsigned(
    network: TwoLayer,
    X: ArrayLike,
    y: ArrayLike,
    direction: ArrayLike,
    *,
    at_zero: AtZero = "flips",
    level: float = 0.0,
) -> RaySteps:
    r"""Exact steps t that flip the samples along the unsigned universal perturbation x_i + t z.

    One and the same vector is added to every sample whatever its label. A linear classifier can be flipped by it on
    one class only, so `all_at_once` is often infinite; `step_for_share` says what share can be flipped. Arguments
    and result as in `minimal_step`.
    """
    z = _direction(network, direction)
    points, signs = _samples(network, X, y)
    h = _without_noise(network.W @ z, np.abs(network.W) @ np.abs(z))
    return _scan(network, points, signs, np.ones(signs.size), h, float(np.linalg.norm(z)), at_zero, level)


def steps_along(
    network: TwoLayer,
    X: ArrayLike,
    y: ArrayLike,
    directions: ArrayLike,
    *,
    at_zero: AtZero = "flips",
    level: float = 0.0,
) -> RaySteps:
    """Exact steps along x_i + t e_i with one direction per sample, shape (n, d); result as in `minimal_step`."""
    points, signs = _samples(network, X, y)
    E = matrix("directions", directions)
    if E.shape != points.shape:
        raise InputError(
            f"directions has shape {E.shape}; one direction per sample, shape {points.shape}, is expected."
        )
    norms = np.linalg.norm(E, axis=1)
    if (norms == 0).any():
        raise InputError(f"Direction {int(np.argmin(norms))} is zero; a ray needs a non-zero direction.")
    G = _without_noise(E @ network.W.T, np.abs(E) @ np.abs(network.W.T))
    return _scan(network, points, signs, np.ones(signs.size), G, norms, at_zero, level)


def _direction(network: TwoLayer, direction: ArrayLike) -> FloatArray:
    z = vector("direction", direction)
    if z.size != network.dimension:
        raise InputError(f"direction has {z.size} entries, but the network has dimension {network.dimension}.")
    if not z.any():
        raise InputError("direction is zero; a ray needs a non-zero direction.")
    return z


def _samples(network: TwoLayer, X: ArrayLike, y: ArrayLike) -> tuple[FloatArray, FloatArray]:
    points = matrix("X", X)
    if points.shape[1] != network.dimension:
        raise InputError(f"X has {points.shape[1]} columns, but the network has dimension {network.dimension}.")
    return points, labels("y", y, points.shape[0])


def _without_noise(products: FloatArray, sizes: FloatArray) -> FloatArray:
    """Inner products that are zero up to rounding become zero, so that no breakpoint appears at 1e16."""
    return np.where(np.abs(products) <= 4.0 * _EPS * sizes, 0.0, products)


class _Changes(NamedTuple):
    """Where the flipped state changes: sample, step, slot (0: at the step, 1: just after it) and +1 or -1."""

    sample: IntArray
    step: FloatArray
    slot: IntArray
    delta: IntArray


def _scan(
    network: TwoLayer,
    points: FloatArray,
    y: FloatArray,
    factor: FloatArray,
    slopes: FloatArray,
    norms: float | FloatArray,
    at_zero: AtZero,
    level: float,
) -> RaySteps:
    """All changes, block by block; g_ij = factor_i slopes_j, or slopes_ij when slopes is a matrix."""
    level = real_number("level", level)
    zeros = zero_flips(y, at_zero)
    rows = max(1, _BLOCK_NUMBERS // network.width)
    parts: list[_Changes] = []
    already = np.empty(y.size, dtype=np.bool_)
    for start in range(0, y.size, rows):
        block = slice(start, min(start + rows, y.size))
        A = network.preactivations(points[block])
        G = slopes[block] if slopes.ndim == 2 else factor[block][:, None] * slopes
        found, already[block] = _changes_of_block(A, G, y[block, None] * network.v, zeros[block], level)
        parts.append(found._replace(sample=found.sample + start))
    return _collect(parts, already, np.broadcast_to(np.asarray(norms, dtype=np.float64), y.shape), at_zero, level)


def _changes_of_block(
    A: FloatArray, G: FloatArray, C: FloatArray, zeros: BoolArray, level: float
) -> tuple[_Changes, BoolArray]:
    r"""Changes of f_i(t) = sum_j C_ij relu(A_ij + t G_ij) - level on t >= 0, and the state at t = 0."""
    n = A.shape[0]
    on = (A > 0) | ((A == 0) & (G > 0))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        T = -A / G
    none = ~((T > 0) & np.isfinite(T))  # starts at 0, never, or beyond the largest float
    T[none] = np.inf
    bend = C * np.abs(G)
    speed = np.abs(bend).sum(axis=1)
    bend[none] = 0.0

    order = np.argsort(T, axis=1)
    knots = np.concatenate([np.zeros((n, 1)), np.take_along_axis(T, order, axis=1)], axis=1)  # (n, k + 1)
    finite = np.isfinite(knots)
    lengths = np.diff(np.where(finite, knots, 0.0), axis=1)
    lengths[~finite[:, 1:]] = 0.0
    slope = (np.where(on, G, 0.0) * C).sum(axis=1)[:, None]
    slope = np.concatenate([slope, slope + np.cumsum(np.take_along_axis(bend, order, axis=1), axis=1)], axis=1)
    value = (np.maximum(A, 0.0) * C).sum(axis=1)[:, None] - level
    value = np.concatenate([value, value + np.cumsum(slope[:, :-1] * lengths, axis=1)], axis=1)

    rounding = 16.0 * _EPS * np.sqrt(A.shape[1])
    still = rounding * ((np.abs(A) * np.abs(C)).sum(axis=1) + abs(level))[:, None]
    moving = rounding * speed[:, None]
    sign = np.sign(value).astype(np.int8)
    sign[np.abs(value) <= still + moving * np.where(finite, knots, 0.0)] = 0
    # Beyond the last knot exactly the neurons with G > 0 are active (or constant ones, G = 0).
    rising = np.where(G > 0, G, 0.0) * C
    tail = rising.sum(axis=1)
    tail[np.abs(tail) <= rounding * np.abs(rising).sum(axis=1)] = 0.0
    n_knots = finite.sum(axis=1)
    at_last = sign[np.arange(n), n_knots - 1]
    at_infinity = np.where(tail != 0, np.sign(tail).astype(np.int8), at_last)
    sign_next = np.concatenate([sign[:, 1:], at_last[:, None]], axis=1)
    sign_next[np.arange(n), n_knots - 1] = at_infinity

    zero = zeros[:, None]
    at_knot = (sign < 0) | ((sign == 0) & zero)
    after = np.where(sign != 0, sign, sign_next)  # the sign just after the knot
    before_next = np.where(sign_next != 0, sign_next, sign)  # the sign just before the next knot
    P = ((after < 0) | ((after == 0) & zero)) & finite
    Q = ((before_next < 0) | ((before_next == 0) & zero)) & finite

    parts = [
        _where(finite & (at_knot != P), knots, 1, P),
        _where(finite[:, 1:] & (at_knot[:, 1:] != Q[:, :-1]), knots[:, 1:], 0, at_knot[:, 1:]),
    ]
    i, piece = np.nonzero(finite & (after * before_next < 0))
    if i.size:
        last = piece == n_knots[i] - 1
        end = np.where(last, np.inf, knots[i, np.minimum(piece + 1, knots.shape[1] - 1)])
        root = _roots(
            A, G, C, level, i, knots[i, piece], end, value[i, piece], np.where(last, tail[i], slope[i, piece])
        )
        at_root = zeros[i]
        opening = np.where(Q[i, piece], 1, -1)
        # f passes through zero: the state changes at the root if zero has the new state, just after it if not.
        slot = np.where(at_root == Q[i, piece], 0, 1)
        parts.append(_Changes(i, root, slot, opening))
    joined = _Changes(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    return joined, at_knot[:, 0]


def _where(mask: BoolArray, steps: FloatArray, slot: int, new_state: BoolArray) -> _Changes:
    i, place = np.nonzero(mask)
    return _Changes(i, steps[i, place], np.full(i.size, slot), np.where(new_state[i, place], 1, -1))


def _roots(
    A: FloatArray,
    G: FloatArray,
    C: FloatArray,
    level: float,
    i: IntArray,
    start: FloatArray,
    end: FloatArray,
    value: FloatArray,
    slope: FloatArray,
) -> FloatArray:
    """Zero of f_i inside (start, end): from the prefix sums, then one Newton step with a fresh sum over neurons."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        root = start - value / slope
    middle = np.where(np.isinf(end), start, 0.5 * (start + np.where(np.isinf(end), start, end)))
    root = np.clip(np.where(np.isfinite(root), root, middle), start, end)
    rows = max(1, _BLOCK_NUMBERS // A.shape[1])
    for low in range(0, i.size, rows):
        part = slice(low, min(low + rows, i.size))
        a, g, c = A[i[part]], G[i[part]], C[i[part]]
        r = root[part]
        pre = a + g * r[:, None]
        on = pre > 0
        f = (np.where(on, pre, 0.0) * c).sum(axis=1) - level
        df = (np.where(on, g, 0.0) * c).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            newer = r - f / df
        root[part] = np.where(np.isfinite(newer) & (newer > start[part]) & (newer < end[part]), newer, r)
    return root


def _collect(parts: list[_Changes], already: BoolArray, norms: FloatArray, at_zero: AtZero, level: float) -> RaySteps:
    """Order the changes, and add them up over the samples into the flip curve."""
    sample, step, slot, delta = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((slot, step, sample))
    sample, step, slot, delta = sample[order], step[order], slot[order], delta[order]
    n = already.size

    first = np.full(n, np.inf)
    opens = delta > 0
    where, index = np.unique(sample[opens], return_index=True)
    first[where] = step[opens][index]
    first[already] = 0.0
    lasting = np.full(n, np.inf)
    count = np.bincount(sample, weights=delta, minlength=n) + already
    final = np.searchsorted(sample, np.arange(n), side="right") - 1  # last change at or before sample i
    flipped_for_ever = count > 0.5
    has_change = (final >= 0) & (sample[np.maximum(final, 0)] == np.arange(n)) if sample.size else np.zeros(n, bool)
    lasting[flipped_for_ever & ~has_change] = 0.0
    rows = np.flatnonzero(flipped_for_ever & has_change)
    lasting[rows] = step[final[rows]]

    knots = np.unique(np.concatenate([[0.0], step]))
    change = np.zeros(2 * knots.size)
    np.add.at(change, 2 * np.searchsorted(knots, step) + slot, delta)
    shares = (already.sum() + np.cumsum(change)) / n
    return RaySteps(
        first=read_only(first),
        lasting=read_only(lasting),
        already=read_only(already),
        norms=read_only(norms),
        change_sample=read_only(sample),
        change_step=read_only(step),
        steps=read_only(np.repeat(knots, 2)),
        shares=read_only(shares),
        at_zero=at_zero,
        level=level,
    )
