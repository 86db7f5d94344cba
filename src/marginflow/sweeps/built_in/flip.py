"""`flip`: how long a multiple of one vector flips the samples of a KKT point [VYS22, sec. 4]."""

from __future__ import annotations

import math
from typing import Annotated, Literal

import numpy as np
from msgspec import Meta

from marginflow.arrays import FloatArray
from marginflow.data import Dataset
from marginflow.limit import Limit
from marginflow.robustness import dual_sum, label_sum, margin_samples, minimal_step, support_samples
from marginflow.sweeps.built_in.point import PointParameters, certified, point, sample
from marginflow.sweeps.registry import Row, task

Direction = Literal["label-sum", "margin", "support", "dual"]


class FlipParameters(PointParameters, frozen=True, kw_only=True):
    """Data, network, the vector, and the share of the samples that is to be flipped at once."""

    direction: Direction = "label-sum"
    share: Annotated[float, Meta(gt=0.0, le=1.0)] = 1.0


@task("flip")
def flip(parameters: FlipParameters, seed: int) -> Row:
    """Norm of one perturbation that flips a share of the samples of a KKT point at once, and over sqrt(d)."""
    data = sample(parameters, seed)
    found = point(parameters, data, seed)
    steps = minimal_step(found.network, data.X, data.y, direction_of(parameters.direction, found, data))
    norm, root = steps.size_for_share(parameters.share), math.sqrt(data.dimension)
    return {
        **certified(found),
        "norm": norm,
        "norm_by_sqrt_dimension": norm / root,
        "smallest_first": float(steps.sizes.min()),
        "median_first": float(np.median(steps.sizes)),
        "largest_first": float(steps.sizes.max()),
        "never_flipped": int(np.isinf(steps.first).sum()),
    }


def direction_of(name: Direction, found: Limit, data: Dataset) -> FloatArray:
    """The vector that a name stands for."""
    match name:
        case "label-sum":
            return label_sum(data.X, data.y)
        case "margin":
            return label_sum(data.X, data.y, margin_samples(found.network, data.X, data.y))
        case "support":
            return label_sum(data.X, data.y, support_samples(found.certificate.multipliers))
        case "dual":
            return dual_sum(data.X, data.y, found.certificate.multipliers)
