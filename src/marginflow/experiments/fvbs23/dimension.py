"""Ours: test error and flip of four classifiers against the dimension."""

from marginflow.experiments.frame import Figure, Grid
from marginflow.experiments.fvbs23.classifiers import CLASSIFIERS, cluster_run
from marginflow.experiments.fvbs23.double_edge import DEVIATIONS, against, judge

FIGURE = Figure(
    id="FVBS23/Dimension.ours",
    title="test error and flip of four classifiers against the dimension",
    claim=(
        "In every dimension KKT networks generalise and flip at about √(d/k), while a robust network flips at a "
        "multiple."
    ),
    cell=cluster_run,
    panels=against("dimension", "Dimension d"),
    judge=judge,
    sizes={
        "smoke": Grid.product(classifier=CLASSIFIERS, dimension=(60, 120), clusters=(10,), test_points=(100,)),
        "laptop": Grid.product(classifier=CLASSIFIERS, dimension=(50, 100, 200, 400, 800, 1600), seeds=5),
        "paper": Grid.product(
            classifier=CLASSIFIERS, dimension=(100, 400, 1600, 6400, 25_600), clusters=(20,), seeds=10
        ),
    },
    deviations=DEVIATIONS,
)
