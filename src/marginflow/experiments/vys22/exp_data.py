"""[VYS22, section 6, Dataset]: Gaussian inputs of variance 1/d instead of the sphere."""

from __future__ import annotations

from marginflow.experiments.frame import Figure, Grid, product
from marginflow.experiments.vys22.sphere import hours, sphere_run
from marginflow.experiments.vys22.variants import flip_panels, similar

INPUTS = ("sphere", "gaussian")

FIGURE = Figure(
    id="VYS22/Exp.data",
    title="flips for inputs on the sphere and for Gaussian inputs of variance 1/d",
    claim="Gaussian inputs of variance 1/d give results similar to those on the sphere.",
    cell=sphere_run,
    panels=flip_panels("inputs", "Inputs", "Flip for two laws of the inputs"),
    judge=similar("inputs"),
    sizes={
        "smoke": Grid(cells=product(inputs=INPUTS, alpha=(0.5,), dimension=(16,), width=(20,)), seeds=2),
        "laptop": Grid(cells=product(inputs=INPUTS, alpha=(0.5, 1.0), dimension=(40, 60, 80), width=(200,)), seeds=5),
        "paper": Grid(
            cells=product(
                inputs=INPUTS,
                alpha=(0.5, 0.8, 1.0, 1.2, 1.5),
                dimension=tuple(range(100, 1001, 100)),
                width=(1000,),
                schedule=("published",),
            ),
            seeds=5,
        ),
    },
    hours=hours,
    deviations=(
        "Gaussian inputs of variance 1/d have norm about 1, not √d, so flips are compared relative to the norm; a bias "
        "then weighs √d times more. The paper shows no plot of them."
    ),
)
