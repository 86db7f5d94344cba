"""Points of a grid on the line, with a global optimum, a local minimum or a saddle point of the max-margin problem."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, final

import numpy as np

from marginflow.arrays import IntArray
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.limit import line
from marginflow.theory.hunting.family import AbstractFamily, Candidate
from marginflow.theory.instance import Instance
from marginflow.theory.instances import at_point

Point = Literal["global", "local", "saddle"]

_FRESH_STARTS = 50
_MOVES = ("shift", "gap", "label", "drop", "add", "start", "start")


@final
@dataclass(frozen=True, kw_only=True)
class LinePoints(AbstractFamily):
    """Samples x = grid points of [low, high] with any labels.

    A candidate holds the points as whole numbers over `denominator`, the labels, and for local minima the random start
    and its number of neurons. Half of the draws have gaps of very different sizes.

    Parameters
    ----------
    point : "global", "local" or "saddle"
        Which KKT point the network is.
    low, high : int
        Ends of the interval.
    denominator : int
        A power of two, so that every point is exactly a float.
    least, most : int
        Number of samples.
    """

    point: Point = "local"
    low: int = 0
    high: int = 1
    denominator: int = 64
    least: int = 2
    most: int = 7

    @property
    def title(self) -> str:
        """What its members are."""
        return f"{self.point} KKT points on {self.least} to {self.most} points of [{self.low}, {self.high}]"

    @property
    def _ends(self) -> tuple[int, int]:
        return self.low * self.denominator, self.high * self.denominator

    def draw(self, rng: np.random.Generator) -> Candidate:
        """Uniform grid points, or gaps of very different sizes; runs of labels of any length."""
        first, last = self._ends
        m = int(rng.integers(self.least, self.most + 1))
        if rng.random() < 0.5:
            x = np.sort(rng.choice(last - first + 1, size=m, replace=False)) + first
        else:
            largest = max(1, int(np.log2((last - first) / max(m - 1, 1))))
            gaps = 2 ** rng.integers(0, largest + 1, size=m - 1)
            x = np.concatenate([[0], np.cumsum(gaps)])
            x = x + first + int(rng.integers(0, max(1, last - first - int(x[-1])) + 1))
            x = np.unique(np.minimum(x, last))
        longest = int(rng.choice([1, 2, x.size]))  # 1: alternating; else runs of labels up to this length
        lengths = rng.integers(1, longest + 1, size=x.size)
        y = np.repeat(np.where(np.arange(x.size) % 2 == 0, 1, -1) * int(rng.choice([-1, 1])), lengths)[: x.size]
        return self._candidate(x, y, self.denominator, rng)

    def _candidate(self, x: IntArray, y: IntArray, denominator: int, rng: np.random.Generator) -> Candidate:
        start, neurons = int(rng.integers(_FRESH_STARTS)), int(rng.integers(2, 9))
        return {
            "x": [int(entry) for entry in x],
            "y": [int(entry) for entry in y],
            "denominator": denominator,
            "start": 0 if self.point == "global" else start,
            "neurons": neurons if self.point == "local" else 0,
        }

    def move(self, candidate: Candidate, rng: np.random.Generator) -> Candidate:
        """Shift a point, stretch or shorten a gap, turn a label, drop or add a point, or start elsewhere."""
        first, last = self._ends
        x, y = np.array(candidate["x"]), np.array(candidate["y"])
        kind = str(rng.choice(_MOVES))
        i = int(rng.integers(x.size))
        if kind == "shift":
            x[i] += int(rng.choice([-8, -4, -2, -1, 1, 2, 4, 8]))
        elif kind == "gap" and i > 0:
            gap = int(x[i] - x[i - 1])
            x[i:] += int(rng.choice([gap, -(gap // 2), last - x[-1]]))
        elif kind == "label":
            y[i] = -y[i]
        elif kind == "drop" and x.size > self.least:
            x, y = np.delete(x, i), np.delete(y, i)
        elif kind == "add" and x.size < self.most:
            x, y = np.append(x, rng.integers(first, last + 1)), np.append(y, rng.choice([-1, 1]))
        x, index = np.unique(np.clip(x, first, last), return_index=True)
        fresh = self._candidate(x, y[index], candidate["denominator"], rng)
        return fresh if kind == "start" else {**fresh, "start": candidate["start"], "neurons": candidate["neurons"]}

    def build(self, candidate: Candidate) -> Instance:
        """Solve it; the multipliers travel along as candidates for the certificate."""
        x = np.array(candidate["x"], dtype=np.float64) / candidate["denominator"]
        data = Dataset(X=x[:, None], y=np.array(candidate["y"], dtype=np.float64))
        limit: line.LineLimit | None
        if self.point == "global":
            limit = line.max_margin(data)
        elif self.point == "local":
            limit = line.local_minimum(data, seed=candidate["start"], neurons=candidate["neurons"])
        else:
            limit = line.saddle_point(data, seed=candidate["start"], starts=1)
        if limit is None:
            raise InputError("no saddle point was found from this start.")
        points = ", ".join(f"{entry:g}" for entry in x)
        signs = " ".join("+" if label > 0 else "-" for label in data.y)
        return at_point(limit, f"the {self.point} KKT point on {{{points}}}, labels {signs}")

    def simpler(self, candidate: Candidate) -> Iterator[Candidate]:
        """Drop a point, halve the grid, move to the left end, close gaps; each with a few starts."""
        for changed in self._smaller(candidate):
            yield changed
            for start in range(0 if self.point == "global" else 3):
                for neurons in (4, 6) if self.point == "local" else (0,):
                    if (start, neurons) != (changed["start"], changed["neurons"]):
                        yield {**changed, "start": start, "neurons": neurons}

    def _smaller(self, candidate: Candidate) -> Iterator[Candidate]:
        x, y, denominator = candidate["x"], candidate["y"], candidate["denominator"]
        first = self.low * denominator
        if len(x) > self.least:
            for i in range(len(x)):
                yield {**candidate, "x": x[:i] + x[i + 1 :], "y": y[:i] + y[i + 1 :]}
        if denominator > 1 and self.low == 0:
            halved = [entry // 2 for entry in x]
            if len(set(halved)) == len(x):
                yield {**candidate, "x": halved, "denominator": denominator // 2}
            if 2 * x[-1] <= self.high * denominator:
                yield {**candidate, "denominator": denominator // 2}  # the same whole numbers, spread out
        if x[0] > first:
            yield {**candidate, "x": [entry - x[0] + first for entry in x]}
        for i in range(1, len(x)):
            gap = x[i] - x[i - 1]
            for less in sorted({gap - 1, gap // 2, gap - gap // 4}):
                if 0 < less < gap:
                    yield {**candidate, "x": x[:i] + [entry - less for entry in x[i:]]}
