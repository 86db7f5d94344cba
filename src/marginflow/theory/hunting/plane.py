"""Points of a grid in the plane with labels, and a network of which only the outputs matter."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from marginflow.data import Dataset
from marginflow.networks import TwoLayer
from marginflow.networks.initialisation import unit_outputs
from marginflow.theory.hunting.family import AbstractFamily, Candidate
from marginflow.theory.instance import Instance


@final
@dataclass(frozen=True, kw_only=True)
class PlanePoints(AbstractFamily):
    """Up to `most` whole points of [-size, size]^2, and outputs +-1/sqrt(width), half of each.

    Parameters
    ----------
    most : int
        Number of points.
    size : int
        Largest coordinate.
    width : int
        Neurons, all of them zero: statements about all networks with these outputs do not look at the others.
    """

    most: int = 8
    size: int = 8
    width: int = 8

    @property
    def title(self) -> str:
        """What its members are."""
        return f"1 to {self.most} whole points of [-{self.size}, {self.size}]^2"

    def draw(self, rng: np.random.Generator) -> Candidate:
        """Uniform points, or points along one direction; no point is zero."""
        n = int(rng.integers(1, self.most + 1))
        if rng.random() < 0.5:
            return {"X": [self._point(rng) for _ in range(n)]}
        first = self._point(rng)
        return {"X": [[int(sign) * entry for entry in first] for sign in rng.choice([-1, 1], size=n)]}

    def _point(self, rng: np.random.Generator) -> list[int]:
        while True:
            x = rng.integers(-self.size, self.size + 1, size=2)
            if x.any():
                return [int(entry) for entry in x]

    def move(self, candidate: Candidate, rng: np.random.Generator) -> Candidate:
        """Shift a point, draw it afresh, drop or add a point."""
        X = [list(x) for x in candidate["X"]]
        i, kind = int(rng.integers(len(X))), str(rng.choice(["shift", "fresh", "drop", "add"]))
        if kind == "shift":
            moved = np.clip(np.array(X[i]) + rng.integers(-1, 2, size=2), -self.size, self.size)
            X[i] = [int(entry) for entry in moved] if moved.any() else X[i]
        elif kind == "fresh":
            X[i] = self._point(rng)
        elif kind == "drop" and len(X) > 1:
            del X[i]
        elif kind == "add" and len(X) < self.most:
            X.append(self._point(rng))
        return {"X": X}

    def build(self, candidate: Candidate) -> Instance:
        """The points, all positive, and the outputs."""
        X = np.array(candidate["X"], dtype=np.float64)
        network = TwoLayer(W=np.zeros((self.width, 2)), v=unit_outputs(self.width), outputs="frozen")
        points = ", ".join(f"({x}, {y})" for x, y in candidate["X"])
        return Instance(name=f"the points {points}", network=network, data=Dataset(X=X, y=np.ones(len(X))))

    def simpler(self, candidate: Candidate) -> Iterator[Candidate]:
        """One point less, or a coordinate closer to zero."""
        X = candidate["X"]
        for i in range(len(X) if len(X) > 1 else 0):
            yield {"X": X[:i] + X[i + 1 :]}
        for i, x in enumerate(X):
            for r, entry in enumerate(x):
                less = [*x[:r], entry - (entry > 0) + (entry < 0), *x[r + 1 :]]
                if entry and any(less):
                    yield {"X": [*X[:i], less, *X[i + 1 :]]}
