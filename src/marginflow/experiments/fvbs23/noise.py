"""Ours: test error and flip of four classifiers against the noise within clusters."""

from marginflow.experiments.frame import Figure, Grid
from marginflow.experiments.fvbs23.classifiers import CLASSIFIERS, cluster_run
from marginflow.experiments.fvbs23.double_edge import DEVIATIONS, against, judge

FIGURE = Figure(
    id="FVBS23/Noise.ours",
    title="test error and flip of four classifiers against the noise within clusters",
    claim=(
        "For small noise KKT networks generalise and flip at about √(d/k), while a robust network flips at a multiple."
    ),
    cell=cluster_run,
    panels=against("sigma", "Noise σ per coordinate"),
    judge=judge,
    sizes={
        "smoke": Grid.product(
            classifier=CLASSIFIERS, sigma=(0.01, 0.1), dimension=(100,), clusters=(10,), test_points=(100,)
        ),
        "laptop": Grid.product(classifier=CLASSIFIERS, sigma=(0.01, 0.03, 0.1, 0.3, 1.0, 3.0), seeds=5),
        "paper": Grid.product(
            classifier=CLASSIFIERS,
            sigma=(0.001, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0),
            dimension=(5000,),
            clusters=(20,),
            seeds=10,
        ),
    },
    deviations=DEVIATIONS,
)
