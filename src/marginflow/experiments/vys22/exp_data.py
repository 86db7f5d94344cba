"""[VYS22, section 6, Dataset]: Gaussian inputs of variance 1/d instead of the sphere."""

from __future__ import annotations

from marginflow.experiments.frame import Figure
from marginflow.experiments.vys22.sphere import hours, sphere_run
from marginflow.experiments.vys22.variants import flip_panels, similar, sizes

INPUTS = ("sphere", "gaussian")

FIGURE = Figure(
    id="VYS22/Exp.data",
    title="flips for inputs on the sphere and for Gaussian inputs of variance 1/d",
    claim="Gaussian inputs of variance 1/d give results similar to those on the sphere.",
    cell=sphere_run,
    panels=flip_panels("inputs", "Inputs", "Flip for two laws of the inputs"),
    judge=similar("inputs"),
    sizes=sizes("inputs", INPUTS),
    hours=hours,
    deviations=(
        "Gaussian inputs of variance 1/d have norm about 1, not √d, so flips are compared relative to the norm; a bias "
        "then weighs √d times more. The paper shows no plot of them."
    ),
)
