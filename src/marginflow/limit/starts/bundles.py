"""Bundles: nearly parallel neurons of a network are added up, which costs nothing and makes the polish cheaper."""

import numpy as np

from marginflow.limit.neurons import Neurons, add_up, gather
from marginflow.limit.settings import BUNDLE_POWER, BUNDLES, PARALLEL
from marginflow.limit.starts.start import Start
from marginflow.limit.task import Flowed, Task


def bundle(task: Task, flowed: Flowed, *, finer: int = 1) -> Start:
    """The neurons of a network in at most so many bundles as its samples and their rank suggest, times `finer`."""
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
