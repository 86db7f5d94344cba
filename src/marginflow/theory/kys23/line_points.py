r"""Networks and samples on the line that many statements of [KYS23, sec. 3] are shown on, made once and kept.

Global optima and local minima come with their multipliers from `limit.line`; splines interpolate without being KKT
points and serve as controls. Nothing trains.
"""

from functools import cache

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.data import Dataset, Interval
from marginflow.limit import five_points, line
from marginflow.networks import TwoLayer
from marginflow.theory.frame import Instance
from marginflow.theory.instances import at_point
from marginflow.theory.kys23.line import line_samples


@cache
def global_point(m: int, p: float, seed: int = 0, *, runs: int = 0, run_length: int = 5) -> Instance:
    """The global max-margin network on m uniform points of [0, 1] with noise rate p, perhaps with planted runs."""
    law = Interval(p=p, runs=runs, run_length=run_length)
    planted = f", {runs} runs of {run_length} labels -1" if runs else ""
    name = f"the global optimum on {m} uniform points, p = {p:g}{planted} (seed {seed})"
    return at_point(line.max_margin(law.sample(m, seed=seed)), name, law=law)


@cache
def local_point(m: int, p: float, seed: int = 0, *, start: int = 0) -> Instance:
    """A local minimum on the same points, reached from random neurons."""
    law = Interval(p=p)
    limit = line.local_minimum(law.sample(m, seed=seed), seed=start)
    return at_point(limit, f"a local minimum on {m} uniform points, p = {p:g} (seeds {seed}, {start})", law=law)


@cache
def right_facing_point(m: int, p: float, seed: int = 0) -> Instance:
    """The local minimum reached from the spline of right-facing neurons."""
    law = Interval(p=p)
    data = law.sample(m, seed=seed)
    x, y = line_samples(data)
    limit = line.local_minimum(data, start=spline(x, y))
    return at_point(limit, f"the local minimum below a spline, {m} uniform points, p = {p:g} (seed {seed})", law=law)


@cache
def five_point_minimum(width: int = 4) -> Instance:
    """The strict local minimum with mixed orientations that contradicts [KYS23, Prop. A.4]."""
    point = five_points()
    return at_point(point.widened(width) if width > 4 else point, "the five-point local minimum")


@cache
def linearity_counterexample() -> Instance:
    """A local minimum on six points that is not linear behind a -; a search over points with two decimals found it."""
    x = np.array([0.09, 0.44, 0.70, 0.77, 0.86, 0.98])
    y = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    limit = line.local_minimum(Dataset(X=x[:, None], y=y), seed=0, neurons=4)
    return at_point(limit, "a local minimum on six points")


def mirror(network: TwoLayer) -> TwoLayer:
    """x -> N(1 - x)."""
    b = np.zeros(network.width) if network.b is None else network.b
    return TwoLayer(W=-network.W, b=b + network.W[:, 0], v=network.v, outputs=network.outputs)


def spline(knots: FloatArray, values: FloatArray) -> TwoLayer:
    """The linear interpolation of values at increasing knots, constant to the left of them; right-facing neurons."""
    changes = np.diff(np.diff(values) / np.diff(knots), prepend=0.0)
    rows = np.column_stack([np.abs(changes), -np.abs(changes) * knots[:-1]])
    rows = np.vstack([[0.0, abs(values[0])], rows])
    signs = np.where(np.append(values[0], changes) < 0, -1.0, 1.0)
    keep = rows.any(axis=1)
    return TwoLayer.from_directions(rows[keep], signs[keep], bias=True)


def spike_network(x: FloatArray, y: FloatArray, depth: float) -> TwoLayer:
    """The labels at the samples, and `depth` halfway between any two of them."""
    knots, values = np.repeat(x, 2)[:-1], np.repeat(y, 2)[:-1]
    knots[1::2], values[1::2] = (x[:-1] + x[1:]) / 2, depth
    return spline(knots, values)


@cache
def spikes(m: int, p: float, seed: int = 0, *, runs: int = 0, run_length: int = 5, depth: float = 1.0) -> Instance:
    """Interpolation by spikes: -1 at the samples labelled -1, and `depth` halfway between any two samples."""
    law = Interval(p=p, runs=runs, run_length=run_length)
    data = law.sample(m, seed=seed)
    network = spike_network(*line_samples(data), depth)
    return Instance(name=f"spikes through {m} uniform points, not a KKT point", network=network, data=data, law=law)
