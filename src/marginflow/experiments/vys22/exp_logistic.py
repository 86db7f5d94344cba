"""[VYS22, section 6, Experimental setting]: the logistic loss instead of the exponential one."""

from marginflow.experiments.frame import Figure
from marginflow.experiments.vys22.sphere import sphere_run
from marginflow.experiments.vys22.variants import flip_panels, similar, sizes

LOSSES = ("exponential", "logistic")

FIGURE = Figure(
    id="VYS22/Exp.logistic",
    title="flips after training on the exponential and on the logistic loss",
    claim="The logistic loss gives results similar to those of the exponential loss.",
    cell=sphere_run,
    panels=flip_panels("loss", "Loss", "Flip for two losses"),
    judge=similar("loss"),
    sizes=sizes("loss", LOSSES),
    deviations="The paper shows no plot of it. Both losses are computed in the log domain, so 1e-30 can be reached.",
)
