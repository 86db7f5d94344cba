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
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from marginflow.arrays import BoolArray, FloatArray, IntArray
from marginflow.limit.budget import Budget, Progress
from marginflow.limit.neurons import Neurons, follow
from marginflow.limit.solver.admm import Precision
from marginflow.limit.solver.polish import Polished
from marginflow.limit.task import Flowed, Task
from marginflow.networks import TwoLayer
from marginflow.networks.neurons import even_copies


@dataclass(frozen=True, eq=False)
class Start:
    """Neurons to polish, in the coordinates of `task.problem`.

    Attributes
    ----------
    neurons : Neurons
        Positive signs first.
    flowed : Flowed
        The network that they come from, in coordinates of the span.
    groups : integer array, shape (width,)
        For every neuron of that network its row of `neurons`, -1 where it has none.
    multipliers, precision, max_iterations, weight, feasible
        As `polish` takes them; `max_iterations` where the budget's are too many.
    """

    neurons: Neurons
    flowed: Flowed
    groups: IntArray
    multipliers: FloatArray | None = None
    precision: Precision = "single"
    max_iterations: int | None = None
    weight: float = 1.0
    feasible: bool = False


@dataclass(frozen=True, eq=False)
class Origin:
    """Where a point came from: what `Moved` compares it with.

    Attributes
    ----------
    flowed : Flowed
        The network, in coordinates of the span.
    members : integer array, shape (width,)
        For every neuron of that network the column of `patterns` that it became, -1 where it vanished.
    patterns : boolean array, shape (n, k)
        Activations of the point on the caller's samples.
    """

    flowed: Flowed
    members: IntArray
    patterns: BoolArray

    @classmethod
    def of(cls, task: Task, start: Start, U: FloatArray, members: IntArray) -> Origin:
        """Of a point with rows U (k, r) of `task.problem`."""
        return cls(start.flowed, members, task.in_callers_order(task.problem.X @ U.T > 0))


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
    origin : Origin or None
        Where it came from, if that is known.
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


def as_it_is(task: Task, network: TwoLayer) -> Finished:
    """A network in coordinates of the span, without multipliers: what there is before anything is found."""
    network = replace(network, W=network.W @ task.Q)
    n = task.data.n_samples
    return Finished(network=network, lam=np.zeros(n), mu=np.zeros((n, task.width)), how="", gap=np.inf)


def finished(
    task: Task,
    U: FloatArray,
    s: FloatArray,
    lam: FloatArray,
    mu: FloatArray,
    how: str,
    *,
    members: IntArray | None = None,
    outputs_squared: FloatArray | None = None,
) -> Finished | None:
    """A point from rows U (k, r), signs, multipliers (m,) and mu (m, k) of `task.problem`.

    `members` says with frozen outputs which row every neuron of the given network belongs to, and `outputs_squared`
    what their v_j^2 sum up to. None where there are more neurons than asked for, or none.
    """
    if not len(s) or (members is None and len(s) > task.width):
        return None
    gap = task.problem.gap(U, s, lam, mu, outputs_squared)
    lam, mu = task.in_callers_order(lam), task.in_callers_order(mu)
    return placed(task, task.problem.ambient(U), s, lam, mu, how, gap, members)


def placed(
    task: Task,
    U: FloatArray,
    s: FloatArray,
    lam: FloatArray,
    mu: FloatArray,
    how: str,
    gap: float,
    members: IntArray | None = None,
) -> Finished:
    """The same from rows U in coordinates of the span and multipliers in the order of the caller's samples.

    With trained outputs neurons are split to the asked width. With frozen ones neurons of a group share its u in
    proportion to v_j^2; those that vanished are zero.
    """
    if members is None or not task.frozen:
        copies = even_copies(np.linalg.norm(U, axis=1), task.width)
        parent = np.repeat(np.arange(len(s)), copies)
        rows = task.outside(U[parent] / copies[parent, None])
        network = TwoLayer.from_directions(rows, s[parent], bias=task.bias)
        return Finished(network=network, lam=lam, mu=mu[:, parent], how=how, gap=gap)
    v, used = task.given.v, members >= 0
    total = squares(task, members, len(U))
    share = np.where(used, np.abs(v) / total[members], 0.0)
    rows = task.outside(share[:, None] * U[members])
    W, b = (rows[:, :-1], rows[:, -1]) if task.bias else (rows, None)
    network = TwoLayer(W=W, b=b, v=v, outputs="frozen")
    return Finished(network=network, lam=lam, mu=np.where(used, mu[:, members], 0.0), how=how, gap=gap)


def squares(task: Task, members: IntArray, count: int) -> FloatArray:
    """What the v_j^2 of the given network sum up to in each of this many groups."""
    used = members >= 0
    return np.bincount(members[used], task.given.v[used] ** 2, minlength=count).astype(np.float64)


def unpolished(task: Task, start: Start) -> Finished:
    """What there is where no time is left to polish a start: neurons that were made to satisfy the margins, with their
    multipliers if they have any, or the network that they come from, which bundles of its neurons only approximate."""
    if not start.feasible:
        return as_it_is(task, start.flowed.network)
    problem, U = task.problem, start.neurons.U
    lam = np.zeros(problem.n_samples) if start.multipliers is None else start.multipliers
    mu = task.in_callers_order(np.where(problem.X @ U.T > 0, lam[:, None], 0.0))
    rows, lam = problem.ambient(U), task.in_callers_order(lam)
    point = placed(task, rows, start.neurons.s, lam, mu, "", np.inf, start.groups)
    return replace(point, origin=Origin.of(task, start, U, start.groups))


def finished_polish(task: Task, start: Start, found: Polished) -> Finished | None:
    """The point of a polish of `task.problem`, and where it came from; None where no neuron is left."""
    members = follow(start.groups, found.members)
    point = finished(
        task, found.U, found.s, found.lam, found.mu,
        f"after {found.iterations} ADMM iterations and {found.newton_steps} Newton steps",
        members=members, outputs_squared=found.outputs_squared if task.frozen else None,
    )  # fmt: skip
    origin = Origin.of(task, start, found.U, members)
    return None if point is None else replace(point, history=found.history, origin=origin)
