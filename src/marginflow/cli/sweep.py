"""`marginflow sweep SPEC`: a task on a grid with several seeds, resumable, on this machine or on a Dask cluster."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import App, Parameter

import marginflow as mf
from marginflow.cli.engines import engine_of, note_other_code, sweep_of
from marginflow.cli.exit_codes import DOES_NOT_HOLD, DONE, INTERRUPTED
from marginflow.cli.options import Address, AnyCode, AsJson, Engine, Force, counted, flag
from marginflow.cli.output import check_target, deliver, note, result_text
from marginflow.cli.progress import time_left
from marginflow.cli.provenance import command
from marginflow.errors import InputError
from marginflow.storage import write_text

if TYPE_CHECKING:
    from marginflow.sweeps import Results, Store, Sweep, SweepProgress

_PAGE_EVERY: Final = 5.0  # seconds between two pages of a sweep that is watched

sweep = App(
    name="sweep",
    help="Run a task on a grid of parameters with several seeds; stop it at any time and go on later.",
    help_epilogue="Example: marginflow sweep spec.toml --workers 2 --export rows.csv",
    help_format="plaintext",
)
sweep.command("marginflow.cli.shards:merge", name="merge", help="Bring the rows of several stores into one.")
sweep.command(
    "marginflow.cli.shards:compare", name="compare", help="Say which cells two stores share, and how their rows differ."
)
sweep.command("marginflow.cli.shards:slurm", name="slurm", help="Print a script for sbatch, one job for each shard.")


@sweep.default
def run_sweep(
    spec: Annotated[Path | None, Parameter(help="The grid, .toml; without it the tasks are listed.")] = None,
    /,
    *,
    store: Annotated[
        Path | None, Parameter(help="Where rows are kept, .sqlite; by default beside the spec, under its name.")
    ] = None,
    workers: Annotated[
        int | None, counted("--workers", "Processes, each with one BLAS thread; by default 1, or every core with dask.")
    ] = None,
    engine: Engine = "local",
    address: Address = None,
    time_limit: Annotated[
        float | None, Parameter(help="Seconds after which a cell is ended and counted as failed.")
    ] = None,
    retry_failed: Annotated[bool, flag("Compute failed cells again.")] = False,
    cell: Annotated[
        tuple[int, ...],
        Parameter(negative="", consume_multiple=True, help="Only these cells, by number; failed ones again."),
    ] = (),
    failures: Annotated[bool, flag("Only list the failed cells: number, parameters, reason.")] = False,
    show: Annotated[
        int | None, Parameter(help="Only show one cell, by number: row, seconds, memory, log, traceback.")
    ] = None,
    shard: Annotated[
        str | None, Parameter(help="Only share i of n, such as 2/4, into a store of its own; see sweep merge.")
    ] = None,
    watch: Annotated[
        Path | None, Parameter(help="A page, .html, that fills up while the sweep runs; a browser reloads it.")
    ] = None,
    any_code: AnyCode = False,
    dry_run: Annotated[bool, flag("Only say what is stored and what is missing.")] = False,
    recover: Annotated[
        Path | None, Parameter(help="Only take the readable rows of a damaged store to this new one, .sqlite.")
    ] = None,
    table: Annotated[
        Path | None, Parameter(name="--export", help="Write the rows as .csv or .parquet when the sweep is done.")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> int:
    """Exit code 0 if every cell has a row, 1 if some failed or the sweep had to stop, 130 if interrupted."""
    from marginflow.sweeps.shards import Shard
    from marginflow.sweeps.table import SUFFIXES, check_export, is_export_of

    if spec is None:
        return _list_tasks(as_json=as_json)
    chosen, path = sweep_of(spec), spec.with_suffix(".sqlite")
    if shard is not None:
        part = Shard.parse(shard)
        chosen, path = part.of(chosen), part.store(path)
    kept = mf.sweeps.Store(path if store is None else store)
    if recover is not None:
        return _recover(chosen, kept, mf.sweeps.Store(recover), any_code=any_code, as_json=as_json)
    if show is not None:
        return _show(chosen, kept, show, any_code=any_code, as_json=as_json)
    if cell:
        chosen = chosen.some(cell)
    if table is not None:
        check_target(table, SUFFIXES, force=force or is_export_of(chosen, table))
        check_export(table)
    if watch is not None:
        check_target(watch, (".html",), force=True)  # a page of ours is written over and over
    where = engine_of(engine, address, workers)
    if not any_code:
        note_other_code(chosen, kept)
    stopped, code = None, DONE
    if not dry_run and not failures:
        try:
            with _progress(chosen.name, partial(_write_page, watch, chosen, kept, any_code)) as report:
                mf.sweeps.run(
                    chosen,
                    store=kept,
                    engine=where,
                    retry_failed=retry_failed or bool(cell),
                    any_code=any_code,
                    time_limit=time_limit,
                    progress=report,
                )
        except mf.sweeps.StoppedError as error:
            stopped, code = str(error), DOES_NOT_HOLD
        except KeyboardInterrupt:
            stopped, code = "Interrupted; what was stored stays, and the same command goes on from there.", INTERRUPTED
    results = mf.sweeps.stored(chosen, kept, any_code=any_code)
    _write_page(watch, chosen, kept, any_code, None)
    # A table of half a sweep would only be in the way of the rest.
    written = mf.sweeps.export(results, table) if table is not None and stopped is None and not dry_run else None
    _summarise(results, kept, written, stopped, every_failure=failures, as_json=as_json)
    return code if code != DONE else (DONE if results.complete else DOES_NOT_HOLD)


def _write_page(watch: Path | None, chosen: Sweep, kept: Store, any_code: bool, now: SweepProgress | None) -> None:
    """Write the page of a sweep that runs, or has ended where no progress is given."""
    if watch is None:
        return
    from marginflow.report.live import live_text, sight_page

    sight = mf.sweeps.look([kept], chosen, any_code=any_code)
    page = sight_page(sight, command=command(), seconds_left=None if now is None else now.seconds_left)
    write_text(watch, live_text(page, finished=now is None))


def _recover(chosen: Sweep, damaged: Store, target: Store, *, any_code: bool, as_json: bool) -> int:
    """Take what can be read to a new store and say what there is of this sweep."""
    saved = mf.sweeps.salvage(damaged, target)
    results = mf.sweeps.stored(chosen, target, any_code=any_code)
    cells, done = len(chosen.cells), len(results.done)

    def describe() -> None:
        print(f"{saved.rows} rows could be read and are in {target.path} now.")
        if saved.without_arrays:
            print(f"{saved.without_arrays} more were left out, as their arrays are damaged or lost.")
        print(f"{chosen.name}: {cells} cells, {done} done; go on with --store {target.path}")

    record = {"store": target.path, "rows": saved.rows, "without_arrays": saved.without_arrays}
    return deliver(record | {"cells": cells, "done": done}, as_json=as_json, describe=describe)


def _show(chosen: Sweep, kept: Store, number: int, *, any_code: bool, as_json: bool) -> int:
    """Everything that is known of one cell."""
    only = chosen.some([number])
    found = mf.sweeps.stored(only, kept, any_code=any_code).records
    if not found:
        raise InputError(f"Cell {number} ({only.cells[0]}) is not in {kept.path} yet.")
    (record,) = found

    def describe() -> None:
        print(f"Cell {number}: {record.cell}")
        memory = "" if record.memory is None else f", {record.memory / 2**20:.0f} MiB"
        print(f"{record.status} after {record.seconds:.3g} s{memory}")
        for name, value in record.row.items():
            print(f"  {name}: {value}")
        for heading, text in (("Printed", record.log), ("Error", record.error or "")):
            if text.strip():
                print(f"{heading}:\n{text.rstrip()}")

    known: dict[str, object] = {"cell": number, "status": record.status, "error": record.error, "log": record.log}
    known |= {"memory": record.memory, "row": record.flat(seconds=True)}
    return deliver(known, as_json=as_json, describe=describe)


def _list_tasks(*, as_json: bool) -> int:
    """Every task that a spec can name, with its parameters."""
    mf.experiments.figures()  # puts the tasks of the figures into the registry
    listed = [
        {"task": name, "does": known.summary, "parameters": list(known.fields)}
        for name, known in mf.sweeps.tasks().items()
    ]

    def describe() -> None:
        for entry in listed:
            print(f"{entry['task']}: {entry['does']}")
            print(f"    {', '.join(entry['parameters'])}")

    return deliver({"tasks": listed}, as_json=as_json, describe=describe)


def _summarise(
    results: Results, store: Store, table: Path | None, stopped: str | None, *, every_failure: bool, as_json: bool
) -> None:
    total, done, failed = len(results.sweep.cells), len(results.done), len(results.failed)
    if stopped is not None:
        note(f"marginflow: {stopped}")
    if as_json:
        whole = {
            "name": results.sweep.name,
            "cells": total,
            "done": done,
            "failed": failed,
            "missing": total - done - failed,
            "store": store.path,
            "export": table,
            "stopped": stopped,
            "failures": [
                {"number": number, "cell": str(record.cell), "error": record.error}
                for number, record in results.failures
            ],
            "rows": results.rows,
        }
        print(result_text(whole))
        return
    print(f"{results.sweep.name}: {total} cells, {done} done, {failed} failed, {total - done - failed} missing")
    for number, record in results.failures[: None if every_failure else 3]:
        print(f"  failed: cell {number}: {record.cell}: {record.reason}")
    if failed:
        print("  --failures lists them, --show NUMBER has the traceback, --cell NUMBER or --retry-failed tries again.")
    print(f"Store   {store.path}")
    if table is not None:
        print(f"Export  {table}")


@contextmanager
def _progress(name: str, write_page: Callable[[SweepProgress], None]) -> Iterator[Callable[[SweepProgress], None]]:
    """A bar on stderr with the time that is left, if a person is looking at a terminal; and a page now and then."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    watched = sys.stderr.isatty()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    remark = TextColumn("{task.fields[remark]}")
    with Bar(*columns, remark, console=Console(stderr=True), transient=True, disable=not watched) as bar:
        line = bar.add_task(name, total=None, remark="")

        written = -math.inf

        def show(now: SweepProgress) -> None:
            nonlocal written
            if time.monotonic() - written > _PAGE_EVERY:
                write_page(now)
                written = time.monotonic()
            bar.update(
                line, total=now.total, completed=now.total - now.left, remark=time_left(now.seconds_left, now.failed)
            )

        yield show
