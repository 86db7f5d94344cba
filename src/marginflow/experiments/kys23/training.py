"""[KYS23, section 5, in the text]: all runs interpolate; five times longer training changes nothing; d = 10."""

from __future__ import annotations

from collections.abc import Sequence

from marginflow.experiments.frame import Figure, Grid, product
from marginflow.experiments.kys23.figure_1 import BRIEF, DEVIATIONS, DIMENSIONS, NOISES
from marginflow.experiments.kys23.profile import LEAST_SLOPE, LINEAR_R2, curves, fit, interpolation
from marginflow.experiments.kys23.sphere import PUBLISHED_TIME, hours, noise_run
from marginflow.experiments.outcome import Finding, Mean, Outcome, column, means, values, where
from marginflow.experiments.panel import Panel, Row

# "Unaffected" is not a number in the paper; this mean change of the error is ours.
UNAFFECTED = 0.02


def loss_panel(rows: Sequence[Row]) -> tuple[Panel, ...]:
    """Wrong training samples against the noise."""
    named = [{**row, "curve": f"{row['dimension']}"} for row in rows]
    return (
        Panel(
            title="Training samples that are still wrong at the end",
            description="Number of training samples with yN(x) ≤ 0 at the end of training, against the noise.",
            rows=means(named, ("noise", "curve"), "wrong_in_training"),
            x="noise",
            y="wrong_in_training",
            series="curve",
            titles={
                "noise": "Noise p",
                "wrong_in_training": "Wrong training samples",
                "curve": "Dimension d",
                "low": "95 % from",
                "high": "95 % to",
                "seeds": "Seeds",
            },
        ),
        curves(rows, "Clean test error of the same runs"),
    )


def everything_fits(rows: Sequence[Row]) -> Outcome:
    """All runs interpolate; and at p = 1/2, where both labels are equally likely, the mean error is 1/2."""
    findings = [interpolation(rows)]
    half = where(rows, noise=0.5)
    remarks: tuple[str, ...] = ()
    if half:
        error = Mean.of(column(half, "error"))
        remarks = (
            f"At p = 1/2, where symmetry makes the expected error 1/2, the mean is {error.value:.3g} "
            f"[{error.low:.3g}, {error.high:.3g}].",
        )
    return Outcome(findings=tuple(findings), remarks=remarks)


def by_time(rows: Sequence[Row]) -> tuple[Panel, ...]:
    """Curves after 20,000 and after 100,000 epochs."""
    named = [{**row, "method": f"{float(str(row['time'])) * 10 / 1000:g}k epochs"} for row in rows]
    return (curves(named, "Clean test error after shorter and longer training"),)


def unaffected(rows: Sequence[Row]) -> Outcome:
    """The mean change of the error from the shorter to the longer training is small in every dimension."""
    findings = [interpolation(rows)]
    short, long = min(column(rows, "time")), max(column(rows, "time"))
    for d in values(rows, "dimension"):
        one, other = (column(where(rows, dimension=d, time=time), "error") for time in (short, long))
        change = Mean.of(b - a for a, b in zip(one, other, strict=True))
        name = f"mean change of the error by longer training, d = {d}"
        findings += [
            Finding.about(name, change, "<=", UNAFFECTED),
            Finding.about(name, change, ">=", -UNAFFECTED),
        ]
    return Outcome(findings=tuple(findings))


def by_samples(rows: Sequence[Row]) -> tuple[Panel, ...]:
    """One curve for each number of samples."""
    return (curves(rows, "Clean test error in dimension 10", series="samples", heading="Samples m"),)


def linear(rows: Sequence[Row]) -> Outcome:
    """For every number of samples the error is linear in the noise, with a slope that is not small."""
    findings = [interpolation(rows)]
    for m in values(rows, "samples"):
        slope, r2 = fit(where(rows, samples=m))
        findings += [
            Finding(name=f"R² of a line, m = {m}", value=r2, relation=">=", bound=LINEAR_R2),
            Finding(name=f"slope of a line, m = {m}", value=slope, relation=">=", bound=LEAST_SLOPE),
        ]
    return Outcome(findings=tuple(findings))


COMMON = Figure(
    id="KYS23/Exp.Common",
    title="does every network fit all of its noisy training samples?",
    claim="In all experiments the trained network classifies all of the noisy training data correctly.",
    cell=noise_run,
    panels=loss_panel,
    judge=everything_fits,
    sizes={
        "smoke": Grid(
            cells=product(
                dimension=(5, 100),
                noise=(0.2, 0.5),
                samples=(20,),
                width=(60,),
                time=(400.0,),
                test_points=(1000,),
                **BRIEF,
            ),
            seeds=2,
        ),
        "laptop": Grid(
            cells=product(
                dimension=(10, 100, 1000),
                noise=(0.1, 0.3, 0.5),
                samples=(100,),
                width=(500,),
                test_points=(10_000,),
                **BRIEF,
            ),
            seeds=4,
        ),
        "paper": Grid(cells=product(dimension=DIMENSIONS, noise=NOISES, samples=(500, 2000)), seeds=10),
    },
    hours=hours,
    deviations=DEVIATIONS,
)

LONGER = Figure(
    id="KYS23/Exp.100k",
    title="clean test error after 20k and after 100k epochs",
    claim="Training for 100k epochs instead of 20k leaves the results unaffected.",
    cell=noise_run,
    panels=by_time,
    judge=unaffected,
    sizes={
        "smoke": Grid(
            cells=product(
                time=(PUBLISHED_TIME / 5, PUBLISHED_TIME),
                dimension=(40,),
                noise=(0.1, 0.3),
                samples=(20,),
                width=(40,),
                test_points=(1000,),
                **BRIEF,
            ),
            seeds=1,
        ),
        "laptop": Grid(
            cells=product(
                time=(PUBLISHED_TIME, 5 * PUBLISHED_TIME),
                dimension=(30, 300),
                noise=(0.1, 0.3, 0.5),
                samples=(60,),
                width=(200,),
                test_points=(10_000,),
                **BRIEF,
            ),
            seeds=4,
        ),
        "paper": Grid(
            cells=product(
                time=(PUBLISHED_TIME, 5 * PUBLISHED_TIME), dimension=DIMENSIONS, noise=NOISES, samples=(500,)
            ),
            seeds=10,
        ),
    },
    hours=hours,
    deviations=DEVIATIONS,
)

LOW_DIMENSION = Figure(
    id="KYS23/Mallinar6b",
    title="clean test error against the noise for three layers in dimension 10",
    claim="In dimension 10 the clean test error of a network of three layers is almost linear in the noise.",
    cell=noise_run,
    panels=by_samples,
    judge=linear,
    sizes={
        "smoke": Grid(
            cells=product(
                samples=(30,),
                dimension=(10,),
                layers=(3,),
                noise=(0.1, 0.2, 0.3, 0.4, 0.5),
                width=(60,),
                time=(300.0,),
                test_points=(1000,),
                **BRIEF,
            ),
            seeds=2,
        ),
        "laptop": Grid(
            cells=product(
                samples=(100, 300),
                dimension=(10,),
                layers=(3,),
                noise=(0.1, 0.2, 0.3, 0.4, 0.5),
                width=(150,),
                test_points=(10_000,),
                **BRIEF,
            ),
            seeds=2,
        ),
        "paper": Grid(cells=product(samples=(300, 1000, 2000), dimension=(10,), layers=(3,), noise=NOISES), seeds=10),
    },
    hours=hours,
    deviations=(
        "An experiment of Mallinar et al. (2022) that the paper starts from; they go to 360,000 samples, we to 2,000. "
        + DEVIATIONS
    ),
)
