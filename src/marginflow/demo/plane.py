"""Picture 1: gradient flow on two moons, from a random start to loss 1e-20, and the KKT point beside it."""

import math
from dataclasses import replace
from typing import Final

import numpy as np

from marginflow import flow
from marginflow.data import moons
from marginflow.demo.chapter import Chapter, Report
from marginflow.limit import kkt_point
from marginflow.losses import as_power_of_ten
from marginflow.measurements import plane_frame, plane_samples
from marginflow.networks import TwoLayer
from marginflow.plain import to_plain

N_SAMPLES, NOISE, WIDTH, SCALE, STOP_LOSS, N_FRAMES = 60, 0.1, 100, 0.01, 1e-20, 48
# On most draws the KKT point lies somewhat farther from the flow than on this one; the record says how far.
FIRST_DRAW: Final = 21
# Cosine of the outputs from which on the point is called near to where training ended.
NEAR: Final = 0.99


def plane(seed: int, show: Report) -> Chapter:
    """Train, look at the way, find the KKT point from where training ended."""
    draw = FIRST_DRAW + seed
    drawn = moons(N_SAMPLES, noise=NOISE, seed=draw)
    # Centred, of radius 2, the upper one +1.
    data = replace(drawn, X=2.0 * (drawn.X - drawn.X.mean(axis=0)), y=-drawn.y)
    begun = TwoLayer.initialise(WIDTH, data.dimension, scale=SCALE, seed=draw)
    run = flow.train(
        begun,
        data,
        flow.GradientFlow(stop=[flow.LossBelow(STOP_LOSS), flow.Steps(20_000)]),
        recording=flow.Recording(ratio=1.0, networks=True),
        progress=lambda now: show(0.3 * max(0.0, now.share), f"loss {as_power_of_ten(now.log_loss, digits=0)}"),
    )
    trained = run.network
    if run.status == "interrupted" or not isinstance(trained, TwoLayer):
        raise KeyboardInterrupt
    show(0.3, "the KKT point")
    limit = kkt_point(data, start=trained, flow_steps=0)
    trajectory = run.trajectory
    chosen = evenly_spaced(trajectory.log_loss, trajectory.step, N_FRAMES)
    frames = []
    for number, index in enumerate(chosen):
        show(0.5 + 0.5 * number / len(chosen), f"frame {number + 1} of {len(chosen)}")
        network = (trajectory.networks or ())[index]
        assert isinstance(network, TwoLayer)
        log10_loss = float(trajectory.log_loss[index]) / math.log(10.0)
        frames.append({"step": int(trajectory.step[index]), "log10_loss": log10_loss} | plane_frame(network, data))
    point = plane_frame(limit.network, data, certificate=limit.certificate, pictured=limit.compact)
    moved = limit.moved
    record = {
        "samples": plane_samples(data),
        "frames": frames,
        "point": point,
        "exact": limit.exact,
        "holds": limit.certificate.holds(),
        "near": moved is not None and moved.cosine >= NEAR,
        "status": limit.status,
        "cosine": None if moved is None else moved.cosine,
        "kinks": limit.certificate.kink_report.count,
        "hard_residual": limit.certificate.kink_report.hard_residual,
        "seconds": {"training": run.seconds, "point": limit.seconds},
        "steps": run.steps,
        "width": WIDTH,
        "draw": draw,
    }
    last = frames[-1]
    return Chapter(
        name="plane",
        record=to_plain(record),
        sentence=(
            f"Two moons: training to loss {as_power_of_ten(run.log_loss, digits=0)} ends with KKT residual "
            f"{last['residual']:.2g}; the KKT point has {limit.certificate.total:.1g}, found in {limit.seconds:.1f} s."
        ),
        holds=limit.certificate.holds(),
        interrupted=limit.stopped_by == "interrupt",
        networks={"moons-trained": trained, "moons-kkt" if limit.exact else "moons-not-exact": limit.network},
        data={"moons": data},
    )


def evenly_spaced(log_loss: np.ndarray, step: np.ndarray, count: int) -> list[int]:
    """Indices of records along which both the exponent of the loss and that of the step go on evenly."""
    fallen = np.maximum.accumulate(-log_loss) - (-log_loss[0])
    way = fallen / max(fallen[-1], 1e-300) + 0.35 * np.log1p(step) / np.log1p(step[-1])
    wanted = np.linspace(0.0, way[-1], count)
    return sorted({int(index) for index in np.searchsorted(way, wanted).clip(0, way.size - 1)})
