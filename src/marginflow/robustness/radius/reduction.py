r"""The network as the search sees it: unit directions, parallel neurons merged, coordinates of the span of W.

.. math:: y N(x + \delta) - level = \kappa_0 + \sum_j c_j \, \mathrm{relu}(a_j + w_j \cdot \delta), \qquad \|w_j\| = 1

Neurons that do not see the input enter the constant; neurons with parallel (w, b) of either sign become one, and
do nothing if they cancel. Only the part of delta in span(w_1, ..., w_k) matters, so delta has r = rank W coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.linalg import qr

from marginflow.arrays import BoolArray, FloatArray, IntArray
from marginflow.networks import TwoLayer
from marginflow.robustness.radius.normal import InputForm, exponent, normal_form, one_unflushed, shifted

# Unit vectors (w, b) / ||w|| closer than this are one direction; the checker charges the difference to the bound.
_PARALLEL = 1e-12
# Directions of span(W) with less than this share of the largest pivot are rounding noise of the others.
_RANK = 1e-13
_UNIT = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Side:
    """The neurons whose output weights have one sign: their indices, and their a, c and W (contiguous)."""

    index: IntArray
    a: FloatArray
    c: FloatArray
    W: FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class RadiusProblem:
    r"""g(delta) = constant + sum_j c_j relu(a_j + w_j . delta); wanted is the least ||delta|| with g <= 0.

    Parameters
    ----------
    W : array, shape (k, r)
        Unit rows.
    a, c : arrays, shape (k,)
        Signed distances to the neurons' hyperplanes, and output weights (zero where neurons cancel).
    constant : float
        What does not depend on delta, minus the level.
    noise : float
        What the checker charges for rounding, as a share of the magnitudes in a sum.
    blur, blur_per_length : float
        g is known up to blur + blur_per_length ||delta||: rounding, and neurons that are parallel only nearly.
    dimension : int
        Of the input space.
    """

    W: FloatArray
    a: FloatArray
    c: FloatArray
    constant: float
    noise: float = 0.0
    blur: float = 0.0
    blur_per_length: float = 0.0
    dimension: int = 0

    @property
    def width(self) -> int:
        """Number k of merged neurons."""
        return int(self.a.size)

    @property
    def rank(self) -> int:
        """Number r of coordinates."""
        return int(self.W.shape[1])

    @cached_property
    def supporting(self) -> Side:
        """Neurons with c > 0: convex, never branched on."""
        return self._side(self.c > 0)

    @cached_property
    def opposing(self) -> Side:
        """Neurons with c < 0: the only neurons that make the problem non-convex."""
        return self._side(self.c < 0)

    def _side(self, chosen: BoolArray) -> Side:
        index = np.flatnonzero(chosen)
        return Side(index, self.a[index], self.c[index], np.ascontiguousarray(self.W[index]))

    @cached_property
    def at_zero(self) -> float:
        """g(0)."""
        return self.constant + float(self.c @ np.maximum(self.a, 0.0))

    def value(self, delta: FloatArray) -> float:
        """g(delta)."""
        return self.constant + float(self.c @ np.maximum(self.a + self.W @ delta, 0.0))

    def gradient(self, delta: FloatArray) -> FloatArray:
        """A generalised gradient of g, with relu'(0) = 0."""
        return (self.c * (self.a + self.W @ delta > 0)) @ self.W


