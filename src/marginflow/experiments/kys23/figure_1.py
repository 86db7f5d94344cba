"""[KYS23, Figure 1]: clean test error against the noise in different dimensions; what its two halves share."""

from collections.abc import Sequence

from marginflow.experiments.frame import Figure, Grid
from marginflow.experiments.kys23.profile import CLAIM, by_dimension, tempered_to_benign
from marginflow.experiments.kys23.setting import DEVIATIONS_WITH_KKT, DIMENSIONS, NOISES, brief, figure, published


def half(
    id: str,
    m: int,
    *,
    smoke: dict[str, Sequence[object]],
    laptop: dict[str, Sequence[object]],
    dimensions: Sequence[int],
) -> Figure:
    """The half with m samples; on a laptop the recipe has all of the dimensions, KKT points the last three."""
    common: dict[str, Sequence[object]] = {"noise": (0.1, 0.2, 0.3, 0.4, 0.5), **laptop}
    recipe = brief(method=("recipe",), dimension=dimensions, **common, seeds=3)
    exact = brief(method=("KKT point",), dimension=dimensions[-3:], **common, seeds=3)
    return figure(
        id=id,
        title=f"clean test error against the noise in different dimensions, m = {m}",
        claim=CLAIM,
        panels=by_dimension,
        judge=tempered_to_benign,
        sizes={
            "smoke": brief(**smoke, noise=(0.1, 0.3, 0.5), time=(400.0,), seeds=1),
            "laptop": Grid(cells=recipe.cells + exact.cells, seeds=3),
            "paper": published(dimension=DIMENSIONS, noise=NOISES, samples=(m,), seeds=10),
        },
        deviations=DEVIATIONS_WITH_KKT,
    )
