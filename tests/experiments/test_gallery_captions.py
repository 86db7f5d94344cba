"""The captions of the gallery's published sizes: every number in them is computed again from the rows beside them."""

from __future__ import annotations

import csv
import functools
import itertools
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from marginflow import experiments
from marginflow.experiments.outcome import Mean
from marginflow.experiments.vys22.figure_1a import MUCH_SMALLER

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
Row = dict[str, str]
SENTENCES: list[Callable[[], str]] = []


def sentence(make: Callable[[], str]) -> Callable[[], str]:
    SENTENCES.append(make)
    return make


@functools.cache
def rows(name: str) -> list[Row]:
    with (GALLERY / f"{name}-paper.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def column(name: str, wanted: str, **conditions: object) -> list[float]:
    """A column of the rows with these parameters."""
    return [float(row[wanted]) for row in rows(name) if _fits(row, conditions)]


def _fits(row: Row, conditions: dict[str, object]) -> bool:
    return all(
        row[key] == value if isinstance(value, str) else float(row[key]) == float(str(value))
        for key, value in conditions.items()
    )


def on_the_same_draws(name: str, wanted: str, **conditions: object) -> tuple[float, float]:
    """Means of a column for the recipe and for the KKT points of the same data."""
    pairs = []
    for row in rows(name):
        if row["method"] == "recipe" and _fits(row, conditions):
            same = column(name, wanted, method="KKT point", seed=float(row["seed"]), **conditions)
            pairs += [(float(row[wanted]), value) for value in same]
    trained, limits = zip(*pairs, strict=True)
    return statistics.mean(trained), statistics.mean(limits)


def _count(n: int) -> str:
    return f"{n:,}" if n >= 10_000 else f"{n}"


def listed(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}"


EXACT: dict[str, object] = {"method": "KKT point"}


GRIDS = {"VYS22-Fig1a": 250, "VYS22-Fig1b": 350, "KYS23-Fig1L": 600, "KYS23-Fig1R": 600, "KYS23-Fig2L": 600}


def run_of_the_grid(name: str) -> str:
    exact, trained = (len(column(name, "seed", method=method)) for method in ("KKT point", "recipe"))
    return f"**{exact} of {GRIDS[name]} KKT points, {trained} of {GRIDS[name]} networks of the recipe.**"


SENTENCES += [functools.partial(run_of_the_grid, name) for name in GRIDS]


@sentence
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


SENTENCES += [functools.partial(flips_as_the_paper_has_them, alpha) for alpha in (0.5, 0.8, 1.0)]


@sentence
def flips_of_more_samples_than_dimensions() -> str:
    dimensions = sorted({int(d) for d in column("VYS22-Fig1a", "dimension", alpha=1.2, **EXACT)})
    flips = [column("VYS22-Fig1a", "flip_over_radius", alpha=1.2, dimension=d, **EXACT) for d in dimensions]
    means = listed([f"{statistics.mean(entries):.2f}" for entries in flips])
    counts = listed([f"{len(entries)}" for entries in flips])
    return f"For α = 1.2 it is {means} √d at d = {dimensions[0]}, ..., {dimensions[-1]} ({counts} draws)"


@sentence
def largest_flip() -> str:
    flips = column("VYS22-Fig1a", "flip_over_radius", alpha=1.5, dimension=100, **EXACT)
    assert max(flips) == max(column("VYS22-Fig1a", "flip_over_radius"))
    return (
        f"for α = 1.5 at d = 100 it is {statistics.mean(flips):.2f} ± {statistics.stdev(flips):.2f} √d over "
        f"{len(flips)} draws, one of which has the largest flip of all, {max(flips):.2f} √d"
    )


@sentence
def interval_of_the_largest_mean() -> str:
    flips = column("VYS22-Fig1a", "flip_over_radius", alpha=1.5, dimension=100, **EXACT)
    mean = Mean.of(flips)
    assert mean.low < MUCH_SMALLER < mean.high
    return f"the 95 % interval of its mean, {mean.low:.2f} to {mean.high:.2f}, contains our line of {MUCH_SMALLER:g} √d"


@sentence
def most_samples_in_a_larger_dimension() -> str:
    mean = Mean.of(column("VYS22-Fig1a", "flip_over_radius", alpha=1.5, dimension=200, **EXACT))
    assert mean.high < MUCH_SMALLER
    return (
        f"at d = 200 it is {mean.value:.2f} ± {mean.deviation:.2f} √d over {mean.count} draws, and the interval of its "
        f"mean, {mean.low:.2f} to {mean.high:.2f}, is below that line"
    )


@sentence
def seeds_of_more_samples_than_dimensions() -> str:
    counts = {
        alpha: [
            len(column("VYS22-Fig1a", "seed", alpha=alpha, dimension=d, **EXACT))
            for d in range(100, 1001 if alpha == 1.2 else 201, 100)
        ]
        for alpha in (1.2, 1.5)
    }
    few, many = (listed([f"{count}" for count in found]) for found in counts.values())
    return f"α = 1.2: all d, {few} seeds; α = 1.5: d = 100 and 200, {many} seeds"


@sentence
def where_one_draw_is_all() -> str:
    single = [
        d for d in range(100, 1001, 100) if len(column("VYS22-Fig1a", "seed", alpha=1.2, dimension=d, **EXACT)) == 1
    ]
    assert single == list(range(single[0], 1001, 100))
    return f"there with one draw from d = {single[0]} on"


@sentence
def recipe_against_kkt_points() -> str:
    later = []
    for alpha in (0.5, 0.8):
        trained, limits = on_the_same_draws("VYS22-Fig1a", "flip", alpha=alpha, dimension=1000)
        draws = len(column("VYS22-Fig1a", "flip", method="recipe", alpha=alpha, dimension=1000))
        later.append(f"{100 * (trained / limits - 1):.0f} % for α = {alpha:g} ({draws} draws)")
    return f"at d = 1000 by {later[0]} and by {later[1]}"


@sentence
def recipe_against_kkt_points_for_as_many_samples_as_dimensions() -> str:
    changes = []
    for d in range(100, 701, 100):
        trained, limits = on_the_same_draws("VYS22-Fig1a", "flip", alpha=1.0, dimension=d)
        changes.append(100 * (trained / limits - 1))
    return f"for α = 1 (d = 100, ..., 700) the means differ by {min(changes):.0f} to +{max(changes):.0f} %".replace(
        "-", "−"
    )


@sentence
def residuals_of_the_recipe() -> str:
    residuals = column("VYS22-Fig1a", "residual", method="recipe")
    return f"relative residuals are {min(residuals):.2f} to {max(residuals):.2f} at a loss of 1e-30"


@sentence
def seeds_of_the_widths() -> str:
    """How many seeds each width has up to which dimension."""
    said = []
    for width in (100, 200, 500, 1000, 2000, 4000, 8000):
        counts = {
            d: len(column("VYS22-Fig1b", "seed", width=width, dimension=d, **EXACT)) for d in range(100, 1001, 100)
        }
        runs = [(count, max(d for d, _ in same)) for count, same in itertools.groupby(counts.items(), lambda e: e[1])]
        parts = [f"{count or 'none'} to d = {last}" if last < 1000 else f"{count or 'none'}" for count, last in runs]
        said.append(f"width {width}: {', then '.join(parts)}")
    return f"Seeds of the KKT points: {'; '.join(said)}."


@sentence
def widths() -> str:
    spreads = [_spread("KKT point", d) for d in range(100, 1001, 100)]
    return f"the widths that we have differ by {100 * min(spreads):.0f} to {100 * max(spreads):.0f} % of their mean"


@sentence
def largest_residual() -> str:
    largest = max(value for name in ("VYS22-Fig1a", "VYS22-Fig1b") for value in column(name, "residual", **EXACT))
    return f"the largest relative residual of VYS22's is {largest:.1e}"


@sentence
def where_widths_differ_most() -> str:
    spread, dimension = max((_spread("KKT point", d), d) for d in range(100, 1001, 100))
    assert spread == _spread("KKT point", dimension, draws=2) < 0.25
    return f"the largest difference is {100 * spread:.0f} % (d = {dimension})"


@sentence
def widths_with_five_draws() -> str:
    spreads = [_spread("KKT point", d, draws=5, widest=1000) for d in range(100, 601, 100)]
    return f"with five seeds each (d ≤ 600) they differ by {100 * min(spreads):.0f} to {100 * max(spreads):.0f} %"


@sentence
def widths_of_the_recipe() -> str:
    spreads = [_spread("recipe", d) for d in range(100, 401, 100)]
    return f"of width 100 to 1000 they differ by {100 * min(spreads):.0f} to {100 * max(spreads):.0f} %"


def _spread(method: str, dimension: int, draws: int = 1, widest: int = 8000) -> float:
    means = []
    for width in (width for width in (100, 200, 500, 1000, 2000, 4000, 8000) if width <= widest):
        flips = column("VYS22-Fig1b", "flip", method=method, dimension=dimension, width=width)
        if len(flips) >= draws:
            means.append(statistics.mean(flips))
    return (max(means) - min(means)) / statistics.mean(means)


@sentence
def shares_at_kkt_points() -> str:
    return f"the least *mean* share over the seeds is {_least_shares('KKT point', (0.8, 1.0, 1.2, 1.5))} at KKT points"


@sentence
def shares_of_the_recipe() -> str:
    return f"and {_least_shares('recipe', (0.8, 1.0, 1.2))} in the recipe's networks"


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


@sentence
def every_sample_on_the_margin_for_few_samples() -> str:
    exact = column("VYS22-Fig1a", "on_margin", alpha=0.5, **EXACT)
    trained = column("VYS22-Fig1a", "on_margin", alpha=0.5, method="recipe")
    assert min(exact + trained) == 1.0
    return f"at all {len(exact)} exact KKT points and in all {len(trained)} networks of the recipe"


@sentence
def lowest_share_of_one_draw() -> str:
    lowest = min(rows("VYS22-Fig1a"), key=lambda row: float(row["on_margin"]))
    return (
        f"Single draws go lower: {100 * float(lowest['on_margin']):.0f} % for α = {float(lowest['alpha']):g} at "
        f"d = {lowest['dimension']}"
    )


NOISES = (0.1, 0.2, 0.3, 0.4, 0.5)


def _errors(dimension: int, digits: int = 2) -> str:
    means = [statistics.mean(column("KYS23-Fig1L", "error", dimension=dimension, noise=p, **EXACT)) for p in NOISES]
    return ", ".join(f"{mean:.{digits}f}" for mean in means)


@sentence
def draws_of_noisy_labels() -> str:
    counts = [
        len(column("KYS23-Fig1L", "seed", dimension=d, noise=p, **EXACT))
        for d in (50, 250, 500, 1000, 2000, 10_000)
        for p in (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
    ]
    return f"and all noise levels, between {min(counts)} and {max(counts)} seeds each"


@sentence
def small_dimension() -> str:
    return f"close to linear in p ({_errors(50)} at p = 0.1, ..., 0.5)"


@sentence
def hump() -> str:
    larger, shared = 0, 0
    for p, seed in itertools.product(NOISES[:-1], range(10)):  # draws that all three have
        cell: dict[str, object] = {"noise": p, "seed": seed, **EXACT}
        small, *others = (column("KYS23-Fig1L", "error", dimension=d, **cell) for d in (50, 250, 500))
        if small and all(others):
            shared += 1
            larger += all(small < errors for errors in others)
    assert larger > 0.9 * shared
    return (
        f"the *largest* errors ({_errors(250)} and {_errors(500)}), larger than at d = 50 in {larger} of the {shared} "
        "draws that all three have at p = 0.1, ..., 0.4"
    )


@sentence
def after_the_hump() -> str:
    return f"at d = 1000 they are back to {_errors(1000)}"


@sentence
def large_dimension() -> str:
    return f"For d = 10,000 the mean error is {_errors(10_000, 3)} at p = 0.1, ..., 0.5"


@sentence
def recipe_beside_the_limit() -> str:
    trained, limits = [], []
    for d in (50, 250, 500, 1000, 2000, 10_000):
        trained += [f"{column('KYS23-Fig1L', 'error', method='recipe', dimension=d, noise=0.3, seed=0)[0]:.3f}"]
        limits += [f"{column('KYS23-Fig1L', 'error', dimension=d, noise=0.3, seed=0, **EXACT)[0]:.3f}"]
    return (
        f"at p = 0.3 its error is {listed(trained)} for d = 50, 250, 500, 1000, 2000 and 10,000, where the KKT points "
        f"of the same draw have {listed(limits)}"
    )


def four_times_as_many_samples(dimension: int) -> str:
    """A line of the table: the error of one draw at each noise level that was run."""
    cells = []
    for p in NOISES:
        errors = column("KYS23-Fig1R", "error", dimension=dimension, noise=p, seed=0, **EXACT)
        cells.append(f"{errors[0]:.3f}" if errors else "not run")
    return f"| {_count(dimension)} | {' | '.join(cells)} |"


SENTENCES += [functools.partial(four_times_as_many_samples, d) for d in (250, 500, 1000, 2000, 10_000)]


@sentence
def hump_of_four_times_as_many_samples() -> str:
    cell: dict[str, object] = {"noise": 0.3, "seed": 0, **EXACT}
    errors = dict(zip(column("KYS23-Fig1R", "dimension", **cell), column("KYS23-Fig1R", "error", **cell), strict=True))
    assert max(errors.values()) == errors[2000]
    (beside,) = column("KYS23-Fig1L", "error", dimension=2000, **cell)
    return (
        f"At p = 0.3 the largest error is at d = m, {errors[2000]:.3f}, and at d = 10,000, five times m, it is "
        f"{errors[10_000]:.3f}, where the left half has {beside:.3f} at d = 2000, four times m"
    )


def _by_width(dimension: int, noise: float) -> list[float]:
    """The errors of 50 and of 3000 neurons on one draw, as far as they were run."""
    cell: dict[str, object] = {"dimension": dimension, "noise": noise, "seed": 0, **EXACT}
    return [error for width in (50, 3000) for error in column("KYS23-Fig2L", "error", width=width, **cell)]


@sentence
def narrow_and_wide() -> str:
    dimensions = (250, 2000, 10_000)
    noises = sorted({p for p in column("KYS23-Fig2L", "noise") if all(len(_by_width(d, p)) == 2 for d in dimensions)})
    for d in dimensions[1:]:
        assert all(len(set(_by_width(d, p))) == 1 for p in noises)
    few, many = (listed([f"{_by_width(250, p)[index]:.3f}" for p in noises]) for index in (0, 1))
    return (
        f"p = {listed([f'{p:g}' for p in noises])} (`KYS23-Fig2L-paper.csv`): in dimensions 2000 and 10,000 the error "
        "is the same number, since it is the same function; in dimension 250 it is "
        f"{few} with 50 neurons and {many} with 3000"
    )


@sentence
def shares_side_by_side() -> str:
    gaps = []
    for row in {(row["alpha"], row["dimension"]) for row in rows("VYS22-Fig1a") if row["method"] == "recipe"}:
        cell: dict[str, object] = {"alpha": float(row[0]), "dimension": float(row[1])}
        trained, limits = on_the_same_draws("VYS22-Fig1a", "on_margin", **cell)
        gaps.append(100 * abs(trained - limits))
    return f"the two differ by at most {max(gaps):.1f} percentage points of the mean"


def _differences(noise: float | None = None) -> dict[tuple[float, float], float]:
    """KKT point minus recipe by dimension and noise, on the same draws."""
    found = {}
    for row in rows("KYS23-Fig1L"):
        if row["method"] == "recipe" and noise in (None, float(row["noise"])):
            cell = (float(row["dimension"]), float(row["noise"]))
            trained, limits = on_the_same_draws("KYS23-Fig1L", "error", dimension=cell[0], noise=cell[1])
            found[cell] = limits - trained
    return found


@sentence
def recipe_and_limit_at_one_half() -> str:
    return f"at p = 0.5 they agree within {max(map(abs, _differences(0.5).values())):.3f}"


@sentence
def largest_difference_from_the_recipe() -> str:
    found = _differences()
    (d, p), most = max(found.items(), key=lambda entry: entry[1])
    return f"by up to {most:.3f} (same draw, d = {d:g}, p = {p:g})"


@sentence
def difference_by_width() -> str:
    few_and_many = [_by_width(250, p) for p in sorted(set(column("KYS23-Fig2L", "noise")))]
    return f"in dimension 250 within {max(abs(both[0] - both[1]) for both in few_and_many if len(both) == 2):.3f}"


@pytest.mark.parametrize("make", SENTENCES, ids=range(len(SENTENCES)))
def test_a_caption_says_what_the_rows_say(make: Callable[[], str]) -> None:
    text = " ".join((GALLERY / "README.md").read_text(encoding="utf-8").split())
    assert make() in text


@pytest.mark.parametrize("name", GRIDS)
def test_the_published_grid_has_as_many_cells_as_the_page_says(name: str) -> None:
    grid = experiments.figure(name.replace("-", "/")).grid("paper")
    assert len(grid.cells) * grid.seeds == 2 * GRIDS[name]


@pytest.mark.parametrize("name", ["VYS22-Fig1a", "VYS22-Fig1b"])
def test_every_kkt_point_of_the_published_sizes_is_exact(name: str) -> None:
    assert max(column(name, "residual", method="KKT point")) < 2e-13
    assert {row["exact"] for row in rows(name) if row["method"] == "KKT point"} == {"True"}


@pytest.mark.parametrize("name", ["KYS23-Fig1L", "KYS23-Fig1R", "KYS23-Fig2L"])
def test_every_kkt_point_with_noisy_labels_is_exact_and_interpolates(name: str) -> None:
    assert {(row["exact"], row["interpolates"]) for row in rows(name) if row["method"] == "KKT point"} == {
        ("True", "True")
    }
