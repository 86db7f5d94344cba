r"""The dual function over all directions of R^3, by the arrangement of great circles that the samples cut.

With weights :math:`g_i = \lambda_i y_i` the function

.. math:: F(u) = \sum_i g_i\,\mathrm{relu}(z_i \cdot u), \qquad \|u\| = 1,

is linear, :math:`F(u) = S \cdot u`, in every cell between the great circles :math:`z_i \cdot u = 0`. A maximum of F is
therefore of one of three kinds, and each kind is a finite list:

- *cell*: :math:`S / \|S\|`, where that lies in the cell of S; every cell has an arc of some circle on its border;
- *arc*: on circle i, the projection of S on the plane of the circle, where that lies in the arc;
- *vertex*: where two circles cross.

A sweep along circle i sorts the crossings with all others by their angle and adds up S from crossing to crossing, so
all candidates of n circles cost :math:`n^2 \log n`. No candidate is left out: the bound that a proof rests on is the
largest of them all. Rows in a plane or on a line are the case of vanishing coordinates and need nothing special.
"""

import time
from dataclasses import dataclass

import numpy as np

from marginflow.arrays import BoolArray, FloatArray, IntArray
from marginflow.limit.budget import OutOfTimeError
from marginflow.limit.plane.settings import (
    BLOCK_ENTRIES,
    CROSSING,
    IN_CELL,
    MOST_CROSSINGS,
    PARALLEL,
    POINTS_AT_ONCE,
    RAY_DECIMALS,
)


@dataclass(frozen=True, eq=False)
class Peaks:
    """Local maxima of sign * F above a level, the highest first: unit directions (p, 3) and values (p,)."""

    sign: float
    directions: FloatArray
    values: FloatArray


@dataclass(frozen=True, eq=False)
class Survey:
    """What a sweep over all circles has found.

    Attributes
    ----------
    supremum : float
        The largest candidate of +F and -F of all kinds, local maximum or not, without any charge for rounding.
    rounding : float
        A bound on what rounding can hide: supremum + rounding is an upper bound on sup |F|.
    peaks : tuple of Peaks
        For +F and for -F.
    """

    supremum: float
    rounding: float
    peaks: tuple[Peaks, Peaks]

    @property
    def bound(self) -> float:
        """An upper bound on sup |F| over all unit directions."""
        return self.supremum + self.rounding


