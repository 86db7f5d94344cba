"""`radius`: proved distances of samples of a KKT point to its decision boundary."""

import math
from typing import Annotated, Final

import numpy as np
from msgspec import Meta

from marginflow.measurements import checked_radii, summarise_radii
from marginflow.sweeps.built_in.point import Count, PointParameters, certified, point, sample
from marginflow.sweeps.registry import TaskResult, task

# The number of nodes ends a search, never the clock: the same seed must give the same bits on a slow machine.
_FOR_EVER: Final = 1e9


class RadiusParameters(PointParameters, frozen=True, kw_only=True):
    """Data, network, how many of the samples are measured, and when a search ends."""

    points: Count = 10
    max_nodes: Count = 2000
    tolerance: Annotated[float, Meta(ge=1e-8, lt=1.0)] = 1e-6


@task("radius")
def radius(parameters: RadiusParameters, seed: int) -> TaskResult:
    """Median and extremes of the proved l2 radii of the first samples; the bounds of each are in the arrays."""
    data = sample(parameters, seed)
    found = point(parameters, data, seed)
    count = min(parameters.points, data.n_samples)
    radii = checked_radii(
        found.compact,
        data,
        range(count),
        tolerance=parameters.tolerance,
        max_nodes=parameters.max_nodes,
        time_limit=_FOR_EVER,
    )
    summary = summarise_radii(radii)
    median = summary.median[1]
    row = {
        **certified(found),
        "measured": summary.count,
        "proved": summary.settled,
        "smallest": summary.smallest[0],
        "median": median,
        "median_by_sqrt_dimension": median / math.sqrt(data.dimension),
        "largest": summary.largest[1],
        "nodes": sum(checked.radius.nodes for checked in radii),
    }
    bounds = {side: np.array([getattr(checked, side) for checked in radii]) for side in ("lower", "upper")}
    return TaskResult(row=row, arrays=bounds)
