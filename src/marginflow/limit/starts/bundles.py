"""Bundles: nearly parallel neurons of a network are added up, which costs nothing and makes the polish cheaper."""

from copy import copy

import numpy as np

from marginflow.arrays import FloatArray, IntArray
from marginflow.limit.budget import Budget
from marginflow.limit.neurons import Neurons, add_up, gather
from marginflow.limit.settings import BUNDLE_POWER, BUNDLES, FLOW_BUNDLES, FLOW_TURNS, PARALLEL
from marginflow.limit.starts.start import Start
from marginflow.limit.task import Flowed, Task
from marginflow.networks import TwoLayer


def bundle(task: Task, flowed: Flowed, *, finer: int = 1) -> Start:
    """The neurons of a network in at most as many bundles as its samples and their rank suggest, times `finer`."""
    neurons = task.neurons(flowed.network)
    m, r = task.problem.X.shape
    most = int(BUNDLES * finer * max(1.0, m / r) ** BUNDLE_POWER)
    if task.faithful:
        groups = gather(neurons.U, neurons.s, task.width, cosine=PARALLEL)
    else:
        groups = gather(neurons.U, neurons.s, most)
    return Start(add_up(neurons, groups), flowed, groups)


def instead(start: Start, neurons: Neurons) -> Start:
    """Other neurons in place of the bundles: no neuron of the flow survives."""
    return Start(neurons, start.flowed, np.full(len(start.groups), -1, dtype=np.int64))


def flow_in_bundles(task: Task, rows: IntArray, most: int, budget: Budget) -> Flowed:
    """A flow on some samples; once its neurons have turned, those that are nearly parallel go on as one.

    Parallel neurons stay parallel and keep their proportions in a flow with trained outputs. So a bundle stands for its
    members, which have the same shares of it in the end.
    """
    if task.frozen or task.width < 2 * FLOW_BUNDLES or most <= FLOW_TURNS:
        return task.flow_on(rows, most, budget)
    first = task.flow_on(rows, FLOW_TURNS, budget)
    if budget.over or float(first.network.margins(task.X[rows], task.data.y[rows]).min()) > 0.0:
        return first
    U, s = first.network.directions, first.network.signs
    groups = gather(U, s, FLOW_BUNDLES)
    used = groups >= 0
    bundles = add_up(Neurons(U, s), groups)
    # A bundle has the sums of its members' v^2 and ||(w, b)||^2 in proportion: neurons need not be balanced.
    squares = np.bincount(groups[used], first.network.v[used] ** 2)
    ratio = np.sqrt(squares / np.bincount(groups[used], (first.network.augmented[used] ** 2).sum(axis=1)))
    size = np.sqrt(np.linalg.norm(bundles.U, axis=1) * ratio)
    small = _network(bundles.U / size[:, None], bundles.s * size, task.bias)
    rest = copy(task)
    rest.given = small
    last = rest.flow_on(rows, most - FLOW_TURNS, budget)
    lengths = np.where(used, np.linalg.norm(U, axis=1), 0.0)
    share = np.sqrt(lengths / np.bincount(groups[used], lengths[used])[groups])
    network = _network(share[:, None] * last.network.augmented[groups], share * last.network.v[groups], task.bias)
    return Flowed(network, first.seconds + last.seconds)


def _network(A: FloatArray, v: FloatArray, bias: bool) -> TwoLayer:
    """The network with rows (w, b), or w without bias."""
    return TwoLayer(W=A[:, :-1] if bias else A, b=A[:, -1] if bias else None, v=v)