def survey(rows: FloatArray, weights: FloatArray, *, level: float, deadline: float = np.inf) -> Survey:
    """Sweep along every circle: the supremum of |F|, and all local maxima of +F and -F above `level`.

    Parameters
    ----------
    rows : array, shape (n, 3)
        z_i, none of them zero; those on one ray, as coinciding samples are, share a circle.
    weights : array, shape (n,)
        g_i; rays with weight zero are left out.
    level : float
    deadline : float
        The value of `time.monotonic()` at which an `OutOfTimeError` ends the sweep: half of one proves nothing.
    """
    Z, g = _rays(rows, weights)
    norms = np.linalg.norm(Z, axis=1)
    total = float(np.abs(g) @ norms)
    found: dict[float, list[FloatArray]] = {1.0: [], -1.0: []}
    own = np.concatenate([Z / norms[:, None], -Z / norms[:, None]])
    values = _evaluate(own, Z, g)
    best = float(np.abs(values).max(initial=0.0))
    if len(g) <= 2:  # perhaps no circle crosses another; then the rows themselves are the only candidates
        for sign in found:
            found[sign].append(own[sign * values > level])
    size = max(1, BLOCK_ENTRIES // max(1, 2 * len(g)))
    for first in range(0, len(g), size):
        if time.monotonic() > deadline:
            raise OutOfTimeError
        block = _Circles(Z, g, np.arange(first, min(first + size, len(g))))
        best = max(best, block.largest_on_circles())
        for sign in found:
            cells, lengths = block.cells(sign, level=min(level, best))
            values = sign * _evaluate(cells, Z, g)
            in_cell = np.abs(values - lengths) <= IN_CELL * total  # elsewhere the cell has its maximum on its border
            best = max(best, float(lengths[in_cell].max(initial=0.0)))
            found[sign] += [
                cells[in_cell & (values > level)],
                block.arc_maxima(sign, level),
                block.vertex_maxima(sign, level),
            ]
    rounding = _charge(len(g)) * total
    return Survey(best, rounding, (_collect(1.0, found[1.0], Z, g), _collect(-1.0, found[-1.0], Z, g)))


def _rays(rows: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A row on every ray, and the weight with which it is the sum over the rows of the ray; only weights but zero."""
    norms = np.linalg.norm(rows, axis=1)
    units = np.round(rows / norms[:, None], RAY_DECIMALS) + 0.0
    _, first, ray = np.unique(units, axis=0, return_index=True, return_inverse=True)
    ray = ray.ravel()
    total = np.bincount(ray, weights=weights * (norms / norms[first][ray]), minlength=len(first))
    live = total != 0
    return rows[first][live], total[live]


def _charge(n: int) -> float:
    """Rounding of S and of what is read off it, relative to sum |g_i| ||z_i||.

    A sum of n terms, then 2 n steps whose sizes add up to twice as much, each rounded once in extended precision: at
    most 5 n units. Products, the conversion, projections and norms round in double precision, less than 32 units.
    """
    return float(5 * n * np.finfo(np.longdouble).eps + 32 * np.finfo(np.float64).eps)


def _evaluate(points: FloatArray, Z: FloatArray, g: FloatArray) -> FloatArray:
    """F at unit points, shape (p,)."""
    values = np.empty(len(points))
    for first in range(0, len(points), POINTS_AT_ONCE):
        part = slice(first, first + POINTS_AT_ONCE)
        values[part] = np.maximum(points[part] @ Z.T, 0.0) @ g
    return values


def _collect(sign: float, parts: list[FloatArray], Z: FloatArray, g: FloatArray) -> Peaks:
    """Different directions only, the highest first."""
    points = np.concatenate([part.reshape(-1, 3) for part in parts])
    values = sign * _evaluate(points, Z, g)
    order = np.argsort(-values, kind="stable")
    points, values = points[order], values[order]
    _, first = np.unique(np.round(points, 11), axis=0, return_index=True)
    keep = np.sort(first)
    return Peaks(sign, points[keep], values[keep])


class _Circles:
    """The sweep along a block of circles; event k of a circle opens its arc k.

    Arrays have shape (circles, events), with two events for every other row: where it becomes active and where it
    ceases to be. Rows parallel to the normal of a circle are at infinity: their events come last and change nothing.
    """

    def __init__(self, Z: FloatArray, g: FloatArray, index: IntArray) -> None:
        self.Z, self.g, self.index = Z, g, index
        self.normal = Z[index] / np.linalg.norm(Z[index], axis=1)[:, None]
        self.e1, self.e2 = _tangents(self.normal)
        a, b = self.e1 @ Z.T, self.e2 @ Z.T  # (c, n)
        parallel = np.hypot(a, b) <= PARALLEL * np.linalg.norm(Z, axis=1)
        angle = np.arctan2(b, a)
        enter, leave = np.mod(angle - np.pi / 2, 2 * np.pi), np.mod(angle + np.pi / 2, 2 * np.pi)
        active = (enter > leave) & ~parallel  # at angle 0: entered before 2 pi, leaves after 0
        events = np.where(np.concatenate([parallel, parallel], axis=1), np.inf, np.concatenate([enter, leave], axis=1))
        order = np.argsort(events, axis=1, kind="stable")
        self.theta = np.take_along_axis(events, order, axis=1)
        n = len(g)
        self.row = order % n
        self.entering = order < n
        self.real = np.isfinite(self.theta)
        # S on every arc: what is active at angle 0, and what entered and left since.
        # Added up in extended precision, where there is one, so that a long sweep loses nothing that matters.
        jump = np.where(self.entering, 1.0, -1.0) * np.where(self.real, g[self.row], 0.0)
        steps = (jump[:, :, None] * Z[self.row]).astype(np.longdouble)  # (c, 2n, 3)
        steps[:, 0] += np.where(active, g, 0.0).astype(np.longdouble) @ Z.astype(np.longdouble)
        self.S = np.cumsum(steps, axis=1).astype(np.float64)
        # Arc k ends at the next event; the last one at the first event of the next turn.
        self.last = np.arange(len(index)), np.maximum(self.real.sum(axis=1) - 1, 0)
        following = np.roll(self.theta, -1, axis=1)
        following[self.last] = self.theta[:, 0] + 2 * np.pi
        self.end = np.where(self.real, following, np.inf)
        # The gradient beside the circle: rows along the normal are active on one side only.
        along = self.normal @ Z.T
        self.plus = np.where(parallel & (along > 0), g, 0.0) @ Z
        self.minus = np.where(parallel & (along < 0), g, 0.0) @ Z
        with np.errstate(invalid="ignore"):
            self.cos, self.sin = np.cos(self.theta), np.sin(self.theta)
        self.p, self.q = _along(self.S, self.e1), _along(self.S, self.e2)  # S in the plane of the circle
        self.r = _along(self.S, self.normal)

    def largest_on_circles(self) -> float:
        """max |F| over all closed arcs of the block."""
        real = self.real
        if not real.any():
            return 0.0
        vertices = np.abs(self.p[real] * self.cos[real] + self.q[real] * self.sin[real]).max()
        best = float(vertices)
        for sign in (1.0, -1.0):
            inside = self._inside(sign)
            if inside.any():
                best = max(best, float(np.hypot(self.p[inside], self.q[inside]).max()))
        return best

    def _inside(self, sign: float) -> BoolArray:
        """Arcs that contain the direction of sign * S in the plane of their circle."""
        psi = np.mod(np.arctan2(sign * self.q, sign * self.p), 2 * np.pi)
        start = np.where(self.real, self.theta, np.inf)
        inside: BoolArray = ((psi >= start) & (psi <= self.end)) | (psi + 2 * np.pi <= self.end) & self.real
        return inside

    def cells(self, sign: float, *, level: float) -> tuple[FloatArray, FloatArray]:
        """Unit candidates sign * S / ||S|| of the cells beside all arcs that may lie in their cell, and ||S||.

        A candidate is left out where it lies on the wrong side of the circle itself or of one of the two circles that
        end the arc, or where ||S|| is not above `level`.
        """
        candidates, lengths = [], []
        nxt = np.roll(self.row, -1, axis=1)
        nxt_entering = np.roll(self.entering, -1, axis=1)
        nxt[self.last], nxt_entering[self.last] = self.row[:, 0], self.entering[:, 0]
        for side, beside in ((1.0, self.plus), (-1.0, self.minus)):
            S = self.S + beside[:, None, :]
            length = np.linalg.norm(S, axis=2)
            across = side * (self.r + _along(beside[:, None, :], self.normal))
            behind = np.einsum("ckx,ckx->ck", S, self.Z[self.row]) * np.where(self.entering, 1.0, -1.0)
            ahead = np.einsum("ckx,ckx->ck", S, self.Z[nxt]) * np.where(nxt_entering, -1.0, 1.0)
            keep = self.real & (length > level) & (sign * across >= 0) & (sign * behind >= 0) & (sign * ahead >= 0)
            candidates.append(sign * S[keep] / length[keep][:, None])
            lengths.append(length[keep])
        return np.concatenate(candidates), np.concatenate(lengths)

    def arc_maxima(self, sign: float, level: float) -> FloatArray:
        """Local maxima of sign * F in the interior of arcs: neither side rises."""
        p, q, r = sign * self.p, sign * self.q, sign * self.r
        value = np.hypot(p, q)
        plus, minus = (sign * _along(side[:, None, :], self.normal) for side in (self.plus, self.minus))
        keep = self._inside(sign) & (value > level) & (r + plus <= 0) & (r + minus >= 0)
        circle = np.nonzero(keep)[0]
        points: FloatArray = p[keep][:, None] * self.e1[circle] + q[keep][:, None] * self.e2[circle]
        points /= value[keep][:, None]
        return points

    def vertex_maxima(self, sign: float, level: float) -> FloatArray:
        """Local maxima of sign * F where two circles cross, both with weights of the other sign."""
        p, q, g = sign * self.p, sign * self.q, sign * self.g[self.row]
        cos, sin = np.where(self.real, self.cos, 1.0), np.where(self.real, self.sin, 0.0)
        own = sign * self.g[self.index][:, None]
        value = p * cos + q * sin
        keep = self.real & (value > level) & (g < 0) & (own < 0)
        circle, event = np.nonzero(keep)
        if circle.size == 0:
            return np.zeros((0, 3))
        row = self.row[circle, event]
        u = cos[keep][:, None] * self.e1[circle] + sin[keep][:, None] * self.e2[circle]
        tau = cos[keep][:, None] * self.e2[circle] - sin[keep][:, None] * self.e1[circle]
        z_tau = np.einsum("kx,kx->k", self.Z[row], tau)
        z_normal = np.einsum("kx,kx->k", self.Z[row], self.normal[circle])
        # The gradient without the row of the event, then its share beta and that of the circle's own row, alpha.
        S = sign * self.S[circle, event] - np.where(self.entering[circle, event], g[keep], 0.0)[:, None] * self.Z[row]
        beta = -np.einsum("kx,kx->k", S, tau) / (g[keep] * z_tau)
        across = np.einsum("kx,kx->k", S, self.normal[circle]) + g[keep] * beta * z_normal
        plus, minus = (sign * _along(side, self.normal)[circle] for side in (self.plus, self.minus))
        local = (beta >= 0) & (beta <= 1) & (across + plus <= 0) & (across + minus >= 0)
        return np.vstack([u[local], self._crossings_of_many(sign, level)])

    def _crossings_of_many(self, sign: float, level: float) -> FloatArray:
        """Local maxima of sign * F where more than two circles cross, as they do for samples on a grid."""
        with np.errstate(invalid="ignore"):  # infinity minus infinity behind the last event
            many = self.real & (np.diff(self.theta, axis=1, append=np.inf) <= CROSSING)
        if not many.any():
            return np.zeros((0, 3))
        value = sign * np.where(many, self.p * self.cos + self.q * self.sin, 0.0)
        order = np.argsort(-value, axis=None)[:MOST_CROSSINGS]
        order = order[(value.ravel()[order] > level) & many.ravel()[order]]
        circle, event = np.unravel_index(order, many.shape)
        cos, sin = self.cos[circle, event], self.sin[circle, event]
        points = cos[:, None] * self.e1[circle] + sin[:, None] * self.e2[circle]
        kept = [u for u in np.unique(np.round(points, 12), axis=0) if _is_local_maximum(u, self.Z, sign * self.g)]
        return np.array(kept).reshape(-1, 3)


def _is_local_maximum(u: FloatArray, Z: FloatArray, g: FloatArray) -> bool:
    """Whether no tangent direction d has F'(u; d) = S . d + sum over the rows on a kink of g_i relu(z_i . d) > 0.

    F'(u; .) is linear between the tangents of the kinks, so its sign is that at those tangents and, in every wedge
    between two of them, at the gradient of the wedge.
    """
    z = Z @ u
    norms = np.linalg.norm(Z, axis=1)
    on_kink = np.abs(z) <= 1e-9 * norms
    tangents = np.cross(Z[on_kink], u)
    tangents /= np.linalg.norm(tangents, axis=1)[:, None]
    S = np.where((z > 0) & ~on_kink, g, 0.0) @ Z
    rows, weights = Z[on_kink], g[on_kink]
    # Directions inside the wedges: middles of neighbouring tangents in the order of their angle.
    e1 = tangents[0]
    e2 = np.cross(u, e1)
    ends = np.vstack([tangents, -tangents])
    angles = np.sort(np.arctan2(ends @ e2, ends @ e1))
    middles = (angles + np.append(angles[1:], angles[0] + 2 * np.pi)) / 2
    inner = np.cos(middles)[:, None] * e1 + np.sin(middles)[:, None] * e2
    gradients = S + (np.where(inner @ rows.T > 0, weights, 0.0)) @ rows
    gradients = gradients - (gradients @ u)[:, None] * u
    size = np.linalg.norm(gradients, axis=1)
    steepest = gradients[size > 0] / size[size > 0, None]
    tried = np.vstack([ends, inner, steepest])
    rises = tried @ S + np.maximum(tried @ rows.T, 0.0) @ weights
    return bool((rises <= 1e-9 * (np.abs(g) @ norms)).all())


def _along(vectors: FloatArray, unit: FloatArray) -> FloatArray:
    """Inner products with the unit vector of each circle."""
    subscripts = "ckx,cx->ck" if vectors.ndim == 3 else "cx,cx->c"
    product: FloatArray = np.einsum(subscripts, vectors, unit)
    return product


def _tangents(normal: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Two unit vectors that complete each unit normal to an orthonormal, right-handed basis."""
    axis = np.zeros_like(normal)
    axis[np.arange(len(normal)), np.argmin(np.abs(normal), axis=1)] = 1.0
    e1 = np.cross(normal, axis)
    e1 /= np.linalg.norm(e1, axis=1)[:, None]
    return e1, np.cross(normal, e1)
