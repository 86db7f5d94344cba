"""[VYS22, section 6, Dataset]: Gaussian inputs of variance 1/d instead of the sphere."""

from marginflow.experiments.frame import Figure
from marginflow.experiments.outcome import Outcome, grouped, where
from marginflow.experiments.panel import Rows
from marginflow.experiments.vys22.sphere import sphere_run
from marginflow.experiments.vys22.variants import difference, flip_panels, similar, sizes

# The third is ours: Gaussian inputs change the law and the norm, and this tells the one from the other.
INPUTS = ("sphere", "gaussian", "unit sphere")


def judge(rows: Rows) -> Outcome:
    """Gaussian inputs against the sphere of radius sqrt(d); and, as a remark, against the sphere of their own norm."""
    outcome = similar("inputs")([row for row in rows if row["inputs"] != "unit sphere"])
    remarks = []
    for alpha, own in grouped(rows, "alpha"):
        if where(own, inputs="unit sphere"):
            change = difference(own, "inputs", "unit sphere", "gaussian")
            remarks.append(
                f"Against the sphere of radius 1 the relative difference is {change.value:+.2g} [{change.low:.2g}, "
                f"{change.high:.2g}] for m = d^{alpha:g}: what is left is due to the law of the inputs, the rest to "
                "their norm, beside which a bias weighs √d times more."
            )
    return Outcome(findings=outcome.findings, remarks=tuple(remarks))


FIGURE = Figure(
    id="VYS22/Exp.data",
    title="flips for inputs on the sphere and for Gaussian inputs of variance 1/d",
    claim="Gaussian inputs of variance 1/d give results similar to those on the sphere.",
    cell=sphere_run,
    panels=flip_panels("inputs", "Inputs", "Flip for different laws of the inputs"),
    judge=judge,
    sizes=sizes("inputs", INPUTS),
    deviations=(
        "Gaussian inputs of variance 1/d have norm about 1, not √d, so flips are compared relative to the norm; a bias "
        "then weighs √d times more, which the unit sphere shares and the paper does not have. The paper shows no plot."
    ),
)
