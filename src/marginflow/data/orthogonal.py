"""Orthogonal and nearly orthogonal samples of norm sqrt d, which meet the hypotheses of [VYS22, Thm 4.1] at small d."""

from dataclasses import dataclass
from math import sqrt
from typing import Literal, final

import numpy as np

from marginflow.arrays import FloatArray, one_of, real_number
from marginflow.data.dataset import Dataset
from marginflow.data.distribution import (
    LABELLINGS,
    AbstractDistribution,
    Labelling,
    check_dimension,
    check_noise,
    check_room,
    draw_labels,
)
from marginflow.data.hadamard import hadamard
from marginflow.data.noise import AbstractLabelNoise
from marginflow.data.reduction import from_gram, random_frame
from marginflow.errors import InputError

Design = Literal["basis", "hadamard", "gram"]
Pattern = Literal["equal", "signs", "uniform"]


@final
@dataclass(frozen=True)
class Orthogonal(AbstractDistribution):
    r"""A designed set of n <= d samples of squared norm d, the largest |<x_i, x_j>| of two being p.

    - "basis": x_i = sqrt(d) e_i [VYS22, sec. 5.1]; p = 0, inner products exactly zero.
    - "hadamard": the first n rows of a Hadamard matrix of order d; entries -1 and +1, so that norms and inner products
      are exact in floating point; p = 0.
    - "gram": rows of the Cholesky factor of G = d I + E, embedded in R^d, where the off-diagonal part E is
      p everywhere (`pattern="equal"`), p with random signs ("signs"), or uniform on [-p, p] and scaled so that
      max |E_ij| = p ("uniform").

    [VYS22, Thm 4.1] needs n <= (d + 1) / (3 (p + 1)); then G is positive definite by diagonal dominance.

    Parameters
    ----------
    dimension : int
        d; for "hadamard" an order that `hadamard` can build.
    design : "basis", "hadamard" or "gram"
    p : number >= 0
        Largest inner product; only for "gram", where 0 gives the basis.
    pattern : "equal", "signs" or "uniform"
        Signs and sizes of the inner products; only for "gram".
    rotated : bool
        Whether to apply a uniformly random rotation of R^d; inner products are then exact to rounding only.
    labels : "random", "both", "balanced", "halves" or "positive"
        See `distribution.draw_labels`; "both" redraws until both classes occur, which the theorem needs.
    noise : label noise or None

    Deviations
    ----------
    This is a design, not a population: there are no fresh test points.

    Examples
    --------
    >>> from marginflow.data import Orthogonal
    >>> data = Orthogonal(dimension=12, design="hadamard").sample(3, seed=0)
    >>> data.X @ data.X.T
    array([[12.,  0.,  0.],
           [ 0., 12.,  0.],
           [ 0.,  0., 12.]])
    """

    dimension: int
    design: Design = "basis"
    p: float = 0.0
    pattern: Pattern = "equal"
    rotated: bool = False
    labels: Labelling = "balanced"
    noise: AbstractLabelNoise | None = None

    def __post_init__(self) -> None:
        check_dimension("dimension", self.dimension)
        one_of("design", self.design, ("basis", "hadamard", "gram"))
        one_of("pattern", self.pattern, ("equal", "signs", "uniform"))
        object.__setattr__(self, "p", real_number("p", self.p, at_least=0.0, below=float(self.dimension)))
        one_of("labels", self.labels, LABELLINGS)
        check_noise(self.noise)
        if self.p > 0 and self.design != "gram":
            raise InputError(f"p is {self.p:g}, but the design {self.design!r} is orthogonal; p > 0 needs 'gram'.")

    def _coordinates(self, n: int, rng: np.random.Generator) -> FloatArray:
        """The samples in n coordinates (in d for a Hadamard design)."""
        d = self.dimension
        if self.design == "hadamard":
            return hadamard(d)[:n].astype(np.float64)
        if self.p == 0:
            return sqrt(d) * np.eye(n)
        E = np.full((n, n), self.p)
        if self.pattern == "signs":
            E *= rng.choice([-1.0, 1.0], size=(n, n))
        elif self.pattern == "uniform":
            E = np.triu(rng.uniform(-1.0, 1.0, size=(n, n)), 1)
            E *= self.p / max(float(np.abs(E).max()), np.finfo(np.float64).tiny)
        E = np.triu(E, 1)
        try:
            return from_gram(d * np.eye(n) + E + E.T)
        except InputError as error:
            raise InputError(f"{n} samples with inner products up to p = {self.p:g} do not exist: {error}") from None

    def _draw(self, n_samples: int, rng: np.random.Generator) -> Dataset:
        d = self.dimension
        if n_samples > d:
            raise InputError(f"n_samples is {n_samples}; at most {d} orthogonal samples fit in dimension {d}.")
        check_room(n_samples, d)
        Z = self._coordinates(n_samples, rng)
        y = draw_labels(self.labels, n_samples, rng)
        X = Z @ random_frame(Z.shape[1], d, rng) if self.rotated else np.pad(Z, ((0, 0), (0, d - Z.shape[1])))
        return Dataset(X=X, y=y, clean_labels=y)

    def _fresh(self, n_samples: int, train: Dataset, rng: np.random.Generator) -> Dataset:
        raise InputError("Orthogonal is a design of the training set; there is no population to draw test points from.")
