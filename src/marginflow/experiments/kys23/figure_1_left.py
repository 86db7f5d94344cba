"""[KYS23, Figure 1, left]: clean test error against the noise in different dimensions, m = 500."""

from __future__ import annotations

from marginflow.experiments.frame import Figure, Grid, product
from marginflow.experiments.kys23.profile import CLAIM, by_dimension, tempered_to_benign
from marginflow.experiments.kys23.setting import DEVIATIONS_WITH_KKT, DIMENSIONS, NOISES, brief
from marginflow.experiments.kys23.sphere import noise_run

LAPTOP = {"noise": (0.1, 0.2, 0.3, 0.4, 0.5), "samples": (100,), "width": (200,)}

FIGURE = Figure(
    id="KYS23/Fig1L",
    title="clean test error against the noise in different dimensions, m = 500",
    claim=CLAIM,
    cell=noise_run,
    panels=by_dimension,
    judge=tempered_to_benign,
    sizes={
        "smoke": Grid(
            cells=brief(
                dimension=(5, 400),
                noise=(0.1, 0.3, 0.5),
                samples=(20,),
                width=(60,),
                time=(400.0,),
                test_points=(2000,),
            )
        ),
        "laptop": Grid(
            cells=brief(method=("recipe",), dimension=(10, 40, 160, 640, 2560), **LAPTOP)
            + brief(method=("KKT point",), dimension=(160, 640, 2560), **LAPTOP),
            seeds=3,
        ),
        "paper": Grid(
            cells=product(method=("recipe",), rate=(1.0,), dimension=DIMENSIONS, noise=NOISES, samples=(500,))
            + product(method=("KKT point",), dimension=DIMENSIONS, noise=NOISES, samples=(500,)),
            seeds=10,
        ),
    },
    deviations=DEVIATIONS_WITH_KKT,
)
