"""The setting of [KYS23, section 5], and how the smaller sizes differ from it."""

from collections.abc import Sequence
from functools import partial

from marginflow.experiments.frame import Figure, Grid, product
from marginflow.experiments.kys23.sphere import noise_run

NOISES = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
# The list of dimensions is only in the legend of the published picture, not in the text; these are ours.
DIMENSIONS = (50, 250, 500, 1000, 2000, 10_000)
DEVIATIONS = (
    "Smoke and laptop have fewer samples and neurons and exactly round(pm) wrong labels; they, and Figures 1 and 2 "
    "left at their published sizes, have steps of rate 1 for the same flow time 2000, which changes the error of two "
    "layers by less than 0.001 (0.1415 against 0.1416 at m = 100, d = 300, p = 0.3). Unstated in the paper and chosen "
    "by us: full batches, mean loss, torch's initialisation, no output bias, 20,000 test points, the list of "
    "dimensions."
)
DEVIATIONS_WITH_KKT = DEVIATIONS + " KKT points are ours: exact, found from small initialisation."

# A figure of the runs of this section.
figure = partial(Figure, cell=noise_run)


def published(*, seeds: int, **axes: Sequence[object]) -> Grid:
    """The grid of a published size: the recipe with ten times fewer, larger steps, then KKT points."""
    cells = product(method=("recipe",), rate=(1.0,), **axes) + product(method=("KKT point",), **axes)
    return Grid(cells=cells, seeds=seeds)


def brief(*, seeds: int = 1, **axes: Sequence[object]) -> Grid:
    """The grid of a smaller size: ten times fewer, larger steps, exact counts of wrong labels, fewer test points."""
    common: dict[str, Sequence[object]] = {"rate": (1.0,), "count": ("exact",), "test_points": (10_000,)}
    return Grid.product(seeds=seeds, **common | axes)
