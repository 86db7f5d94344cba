"""Networks without bias whose weights are small whole numbers, with samples at whole points."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from marginflow.data import Dataset
from marginflow.networks import TwoLayer
from marginflow.theory.hunting.family import AbstractFamily, Candidate
from marginflow.theory.instance import Instance


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
        return {"W": [self._weights(rng) for _ in range(n)], "v": [self._output(rng) for _ in range(n)]}

    def _weights(self, rng: np.random.Generator) -> list[int]:
        while True:
            w = rng.integers(-self.size, self.size + 1, size=self.dimension)
            if w.any():
                return [int(entry) for entry in w]

    def _output(self, rng: np.random.Generator) -> int:
        return int(rng.choice([-1, 1]) * rng.integers(1, self.size + 1))

    def move(self, candidate: Candidate, rng: np.random.Generator) -> Candidate:
        """One neuron or one output afresh."""
        W, v = [list(w) for w in candidate["W"]], list(candidate["v"])
        j = int(rng.integers(len(v)))
        if rng.random() < 0.5:
            W[j] = self._weights(rng)
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
            for r, entry in enumerate(w):
                less = [*w[:r], entry - (entry > 0) + (entry < 0), *w[r + 1 :]]
                if entry and any(less):
                    yield {"W": [*W[:j], less, *W[j + 1 :]], "v": v}
            if abs(v[j]) > 1:
                yield {"W": W, "v": [*v[:j], v[j] - (v[j] > 0) + (v[j] < 0), *v[j + 1 :]]}
