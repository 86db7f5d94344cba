"""Gradient flow of a network on the plane, as it is drawn: frames on its way, and the KKT point at its end."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from marginflow import flow
from marginflow.certificates import certify
from marginflow.data import Dataset
from marginflow.display import Brief
from marginflow.limit import Limit, kkt_point
from marginflow.losses import as_power_of_ten
from marginflow.measurements.plane import plane_frame
from marginflow.networks import TwoLayer

STOP_LOSS: Final = 1e-20
_MOST_STEPS: Final = 20_000
# Shares of the work when the flow ends, and when the point is found.
_FLOW, _POINT = 0.3, 0.5
_FEWEST, _SCALE = 60, 0.01  # neurons and scale of a random start


@dataclass(frozen=True, eq=False, kw_only=True)
class PlaneFlow(Brief):
    """The run to loss 1e-20, the KKT point, and both as frames: `step`, `log10_loss` and what `plane_frame` says."""

    trained: TwoLayer
    run: flow.Run
    limit: Limit
    frames: tuple[dict[str, Any], ...]
    point: dict[str, object]


def plane_flow(
    start: TwoLayer, data: Dataset, *, frames: int, ratio: float, progress: Callable[[float, str], None]
) -> PlaneFlow:
    """Train from `start`, look at the way, find the KKT point from where training ended.

    Parameters
    ----------
    start, data : TwoLayer, Dataset
        Of dimension 2.
    frames : int
        On the way, at most.
    ratio : float
        Of the times of two records of the flow, see `flow.Recording`.
    progress : callable
        Called with (share done, what is being done).
    """
    run = flow.train(
        start,
        data,
        flow.GradientFlow(stop=[flow.LossBelow(STOP_LOSS), flow.Steps(_MOST_STEPS)]),
        recording=flow.Recording(ratio=ratio, networks=True),
        progress=lambda now: progress(_FLOW * max(0.0, now.share), f"loss {as_power_of_ten(now.log_loss, digits=0)}"),
    )
    trained, path = run.network, run.trajectory
    if run.status == "interrupted" or not isinstance(trained, TwoLayer):
        raise KeyboardInterrupt
    progress(_FLOW, "the KKT point")
    limit = kkt_point(data, start=trained, flow_steps=0)
    chosen = evenly_spaced(path.log_loss, path.step, frames)
    drawn = []
    for number, index in enumerate(chosen):
        progress(_POINT + (1.0 - _POINT) * number / len(chosen), f"frame {number + 1} of {len(chosen)}")
        network = (path.networks or ())[index]
        assert isinstance(network, TwoLayer)
        log10_loss = float(path.log_loss[index]) / math.log(10.0)
        drawn.append({"step": int(path.step[index]), "log10_loss": log10_loss} | plane_frame(network, data))
    point = plane_frame(limit.network, data, certificate=limit.certificate, pictured=limit.compact)
    return PlaneFlow(trained=trained, run=run, limit=limit, frames=tuple(drawn), point=point)


def moving_start(network: TwoLayer, data: Dataset) -> TwoLayer:
    """The network itself or, at a KKT point, where nothing moves, a random one of small scale."""
    if not certify(network, data).holds():
        return network
    return TwoLayer.initialise(max(network.width, _FEWEST), data.dimension, scale=_SCALE, seed=0)


def evenly_spaced(log_loss: np.ndarray, step: np.ndarray, count: int) -> list[int]:
    """Indices of records along which both the exponent of the loss and that of the step go on evenly."""
    fallen = np.maximum.accumulate(-log_loss) - (-log_loss[0])
    way = fallen / max(fallen[-1], 1e-300) + 0.35 * np.log1p(step) / np.log1p(step[-1])
    wanted = np.linspace(0.0, way[-1], count)
    return sorted({int(index) for index in np.searchsorted(way, wanted).clip(0, way.size - 1)})
