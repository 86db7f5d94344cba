"""[VYS22, section 6, Experimental setting]: the logistic loss instead of the exponential one."""

from __future__ import annotations

from marginflow.experiments.frame import Figure, Grid, product
from marginflow.experiments.vys22.sphere import hours, sphere_run
from marginflow.experiments.vys22.variants import flip_panels, similar

LOSSES = ("exponential", "logistic")

FIGURE = Figure(
    id="VYS22/Exp.logistic",
    title="flips after training on the exponential and on the logistic loss",
    claim="The logistic loss gives results similar to those of the exponential loss.",
    cell=sphere_run,
    panels=flip_panels("loss", "Loss", "Flip for two losses"),
    judge=similar("loss"),
    sizes={
        "smoke": Grid(cells=product(loss=LOSSES, alpha=(0.5,), dimension=(16,), width=(20,)), seeds=2),
        "laptop": Grid(cells=product(loss=LOSSES, alpha=(0.5, 1.0), dimension=(40, 60, 80), width=(200,)), seeds=5),
        "paper": Grid(
            cells=product(
                loss=LOSSES,
                alpha=(0.5, 0.8, 1.0, 1.2, 1.5),
                dimension=tuple(range(100, 1001, 100)),
                width=(1000,),
                schedule=("published",),
            ),
            seeds=5,
        ),
    },
    hours=hours,
    deviations="The paper shows no plot of it. Both losses are computed in the log domain, so 1e-30 is no obstacle.",
)
