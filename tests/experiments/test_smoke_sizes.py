"""Every figure at its smallest size: rows, what is drawn of them, and the page."""

import itertools
import json
import math

import pytest

from marginflow import experiments
from marginflow.experiments import Figure
from marginflow.plain import to_plain
from marginflow.report import render
from marginflow.report.results import NamedResult, page_of_results

EVERY = experiments.figures()


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Figures that show the same runs compute them once."""
    return tmp_path_factory.mktemp("figures") / "cells.sqlite"


@pytest.mark.parametrize("figure", EVERY, ids=lambda figure: figure.id)
def test_the_smoke_size_runs_and_is_drawn(figure: Figure, store):
    grid = figure.grid("smoke")
    seen = []
    result = figure.run(size="smoke", store=store, progress=seen.append)
    assert len(result.rows) == len(grid.cells) * grid.seeds
    assert (seen[-1].total, seen[-1].left) == (len(result.rows), 0)
    assert result.outcome.status in ("borne out", "undecided", "not borne out")
    assert result.panels
    record = NamedResult(name=figure.id, content=to_plain(result.to_dict() | {"panels": result.panels}))
    page = page_of_results([record], title=figure.id, command="marginflow figure", versions={})
    for panel, chart in zip(result.panels, page.charts, strict=True):
        drawn = [row[panel.y] for row in panel.rows]
        assert drawn
        assert all(isinstance(value, int | float) and math.isfinite(value) for value in drawn)
        specification = json.dumps(chart.specification, allow_nan=False, ensure_ascii=False)
        assert panel.titles[panel.y] in specification
    assert figure.id in render(page, interactive=False)
    for name in figure.cell.fields:
        chosen = {row[name] for row in result.rows}
        for value in chosen if len(chosen) > 1 else ():
            part = figure.run(size="smoke", only={name: value}, store=store)
            assert 0 < len(part.rows) < len(result.rows)
            assert part.outcome.status != "borne out"  # the claim is about the whole grid
            left = (
                f"{len(result.rows) - len(part.rows)} of {len(result.rows)} runs of the grid were left out by choice."
            )
            assert part.outcome.lost.endswith(left)
            assert all(panel.description.endswith(left) for panel in part.panels)


def against(value):
    """What a run may have measured instead: the opposite of a truth, a number that is far too small or too large."""
    if isinstance(value, bool):
        return [not value]
    return [1e-9, 1e9] if isinstance(value, int | float) else []


@pytest.mark.parametrize("figure", EVERY, ids=lambda figure: figure.id)
def test_no_judge_says_yes_whatever_was_measured(figure: Figure, store):
    """In all runs, or in those of one value of a parameter, where the claim compares several."""
    rows = figure.run(size="smoke", store=store).rows
    some = [lambda row: True]
    for field in figure.cell.fields:
        some += [lambda row, field=field, value=value: row[field] == value for value in {row[field] for row in rows}]
    outcomes = set()
    for name in sorted({name for row in rows for name in row} - {*figure.cell.fields, "seed", "run_status"}):
        for way, chosen in itertools.product((0, -1), some):
            changed = [
                {**row, name: against(row.get(name))[way]} if chosen(row) and against(row.get(name)) else row
                for row in rows
            ]
            outcomes.add(figure.judge(changed).status)
    assert "not borne out" in outcomes


@pytest.mark.parametrize("id", ["FVBS23/Dimension.ours", "KYS23/Fig1L", "FCB22/Amplification.ours"])
def test_same_seed_same_rows_and_another_seed_other_rows(id, store):
    figure = experiments.figure(id)
    first = figure.run(size="smoke", seed=0, store=store).rows
    again, other = (figure.run(size="smoke", seed=seed).rows for seed in (0, 7))
    assert first == again
    assert first != other


def test_rows_of_a_store_are_not_computed_again(tmp_path):
    figure = experiments.figure("FVBS23/Dimension.ours")
    store = tmp_path / "cells.sqlite"
    first = figure.run(size="smoke", store=store)
    counts = []
    again = figure.run(size="smoke", store=store, progress=counts.append)
    assert first.rows == again.rows
    assert first.seconds == again.seconds > 0  # those of the cells, whenever they were computed
    assert counts[-1].stored == len(first.rows)
