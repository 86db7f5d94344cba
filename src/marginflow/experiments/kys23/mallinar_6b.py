"""[KYS23, section 5]: the experiment of Mallinar et al. that the paper starts from, three layers in dimension 10."""

from marginflow.experiments.frame import Grid
from marginflow.experiments.kys23.profile import curves, interpolation, tempered
from marginflow.experiments.kys23.setting import DEVIATIONS, NOISES, brief, figure
from marginflow.experiments.outcome import Outcome, grouped
from marginflow.experiments.panel import Panel, Rows


def panels(rows: Rows) -> tuple[Panel, ...]:
    """One curve for each number of samples."""
    return (curves(rows, "Clean test error in dimension 10", series="samples", heading="Samples m"),)


def judge(rows: Rows) -> Outcome:
    """For every number of samples the error is linear in the noise, with a slope that is not small."""
    lines = [found for m, own in grouped(rows, "samples") for found in tempered(own, f"m = {m}")]
    return Outcome(findings=(interpolation(rows), *lines))


FIGURE = figure(
    id="KYS23/Mallinar6b",
    title="clean test error against the noise for three layers in dimension 10",
    claim="In dimension 10 the clean test error of a network of three layers is almost linear in the noise.",
    panels=panels,
    judge=judge,
    sizes={
        "smoke": brief(
            samples=(30,),
            dimension=(10,),
            layers=(3,),
            noise=(0.1, 0.2, 0.3, 0.4, 0.5),
            width=(60,),
            time=(300.0,),
            test_points=(1000,),
            seeds=2,
        ),
        "laptop": brief(
            samples=(100, 300), dimension=(10,), layers=(3,), noise=(0.1, 0.2, 0.3, 0.4, 0.5), width=(150,), seeds=4
        ),
        "paper": Grid.product(samples=(300, 1000, 2000), dimension=(10,), layers=(3,), noise=NOISES, seeds=10),
    },
    deviations=(
        "An experiment of Mallinar et al. (2022) that the paper starts from; they go to 360,000 samples, we to 2,000. "
        + DEVIATIONS
    ),
)
