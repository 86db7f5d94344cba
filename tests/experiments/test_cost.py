"""What cells will take: a law fitted to measured cells, right where it is a power, honest where nothing is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from marginflow import experiments
from marginflow.experiments.cost import MeasuredCell, estimate, recorded
from marginflow.experiments.vys22.sphere import SphereRun, sphere_run
from marginflow.sweeps import Store


def cells(power: float, dimensions: tuple[int, ...], method: str = "recipe") -> list[MeasuredCell]:
    """Cells whose seconds are exactly a power of their operations."""
    made = []
    for d in dimensions:
        operations = SphereRun(dimension=d, width=50, method=method).operations
        parameters = {"dimension": d, "width": 50, "method": method}
        seconds = 1e-9 * operations**power
        made.append(MeasuredCell(task="vys22-sphere", parameters=parameters, seconds=seconds, memory=2**27))
    return made


@pytest.mark.parametrize("power", [0.8, 0.9, 1.0])
def test_a_power_of_the_operations_is_found(power: float) -> None:
    known, asked = cells(power, (20, 40, 80, 160)), cells(power, (320,))
    found = estimate(sphere_run, [asked[0].parameters] * 3, known)
    assert found.hours == pytest.approx(3 * asked[0].seconds / 3600, rel=1e-6)
    assert (found.cells, found.measured) == (3, 4)
    assert (found.memory or 0) > 2**27  # more than any that was measured, for a larger cell


def test_one_measured_cell_is_scaled_by_its_operations() -> None:
    (known,) = cells(1.0, (50,))
    (asked,) = cells(1.0, (200,))
    assert estimate(sphere_run, [asked.parameters], [known]).hours == pytest.approx(asked.seconds / 3600)


def test_kinds_of_cells_are_apart_and_an_unknown_kind_is_unknown() -> None:
    known = cells(1.0, (20, 40), "recipe")
    assert estimate(sphere_run, [{"dimension": 30, "method": "KKT point"}], known).hours is None
    slow = [*known, *(MeasuredCell(**vars(cell) | {"seconds": 1e4}) for cell in cells(1.0, (20,), "KKT point"))]
    assert estimate(sphere_run, [{"dimension": 30, "width": 50}], slow) == estimate(
        sphere_run, [{"dimension": 30, "width": 50}], [*known, slow[-1]]
    )


@pytest.mark.parametrize("figure", experiments.figures(), ids=lambda figure: figure.id)
def test_larger_sizes_cost_more_and_what_was_never_measured_is_unknown(figure: experiments.Figure) -> None:
    smoke, paper = figure.cost("smoke"), figure.cost("paper")
    if not recorded(figure.cell.name):
        assert not figure.published
        assert (smoke.hours, paper.hours, paper.measured) == (None, None, 0)
        return
    assert smoke.hours is not None
    assert paper.hours is not None
    assert paper.hours >= smoke.hours > 0


@pytest.mark.parametrize("figure", ["VYS22/Fig1a", "KYS23/Fig1L"])
def test_every_recorded_kkt_point_of_a_second_or_more_is_estimated_by_the_others(figure: str) -> None:
    task = experiments.figure(figure).cell
    known = recorded(task.name)
    long = [cell for cell in known if cell.parameters["method"] == "KKT point" and cell.seconds >= 1.0]
    assert max(cell.seconds for cell in long) / min(cell.seconds for cell in long) > 10.0
    ratios = []
    for cell in long:
        found = estimate(task, [cell.parameters], [other for other in known if other is not cell])
        assert found.hours is not None
        ratios.append(3600 * found.hours / cell.seconds)
    assert all(0.4 < ratio < 2.5 for ratio in ratios)
    assert sum(0.5 <= ratio <= 2.0 for ratio in ratios) >= 0.8 * len(ratios)


def test_cells_of_a_store_come_before_those_of_the_library(tmp_path: Path) -> None:
    figure = experiments.figure("KYS23/Fig3")
    store = Store(tmp_path / "cells.sqlite")
    figure.run("smoke", store=store.path)
    found = figure.cost("smoke", store=store)
    assert found.measured == found.of_store == len(figure.grid("smoke").cells)
    assert found.hours == pytest.approx(sum(line.seconds for line in store.lines()) / 3600, rel=0.5)


def test_only_cells_of_the_same_kind_are_counted(tmp_path: Path) -> None:
    figure = experiments.figure("VYS22/Fig1a")
    store = tmp_path / "cells.sqlite"
    figure.run("smoke", seeds=1, only={"method": "KKT point", "alpha": 0.5}, store=store)
    found = figure.cost(figure.select("smoke", only={"method": "recipe"}), store=Store(store))
    recipes = [cell for cell in recorded(figure.cell.name) if cell.parameters["method"] == "recipe"]
    assert (found.measured, found.of_store) == (len(recipes), 0)
    both = figure.cost("smoke", store=Store(store))
    assert (both.measured, both.of_store) == (len(recipes) + 2, 2)
