"""[KYS23, Figure 1]: clean test error against the noise in different dimensions; m = 500 (left), m = 2000 (right)."""

from __future__ import annotations

from collections.abc import Sequence

from marginflow.experiments.frame import Figure, Grid, product
from marginflow.experiments.kys23.profile import curves, tempered_to_benign
from marginflow.experiments.kys23.sphere import hours, noise_run
from marginflow.experiments.panel import Panel, Row

NOISES = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
# The list of dimensions is only in the legend of the published picture, not in the text; these are ours.
DIMENSIONS = (50, 250, 500, 1000, 2000, 10_000)
BRIEF = {"rate": (1.0,), "count": ("exact",)}
CLAIM = (
    "As d increases compared to m, overfitting goes from tempered (clean test error linear in p) to benign (close to "
    "0), except near p = 1/2, where the error stays well above 0."
)
DEVIATIONS = (
    "Smoke and laptop have fewer samples and neurons, exactly round(pm) wrong labels, and steps of rate 1 for the same "
    "flow time 2000, which changes the error by less than 0.001 (0.1415 against 0.1416 at m = 100, d = 300, p = 0.3). "
    "KKT points, dashed, are exact and found from small initialisation. Unstated in the paper and chosen by us: full "
    "batches, mean loss, torch's initialisation, no output bias, 20,000 test points, the list of dimensions."
)


def left(rows: Sequence[Row]) -> tuple[Panel, ...]:
    """The curves of the left panel."""
    return (curves(rows, f"Clean test error, m = {rows[0]['samples']} samples"),)


LEFT = Figure(
    id="KYS23/Fig1L",
    title="clean test error against the noise in different dimensions, m = 500",
    claim=CLAIM,
    cell=noise_run,
    panels=left,
    judge=tempered_to_benign,
    sizes={
        "smoke": Grid(
            cells=product(
                dimension=(5, 400),
                noise=(0.1, 0.3, 0.5),
                samples=(20,),
                width=(60,),
                time=(400.0,),
                test_points=(2000,),
                **BRIEF,
            ),
            seeds=1,
        ),
        "laptop": Grid(
            cells=product(
                method=("recipe",),
                dimension=(10, 40, 160, 640, 2560),
                noise=(0.1, 0.2, 0.3, 0.4, 0.5),
                samples=(100,),
                width=(200,),
                test_points=(10_000,),
                **BRIEF,
            )
            + product(
                method=("KKT point",),
                dimension=(160, 640, 2560),
                noise=(0.1, 0.2, 0.3, 0.4, 0.5),
                samples=(100,),
                width=(200,),
                test_points=(10_000,),
                **BRIEF,
            ),
            seeds=3,
        ),
        "paper": Grid(
            cells=product(method=("recipe", "KKT point"), dimension=DIMENSIONS, noise=NOISES, samples=(500,)), seeds=10
        ),
    },
    hours=hours,
    deviations=DEVIATIONS,
)

RIGHT = Figure(
    id="KYS23/Fig1R",
    title="clean test error against the noise in different dimensions, m = 2000",
    claim=CLAIM,
    cell=noise_run,
    panels=left,
    judge=tempered_to_benign,
    sizes={
        "smoke": Grid(
            cells=product(
                dimension=(5, 800),
                noise=(0.1, 0.3, 0.5),
                samples=(40,),
                width=(100,),
                time=(400.0,),
                test_points=(1000,),
                **BRIEF,
            ),
            seeds=1,
        ),
        "laptop": Grid(
            cells=product(
                dimension=(20, 100, 400, 2000),
                noise=(0.1, 0.2, 0.3, 0.4, 0.5),
                samples=(200,),
                width=(500,),
                test_points=(10_000,),
                **BRIEF,
            ),
            seeds=2,
        ),
        "paper": Grid(
            cells=product(method=("recipe", "KKT point"), dimension=DIMENSIONS, noise=NOISES, samples=(2000,)), seeds=10
        ),
    },
    hours=hours,
    deviations=DEVIATIONS,
)
