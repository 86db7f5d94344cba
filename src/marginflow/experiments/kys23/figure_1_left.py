"""[KYS23, Figure 1, left]: clean test error against the noise in different dimensions, m = 500."""

from marginflow.experiments.kys23.figure_1 import half

FIGURE = half(
    "KYS23/Fig1L",
    500,
    smoke={"dimension": (5, 400), "samples": (20,), "width": (60,), "test_points": (2000,)},
    laptop={"samples": (100,), "width": (200,)},
    dimensions=(10, 40, 160, 640, 2560),
)
