"""A network on the plane, as it is drawn: its neurons and numbers, the flow from it, and the KKT point at its end."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from marginflow import flow
from marginflow.arrays import FloatArray
from marginflow.certificates import Certificate, certify
from marginflow.data import Dataset
from marginflow.display import Brief
from marginflow.errors import InputError
from marginflow.limit import Limit, kkt_point
from marginflow.losses import as_power_of_ten
from marginflow.networks import TwoLayer

# Kinks nearer than this are forgiven in the second residual.
NEAR_KINK = 1e-3
# A sample is on the margin if its margin exceeds the smallest by less than this.
ON_MARGIN = 1e-6
# Directions count as one if they are less than this angle apart, and not at all with less than this share of weight.
ANGLE, LEAST_SHARE = np.deg2rad(1.0), 1e-3
STOP_LOSS: Final = 1e-20
_MOST_STEPS: Final = 20_000
# Shares of the work when the flow ends, and when the point is found.
_FLOW, _POINT = 0.3, 0.5
_FEWEST, _SCALE = 60, 0.01  # neurons and scale of a random start


def plane_samples(data: Dataset) -> list[list[float]]:
    """Every sample as [x, y, label]."""
    if data.dimension != 2:
        raise InputError(f"The samples have {data.dimension} columns; the plane has 2.")
    rows: list[list[float]] = np.column_stack([data.X, data.y]).tolist()
    return rows


def plane_frame(
    network: TwoLayer, data: Dataset, *, certificate: Certificate | None = None, pictured: TwoLayer | None = None
) -> dict[str, object]:
    """The neurons as rows (w_1 |v|, w_2 |v|, b |v|, sign v) at margin 1, and the numbers beside the picture.

    Parameters
    ----------
    network, data : TwoLayer, Dataset
    certificate : Certificate or None
        Of this network; computed if it is missing.
    pictured : TwoLayer or None
        A network with the same outputs whose neurons are drawn instead.
    """
    if network.dimension != 2:
        raise InputError(f"The network has dimension {network.dimension}; the plane has 2.")
    margins = network.margins(data.X, data.y)
    least = float(margins.min())
    drawn = network if pictured is None else pictured
    b = np.zeros(drawn.width) if drawn.b is None else drawn.b
    neurons = np.column_stack([drawn.W * np.abs(drawn.v)[:, None], b * np.abs(drawn.v), np.sign(drawn.v)])
    size = float(np.linalg.norm(neurons[:, :3], axis=1).sum())
    neurons[:, :3] /= least if least > 0 else max(size, 1e-300)
    strict = forgiven = None
    if least > 0:
        strict = (certificate if certificate is not None else certify(network, data)).total
        forgiven = certify(network, data, kink_tolerance=NEAR_KINK).total
    return {
        "neurons": neurons,
        "separates": least > 0,
        "right": int((margins > 0).sum()),
        "residual": strict,
        "forgiven": forgiven,
        "directions": count_directions(neurons),
        "on_margin": np.flatnonzero(margins <= least * (1.0 + ON_MARGIN)) if least > 0 else [],
    }


def count_directions(neurons: FloatArray) -> int:
    """How many directions (w, b), apart for each sign of v, carry a share of the weight worth naming."""
    weights = np.linalg.norm(neurons[:, :3], axis=1)
    kept = np.flatnonzero(weights > LEAST_SHARE * weights.sum())
    order = kept[np.argsort(-weights[kept], kind="stable")]
    leaders: list[int] = []
    for index in order:
        unit, sign = neurons[index, :3] / weights[index], neurons[index, 3]
        near = (
            float(unit @ neurons[leader, :3]) / weights[leader] > np.cos(ANGLE) and neurons[leader, 3] == sign
            for leader in leaders
        )
        if not any(near):
            leaders.append(int(index))
    return len(leaders)


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
