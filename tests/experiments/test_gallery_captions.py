"""The captions of the gallery's published sizes: every number in them is computed again from the rows beside them."""

from __future__ import annotations

import collections
import functools
import itertools
import statistics
from collections.abc import Callable, Sequence

import pytest
from gallery_rows import (
    EXACT,
    GRIDS,
    Captions,
    column,
    listed,
    on_the_same_draws,
    page,
    rows,
    run_of_the_grid,
    stretches,
)

from marginflow import experiments
from marginflow.experiments.outcome import Mean
from marginflow.experiments.vys22.figure_1a import MUCH_SMALLER

WIDTHS = (100, 200, 500, 1000, 2000, 4000, 8000)
SENTENCES = Captions(functools.partial(run_of_the_grid, name) for name in GRIDS)


@SENTENCES.add
def flips_at_the_largest_dimension() -> str:
    parts = []
    for alpha in (0.5, 0.8, 1.0):
        flips = column("VYS22-Fig1a", "flip_over_radius", alpha=alpha, dimension=1000, **EXACT)
        assert len(flips) == 5
        parts.append(f"{statistics.mean(flips):.3f} ± {statistics.stdev(flips):.3f}")
    return f"as the paper has it, is {listed(parts)} √d for α = 0.5, 0.8 and 1"


def flips_as_the_paper_has_them(alpha: float) -> str:
    """A line of the table: mean ± standard deviation over five seeds, with the interval of the mean."""
    cells = []
    for dimension in (100, 400, 700, 1000):
        flips = column("VYS22-Fig1a", "flip_over_radius", alpha=alpha, dimension=dimension, **EXACT)
        mean = Mean.of(flips)
        assert mean.count == 5
        cells.append(f"{mean.value:.3f} ± {mean.deviation:.3f} [{mean.low:.3f}, {mean.high:.3f}]")
    return f"| {alpha:g} | {' | '.join(cells)} |"


SENTENCES += [functools.partial(flips_as_the_paper_has_them, alpha) for alpha in (0.5, 0.8, 1.0, 1.2)]


@SENTENCES.add
def flips_of_more_samples_than_dimensions() -> str:
    dimensions = sorted({int(d) for d in column("VYS22-Fig1a", "dimension", alpha=1.2, **EXACT)})
    flips = [column("VYS22-Fig1a", "flip_over_radius", alpha=1.2, dimension=d, **EXACT) for d in dimensions]
    means = listed([f"{statistics.mean(entries):.2f}" for entries in flips])
    (count,) = {len(entries) for entries in flips}
    return f"For α = 1.2 it is {means} √d at d = {dimensions[0]}, ..., {dimensions[-1]} ({count} draws each)"


@SENTENCES.add
def largest_flip() -> str:
    flips = column("VYS22-Fig1a", "flip_over_radius", alpha=1.5, dimension=100, **EXACT)
    assert max(flips) == max(column("VYS22-Fig1a", "flip_over_radius"))
    return (
        f"for α = 1.5 at d = 100 it is {statistics.mean(flips):.2f} ± {statistics.stdev(flips):.2f} √d over "
        f"{len(flips)} draws, one of which has the largest flip of all, {max(flips):.2f} √d"
    )


@SENTENCES.add
def interval_of_the_largest_mean() -> str:
    flips = column("VYS22-Fig1a", "flip_over_radius", alpha=1.5, dimension=100, **EXACT)
    mean = Mean.of(flips)
    assert mean.low < MUCH_SMALLER < mean.high
    return f"the 95 % interval of its mean, {mean.low:.2f} to {mean.high:.2f}, contains our line of {MUCH_SMALLER:g} √d"


@SENTENCES.add
def most_samples_in_a_larger_dimension() -> str:
    mean = Mean.of(column("VYS22-Fig1a", "flip_over_radius", alpha=1.5, dimension=200, **EXACT))
    assert mean.high < MUCH_SMALLER
    largest = column("VYS22-Fig1a", "flip_over_radius", alpha=1.5, dimension=300, **EXACT)
    assert len(largest) == 2
    return (
        f"at d = 200 it is {mean.value:.2f} ± {mean.deviation:.2f} √d over {mean.count} draws, and the interval of its "
        f"mean, {mean.low:.2f} to {mean.high:.2f}, is below that line; two draws at d = 300 have "
        f"{listed([f'{flip:.2f}' for flip in largest])} √d"
    )


