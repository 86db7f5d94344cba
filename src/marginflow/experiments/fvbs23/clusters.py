"""Ours: test error and flip of four classifiers against the number of clusters."""

from marginflow.experiments.frame import Figure, Grid
from marginflow.experiments.fvbs23.classifiers import CLASSIFIERS, cluster_run
from marginflow.experiments.fvbs23.double_edge import DEVIATIONS, against, judge

FIGURE = Figure(
    id="FVBS23/Clusters.ours",
    title="test error and flip of four classifiers against the number of clusters",
    claim=(
        "KKT networks generalise, but a multiple of z of size about √(d/k) flips them, while a robust network exists."
    ),
    cell=cluster_run,
    panels=against("clusters", "Clusters k"),
    judge=judge,
    sizes={
        "smoke": Grid.product(classifier=CLASSIFIERS, clusters=(4, 9, 16), dimension=(120,), test_points=(100,)),
        "laptop": Grid.product(classifier=CLASSIFIERS, clusters=(2, 4, 8, 16, 32), dimension=(1000,), seeds=5),
        "paper": Grid.product(
            classifier=CLASSIFIERS, clusters=(2, 4, 8, 16, 32, 64, 128), dimension=(20_000,), seeds=10
        ),
    },
    deviations=DEVIATIONS,
)
