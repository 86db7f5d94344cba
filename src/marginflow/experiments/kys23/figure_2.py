"""[KYS23, Figure 2]: clean test error against the noise for other widths (left) and for three layers (right)."""

from __future__ import annotations

from collections.abc import Sequence

from marginflow.experiments.frame import Figure, Grid, product
from marginflow.experiments.kys23.figure_1 import BRIEF, DEVIATIONS, NOISES
from marginflow.experiments.kys23.profile import curves, interpolation, tempered_to_benign
from marginflow.experiments.kys23.sphere import hours, noise_run
from marginflow.experiments.outcome import Finding, Mean, Outcome, column, values, where
from marginflow.experiments.panel import Panel, Row

# "Almost the same" is not a number in the paper; this difference of the mean errors is ours.
ALMOST = 0.05


def by_width(rows: Sequence[Row]) -> tuple[Panel, ...]:
    """One panel for each width, with one curve for each dimension and width."""
    named = [{**row, "curve of": f"d = {row['dimension']}, n = {row['width']}"} for row in rows]
    return (curves(named, "Clean test error for two widths", series="curve of", heading="Dimension and width"),)


def same_for_widths(rows: Sequence[Row]) -> Outcome:
    """On the same draws the errors of the narrow and of the wide network differ by little on average."""
    findings = [interpolation(rows)]
    narrow, wide = min(column(rows, "width")), max(column(rows, "width"))
    for d in values(rows, "dimension"):
        one, other = (column(where(rows, dimension=d, width=width), "error") for width in (narrow, wide))
        change = Mean.of(b - a for a, b in zip(one, other, strict=True))
        name = f"mean change of the error from width {narrow:g} to {wide:g}, d = {d}"
        findings += [
            Finding.about(name, change, "<=", ALMOST),
            Finding.about(name, change, ">=", -ALMOST),
        ]
    return Outcome(findings=tuple(findings))


def by_depth(rows: Sequence[Row]) -> tuple[Panel, ...]:
    """Two and three layers in the same picture."""
    named = [{**row, "method": f"{row['layers']} layers"} for row in rows]
    return (curves(named, "Clean test error, two and three layers"),)


def like_two_layers(rows: Sequence[Row]) -> Outcome:
    """Three layers go from tempered to benign as two do."""
    deep = tempered_to_benign(where(rows, layers=3))
    remarks = []
    for d in values(rows, "dimension"):
        two, three = (column(where(rows, dimension=d, layers=layers), "error") for layers in (2, 3))
        if len(two) == len(three) > 0:
            change = Mean.of(b - a for a, b in zip(two, three, strict=True))
            remarks.append(f"Three layers have {change.value:+.3g} more error than two on average in dimension {d}.")
    return Outcome(findings=deep.findings, remarks=(*deep.remarks, *remarks))


LEFT = Figure(
    id="KYS23/Fig2L",
    title="clean test error against the noise for a narrow and a wide network",
    claim="The width has little effect: the curves of 50 and of 3000 neurons are almost the same.",
    cell=noise_run,
    panels=by_width,
    judge=same_for_widths,
    sizes={
        "smoke": Grid(
            cells=product(
                width=(30, 120),
                dimension=(50,),
                noise=(0.1, 0.3),
                samples=(20,),
                time=(400.0,),
                test_points=(1000,),
                **BRIEF,
            ),
            seeds=2,
        ),
        "laptop": Grid(
            cells=product(
                width=(50, 1500),
                dimension=(50, 400, 2000),
                noise=(0.1, 0.3, 0.5),
                samples=(100,),
                test_points=(10_000,),
                **BRIEF,
            ),
            seeds=3,
        ),
        "paper": Grid(
            cells=product(width=(50, 3000), dimension=(250, 2000, 10_000), noise=NOISES, samples=(500,)), seeds=10
        ),
    },
    hours=hours,
    deviations=DEVIATIONS,
)

RIGHT = Figure(
    id="KYS23/Fig2R",
    title="clean test error against the noise, three layers beside two",
    claim="Three layers look very similar to two: tempered in low dimension, benign in high dimension.",
    cell=noise_run,
    panels=by_depth,
    judge=like_two_layers,
    sizes={
        "smoke": Grid(
            cells=product(
                layers=(2, 3),
                dimension=(5, 300),
                noise=(0.1, 0.3, 0.5),
                samples=(20,),
                width=(50,),
                time=(300.0,),
                test_points=(1000,),
                **BRIEF,
            ),
            seeds=1,
        ),
        "laptop": Grid(
            cells=product(
                layers=(2, 3),
                dimension=(10, 100, 1000),
                noise=(0.1, 0.3, 0.5),
                samples=(100,),
                width=(200,),
                test_points=(10_000,),
                **BRIEF,
            ),
            seeds=3,
        ),
        "paper": Grid(
            cells=product(layers=(2, 3), dimension=(250, 2000, 10_000), noise=NOISES, samples=(500,)), seeds=10
        ),
    },
    hours=hours,
    deviations=DEVIATIONS + " With a bias in every layer a network of three layers is not homogeneous.",
)
