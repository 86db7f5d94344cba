"""KKT points that many statements are shown on: closed forms and exact pairs, made once and kept.

Nothing here trains. The points come from `limit`; their multipliers travel with them as candidates, which the
certificate checks.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from marginflow.data import AbstractDistribution, Dataset, Orthogonal
from marginflow.data.orthogonal import Design, Pattern
from marginflow.limit import ClosedForm, Limit, convex_pair, kkt_point, line, orthogonal
from marginflow.networks import TwoLayer
from marginflow.theory.instance import Instance


def at_point(point: ClosedForm | line.LineLimit, name: str, **fields: Any) -> Instance:
    """The instance of a KKT point that is known with its multipliers."""
    multipliers = (point.multipliers, point.multipliers[:, None] * point.clarke)
    return Instance(name=name, network=point.network, data=point.data, multipliers=multipliers, **fields)


def pair_with_test(
    law: AbstractDistribution, n_samples: int, name: str, *, test: int, seed: int = 0, width: int = 2
) -> Instance:
    """The exact pair on a sample of a law, perhaps split into more neurons, with the law and fresh points."""
    data = law.sample(n_samples, seed=seed)
    point = convex_pair(data)
    fresh = law.fresh(test, train=data, seed=seed)
    return at_point(point.widened(width) if width > 2 else point, name, law=law, test=fresh)


def at_limit(limit: Limit, data: Dataset, name: str, **fields: Any) -> Instance:
    """The instance of a KKT point that was found, with the multipliers of its certificate."""
    multipliers = (limit.certificate.multipliers, limit.certificate.mu)
    return Instance(name=name, network=limit.network, data=data, multipliers=multipliers, **fields)


def changed(good: Instance, name: str, change: Callable[[TwoLayer], TwoLayer], *kept: str) -> Instance:
    """The data of an instance, and what else is kept of it, with its network changed; multipliers are not kept."""
    return good.only("data", *kept, name=name, network=change(good.the_network()))


def opposite(good: Instance) -> Instance:
    """The same instance with -N in place of N: every sample is on the wrong side."""
    network = good.the_network()
    return replace(good, name="the opposite network", network=replace(network, v=-network.v), multipliers=None)


def unbalanced(network: TwoLayer, factor: float) -> TwoLayer:
    """The same function, v times `factor` and (w, b) divided by it: not a KKT point."""
    b = None if network.b is None else network.b / factor
    return replace(network, W=network.W / factor, b=b, v=factor * network.v)


def with_neuron(network: TwoLayer, w: ArrayLike, b: float, v: float) -> TwoLayer:
    """The network with one more neuron."""
    assert network.b is not None
    return replace(network, W=np.vstack([network.W, w]), b=np.append(network.b, b), v=np.append(network.v, v))


def backward(point: Instance, name: str, v: float) -> Instance:
    """The data of a point, and its network with one more neuron, along -u and too small to undo the separation."""
    data = point.the_data()
    return changed(point, name, lambda network: with_neuron(network, -1e-3 * (data.y @ data.X), 0.0, v))


def frozen_pair(network: TwoLayer) -> TwoLayer:
    """Two neurons with the directions of a pair and the outputs +1 and -1, frozen."""
    U = network.directions
    return TwoLayer(W=U[:, :-1], b=U[:, -1], v=np.array([1.0, -1.0]), outputs="frozen")


def frozen_limit(data: Dataset) -> Limit:
    """The KKT point with outputs frozen at +1 and -1 that is found from the exact pair."""
    return kkt_point(data, start=frozen_pair(convex_pair(data).network), flow_steps=0)


@cache
def orthogonal_point(
    dimension: int, n_samples: int, *, positive: int | None = None, width: int = 2, design: Design = "basis"
) -> Instance:
    """The closed form on orthogonal samples of norm sqrt(d), the first `positive` of them (half by default) positive.

    [VYS22, X.orthKKT]; `design` is "basis" or "hadamard" (entries -1 and +1, inner products exactly zero).
    """
    sample = Orthogonal(dimension=dimension, design=design, labels="halves").sample(n_samples)
    plus = (n_samples + 1) // 2 if positive is None else positive
    y = np.where(np.arange(n_samples) < plus, 1.0, -1.0)
    point = orthogonal(Dataset(X=sample.X, y=y))
    if width > 2:
        point = point.widened(width)
    return at_point(point, f"the closed form on {n_samples} orthogonal samples in dimension {dimension} ({design})")


@cache
def gram_point(dimension: int, n_samples: int, p: float, *, pattern: Pattern = "equal") -> Instance:
    """The exact pair on samples of norm sqrt(d) with a designed Gram matrix, max |<x_i, x_j>| = p."""
    law = Orthogonal(dimension=dimension, design="gram", p=p, pattern=pattern)
    point = convex_pair(law.sample(n_samples))
    return at_point(point, f"the exact pair on {n_samples} samples in dimension {dimension} with p = {p:g} ({pattern})")