@dataclass(frozen=True, eq=False, kw_only=True)
class Geometry:
    """The hidden neurons in normal form (see `normal`): what does not depend on the output weights.

    Parameters
    ----------
    live : integer array, shape (l,)
        Neurons that see the input and count.
    members, first : integer arrays, shapes (l,) and (g,)
        Group of parallel neurons of each, and the first of each group.
    groups : integer array, shape (k,)
        Group of each neuron of the network, -1 for neurons with w = 0 or v = 0.
    b, sizes : arrays, shape (k,)
        Biases in units of 2^base, and norms of the input weights.
    live_offsets, offsets : arrays, shapes (l,) and (g,)
        b / ||w|| of the live neurons, and of the first of each group.
    apart, between : arrays, shape (l,)
        Distances of directions and of offsets from those of the first of the group.
    W : array, shape (g, d)
        Unit directions of the groups.
    coordinates : array, shape (g, r)
        The same directions in the coordinates of their span.
    basis : array, shape (d, r), or None
        Orthonormal columns; None when the span is the whole space.
    base : int
        The exponent of the distances in which biases and offsets are.
    rows : array, shape (k,)
        Sums of the magnitudes of the input weights.
    """

    live: IntArray
    members: IntArray
    first: IntArray
    groups: IntArray
    b: FloatArray
    sizes: FloatArray
    live_offsets: FloatArray
    offsets: FloatArray
    apart: FloatArray
    between: FloatArray
    W: FloatArray
    coordinates: FloatArray
    basis: FloatArray | None
    base: int
    rows: FloatArray

    @classmethod
    def of(cls, form: InputForm, counted: BoolArray) -> Geometry:
        """The geometry of the neurons that are counted."""
        sizes, blind = form.sizes, form.sizes == 0
        biased = ~blind & (form.b != 0)
        base = int((np.frexp(form.b)[1] - form.rows)[biased].max()) if biased.any() else 0
        b = form.biases(base)
        live = np.flatnonzero(~blind & counted)
        units = form.W[live] / sizes[live, None]
        offsets = b[live] / sizes[live]
        first, members = _parallel(np.column_stack([units, offsets]))
        groups = np.full(sizes.size, -1, dtype=np.int64)
        groups[live] = members
        W = np.ascontiguousarray(units[first])
        coordinates, basis = _span(W)
        return cls(
            live=live,
            members=members,
            first=first,
            groups=groups,
            b=b,
            sizes=sizes,
            live_offsets=offsets,
            offsets=offsets[first],
            apart=np.linalg.norm(units - W[members], axis=1),
            between=np.abs(offsets - offsets[first][members]),
            W=W,
            coordinates=coordinates,
            basis=basis,
            base=base,
            rows=np.abs(form.W).sum(axis=1),
        )

    def unit(self, point: FloatArray) -> int:
        """The exponent of the distance to the farthest neuron: with it as unit, all distances are near 1."""
        first = max(exponent(point), self.base) if self.offsets.any() else exponent(point)
        return first + exponent(self.distances(point, first))

    def distances(self, point: FloatArray, unit: int) -> FloatArray:
        """Signed distances of the point to the neurons' hyperplanes, in units of 2^unit."""
        return self.W @ shifted(point, -unit) + shifted(self.offsets, self.base - unit)

    def lift(self, delta: FloatArray) -> FloatArray:
        """A perturbation in the input space."""
        return delta if self.basis is None else self.basis @ delta

    def with_outputs(self, v: FloatArray, outputs: int) -> Reduction:
        """The reduction with these output weights in normal form."""
        n_groups, live = self.first.size, self.live
        blind, rest = self.sizes == 0, self.groups < 0
        share = v[live] * self.sizes[live]
        lost = np.abs(share)
        weights = np.bincount(self.members, weights=share, minlength=n_groups).astype(np.float64)
        gross = np.bincount(self.members, weights=lost, minlength=n_groups)
        weights[np.abs(weights) <= 1e-15 * gross] = 0.0  # neurons that cancel exactly
        noise = 8.0 * _UNIT * (v.size + self.W.shape[1] + 8)
        still = float(lost @ (self.between + noise * np.abs(self.live_offsets)))
        return Reduction(
            geometry=self,
            weights=weights,
            constant=float(v[blind] @ np.maximum(self.b[blind], 0.0)),
            noise=noise,
            still=still + noise * float(np.abs(v[rest]) @ np.abs(self.b[rest])),
            drift=float(lost @ (self.apart + noise)) + float(np.abs(v[rest]) @ self.rows[rest]),
            outputs=outputs,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Reduction:
    """A network in normal form, prepared once for many points; outputs are in units of 2^outputs.

    Parameters
    ----------
    geometry : Geometry
    weights : array, shape (g,)
        The sum of v ||w|| of each group.
    constant : float
        Sum of v relu(b) over the neurons with w = 0.
    noise : float
        Bound on the relative rounding error of the sums that the checker forms.
    still, drift : float
        The error of all this as a bound on that of N, at 0 and for each unit of length away from 0.
    outputs : int
        The exponent C of outputs. Constant and `still` are in units of 2^base of the geometry.
    """

    geometry: Geometry
    weights: FloatArray
    constant: float
    noise: float
    still: float
    drift: float
    outputs: int

    @cached_property
    def fits(self) -> bool:
        """Whether biases and weights in normal form are numbers at all."""
        sums = self.constant + self.still + self.drift + self.geometry.offsets.sum() + self.weights.sum()
        return bool(np.isfinite(sums))

    def at(self, point: FloatArray, label: float, level: float, unit: int = 0) -> RadiusProblem:
        """The problem seen from one point, with distances in units of 2^unit."""
        x, base = shifted(point, -unit), self.geometry.base
        constant, still = (one_unflushed(number, base - unit) for number in (self.constant, self.still))
        height = one_unflushed(level, -(self.outputs + unit))
        return RadiusProblem(
            W=self.geometry.coordinates,
            a=self.geometry.distances(point, unit),
            c=label * self.weights,
            constant=label * constant - height,
            noise=self.noise,
            blur=still + self.noise * abs(height) + self.drift * float(np.linalg.norm(x)),
            blur_per_length=self.drift,
            dimension=point.size,
        )


def farthest(problem: RadiusProblem) -> float:
    """Distance to the farthest neuron, the unit in which far away is measured."""
    return float(np.abs(problem.a).max(initial=0.0)) or 1.0


@lru_cache(maxsize=4)
def reduce_network(network: TwoLayer) -> Reduction:
    """Unit directions, merged and in the coordinates of their span; remembered, since networks cannot change."""
    with np.errstate(all="ignore"):  # what is not finite is noticed by `fits`
        form = normal_form(network)
        return Geometry.of(form.inputs, network.v != 0).with_outputs(form.v, form.outputs)


def _parallel(rows: FloatArray) -> tuple[IntArray, IntArray]:
    """First row of each group, and the group of each row; rows of a group agree up to `_PARALLEL`."""
    members = np.full(rows.shape[0], -1, dtype=np.int64)
    if members.size == 0:
        return members, members
    # Parallel rows have equal projections on any direction, so only neighbours in that order need comparing.
    probe = np.random.default_rng(0).standard_normal(rows.shape[1])
    shadow = rows @ probe
    reach = 4.0 * _PARALLEL * float(np.linalg.norm(probe)) * (1.0 + float(np.abs(rows[:, -1]).max()))
    order = np.argsort(shadow, kind="stable")
    runs = np.split(order, np.flatnonzero(np.diff(shadow[order]) > reach) + 1)
    for run in runs:
        rest = np.sort(run)
        while rest.size:
            scale = _PARALLEL * (1.0 + abs(rows[rest[0], -1]))
            near = np.linalg.norm(rows[rest] - rows[rest[0]], axis=1) <= scale
            members[rest[near]] = rest[0]
            rest = rest[~near]
    first, numbered = np.unique(members, return_inverse=True)
    return first, numbered.astype(np.int64)


def _span(W: FloatArray) -> tuple[FloatArray, FloatArray | None]:
    """Coordinates of the rows in an orthonormal basis of their span, and the basis (None when it is everything)."""
    g, d = W.shape
    if g == 0:
        return np.zeros((0, 0)), np.zeros((d, 0))
    if g >= d:
        # Most networks are of full rank, which the Gram matrix shows at a fifth of the price of a pivoted QR.
        try:
            if np.diag(np.linalg.cholesky(W.T @ W)).min() > 1e-6:
                return W, None
        except np.linalg.LinAlgError:
            pass
    Q, R, _ = qr(W.T, mode="economic", pivoting=True)
    pivots = np.abs(np.diag(R))
    rank = int((pivots > _RANK * pivots[0] * max(g, d)).sum())
    if rank == d:
        return W, None
    basis = np.ascontiguousarray(Q[:, :rank])
    return np.ascontiguousarray(W @ basis), basis
