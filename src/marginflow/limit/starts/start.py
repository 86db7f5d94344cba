"""What a start is: a way to neurons from which a polish ends at a KKT point, or to a finished point.

To add one, write a file in this folder with a class like

    class Mine(AbstractStart):
        name, rank = "mine", 25

        def propose(self, task, budget):
            ...

`kkt_point` finds it by itself and asks it in the order of the ranks, until a point is exact.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from marginflow.arrays import BoolArray, FloatArray, IntArray
from marginflow.limit.budget import Budget, Progress
from marginflow.limit.neurons import Neurons
from marginflow.limit.solver.admm import Precision
from marginflow.limit.task import Task, parents
from marginflow.networks import TwoLayer


@dataclass(frozen=True, eq=False)
class Start:
    """Neurons to polish, in the coordinates of `task.problem`.

    Attributes
    ----------
    neurons : Neurons
        Positive signs first.
    origin : TwoLayer
        The network that they come from, in coordinates of the span.
    groups : integer array, shape (width,)
        For every neuron of `origin` its row of `neurons`, -1 where it has none.
    multipliers : array, shape (m,), or None
        Where known; otherwise those that best explain the neurons.
    precision : "single" or "double"
        In which ADMM begins.
    max_iterations : int or None
        Of ADMM, where the budget's are too many.
    flow_seconds : float
        What the flow to `origin` took.
    """

    neurons: Neurons
    origin: TwoLayer
    groups: IntArray
    multipliers: FloatArray | None = None
    precision: Precision = "single"
    max_iterations: int | None = None
    flow_seconds: float = 0.0


@dataclass(frozen=True, eq=False)
class Origin:
    """Where a finished point comes from, if it comes from a network.

    Attributes
    ----------
    network : TwoLayer
        In coordinates of the span.
    members : integer array, shape (width,)
        For every neuron of `network` its column of `patterns`, -1 where it has vanished.
    patterns : boolean array, shape (m, k)
        Activations of the point on the samples of `task.problem`.
    flow_seconds : float
        What the flow to `network` took.
    """

    network: TwoLayer
    members: IntArray
    patterns: BoolArray
    flow_seconds: float


@dataclass(frozen=True, eq=False)
class Finished:
    """A point that needs no polish, in the coordinates and the order of the caller's data.

    Attributes
    ----------
    network : TwoLayer
        Of the asked width.
    lam, mu : arrays, shapes (n,) and (n, width)
        Multipliers, and multipliers times Clarke weights.
    how : str
        Where it comes from, to stand behind "Exact KKT point: relative stationarity 1e-15 ".
    gap : float
        Relative duality gap of the convex problem of its pattern, or of what was proved instead.
    status : str or None
        The whole sentence, where "exact KKT point" says too little.
    history : tuple of Progress
        One entry for every round.
    origin : Origin or None
        The network that it comes from.
    """

    network: TwoLayer
    lam: FloatArray
    mu: FloatArray
    how: str
    gap: float
    status: str | None = None
    history: tuple[Progress, ...] = ()
    origin: Origin | None = None


class AbstractStart(ABC):
    """A named way to begin; `rank` decides its turn."""

    name: ClassVar[str]
    rank: ClassVar[int]

    @abstractmethod
    def propose(self, task: Task, budget: Budget) -> Start | Finished | None:
        """Neurons to polish or a finished point; None where this way does not apply or leads nowhere."""


def finished(task: Task, U: FloatArray, s: FloatArray, lam: FloatArray, mu: FloatArray, how: str) -> Finished | None:
    """A point with trained outputs from rows U (k, r), signs, multipliers (m,) and mu (m, k) of `task.problem`.

    Neurons are split to the asked width; None where there are more of them than that, or none.
    """
    if not 0 < len(s) <= task.width:
        return None
    parent = parents(np.linalg.norm(U, axis=1), task.width)
    copies = np.bincount(parent, minlength=len(s))[parent]
    rows = task.problem.ambient(U)[parent] / copies[:, None]
    network = TwoLayer.from_directions(task.outside(rows), s[parent], bias=task.given.b is not None)
    return Finished(
        network=network,
        lam=task.in_callers_order(lam),
        mu=task.in_callers_order(mu[:, parent]),
        how=how,
        gap=task.problem.gap(U, s, lam, mu),
    )
