r"""A network seen from given points: f_i(delta) = y_i N(x_i + delta) - level, in coordinates of the span of W.

Only the part of a perturbation inside span(w_1, ..., w_k) changes the network, so when d > k every attack and every
bound works with k coordinates; the change of coordinates is an isometry and loses nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import BoolArray, FloatArray, IntArray, labels, real_number
from marginflow.errors import InputError
from marginflow.networks import TwoLayer
from marginflow.networks.evaluation import checked_points
from marginflow.robustness.piecewise import first_steps, without_noise


@dataclass(frozen=True, eq=False, kw_only=True)
class Neighbourhood:
    """f_i(delta) = sum_j C_ij relu(A_ij + w_j . delta) - level for n points at once.

    Parameters
    ----------
    A : array, shape (n, k)
        Pre-activations at the points.
    C : array, shape (n, k)
        y_i v_j.
    W : array, shape (k, r)
        Input weights in the coordinates of the perturbations.
    basis : array, shape (d, r), or None
        Orthonormal columns that take coordinates back to the input space; None when r = d.
    level : float
        A point is flipped when y N <= level.
    """

    A: FloatArray
    C: FloatArray
    W: FloatArray
    basis: FloatArray | None
    level: float

    @property
    def n_points(self) -> int:
        """Number of points."""
        return int(self.A.shape[0])

    @property
    def rank(self) -> int:
        """Number of coordinates of a perturbation."""
        return int(self.W.shape[1])

    def values_and_gradients(self, delta: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
        """f_i(delta_i), by default at delta = 0, and its gradient (relu'(0) = 0), shapes (n,) and (n, r)."""
        Z = self.A if delta is None else self.A + delta @ self.W.T
        slopes = np.where(Z > 0, self.C, 0.0)
        return (slopes * Z).sum(axis=1) - self.level, slopes @ self.W

    def values_at_zero(self) -> FloatArray:
        """f_i(0), shape (n,)."""
        values: FloatArray = (np.maximum(self.A, 0.0) * self.C).sum(axis=1) - self.level
        return values

    def rounding(self) -> FloatArray:
        """A bound on the rounding error of f_i(0), shape (n,)."""
        scale = (np.abs(self.A) * np.abs(self.C)).sum(axis=1) + abs(self.level)
        bound: FloatArray = 16.0 * np.finfo(np.float64).eps * np.sqrt(self.A.shape[1]) * scale
        return bound

    def already(self) -> BoolArray:
        """Points that are flipped before any perturbation."""
        return self.values_at_zero() <= 0

    def steps(self, directions: FloatArray) -> FloatArray:
        """Exact first flip along delta = t e_i, shape (n,); infinity along a zero direction that does not flip."""
        sizes = np.abs(directions) @ np.abs(self.W.T)
        return first_steps(self.A, without_noise(directions @ self.W.T, sizes), self.C, self.level)

    def lift(self, delta: FloatArray) -> FloatArray:
        """Perturbations in the input space, shape (n, d)."""
        return delta if self.basis is None else delta @ self.basis.T

    def only(self, index: IntArray | BoolArray) -> Neighbourhood:
        """The same network seen from some of the points."""
        return replace(self, A=self.A[index], C=self.C[index])


def points_and_labels(network: TwoLayer, X: ArrayLike, y: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """X and y, checked against each other and against the network, which must be a `TwoLayer`."""
    if not isinstance(network, TwoLayer):
        raise InputError(f"network is a {type(network).__name__}; a TwoLayer is expected.")
    points = checked_points(X, network.dimension)
    return points, labels("y", y, points.shape[0])


def neighbourhood(network: TwoLayer, X: ArrayLike, y: ArrayLike, level: float = 0.0) -> Neighbourhood:
    """The network seen from the points X with labels y; neurons that do nothing are left out."""
    points, signs = points_and_labels(network, X, y)
    live = network.v != 0
    if not live.any():
        live[0] = True  # the zero function; one neuron keeps the shapes
    A, W = network.preactivations(points)[:, live], network.W[live]
    basis = None
    if W.shape[1] > W.shape[0]:
        basis = np.linalg.qr(W.T)[0]
        W = W @ basis
    return Neighbourhood(A=A, C=signs[:, None] * network.v[live], W=W, basis=basis, level=real_number("level", level))
