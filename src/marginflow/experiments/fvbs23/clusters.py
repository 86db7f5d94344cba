"""Ours: test error and flip of four classifiers against the number of clusters."""

from marginflow.experiments.fvbs23.double_edge import against, figure, grid

FIGURE = figure(
    id="FVBS23/Clusters.ours",
    title="test error and flip of four classifiers against the number of clusters",
    claim=(
        "KKT networks generalise, but a multiple of z of size about √(d/k) flips them, while a robust network exists."
    ),
    panels=against("clusters", "Clusters k"),
    sizes={
        "smoke": grid(clusters=(4, 9, 16), dimension=(120,), test_points=(100,)),
        "laptop": grid(clusters=(2, 4, 8, 16, 32), dimension=(1000,), seeds=5),
        "paper": grid(clusters=(2, 4, 8, 16, 32, 64, 128), dimension=(20_000,), seeds=10),
    },
)
