"""Families of whole points: networks without bias with small whole weights, and samples in the plane."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from marginflow.data import Dataset
from marginflow.networks import TwoLayer
from marginflow.networks.initialisation import unit_outputs
from marginflow.theory.hunting.family import AbstractFamily, Candidate
from marginflow.theory.instance import Instance

_MOST: Final = 8
_SIZE: Final = 8
_WIDTH: Final = 8


def _whole_point(rng: np.random.Generator, size: int, dimension: int) -> list[int]:
    """A whole point of [-size, size]^dimension, not zero."""
    while True:
        x = rng.integers(-size, size + 1, size=dimension)
        if x.any():
            return [int(entry) for entry in x]


def _closer(x: list[int]) -> Iterator[list[int]]:
    """The point with one entry closer to zero, not zero itself."""
    for r, entry in enumerate(x):
        less = [*x[:r], entry - (entry > 0) + (entry < 0), *x[r + 1 :]]
        if entry and any(less):
            yield less


@final
@dataclass(frozen=True, kw_only=True)
class WholeNetworks(AbstractFamily):
    """N(x) = sum_j v_j relu(w_j . x) with whole w_j, v_j, and the samples +-e_1, +-e_2, ... with the signs of N.

    Parameters
    ----------
    dimension : int
    least, most : int
        Number of neurons.
    size : int
        Largest entry.
    """

    dimension: int = 2
    least: int = 1
    most: int = 4
    size: int = 3

    @property
    def title(self) -> str:
        """What its members are."""
        count = self.least if self.least == self.most else f"{self.least} to {self.most}"
        return f"networks of {count} neurons without bias in dimension {self.dimension}"

    def draw(self, rng: np.random.Generator) -> Candidate:
        """All weights uniform; no neuron is zero."""
        n = int(rng.integers(self.least, self.most + 1))
        W = [_whole_point(rng, self.size, self.dimension) for _ in range(n)]
        return {"W": W, "v": [self._output(rng) for _ in range(n)]}

    def _output(self, rng: np.random.Generator) -> int:
        return int(rng.choice([-1, 1]) * rng.integers(1, self.size + 1))

    def move(self, candidate: Candidate, rng: np.random.Generator) -> Candidate:
        """One neuron or one output afresh."""
        W, v = [list(w) for w in candidate["W"]], list(candidate["v"])
        j = int(rng.integers(len(v)))
        if rng.random() < 0.5:
            W[j] = _whole_point(rng, self.size, self.dimension)
        else:
            v[j] = self._output(rng)
        return {"W": W, "v": v}

    def build(self, candidate: Candidate) -> Instance:
        """The network, and the points +-e_i that it classifies."""
        network = TwoLayer(W=np.array(candidate["W"], dtype=np.float64), v=np.array(candidate["v"], dtype=np.float64))
        X = np.vstack([np.eye(self.dimension), -np.eye(self.dimension)])
        values = network(X)
        seen = values != 0
        data = Dataset(X=X[seen], y=np.sign(values[seen])) if seen.any() else None
        terms = " ".join(f"{v:+d} relu({w})" for w, v in zip(candidate["W"], candidate["v"], strict=True))
        return Instance(name=f"N = {terms}", network=network, data=data)

    def simpler(self, candidate: Candidate) -> Iterator[Candidate]:
        """One neuron less, or an entry closer to zero."""
        W, v = candidate["W"], candidate["v"]
        if len(v) > self.least:
            for j in range(len(v)):
                yield {"W": W[:j] + W[j + 1 :], "v": v[:j] + v[j + 1 :]}
        for j, w in enumerate(W):
            for less in _closer(w):
                yield {"W": [*W[:j], less, *W[j + 1 :]], "v": v}
            for smaller in _closer([v[j]]):
                yield {"W": W, "v": [*v[:j], *smaller, *v[j + 1 :]]}


@final
@dataclass(frozen=True, kw_only=True)
class PlanePoints(AbstractFamily):
    """Up to 8 whole points of [-8, 8]^2, and outputs +-1/sqrt(8), four of each.

    The neurons are all zero: statements about all networks with these outputs do not look at them.
    """

    @property
    def title(self) -> str:
        """What its members are."""
        return f"1 to {_MOST} whole points of [-{_SIZE}, {_SIZE}]^2"

    def draw(self, rng: np.random.Generator) -> Candidate:
        """Uniform points, or points along one direction; no point is zero."""
        n = int(rng.integers(1, _MOST + 1))
        if rng.random() < 0.5:
            return {"X": [_whole_point(rng, _SIZE, 2) for _ in range(n)]}
        first = _whole_point(rng, _SIZE, 2)
        return {"X": [[int(sign) * entry for entry in first] for sign in rng.choice([-1, 1], size=n)]}

    def move(self, candidate: Candidate, rng: np.random.Generator) -> Candidate:
        """Shift a point, draw it afresh, drop or add a point."""
        X = [list(x) for x in candidate["X"]]
        i, kind = int(rng.integers(len(X))), str(rng.choice(["shift", "fresh", "drop", "add"]))
        if kind == "shift":
            moved = np.clip(np.array(X[i]) + rng.integers(-1, 2, size=2), -_SIZE, _SIZE)
            X[i] = [int(entry) for entry in moved] if moved.any() else X[i]
        elif kind == "fresh":
            X[i] = _whole_point(rng, _SIZE, 2)
        elif kind == "drop" and len(X) > 1:
            del X[i]
        elif kind == "add" and len(X) < _MOST:
            X.append(_whole_point(rng, _SIZE, 2))
        return {"X": X}

    def build(self, candidate: Candidate) -> Instance:
        """The points, all positive, and the outputs."""
        X = np.array(candidate["X"], dtype=np.float64)
        network = TwoLayer(W=np.zeros((_WIDTH, 2)), v=unit_outputs(_WIDTH), outputs="frozen")
        points = ", ".join(f"({x}, {y})" for x, y in candidate["X"])
        return Instance(name=f"the points {points}", network=network, data=Dataset(X=X, y=np.ones(len(X))))

    def simpler(self, candidate: Candidate) -> Iterator[Candidate]:
        """One point less, or a coordinate closer to zero."""
        X = candidate["X"]
        for i in range(len(X) if len(X) > 1 else 0):
            yield {"X": X[:i] + X[i + 1 :]}
        for i, x in enumerate(X):
            for less in _closer(x):
                yield {"X": [*X[:i], less, *X[i + 1 :]]}