@SENTENCES.add
def seeds_of_more_samples_than_dimensions() -> str:
    grid = [(alpha, d) for alpha in (0.5, 0.8, 1.0, 1.2) for d in range(100, 1001, 100)]
    (count,) = {
        len(column("VYS22-Fig1a", "seed", alpha=alpha, dimension=d, **EXACT))
        for alpha, d in [*grid, (1.5, 100), (1.5, 200)]
    }
    most = column("VYS22-Fig1a", "samples", alpha=1.5, dimension=300, **EXACT)
    assert set(most) == {5196}
    few = f"d = 100 and 200, {count} seeds, 300, {len(most)} seeds"
    return f"α = 0.5, 0.8, 1 and 1.2: all d, {count} seeds; α = 1.5: {few}"


@SENTENCES.add
def whole_grid_of_samples() -> str:
    for alpha, d in itertools.product((0.5, 0.8, 1.0, 1.2), range(100, 1001, 100)):
        mean = Mean.of(column("VYS22-Fig1a", "flip_over_radius", alpha=alpha, dimension=d, **EXACT))
        assert mean.count == 5
        assert mean.high < MUCH_SMALLER
    return "the claim holds for α = 0.5, 0.8, 1 and 1.2 on the whole grid, five draws each"


@SENTENCES.add
def recipe_against_kkt_points() -> str:
    later = []
    for alpha in (0.5, 0.8):
        trained, limits = on_the_same_draws("VYS22-Fig1a", "flip", alpha=alpha, dimension=1000)
        draws = len(column("VYS22-Fig1a", "flip", method="recipe", alpha=alpha, dimension=1000))
        later.append(f"{100 * (trained / limits - 1):.0f} % for α = {alpha:g} ({draws} draws)")
    return f"at d = 1000 by {later[0]} and by {later[1]}"


@SENTENCES.add
def recipe_against_kkt_points_for_as_many_samples_as_dimensions_or_more() -> str:
    parts = []
    for alpha in (1.0, 1.2, 1.5):
        if dimensions := _dimensions_of_the_recipe(alpha):
            sides = [on_the_same_draws("VYS22-Fig1a", "flip", alpha=alpha, dimension=d) for d in dimensions]
            changes = sorted({f"{100 * (trained / limits - 1):+.0f}" for trained, limits in sides}, key=float)
            between = changes[0] if len(changes) == 1 else f"{changes[0]} to {changes[-1]}"
            parts.append(f"by {between} % for α = {alpha:g} (d = {stretches(dimensions)})")
    return f"the means differ {listed(parts)}".replace("-", "−")


@SENTENCES.add
def seeds_of_the_recipe() -> str:
    told = {alpha: _seeds_of_the_recipe("VYS22-Fig1a", alpha=alpha) for alpha in (0.5, 0.8, 1.0, 1.2, 1.5)}
    parts = [f"α = {alpha:g}: {seeds}" for alpha, seeds in told.items() if seeds]
    return f"Recipe to 1e-30, seeds: {'; '.join(parts)}."


@SENTENCES.add
def seeds_of_the_recipe_by_width() -> str:
    told = {width: _seeds_of_the_recipe("VYS22-Fig1b", width=width) for width in WIDTHS}
    return f"Recipe, seeds: {'; '.join(f'width {width}: {seeds}' for width, seeds in told.items() if seeds)}."


def _seeds_of_the_recipe(name: str, **conditions: object) -> str:
    """How many seeds there are at which dimensions."""
    by_count: dict[int, list[int]] = {}
    for d, count in sorted(collections.Counter(column(name, "dimension", method="recipe", **conditions)).items()):
        by_count.setdefault(count, []).append(int(d))
    return ", ".join(f"{count} at d = {stretches(dimensions)}" for count, dimensions in by_count.items())


def _dimensions_of_the_recipe(alpha: float) -> list[int]:
    return sorted({int(d) for d in column("VYS22-Fig1a", "dimension", method="recipe", alpha=alpha)})


@SENTENCES.add
def residuals_of_the_recipe() -> str:
    residuals = column("VYS22-Fig1a", "residual", method="recipe")
    return f"relative residuals are {min(residuals):.2f} to {max(residuals):.2f} at a loss of 1e-30"


@SENTENCES.add
def whole_grid_of_widths() -> str:
    counts = {
        len(column("VYS22-Fig1b", "seed", width=width, dimension=d, **EXACT))
        for width, d in itertools.product(WIDTHS, range(100, 1001, 100))
    }
    assert counts == {5}
    return "KKT points: the whole grid, five seeds everywhere."


@SENTENCES.add
def widths() -> str:
    spreads = [_spread("KKT point", d) for d in range(100, 1001, 100)]
    return f"the widths differ by {100 * min(spreads):.0f} to {100 * max(spreads):.0f} % of their mean"


@SENTENCES.add
def largest_residual() -> str:
    largest = max(value for name in ("VYS22-Fig1a", "VYS22-Fig1b") for value in column(name, "residual", **EXACT))
    return f"of this figure and the next the largest relative residual is {largest:.1e}"


