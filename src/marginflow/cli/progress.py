"""A progress display on stderr, shown only when a person is looking at a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Report = Callable[[float, str], None]


@contextmanager
def progress(description: str) -> Iterator[Report]:
    """Show a bar while the block runs; call the yielded function with (share done, what there is to say).

    A share below zero means that nobody knows how much is left: the bar then only moves.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    watched = sys.stderr.isatty()
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[remark]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not watched) as bar:
        task = bar.add_task(description, total=None, remark="")

        def report(share: float, remark: str) -> None:
            bar.update(task, total=None if share < 0 else 1.0, completed=max(0.0, min(1.0, share)), remark=remark)

        yield report
