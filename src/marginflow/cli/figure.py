"""`marginflow figure`: compute a figure of the papers, judge its claim, and write page, rows and pictures."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

from cyclopts import Parameter

import marginflow as mf
from marginflow.cli.engines import engine_of, note_other_code
from marginflow.cli.exit_codes import DOES_NOT_HOLD, DONE, INTERRUPTED
from marginflow.cli.options import Address, AnyCode, AsJson, Engine, Force, Seed, counted, flag, written
from marginflow.cli.output import check_folder, check_target, deliver, note, print_rows, result_text
from marginflow.cli.progress import progress, time_left
from marginflow.cli.provenance import versions
from marginflow.display import duration
from marginflow.errors import InputError
from marginflow.plain import to_plain
from marginflow.storage import write_text

if TYPE_CHECKING:
    from marginflow.experiments import Figure, FigureResult
    from marginflow.experiments.cost import Cost
    from marginflow.report.style import Mode, Width
    from marginflow.sweeps import Store, Sweep

_WORTH_SAYING: Final = 2.0  # seconds; nobody waits for an answer about less


def figure(
    id: Annotated[str | None, Parameter(help="The figure, such as VYS22/Fig1a; without it: the list.")] = None,
    /,
    *,
    size: Annotated[
        Literal["smoke", "laptop", "paper"],
        Parameter(help="smoke: seconds; laptop: minutes; paper: the published grid."),
    ] = "laptop",
    seed: Seed = 0,
    out: Annotated[Path | None, written("Folder for page, rows and pictures; default: marginflow-figures.")] = None,
    seeds: Annotated[int | None, counted("--seeds", "Number of seeds; by default that of the size.")] = None,
    only: Annotated[
        tuple[str, ...],
        Parameter(negative="", consume_multiple=True, help='Only cells with these parameters, such as "alpha=1".'),
    ] = (),
    workers: Annotated[int | None, counted("--workers", "Processes; by default 1, or every core with dask.")] = None,
    engine: Engine = "local",
    address: Address = None,
    any_code: AnyCode = False,
    dry_run: Annotated[bool, flag("Only say how many cells there are, and what time and memory they take.")] = False,
    only_stored: Annotated[bool, flag("Compute nothing: draw what the store has, and name what is missing.")] = False,
    store: Annotated[
        Path | None, Parameter(help="SQLite file that keeps finished cells; default: cells.sqlite in the folder.")
    ] = None,
    images: Annotated[
        tuple[Literal["svg", "png", "pdf"], ...],
        Parameter(
            name=["--images", "--format"],
            help="Also write each chart in these formats.",
            negative="",
            consume_multiple=True,
        ),
    ] = (),
    width: Annotated[
        Literal["column", "page"], Parameter(help="Of the images: 3.25 or 6.75 inches, with letters of 8 pt.")
    ] = "page",
    mode: Annotated[Literal["light", "dark"], Parameter(help="Colours of the images.")] = "light",
    force: Force = False,
    as_json: AsJson = False,
) -> int:
    """Exit code 0 if our numbers bear out the claim, 1 if they do not or leave it open."""
    if id is None:
        return _listed(as_json=as_json)
    chosen = mf.experiments.figure(id)
    conditions = _conditions(only)
    grid = chosen.select(size, only=conditions, seeds=seeds)
    folder = check_folder(Path("marginflow-figures") if out is None else out)
    cells_file = folder / "cells.sqlite" if store is None else store
    kept = mf.sweeps.Store(cells_file) if folder.is_dir() or store is not None else None
    cost = chosen.cost(grid, store=kept)
    cells = chosen.sweep(grid, seed)
    if not any_code:
        note_other_code(cells, kept)
    if dry_run:
        return _planned(chosen, size, cost, cells, kept, any_code=any_code, as_json=as_json)
    where = engine_of(engine, address, workers)
    folder.mkdir(exist_ok=True)
    name = _name(chosen.id, size)
    for ending in ("html", "csv", "json", *images):
        check_target(folder / f"{name}.{ending}", (f".{ending}",), force=force)
    for ending in images:  # of several charts
        check_target(folder / f"{name}-1.{ending}", (f".{ending}",), force=force)
    note(f"{chosen.id}, {chosen.title}: {cost.cells} cells, about {_time(cost.hours)} on one core.")
    try:
        with progress(chosen.id) as show:
            result = chosen.run(
                size,
                seed=seed,
                seeds=seeds,
                only=conditions,
                store=cells_file,
                engine=where,
                any_code=any_code,
                only_stored=only_stored,
                progress=lambda now: show(1.0 - now.left / max(1, now.total), time_left(now.seconds_left, now.failed)),
            )
    except mf.sweeps.StoppedError as error:
        note(f"marginflow: {error}")
        return DOES_NOT_HOLD
    except KeyboardInterrupt:
        note("marginflow: interrupted; finished cells are kept, and the same command goes on from there.")
        return INTERRUPTED
    if wrong := _misjudged(cost, result):
        note(wrong)
    written = _written(result, folder, images, width, mode)
    record = result.to_dict() | {"written": written, "estimated_hours": cost.hours}
    words = [str(result), *(f"Written to {path}" for path in written)]
    return deliver(record, as_json=as_json, describe=lambda: print("\n".join(words)), holds=result.outcome.borne_out)


def _conditions(only: Sequence[str]) -> dict[str, object]:
    """`name=value` as parameters; a value is a number, true, false or a word."""
    made: dict[str, object] = {}
    for condition in (part for text in only for part in text.split(",")):
        name, equals, value = condition.partition("=")
        if not equals or not name.strip():
            raise InputError(f'--only is {condition!r}; name=value is expected, such as "alpha=1".')
        try:
            made[name.strip()] = json.loads(value)
        except json.JSONDecodeError:
            made[name.strip()] = value.strip()
    return made


def _planned(
    chosen: Figure, size: str, cost: Cost, sweep: Sweep, store: Store | None, *, any_code: bool, as_json: bool
) -> int:
    """What would be computed, what is there already, and what the rest will take."""
    done = 0 if store is None else len(mf.sweeps.stored(sweep, store, any_code=any_code).done)
    record = {"id": chosen.id, "size": size, "cells": cost.cells, "stored": done, "hours": cost.hours}
    record |= {"memory": cost.memory, "measured_cells": cost.measured}
    memory = "unknown" if cost.memory is None else f"{cost.memory / 2**20:.0f} MiB"
    here = f", {cost.of_store} of them of the store" if cost.of_store else ""
    words = (
        f"{chosen.id}, size {size}: {cost.cells} cells, {done} of them stored.\n"
        f"All of them take about {_time(cost.hours)} on one core, and a process needs about {memory}.\n"
        f"This rests on {cost.measured} measured cells{here}."
    )
    return deliver(record, as_json=as_json, describe=lambda: print(words))


def _misjudged(cost: Cost, result: FigureResult) -> str | None:
    """A sentence if the estimate was wrong by more than a factor of two; None for what takes no time, or was right."""
    if cost.hours is None or result.missing or max(3600 * cost.hours, result.seconds) < _WORTH_SAYING:
        return None
    ratio = result.seconds / (3600 * cost.hours)
    if 0.5 <= ratio <= 2.0:
        return None
    factor = float(f"{max(ratio, 1.0 / ratio):.2g}")
    wrong = f"{factor:g} times too {'short' if ratio > 1.0 else 'long'}"
    return f"The cells took {duration(result.seconds)}; the estimate was {_time(cost.hours)}, {wrong}."


def _name(id: str, size: str) -> str:
    return f"{id.replace('/', '-')}-{size}"


def _written(result: FigureResult, folder: Path, images: Sequence[str], width: Width, mode: Mode) -> list[Path]:
    """Page, rows and pictures; all names begin with the id and the size."""
    from marginflow.report import draw, write
    from marginflow.report.results import NamedResult, page_of_results

    name = _name(result.figure.id, result.size)
    seeded = f" --seed {result.seed}" if result.seed else ""
    record = result.to_dict() | {"panels": result.panels, "deviations": result.figure.deviations}
    page = page_of_results(
        [NamedResult(name=result.figure.id, content=to_plain(record))],
        title=f"{result.figure.id}: {result.figure.title}",
        command=f"marginflow figure {result.figure.id} --size {result.size}{seeded}",
        versions=versions(),
    )
    written = [
        write(page, folder / f"{name}.html"),
        write_text(folder / f"{name}.csv", table_text(result)),
        write_text(folder / f"{name}.json", result_text(record) + "\n"),
    ]
    for number, chart in enumerate(page.charts, 1):
        suffix = f"-{number}" if len(page.charts) > 1 else ""
        written += [draw(chart, folder / f"{name}{suffix}.{ending}", width=width, mode=mode) for ending in images]
    return written


def table_text(result: FigureResult) -> str:
    """The rows as CSV, columns in order of first appearance."""
    columns = list(dict.fromkeys(column for row in result.rows for column in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n", restval="")
    writer.writeheader()
    writer.writerows(dict(row) for row in result.rows)
    return text.getvalue()


def _time(hours: float | None) -> str:
    return "unknown" if hours is None else duration(3600 * hours)


def _listed(*, as_json: bool) -> int:
    rows: list[dict[str, object]] = [
        {
            "id": figure.id,
            "title": figure.title,
            "claim": figure.claim,
            "published": figure.published,
            "cost": _time(figure.cost("laptop").hours),
            **{f"{size}_hours": figure.cost(size).hours for size in mf.experiments.SIZES},
        }
        for figure in mf.experiments.figures()
    ]
    if as_json:
        print(json.dumps(to_plain(rows), allow_nan=False))
    else:
        print_rows(rows, headings={"id": "id", "cost": "laptop, one core", "title": "what is drawn"})
    return DONE
