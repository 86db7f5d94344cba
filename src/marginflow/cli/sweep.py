"""`marginflow sweep SPEC`: a task on a grid with several seeds, resumable, on this machine or on a Dask cluster."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from marginflow import experiments
from marginflow.cli.exit_codes import DOES_NOT_HOLD, DONE, INTERRUPTED
from marginflow.cli.options import AsJson, Force
from marginflow.cli.output import check_target, note, result_text
from marginflow.cli.progress import time_left
from marginflow.errors import InputError
from marginflow.sweeps import (
    AbstractEngine,
    DaskEngine,
    LocalEngine,
    Progress,
    Results,
    StoppedError,
    Store,
    Sweep,
    export,
    run,
    stored,
    tasks,
)
from marginflow.sweeps.table import SUFFIXES


def sweep(
    spec: Annotated[Path | None, Parameter(help="The grid, .toml; without it the tasks are listed.")] = None,
    /,
    *,
    store: Annotated[
        Path | None, Parameter(help="Where rows are kept, .sqlite; by default beside the spec, under its name.")
    ] = None,
    max_workers: Annotated[
        int | None, Parameter(help="Processes, each with one BLAS thread; by default 1, or every core with dask.")
    ] = None,
    engine: Annotated[Literal["local", "dask"], Parameter(help="Where cells are computed.")] = "local",
    address: Annotated[
        str | None, Parameter(help="With dask: the scheduler; without it a cluster is started here.")
    ] = None,
    retry_failed: Annotated[bool, Parameter(negative="", help="Compute failed cells again.")] = False,
    any_code: Annotated[
        bool, Parameter(negative="", help="Accept rows computed by another version of the code.")
    ] = False,
    dry_run: Annotated[bool, Parameter(negative="", help="Only say what is stored and what is missing.")] = False,
    table: Annotated[
        Path | None, Parameter(name="--export", help="Write the rows as .csv or .parquet when the sweep is done.")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> int:
    """Exit code 0 if every cell has a row, 1 if some failed or the sweep had to stop, 130 if interrupted."""
    experiments.figures()  # puts the tasks of the figures into the registry
    if spec is None:
        return _list_tasks(as_json=as_json)
    if table is not None:
        check_target(table, SUFFIXES, force=force)
    # A task of one's own ("module:name") may stand beside the spec.
    if (beside := str(spec.resolve().parent)) not in sys.path:
        sys.path.append(beside)
    chosen, kept = Sweep.load(spec), Store(store if store is not None else spec.with_suffix(".sqlite"))
    where = _engine(engine, address, max_workers)
    stopped, code = None, DONE
    if not dry_run:
        try:
            with _shown(chosen.name) as show:
                run(chosen, store=kept, engine=where, retry_failed=retry_failed, any_code=any_code, progress=show)
        except StoppedError as error:
            stopped, code = str(error), DOES_NOT_HOLD
        except KeyboardInterrupt:
            stopped, code = "Interrupted; what was stored stays, and the same command goes on from there.", INTERRUPTED
    results = stored(chosen, kept, any_code=any_code)
    if table is not None:
        export(results, table)
    _tell(results, kept, table, stopped, as_json=as_json)
    return code if code != DONE else (DONE if results.complete else DOES_NOT_HOLD)


def _list_tasks(*, as_json: bool) -> int:
    """Every task that a spec can name, with its parameters."""
    listed = [
        {"task": name, "does": known.summary, "parameters": list(known.fields)} for name, known in tasks().items()
    ]
    if as_json:
        print(result_text({"tasks": listed}))
        return DONE
    for entry in listed:
        print(f"{entry['task']}: {entry['does']}")
        print(f"    {', '.join(entry['parameters'])}")
    return DONE


def _engine(engine: str, address: str | None, max_workers: int | None) -> AbstractEngine:
    if engine == "dask":
        return DaskEngine(address=address, max_workers=max_workers)
    if address is not None:
        raise InputError("--address is for --engine dask.")
    return LocalEngine(max_workers=1 if max_workers is None else max_workers)


def _tell(results: Results, store: Store, table: Path | None, stopped: str | None, *, as_json: bool) -> None:
    total, done, failed = len(results.sweep.cells), len(results.done), len(results.failed)
    if stopped is not None:
        note(f"marginflow: {stopped}")
    if as_json:
        record = {
            "name": results.sweep.name,
            "cells": total,
            "done": done,
            "failed": failed,
            "missing": total - done - failed,
            "store": store.path,
            "export": table,
            "stopped": stopped,
            "failures": [{"cell": str(one.cell), "error": one.error} for one in results.failed],
            "rows": results.rows,
        }
        print(result_text(record))
        return
    print(f"{results.sweep.name}: {total} cells, {done} done, {failed} failed, {total - done - failed} missing")
    for one in results.failed[:3]:
        print(f"  failed: {one.cell}: {one.reason}")
    if failed:
        print("  Whole tracebacks are in the store (column error) and in --json; --retry-failed tries again.")
    print(f"Store   {store.path}")
    if table is not None:
        print(f"Export  {table}")


@contextmanager
def _shown(name: str) -> Iterator[Callable[[Progress], None]]:
    """A bar on stderr with the time that is left, shown only when a person is looking at a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    watched = sys.stderr.isatty()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    remark = TextColumn("{task.fields[remark]}")
    with Bar(*columns, remark, console=Console(stderr=True), transient=True, disable=not watched) as bar:
        line = bar.add_task(name, total=None, remark="")

        def show(now: Progress) -> None:
            bar.update(
                line, total=now.total, completed=now.total - now.left, remark=time_left(now.seconds_left, now.failed)
            )

        yield show
