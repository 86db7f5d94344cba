"""The captions of the gallery's published sizes with noisy labels, computed again from the rows beside them."""

from __future__ import annotations

import collections
import functools
import itertools
import statistics
from collections.abc import Callable

import pytest
from gallery_rows import EXACT, Captions, column, counted, listed, on_the_same_draws, page, rows

from marginflow.experiments.outcome import Mean

SENTENCES = Captions()


NOISES = (0.1, 0.2, 0.3, 0.4, 0.5)


def _errors(dimension: int, digits: int = 2) -> str:
    means = [statistics.mean(column("KYS23-Fig1L", "error", dimension=dimension, noise=p, **EXACT)) for p in NOISES]
    return ", ".join(f"{mean:.{digits}f}" for mean in means)


@SENTENCES.add
def draws_of_noisy_labels() -> str:
    counts = [
        len(column("KYS23-Fig1L", "seed", dimension=d, noise=p, **EXACT))
        for d in (50, 250, 500, 1000, 2000, 10_000)
        for p in (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
    ]
    assert set(counts) == {10}
    return "and all noise levels, ten seeds each"


@SENTENCES.add
def draws_of_the_recipe() -> str:
    cells = [(row["dimension"], row["noise"]) for row in rows("KYS23-Fig1L") if row["method"] == "recipe"]
    counts = collections.Counter(cells)
    assert len(counts) == 60  # ten noise levels in six dimensions
    few = min(counts.values())
    more = sum(count > few for count in counts.values())
    seeds = "one seed" if few == 1 else f"{few} seeds"
    return f"Recipe: every noise level and dimension with {seeds}{f', {more} of the 60 with more' if more else ''}."


@SENTENCES.add
def recipe_below_the_limit_on_average() -> str:
    dimensions = (50, 250, 500, 1000, 2000, 10_000)
    sides = [on_the_same_draws("KYS23-Fig1L", "error", dimension=d) for d in dimensions]
    gaps = listed([f"{limits - trained:.3f}" for trained, limits in sides])
    return (
        f"Over all noise levels its error is smaller than that of the KKT points of the same draws by {gaps} on average"
    )


@SENTENCES.add
def small_dimension() -> str:
    return f"close to linear in p ({_errors(50)} at p = 0.1, ..., 0.5)"


@SENTENCES.add
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


@SENTENCES.add
def after_the_hump() -> str:
    return f"at d = 1000 they are back to {_errors(1000)}"


@SENTENCES.add
def large_dimension() -> str:
    return f"For d = 10,000 the mean error is {_errors(10_000, 3)} at p = 0.1, ..., 0.5"


@SENTENCES.add
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
    return f"| {counted(dimension)} | {' | '.join(cells)} |"


SENTENCES += [functools.partial(four_times_as_many_samples, d) for d in (250, 500, 1000, 2000, 10_000)]


@SENTENCES.add
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


@SENTENCES.add
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


def _differences(noise: float | None = None) -> dict[tuple[float, float], float]:
    """KKT point minus recipe by dimension and noise, on the same draws."""
    found = {}
    for row in rows("KYS23-Fig1L"):
        if row["method"] == "recipe" and noise in (None, float(row["noise"])):
            cell = (float(row["dimension"]), float(row["noise"]))
            trained, limits = on_the_same_draws("KYS23-Fig1L", "error", dimension=cell[0], noise=cell[1])
            found[cell] = limits - trained
    return found


@SENTENCES.add
def recipe_and_limit_at_one_half() -> str:
    return f"at p = 0.5 means over the same draws agree within {max(map(abs, _differences(0.5).values())):.3f}"


@SENTENCES.add
def largest_difference_from_the_recipe() -> str:
    found = _differences()
    (d, p), most = max(found.items(), key=lambda entry: entry[1])
    return f"by up to {most:.3f} (same draws, d = {d:g}, p = {p:g})"


def _from_narrow_to_wide(**cell: object) -> Mean:
    """Change of the error from 50 to 3000 neurons on the same draws, d = 250."""
    changes = []
    for p in sorted(set(column("KYS23-Fig2L", "noise", dimension=250, **cell))):
        few, many = (_by_seed("KYS23-Fig2L", dimension=250, noise=p, width=width, **cell) for width in (50, 3000))
        changes += [many[seed] - few[seed] for seed in sorted(few.keys() & many.keys())]
    return Mean.of(changes)


def _by_seed(name: str, **cell: object) -> dict[float, float]:
    return dict(zip(column(name, "seed", **cell), column(name, "error", **cell), strict=True))


def _signed(mean: Mean) -> str:
    return f"{mean.value:+.3f} [{mean.low:+.3f}, {mean.high:+.3f}]".replace("-", "−")


@SENTENCES.add
def difference_by_width() -> str:
    change = _from_narrow_to_wide(**EXACT)
    return f"in dimension 250 the mean change is {_signed(change)} on {change.count} pairs of the same samples"


@SENTENCES.add
def difference_by_width_of_the_recipe() -> str:
    change = _from_narrow_to_wide(method="recipe")
    return f"by {_signed(change)} from 50 to 3000 neurons at p = 0.3 ({change.count} draws)"


@SENTENCES.add
def recipe_by_width() -> str:
    trained: dict[str, object] = {"method": "recipe", "dimension": 250, "noise": 0.3}
    narrow, wide = (_by_seed("KYS23-Fig2L", width=width, **trained) for width in (50, 3000))
    between = _by_seed("KYS23-Fig1L", **trained)
    words = ["/".join(f"{errors[seed]:.3f}" for seed in (0, 1)) for errors in (narrow, between, wide)]
    return f"two draws have {words[0]} with 50 neurons, {words[1]} with the 1000 of Figure 1 and {words[2]} with 3000"


@SENTENCES.add
def recipe_by_width_in_large_dimensions() -> str:
    words = []
    for d in (2000, 10_000):
        errors = [
            column("KYS23-Fig2L", "error", method="recipe", dimension=d, noise=0.3, width=width, seed=0)[0]
            for width in (50, 3000)
        ]
        words += [f"{errors[0]:.3f} and {errors[1]:.3f} in dimension {counted(d)}"]
    return f"with 50 and 3000 neurons one draw has {listed(words)}"


@SENTENCES.add
def recipe_with_four_times_as_many_samples() -> str:
    trained: dict[str, object] = {"method": "recipe", "noise": 0.3, "seed": 0}
    small, larger = (column("KYS23-Fig1R", "error", dimension=d, **trained)[0] for d in (50, 250))
    (limit,) = column("KYS23-Fig1R", "error", dimension=250, noise=0.3, seed=0, **EXACT)
    return f"{small:.3f} at d = 50 and {larger:.3f} at d = 250, where the KKT point of the same draw has {limit:.3f}"


@SENTENCES.add
def three_layers_beside_two() -> str:
    cell: dict[str, object] = {"dimension": 250, "noise": 0.3, "seed": 0}
    three, two = (column("KYS23-Fig2R", "error", layers=layers, **cell)[0] for layers in (3, 2))
    return f"d = 250 and p = 0.3, has {three:.3f}, where two layers have {two:.3f} on the same draw"


@SENTENCES.add
def networks_of_three_layers() -> str:
    both, two = len(rows("KYS23-Fig2R")), len(column("KYS23-Fig2R", "seed", layers=2))
    assert both - two == 1
    return f"**{both} of 600 networks of the recipe**, {two} of them the two layers of Figure 1"


@pytest.mark.parametrize("make", SENTENCES, ids=range(len(SENTENCES)))
def test_a_caption_says_what_the_rows_say(make: Callable[[], str]) -> None:
    assert make() in page()


@pytest.mark.parametrize("name", ["KYS23-Fig1L", "KYS23-Fig1R", "KYS23-Fig2L"])
def test_every_kkt_point_with_noisy_labels_is_exact_and_interpolates(name: str) -> None:
    assert {(row["exact"], row["interpolates"]) for row in rows(name) if row["method"] == "KKT point"} == {
        ("True", "True")
    }