@SENTENCES.add
def where_widths_differ_most() -> str:
    spread, dimension = max((_spread("KKT point", d), d) for d in range(100, 1001, 100))
    assert spread == _spread("KKT point", dimension, draws=5) < 0.25
    return f"the largest difference is {100 * spread:.0f} % (d = {dimension})"


@SENTENCES.add
def between_seeds() -> str:
    shares = []
    for width, d in itertools.product(WIDTHS, range(100, 1001, 100)):
        flips = column("VYS22-Fig1b", "flip", width=width, dimension=d, **EXACT)
        shares.append(100 * statistics.stdev(flips) / statistics.mean(flips))
    middle = statistics.median(shares)
    return f"between seeds is {min(shares):.0f} to {max(shares):.0f} % of a mean, {middle:.0f} % in the median"


@SENTENCES.add
def widths_of_the_recipe() -> str:
    spreads = [_spread("recipe", d) for d in range(100, 401, 100)]
    return f"of width 100 to 1000 differ by {100 * min(spreads):.0f} to {100 * max(spreads):.0f} %"


def _spread(method: str, dimension: int, draws: int = 1) -> float:
    means = []
    for width in WIDTHS:
        flips = column("VYS22-Fig1b", "flip", method=method, dimension=dimension, width=width)
        if len(flips) >= draws:
            means.append(statistics.mean(flips))
    return (max(means) - min(means)) / statistics.mean(means)


@SENTENCES.add
def shares_at_kkt_points() -> str:
    shares = _least_shares("KKT point", (0.8, 1.0, 1.2, 1.5))
    return f"the least *mean* share over the seeds is {shares} at KKT points for α = 0.8, 1, 1.2 and 1.5"


@SENTENCES.add
def shares_of_the_recipe() -> str:
    alphas = [alpha for alpha in (0.8, 1.0, 1.2, 1.5) if _dimensions_of_the_recipe(alpha)]
    words = listed([f"{alpha:g}" for alpha in alphas])
    return f"and {_least_shares('recipe', alphas)} in the recipe's networks (α = {words}, where it was run)"


def _least_shares(method: str, alphas: Sequence[float]) -> str:
    least = []
    for alpha in alphas:
        dimensions = set(column("VYS22-Fig1a", "dimension", method=method, alpha=alpha))
        means = [
            statistics.mean(column("VYS22-Fig1a", "on_margin", method=method, alpha=alpha, dimension=d))
            for d in dimensions
        ]
        least.append(f"{100 * min(means):.1f} %")
    return listed(least)


@SENTENCES.add
def every_sample_on_the_margin_for_few_samples() -> str:
    exact = column("VYS22-Fig1a", "on_margin", alpha=0.5, **EXACT)
    trained = column("VYS22-Fig1a", "on_margin", alpha=0.5, method="recipe")
    assert min(exact + trained) == 1.0
    return f"at all {len(exact)} exact KKT points and in all {len(trained)} networks of the recipe"


@SENTENCES.add
def lowest_share_of_one_draw() -> str:
    lowest = min(rows("VYS22-Fig1a"), key=lambda row: float(row["on_margin"]))
    return (
        f"Single draws go lower: {100 * float(lowest['on_margin']):.0f} % for α = {float(lowest['alpha']):g} at "
        f"d = {lowest['dimension']}"
    )


@SENTENCES.add
def shares_side_by_side() -> str:
    gaps = []
    for row in {(row["alpha"], row["dimension"]) for row in rows("VYS22-Fig1a") if row["method"] == "recipe"}:
        cell: dict[str, object] = {"alpha": float(row[0]), "dimension": float(row[1])}
        trained, limits = on_the_same_draws("VYS22-Fig1a", "on_margin", **cell)
        gaps.append(100 * abs(trained - limits))
    return f"the two differ by at most {max(gaps):.1f} percentage points of the mean"


@pytest.mark.parametrize("make", SENTENCES, ids=range(len(SENTENCES)))
def test_a_caption_says_what_the_rows_say(make: Callable[[], str]) -> None:
    assert make() in page()


@pytest.mark.parametrize("name", GRIDS)
def test_the_published_grid_has_as_many_cells_as_the_page_says(name: str) -> None:
    grid = experiments.figure(name.replace("-", "/")).grid("paper")
    assert len(grid.cells) * grid.seeds == 2 * GRIDS[name]


@pytest.mark.parametrize("name", ["VYS22-Fig1a", "VYS22-Fig1b"])
def test_every_kkt_point_of_the_published_sizes_is_exact(name: str) -> None:
    assert max(column(name, "residual", method="KKT point")) < 2e-13
    assert {row["exact"] for row in rows(name) if row["method"] == "KKT point"} == {"True"}
