"""What a start is: a way to neurons from which a polish ends at a KKT point, or to a finished point.

To add one, write a file in this folder with a class like

    class Mine(AbstractStart):
        name, rank = "mine", 25

        def propose(self, task, budget):
            ...

`kkt_point` finds it by itself and asks it in the order of the ranks, until a point is exact.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from marginflow.arrays import BoolArray, FloatArray, IntArray
from marginflow.limit.budget import Budget, Progress
from marginflow.limit.neurons import Neurons
from marginflow.limit.solver.admm import Precision
from marginflow.limit.solver.polish import Polished
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
    weight : float
        Of ADMM's penalty term, relative to the natural one; another than 1 is kept for a while.
    feasible : bool
        Whether the neurons were made to satisfy the margins, which ADMM then keeps in sight.
    flow_seconds : float
        What the flow to `origin` took.
    """

    neurons: Neurons
    origin: TwoLayer
    groups: IntArray
    multipliers: FloatArray | None = None
    precision: Precision = "single"
    max_iterations: int | None = None
    weight: float = 1.0
    feasible: bool = False
    flow_seconds: float = 0.0


@dataclass(frozen=True, eq=False)
class Origin:
    """Where a point came from: what `Moved` compares it with.

    Attributes
    ----------
    network : TwoLayer
        In coordinates of the span.
    members : integer array, shape (width,)
        For every neuron of `network` the column of `patterns` that it became, -1 where it vanished.
    patterns : boolean array, shape (n, k)
        Activations of the point on the caller's samples.
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


def finished(task: Task, U: FloatArray, s: FloatArray, lam: FloatArray, mu: FloatArray, how: str) -> Finished | None:
    """A point with trained outputs from rows U (k, r), signs, multipliers (m,) and mu (m, k) of `task.problem`.

    Neurons are split to the asked width; None where there are more of them than that, or none.
    """
    if not 0 < len(s) <= task.width:
        return None
    lam_given, mu_given = task.in_callers_order(lam), task.in_callers_order(mu)
    return split(task, task.problem.ambient(U), s, lam_given, mu_given, how, task.problem.gap(U, s, lam, mu))


def finished_frozen(
    task: Task, U: FloatArray, s: FloatArray, lam: FloatArray, mu: FloatArray, how: str, members: IntArray
) -> Finished | None:
    """The same with frozen outputs, where `members` says which row every neuron of the network belongs to."""
    if not len(s):
        return None
    used = members >= 0
    squared = np.zeros(len(s))
    np.add.at(squared, members[used], task.given.v[used] ** 2)
    gap = task.problem.gap(U, s, lam, mu, squared)
    lam_given, mu_given = task.in_callers_order(lam), task.in_callers_order(mu)
    return shared(task, task.problem.ambient(U), members, lam_given, mu_given, how, gap)


def split(task: Task, U: FloatArray, s: FloatArray, lam: FloatArray, mu: FloatArray, how: str, gap: float) -> Finished:
    """The same from rows U in coordinates of the span and multipliers in the order of the caller's samples."""
    parent = parents(np.linalg.norm(U, axis=1), task.width)
    copies = np.bincount(parent, minlength=len(s))[parent]
    rows = task.outside(U[parent] / copies[:, None])
    network = TwoLayer.from_directions(rows, s[parent], bias=task.bias)
    return Finished(network=network, lam=lam, mu=mu[:, parent], how=how, gap=gap)


def shared(
    task: Task,
    U: FloatArray,
    members: IntArray,
    lam: FloatArray,
    mu: FloatArray,
    how: str,
    gap: float,
) -> Finished:
    """With frozen outputs: neurons of a group share its u in proportion to v_j^2; those that vanished are zero."""
    v, used = task.given.v, members >= 0
    total = np.zeros(len(U))
    np.add.at(total, members[used], v[used] ** 2)
    share = np.where(used, np.abs(v) / total[members], 0.0)
    rows = task.outside(share[:, None] * U[members])
    W, b = (rows[:, :-1], rows[:, -1]) if task.bias else (rows, None)
    network = TwoLayer(W=W, b=b, v=v, outputs="frozen")
    return Finished(network=network, lam=lam, mu=np.where(used, mu[:, members], 0.0), how=how, gap=gap)


def unpolished(task: Task, start: Start) -> Finished:
    """What there is where no time is left to polish a start: neurons that were made to satisfy the margins, with their
    multipliers if they have any, or the network that they come from, which bundles of its neurons only approximate."""
    if not start.feasible:
        return as_it_is(task, start.origin)
    problem, U, s = task.problem, start.neurons.U, start.neurons.s
    active = problem.X @ U.T > 0
    lam = np.zeros(problem.n_samples) if start.multipliers is None else start.multipliers
    mu = np.where(active, lam[:, None], 0.0)
    rows, lam, mu = problem.ambient(U), task.in_callers_order(lam), task.in_callers_order(mu)
    if task.frozen:
        point = shared(task, rows, start.groups, lam, mu, how="", gap=np.inf)
    else:
        point = split(task, rows, s, lam, mu, how="", gap=np.inf)
    origin = Origin(start.origin, start.groups, task.in_callers_order(active), start.flow_seconds)
    return replace(point, origin=origin)


def finished_polish(task: Task, start: Start, found: Polished) -> Finished:
    """The point of a polish of `task.problem`, and where it came from."""
    problem = task.problem
    members = np.where(start.groups >= 0, found.members[start.groups], -1)
    how = f"after {found.iterations} ADMM iterations and {found.newton_steps} Newton steps"
    U, lam, mu = problem.ambient(found.U), task.in_callers_order(found.lam), task.in_callers_order(found.mu)
    gap = problem.gap(found.U, found.s, found.lam, found.mu, found.outputs_squared if task.frozen else None)
    point = shared(task, U, members, lam, mu, how, gap) if task.frozen else split(task, U, found.s, lam, mu, how, gap)
    patterns = task.in_callers_order(problem.X @ found.U.T > 0)
    origin = Origin(start.origin, members, patterns, start.flow_seconds)
    return replace(point, history=found.history, origin=origin)
