r"""Exact steps along rays: where a two-layer network changes its sign on x + t e, t >= 0.

On a ray every pre-activation is linear, a_j + t g_j, so y N is piecewise linear in t with at most one breakpoint
per neuron. Sorted breakpoints and prefix sums give its value at every breakpoint, and with them every sign change.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import BoolArray, FloatArray, IntArray, matrix, one_of, read_only, real_number
from marginflow.display import Plotted
from marginflow.errors import InputError
from marginflow.networks import TwoLayer
from marginflow.networks.evaluation import checked_point, row_blocks
from marginflow.robustness.neighbourhood import points_and_labels
from marginflow.robustness.piecewise import BLOCK_NUMBERS, Changes, changes_of_block, without_noise

AtZero = Literal["flips", "keeps", "positive", "negative"]


def zero_flips(y: FloatArray, at_zero: AtZero) -> BoolArray:
    """Whether N = 0 counts as flipped, per sample.

    "flips": for both labels (the boundary belongs to both classes; the default, as in `exact_radius`).
    "keeps": for neither (strict y N < 0, as in the experiments of [VYS22, Sec. 6]).
    "positive": sign(0) = +1, so only a negative sample flips at zero [VYS22, Sec. 2].
    "negative": sign(0) = -1, so only a positive sample flips at zero [FVBS23, Sec. 2].
    """
    flips: dict[str, BoolArray] = {"flips": y != 0, "keeps": y == 0, "positive": y < 0, "negative": y > 0}
    return flips[one_of("at_zero", at_zero, tuple(flips))]


@dataclass(frozen=True, eq=False, kw_only=True)
class RaySteps(Plotted):
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
        if not np.allclose(self.norms, self.norms[0], rtol=1e-12, atol=0.0):
            raise InputError(
                f"The directions have norms from {self.norms.min():g} to {self.norms.max():g}; one common norm is "
                "expected for a common size."
            )
        return self.step_for_share(share) * float(self.norms[0])

    def flipped_share(self, t: ArrayLike) -> FloatArray:
        """Share of samples flipped at the given steps, shape as given."""
        wanted = np.asarray(t, dtype=np.float64)
        if wanted.size and not (wanted >= 0).all():
            raise InputError("A step along a ray is negative or not a number; steps must be at least 0.")
        knots = self.steps[::2]
        index = np.searchsorted(knots, wanted, side="right") - 1
        return np.where(knots[index] == wanted, self.shares[2 * index], self.shares[2 * index + 1])

    def changes(self, sample: int) -> FloatArray:
        """The steps at which this sample changes sign, in order."""
        n = self.first.size
        if not -n <= sample < n:
            raise InputError(f"sample is {sample}, but there are {n} samples.")
        low, high = np.searchsorted(self.change_sample, [sample % n, sample % n + 1])
        return self.change_step[low:high]

    @property
    def sentence(self) -> str:
        """What the rays do, without the full stop."""
        n, step = self.first.size, self.all_at_once
        if math.isfinite(step):
            return f"a step of {step:.6g} along the direction flips all {n} samples at once"
        most = f"{100 * self.shares.max():.4g} %"
        return f"no step along the direction flips all {n} samples at once; at most {most} flip"

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
    signed: bool = True,
    at_zero: AtZero = "flips",
    level: float = 0.0,
) -> RaySteps:
    r"""Exact steps t that flip the samples along one vector: x_i - y_i t z, or x_i + t z if not `signed`.

    .. math:: t_i = \inf\{t \ge 0 : y_i N(x_i - y_i t z) \le 0\}

    The signed perturbation is the one of [VYS22, Thm 4.1] and [FVBS23, Thm 4.2]: one vector z, subtracted from the
    positive samples and added to the negative ones. Unsigned, which is a different problem, z is added to every sample
    whatever its label. A linear classifier can be flipped by that on one class only, so `all_at_once` is often
    infinite; `step_for_share` says what share can be flipped.

    Parameters
    ----------
    network : TwoLayer
    X : array, shape (n, d)
    y : array, shape (n,)
        Labels -1 or +1.
    direction : array, shape (d,)
        z, of any non-zero length; steps are in units of z.
    signed : bool
        Whether z is subtracted from the positive and added to the negative samples, or added to all.
    at_zero : "flips", "keeps", "positive" or "negative"
        What N = 0 counts as; see `zero_flips`.
    level : float
        A sample counts as flipped when y N falls to this level instead of 0.

    Returns
    -------
    RaySteps

    Deviations
    ----------
    Values within the rounding error of their own sum, 16 eps sqrt(k) sum_j |v_j| (|a_j| + t |g_j|) over the active
    neurons, count as zero: without that the flat zero regions of constructed networks would be decided by noise.

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
    points, signs = points_and_labels(network, X, y)
    z = checked_point("direction", direction, network.dimension)
    if not z.any():
        raise InputError("direction is zero; a ray needs a non-zero direction.")
    h = without_noise(network.W @ z, np.abs(network.W) @ np.abs(z))
    factor = -signs if signed else np.ones(signs.size)
    return _scan(network, points, signs, factor, h, float(np.linalg.norm(z)), at_zero, level)


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
    points, signs = points_and_labels(network, X, y)
    E = matrix("directions", directions)
    if E.shape != points.shape:
        raise InputError(
            f"directions has shape {E.shape}; one direction per sample, shape {points.shape}, is expected."
        )
    norms = np.linalg.norm(E, axis=1)
    if (norms == 0).any():
        raise InputError(f"Direction {int(np.argmin(norms))} is zero; a ray needs a non-zero direction.")
    G = without_noise(E @ network.W.T, np.abs(E) @ np.abs(network.W.T))
    return _scan(network, points, signs, np.ones(signs.size), G, norms, at_zero, level)


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
    parts: list[Changes] = []
    already = np.empty(y.size, dtype=np.bool_)
    for block in row_blocks(y.size, network.width, at_most=BLOCK_NUMBERS):
        A = network.preactivations(points[block])
        G = slopes[block] if slopes.ndim == 2 else factor[block][:, None] * slopes
        found, already[block] = changes_of_block(A, G, y[block, None] * network.v, zeros[block], level)
        parts.append(found._replace(sample=found.sample + block.start))
    return _collect(parts, already, np.broadcast_to(np.asarray(norms, dtype=np.float64), y.shape), at_zero, level)


def _collect(parts: list[Changes], already: BoolArray, norms: FloatArray, at_zero: AtZero, level: float) -> RaySteps:
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
