r"""What a recorded run of [FCB22] is measured by: its clusters I_mu, the neuron sets J_mu, and the weights over time.

The means are always in the order +mu1, -mu1, +mu2, -mu2, so that the opposite of mean s is s ^ 1 and the two axes are
s // 2. J is read off the initial weights and frozen afterwards.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import Final

import numpy as np

from marginflow.arrays import BoolArray, FloatArray, IntArray
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.networks import TwoLayer
from marginflow.theory.fcb22.constants import C0_MEASURED
from marginflow.theory.fcb22.numbers import NUMBERS, Numbers
from marginflow.theory.frame import Check, Instance, at_least, require, stated, true

RUN: Final = {**NUMBERS, "C0": "threshold 1/(3 C0 sqrt(d)) of the neuron sets J, 2 by default"}
"""The parameters of every statement about a run."""
stated_of_run = partial(stated, needs=("data", "run", "start"), parameters=RUN)
"""Writes a statement about a recorded run on samples, and its start."""


def toward_means(products: FloatArray) -> FloatArray:
    """From the products with mu1 and mu2 in the last axis those with +mu1, -mu1, +mu2 and -mu2."""
    signed: FloatArray = np.repeat(products, 2, axis=-1) * np.array([1.0, -1.0, 1.0, -1.0])
    return signed


@dataclass(frozen=True, eq=False, kw_only=True)
class XorSample:
    """The samples with their observed and clean labels, their clusters 0 to 3, and mu1 and mu2 in the rows of `mu`."""

    X: FloatArray
    y: FloatArray
    clean: FloatArray
    clusters: IntArray
    mu: FloatArray

    @classmethod
    def of(cls, data: Dataset) -> XorSample:
        """Refuses data that do not know the four clusters in XOR position."""
        if data.clusters is None or data.means is None or data.clean_labels is None or data.means.shape[0] != 4:
            raise InputError(f"The data are {data!r}; samples of XorClusters, with their four clusters, are expected.")
        means = data.means
        if float(np.abs(means[1] + means[0]).max() + np.abs(means[3] + means[2]).max()) > 1e-9:
            raise InputError("The means of the clusters are not +mu1, -mu1, +mu2, -mu2.")
        return cls(X=data.X, y=data.y, clean=data.clean_labels, clusters=data.clusters, mu=means[[0, 2]])

    @property
    def n(self) -> int:
        """Number of samples."""
        return int(self.y.size)

    @property
    def noisy(self) -> BoolArray:
        """The set N as a mask."""
        flipped: BoolArray = self.y != self.clean
        return flipped

    @property
    def noisy_share(self) -> float:
        """|N| / n."""
        return float(self.noisy.mean())

    @cached_property
    def means(self) -> FloatArray:
        """+mu1, -mu1, +mu2, -mu2; shape (4, d)."""
        return np.stack([self.mu[0], -self.mu[0], self.mu[1], -self.mu[1]])

    @cached_property
    def sizes(self) -> IntArray:
        """|I_mu|, shape (4,)."""
        return np.bincount(self.clusters, minlength=4)

    @cached_property
    def clean_sizes(self) -> IntArray:
        """|I_mu^C|, shape (4,)."""
        return np.bincount(self.clusters[~self.noisy], minlength=4)

    @cached_property
    def coordinates(self) -> FloatArray:
        """<x_i, mu1> and <x_i, mu2>, shape (n, 2)."""
        return self.X @ self.mu.T

    @property
    def ideal(self) -> FloatArray:
        """f*(x_i) of Eq. (1), shape (n,)."""
        return np.abs(self.coordinates[:, 0]) - np.abs(self.coordinates[:, 1])

    def misclassified(self, network: TwoLayer) -> BoolArray:
        """Which samples do not get their clean label; 0 counts as wrong."""
        return self.clean * network(self.X) <= 0

    @cached_property
    def distances(self) -> FloatArray:
        """||x_i - mu(x_i)||, shape (n,)."""
        distances: FloatArray = np.linalg.norm(self.X - self.means[self.clusters], axis=1)
        return distances

    @cached_property
    def norms(self) -> FloatArray:
        """||x_i||, shape (n,)."""
        norms: FloatArray = np.linalg.norm(self.X, axis=1)
        return norms


@dataclass(frozen=True, eq=False, kw_only=True)
class NeuronSets:
    """The sets J_mu of Lemma 4.2, from <w0_j / |w0_j|, mu1> and the same with mu2, and the frozen outputs a_j.

    The threshold is 1 / (3 C0 sqrt(d)).
    """

    correlations: FloatArray
    a: FloatArray
    threshold: float

    @classmethod
    def of(cls, start: TwoLayer, mu: FloatArray, C0: float, d: int | None = None) -> NeuronSets:
        """From the initial weights; d is the ambient dimension where it is not that of the weights."""
        norms = np.linalg.norm(start.W, axis=1, keepdims=True)
        correlations = start.W @ mu.T / np.where(norms > 0, norms, 1.0)
        return cls(correlations=correlations, a=start.v, threshold=1.0 / (3.0 * C0 * math.sqrt(d or start.dimension)))

    @cached_property
    def reached(self) -> BoolArray:
        """Which neurons reach the threshold on which mean, whatever their output; shape (4, m)."""
        return toward_means(self.correlations).T >= self.threshold

    @cached_property
    def sets(self) -> BoolArray:
        """J_mu as masks, shape (4, m): a_j > 0 for +-mu1, a_j < 0 for +-mu2."""
        right = np.stack([self.a > 0, self.a > 0, self.a < 0, self.a < 0])
        return self.reached & right

    @cached_property
    def J(self) -> BoolArray:
        """The union, shape (m,)."""
        return np.asarray(self.sets.any(axis=0))

    @cached_property
    def own(self) -> IntArray:
        """The mean of each neuron of J, 0 to 3; shape (|J|,)."""
        return np.asarray(self.sets.argmax(axis=0)[self.J])

    @property
    def sizes(self) -> IntArray:
        """|J_mu|, shape (4,)."""
        sizes: IntArray = self.sets.sum(axis=1)
        return sizes


@dataclass(frozen=True, eq=False, kw_only=True)
class Path:
    """A recorded run, seen from its clusters and neurons: the steps made at each record (first 0), and the networks."""

    numbers: Numbers
    sample: XorSample
    neurons: NeuronSets
    C0: float
    times: IntArray
    networks: tuple[TwoLayer, ...]

    @property
    def alpha(self) -> float:
        """The step-size."""
        return self.numbers.alpha

    @property
    def a(self) -> FloatArray:
        """|a_j|, shape (m,)."""
        return np.abs(self.neurons.a)

    @property
    def end(self) -> TwoLayer:
        """The last recorded network."""
        return self.networks[-1]

    @cached_property
    def projections(self) -> FloatArray:
        """<w_j, mu1> and <w_j, mu2> at every record, shape (r, m, 2)."""
        return np.stack([network.W @ self.sample.mu.T for network in self.networks])

    @cached_property
    def norms(self) -> FloatArray:
        """|w_j| at every record, shape (r, m)."""
        return np.stack([np.linalg.norm(network.W, axis=1) for network in self.networks])

    @property
    def unit(self) -> FloatArray:
        """alpha |a_j| for j in J, in which steps are measured; shape (|J|,)."""
        return self.alpha * self.a[self.neurons.J]

    @cached_property
    def own_projection(self) -> FloatArray:
        """<w_j, mu> with the own mean of each neuron in J, shape (r, |J|)."""
        return toward_means(self.projections)[:, self.neurons.J, self.neurons.own]

    @cached_property
    def opposite_projection(self) -> FloatArray:
        """<w_j, mu2> for j in J_{+-mu1} and <w_j, mu1> for j in J_{+-mu2}, shape (r, |J|)."""
        return self.projections[:, self.neurons.J, 1 - self.neurons.own // 2]

    @cached_property
    def correlations(self) -> FloatArray:
        """<w_j / |w_j|, mu> with the own mean, shape (r, |J|)."""
        norms = self.norms[:, self.neurons.J]
        return self.own_projection / np.where(norms > 0, norms, 1.0)

    @cached_property
    def _measured(self) -> tuple[BoolArray, FloatArray, FloatArray]:
        """Alignment and slack of every neuron of J, and the values f(x_i), at every record; one product for each."""
        sample, J, own = self.sample, self.neurons.J, self.neurons.own
        values = np.empty((self.times.size, sample.n))
        aligned = np.ones((self.times.size, own.size), dtype=np.bool_)
        slack = np.full(aligned.shape, np.inf)
        for r, (network, norms) in enumerate(zip(self.networks, self.norms, strict=True)):
            U = sample.X @ network.W.T
            values[r] = np.maximum(U, 0.0) @ network.v
            lengths = np.where(norms[J] > 0, norms[J], 1.0)
            U = U[:, J]
            for cluster, sign in itertools.product(range(4), (1, -1)):  # the own cluster, then the opposite one
                rows = np.flatnonzero(sample.clusters == cluster)
                columns = np.flatnonzero((own if sign > 0 else own ^ 1) == cluster)
                Z = sign * U[np.ix_(rows, columns)]
                aligned[r, columns] &= (Z > 0 if sign > 0 else Z >= 0).all(axis=0)
                sizes = lengths[columns] * sample.norms[rows, None]
                slack[r, columns] = np.minimum(slack[r, columns], (Z / sizes).min(axis=0, initial=np.inf))
        return aligned, slack, values

    @property
    def aligned(self) -> BoolArray:
        """Condition 4.7 for each neuron of J, at every record; shape (r, |J|)."""
        return self._measured[0]

    @property
    def aligned_share(self) -> FloatArray:
        """The share of J that is aligned at every record, 0 where J is empty; shape (r,)."""
        return np.asarray(self.aligned.sum(axis=1) / max(self.neurons.own.size, 1))

    @property
    def slack(self) -> FloatArray:
        """min_k of the normalised <w_j, x_k> over the own cluster and of -<w_j, x_k> over the opposite one."""
        return self._measured[1]

    @property
    def values(self) -> FloatArray:
        """f(x_i; W^t), shape (r, n)."""
        return self._measured[2]

    @property
    def orthogonality(self) -> FloatArray:
        """|<w_j, mu_opposite>| / (alpha |a_j|) for j in J, shape (r, |J|); Condition 4.8 bounds it by 3."""
        return np.abs(self.opposite_projection) / self.unit

    @property
    def growth(self) -> FloatArray:
        """Mean growth of <w_j, mu> per step between records, in units of alpha |a_j|; shape (r - 1, |J|)."""
        per_step = np.diff(self.own_projection, axis=0) / np.diff(self.times)[:, None]
        return per_step / self.unit

    @property
    def later_growth(self) -> FloatArray:
        """The same from t = 1 on."""
        return self.growth[self.times[:-1] >= 1]

    @property
    def clean_margins(self) -> FloatArray:
        """Clean label times f(x_i; W^t), shape (r, n)."""
        return self.sample.clean * self.values

    def first_time(self, seen: BoolArray) -> int:
        """The first time of those whose record was seen, -1 where none was."""
        return int(self.times[seen][0]) if seen.any() else -1

    @cached_property
    def feature_moves(self) -> tuple[FloatArray, FloatArray]:
        """||phi(W^T x_i) - phi(W^0 x_i)|| and ||phi(W^0 x_i)||, each of shape (n,)."""
        start, end = (np.maximum(self.sample.X @ network.W.T, 0.0) for network in (self.networks[0], self.end))
        return np.linalg.norm(end - start, axis=1), np.linalg.norm(start, axis=1)

    @property
    def feature_change(self) -> FloatArray:
        """The relative change of the feature map of every sample; infinite where no neuron was active at the start."""
        moved, before = self.feature_moves
        return np.divide(moved, before, out=np.full_like(moved, math.inf), where=before > 0)

    def subnetwork_margins(self) -> FloatArray:
        """Clean label times f^J(x_i) at the end, shape (n,)."""
        network, J = self.end, self.neurons.J
        hidden = np.maximum(self.sample.X @ network.W[J].T, 0.0)
        return self.sample.clean * (hidden @ network.v[J])


def beginning_with(recorded: Instance, start: TwoLayer, name: str) -> Instance:
    """The same record with another network in the place of its first."""
    run = recorded.the_run()
    kept = run.trajectory.networks
    assert kept is not None
    trajectory = replace(run.trajectory, networks=(start, *kept[1:]))
    return recorded.but(run=replace(run, trajectory=trajectory), name=name)


def path_of(instance: Instance) -> Path:
    """The path of an instance with data, an initial network and a run that kept its networks; made once and kept.

    It looks at what it is made of each time, so that an instance knows what a statement has used.
    """
    instance.the_data(), instance.the_run(), instance.law
    if instance.start is None:
        raise InputError("The initial network is needed and none was given.")
    return _path_of(instance)


def measurable_path(instance: Instance) -> tuple[Path, tuple[Check, Check]]:
    """The path, and the hypotheses without which nothing can be said of it: a judge ends here where one is not met."""
    path = path_of(instance)
    first_two = path.times.size > 1 and path.times[0] == 0 and path.times[1] == 1
    usable = (
        at_least("neurons in J", path.neurons.own.size, 1),
        true("steps 0 and 1 are recorded", bool(first_two)),
    )
    require(usable, "there is no neuron in J, or no first step")
    return path, usable


@lru_cache(maxsize=24)
def _path_of(instance: Instance) -> Path:
    data, run, start = instance.the_data(), instance.the_run(), instance.the_start()
    kept = run.trajectory.networks
    if kept is None:
        raise InputError("The run kept no networks; record them with Recording(ratio=1.0, networks=True).")
    networks = tuple(network for network in kept if isinstance(network, TwoLayer))
    if len(networks) != len(kept) or start.b is not None:
        raise InputError(f"The run is of {kept[0]!r}; two-layer networks without bias are expected.")
    sample = XorSample.of(data)
    C0 = instance.number("C0", C0_MEASURED)
    return Path(
        numbers=Numbers.of(instance),
        sample=sample,
        neurons=NeuronSets.of(start, sample.mu, C0, data.ambient_dimension),
        C0=C0,
        times=run.trajectory.step,
        networks=networks,
    )
