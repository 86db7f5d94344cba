"""[KYS23, Figure 1, right]: clean test error against the noise in different dimensions, m = 2000."""

from __future__ import annotations

from marginflow.experiments.frame import Figure, Grid, product
from marginflow.experiments.kys23.profile import CLAIM, by_dimension, tempered_to_benign
from marginflow.experiments.kys23.setting import DEVIATIONS_WITH_KKT, DIMENSIONS, NOISES, brief
from marginflow.experiments.kys23.sphere import noise_run

LAPTOP = {"noise": (0.1, 0.2, 0.3, 0.4, 0.5), "samples": (200,), "width": (500,)}

FIGURE = Figure(
    id="KYS23/Fig1R",
    title="clean test error against the noise in different dimensions, m = 2000",
    claim=CLAIM,
    cell=noise_run,
    panels=by_dimension,
    judge=tempered_to_benign,
    sizes={
        "smoke": Grid(
            cells=brief(
                dimension=(5, 800),
                noise=(0.1, 0.3, 0.5),
                samples=(40,),
                width=(100,),
                time=(400.0,),
                test_points=(1000,),
            )
        ),
        "laptop": Grid(
            cells=brief(method=("recipe",), dimension=(20, 100, 400, 2000), **LAPTOP)
            + brief(method=("KKT point",), dimension=(100, 400, 2000), **LAPTOP),
            seeds=3,
        ),
        "paper": Grid(
            cells=product(method=("recipe", "KKT point"), dimension=DIMENSIONS, noise=NOISES, samples=(2000,)), seeds=10
        ),
    },
    deviations=DEVIATIONS_WITH_KKT,
)
