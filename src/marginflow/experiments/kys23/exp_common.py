"""[KYS23, section 5, Common]: every trained network fits all of its noisy training samples."""

import math

from marginflow.experiments.frame import Grid
from marginflow.experiments.kys23.profile import curves, interpolation
from marginflow.experiments.kys23.setting import DEVIATIONS, DIMENSIONS, NOISES, brief, figure
from marginflow.experiments.outcome import Mean, Outcome, column, number, where
from marginflow.experiments.panel import Panel, Rows, over_seeds

HEADING = "Dimension and samples"


def panels(rows: Rows) -> tuple[Panel, ...]:
    """Training loss and clean test error against the noise."""
    noises = column(rows, "noise")
    named = [
        {
            **row,
            "setting": f"d = {row['dimension']}, m = {row['samples']}",
            "loss": number(row, "samples") * math.exp(number(row, "log_loss")),
        }
        for row in rows
    ]
    loss = over_seeds(
        named,
        x="noise",
        y="loss",
        series="setting",
        band=False,
        titles={"noise": "Noise p", "loss": "Sum of the losses", "setting": HEADING},
        title="Training loss at the end",
        description=(
            "Sum of the logistic losses of the noisy training samples at the end of training, against the noise; mean "
            "over the seeds. Below ln 2 every sample is correct, as a wrong one alone has at least this loss."
        ),
        references={"ln 2": [(p, math.log(2.0)) for p in (min(noises), max(noises))]},
        y_scale="log",
    )
    return loss, curves(named, "Clean test error of the same runs", series="setting", heading=HEADING)


def judge(rows: Rows) -> Outcome:
    """All runs interpolate; at p = 1/2, where both labels are equally likely, the mean error is said."""
    half = where(rows, noise=0.5)
    remarks: tuple[str, ...] = ()
    if half:
        error = Mean.of(column(half, "error"))
        remarks = (
            f"At p = 1/2, where symmetry makes the expected error 1/2, the mean is {error.value:.3g} "
            f"[{max(error.low, 0.0):.3g}, {min(error.high, 1.0):.3g}].",
        )
    return Outcome(findings=(interpolation(rows),), remarks=remarks)


FIGURE = figure(
    id="KYS23/Exp.Common",
    title="does every network fit all of its noisy training samples?",
    claim="In all experiments the trained network classifies all of the noisy training data correctly.",
    panels=panels,
    judge=judge,
    sizes={
        "smoke": brief(
            dimension=(5, 100),
            noise=(0.2, 0.5),
            samples=(20,),
            width=(60,),
            time=(400.0,),
            test_points=(1000,),
            seeds=2,
        ),
        "laptop": brief(dimension=(10, 100, 1000), noise=(0.1, 0.3, 0.5), samples=(100,), width=(500,), seeds=4),
        "paper": Grid.product(dimension=DIMENSIONS, noise=NOISES, samples=(500, 2000), seeds=10),
    },
    deviations=DEVIATIONS,
)
