r"""All sign changes of f(t) = sum_j c_j relu(a_j + t g_j) - level on t >= 0, many functions at a time.

Breakpoints are sorted, slopes and values are prefix sums; only the few pieces in which f crosses zero are evaluated
again, by a fresh sum over the neurons.
"""

from typing import NamedTuple

import numpy as np

from marginflow.arrays import BoolArray, FloatArray, IntArray
from marginflow.networks.evaluation import row_blocks

_EPS = float(np.finfo(np.float64).eps)
# Temporaries hold at most this many numbers (8 MiB of float64).
BLOCK_NUMBERS = 1 << 20


def without_noise(products: FloatArray, sizes: FloatArray) -> FloatArray:
    """Inner products that are zero up to rounding become zero, so that no breakpoint appears at 1e16."""
    return np.where(np.abs(products) <= 4.0 * _EPS * sizes, 0.0, products)


class Changes(NamedTuple):
    """Where the flipped state changes: sample, step, slot (0: at the step, 1: just after it) and +1 or -1."""

    sample: IntArray
    step: FloatArray
    slot: IntArray
    delta: IntArray


def changes_of_block(
    A: FloatArray, G: FloatArray, C: FloatArray, zeros: BoolArray, level: float
) -> tuple[Changes, BoolArray]:
    r"""Changes of f_i(t) = sum_j C_ij relu(A_ij + t G_ij) - level on t >= 0, and the state at t = 0."""
    n, k = A.shape
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        T = -A / G
    on = np.where(T == 0, G > 0, A > 0)  # just after t = 0; T may vanish by underflow
    none = ~((T > 0) & (T < np.inf))  # starts at 0, never, or beyond the largest float
    T[none] = np.inf
    bend = np.abs(G)
    bend *= C
    rounding = 16.0 * _EPS * np.sqrt(k)
    moving = rounding * np.abs(bend).sum(axis=1)[:, None]
    still = rounding * (np.abs(A * C).sum(axis=1) + abs(level))[:, None]
    bend[none] = 0.0

    order = np.argsort(T, axis=1)
    n_knots = k + 1 - none.sum(axis=1)
    finite = np.arange(k + 1) < n_knots[:, None]
    knots = np.zeros((n, k + 1))
    knots[:, 1:] = np.take_along_axis(T, order, axis=1)
    knots[~finite] = 0.0
    slope = np.empty((n, k + 1))
    slope[:, 0] = np.einsum("ij,ij,ij->i", on, G, C)
    slope[:, 1:] = np.take_along_axis(bend, order, axis=1)
    np.cumsum(slope, axis=1, out=slope)
    value = np.empty((n, k + 1))
    value[:, 0] = np.einsum("ij,ij->i", np.maximum(A, 0.0), C) - level
    np.subtract(knots[:, 1:], knots[:, :-1], out=value[:, 1:])
    value[:, 1:] *= slope[:, :-1]
    value[~finite] = 0.0
    np.cumsum(value, axis=1, out=value)

    sign = np.sign(value).astype(np.int8)
    unsure = finite & (np.abs(value) <= still + moving * knots)
    if unsure.any():
        i, knot = np.nonzero(unsure)
        sign[i, knot] = _fresh_signs(A, G, C, level, i, knots[i, knot])
    # Beyond the last knot exactly the neurons with G > 0 are active (or constant ones, G = 0).
    rising = np.where(G > 0, G, 0.0) * C
    tail = rising.sum(axis=1)
    tail[np.abs(tail) <= rounding * np.abs(rising).sum(axis=1)] = 0.0
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
        parts.append(Changes(i, root, slot, opening))
    joined = Changes(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    return joined, at_knot[:, 0]


def _fresh_signs(A: FloatArray, G: FloatArray, C: FloatArray, level: float, i: IntArray, t: FloatArray) -> IntArray:
    """Signs of f_i(t) where prefix sums cannot tell: a fresh sum, and 0 within the rounding of its active terms."""
    k = A.shape[1]
    signs = np.zeros(i.size, dtype=np.int64)
    for part in row_blocks(i.size, k, at_most=BLOCK_NUMBERS):
        a, g, c = A[i[part]], G[i[part]], C[i[part]]
        moved = g * t[part][:, None]
        active = a + moved > 0
        f = (np.where(active, a + moved, 0.0) * c).sum(axis=1) - level
        scale = (np.where(active, np.abs(a) + np.abs(moved), 0.0) * np.abs(c)).sum(axis=1) + abs(level)
        signs[part] = np.where(np.abs(f) <= 16.0 * _EPS * np.sqrt(k) * scale, 0, np.sign(f))
    return signs


def _where(mask: BoolArray, steps: FloatArray, slot: int, new_state: BoolArray) -> Changes:
    i, knot = np.nonzero(mask)
    return Changes(i, steps[i, knot], np.full(i.size, slot), np.where(new_state[i, knot], 1, -1))


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
    for part in row_blocks(i.size, A.shape[1], at_most=BLOCK_NUMBERS):
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


def first_steps(A: FloatArray, G: FloatArray, C: FloatArray, level: float) -> FloatArray:
    """Smallest t >= 0 with f_i(t) <= 0, infinity where there is none; shape (n,), in blocks of rows."""
    first = np.full(A.shape[0], np.inf)
    for block in row_blocks(*A.shape, at_most=BLOCK_NUMBERS):
        zeros = np.ones(A[block].shape[0], dtype=np.bool_)
        found, already = changes_of_block(A[block], G[block], C[block], zeros, level)
        opens = found.delta > 0
        np.minimum.at(first, block.start + found.sample[opens], found.step[opens])
        first[block][already] = 0.0
    return first
