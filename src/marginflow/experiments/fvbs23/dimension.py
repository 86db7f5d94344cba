"""Ours: test error and flip of four classifiers against the dimension."""

from marginflow.experiments.fvbs23.double_edge import against, figure, grid

FIGURE = figure(
    id="FVBS23/Dimension.ours",
    title="test error and flip of four classifiers against the dimension",
    claim=(
        "In every dimension KKT networks generalise and flip at about √(d/k), while a robust network flips at a "
        "multiple."
    ),
    panels=against("dimension", "Dimension d"),
    sizes={
        "smoke": grid(dimension=(60, 120), clusters=(10,), test_points=(100,)),
        "laptop": grid(dimension=(50, 100, 200, 400, 800, 1600), seeds=5),
        "paper": grid(dimension=(100, 400, 1600, 6400, 25_600), clusters=(20,), seeds=10),
    },
)
