"""Ours: test error and flip of four classifiers against the noise within clusters."""

from marginflow.experiments.fvbs23.double_edge import against, figure, grid

FIGURE = figure(
    id="FVBS23/Noise.ours",
    title="test error and flip of four classifiers against the noise within clusters",
    claim=(
        "For small noise KKT networks generalise and flip at about √(d/k), while a robust network flips at a multiple."
    ),
    panels=against("sigma", "Noise σ per coordinate"),
    sizes={
        "smoke": grid(sigma=(0.01, 0.1), dimension=(100,), clusters=(10,), test_points=(100,)),
        "laptop": grid(sigma=(0.01, 0.03, 0.1, 0.3, 1.0, 3.0), seeds=5),
        "paper": grid(sigma=(0.001, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0), dimension=(5000,), clusters=(20,), seeds=10),
    },
)
