"""Picture 1: gradient flow on two moons, from a random start to loss 1e-20, and the KKT point beside it."""

from dataclasses import replace
from typing import Final

from marginflow.data import moons
from marginflow.demo.chapter import Chapter, Report
from marginflow.losses import as_power_of_ten
from marginflow.measurements import plane_flow, plane_samples
from marginflow.networks import TwoLayer
from marginflow.plain import to_plain

N_SAMPLES, NOISE, WIDTH, SCALE, N_FRAMES = 60, 0.1, 100, 0.01, 48
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
    found = plane_flow(begun, data, frames=N_FRAMES, ratio=1.0, progress=show)
    run, limit, moved = found.run, found.limit, found.limit.moved
    record = {
        "samples": plane_samples(data),
        "frames": found.frames,
        "point": found.point,
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
    residual = found.frames[-1]["residual"]
    ends = "does not separate the samples" if residual is None else f"ends with KKT residual {residual:.2g}"
    return Chapter(
        name="plane",
        record=to_plain(record),
        sentence=(
            f"Two moons: training to loss {as_power_of_ten(run.log_loss, digits=0)} {ends}; the KKT point has "
            f"{limit.certificate.total:.1g}, found in {limit.seconds:.1f} s."
        ),
        holds=limit.certificate.holds(),
        interrupted=limit.stopped_by == "interrupt",
        networks={"moons-trained": found.trained, "moons-kkt" if limit.exact else "moons-not-exact": limit.network},
        data={"moons": data},
    )
