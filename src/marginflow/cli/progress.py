"""A progress display on stderr, shown only when a person is looking at a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import marginflow as mf
from marginflow.display import duration

Report = Callable[[float, str], None]


@contextmanager
def progress(description: str) -> Iterator[Report]:
    """Show a bar while the block runs; call the yielded function with (share done, what there is to say).

    A share below zero means that nobody knows how much is left: the bar then only moves.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.table import Column

    watched = sys.stderr.isatty()
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=12),
        TimeElapsedColumn(),
        TextColumn("{task.fields[remark]}", table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1)),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not watched, expand=True) as bar:
        task = bar.add_task(description, total=None, remark="")

        def report(share: float, remark: str) -> None:
            bar.update(task, total=None if share < 0 else 1.0, completed=max(0.0, min(1.0, share)), remark=remark)

        yield report


def covered(paper: str | None) -> list[mf.theory.Covered]:
    """Every id of the catalogue, judged on its example and its control, under a bar that says which is at work."""
    rows = []
    with progress("Checking") as show:
        ids = [row.id for row in mf.theory.coverage(paper, run=False)]
        for index, id in enumerate(ids):
            show(index / len(ids), id)
            rows.append(mf.theory.covered(id))
    return rows


def time_left(seconds: float | None, failed: int) -> str:
    """The end of the line of a sweep: the estimate of the time left, and failures."""
    words = [] if seconds is None else [f"about {duration(seconds)} left"]
    return ", ".join([*words, *([f"{failed} failed"] if failed else [])])
