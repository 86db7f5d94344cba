"""[KYS23, Figure 1, right]: clean test error against the noise in different dimensions, m = 2000."""

from marginflow.experiments.kys23.figure_1 import half

FIGURE = half(
    "KYS23/Fig1R",
    2000,
    smoke={"dimension": (5, 800), "samples": (40,), "width": (100,), "test_points": (1000,)},
    laptop={"samples": (200,), "width": (500,)},
    dimensions=(20, 100, 400, 2000),
)
