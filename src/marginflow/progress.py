"""A progress bar for people who call the library themselves: in a notebook a line that moves, elsewhere on stderr."""

import contextlib
import dataclasses
import html
import importlib
import math
import sys
import time
import weakref
from typing import Any, Final

from marginflow.display import brief_text, duration

_PAUSE: Final = 0.1  # seconds between two looks
_WIDTH: Final = 78
_TELLING: Final = ("tries", "applied", "iteration", "flips", "live_neurons", "objective", "computed", "failed")


class ProgressBar:
    """What every `progress` argument of the library accepts.

    The library calls it with (share, remark), with (done, total), or with a record of its own that may have the fields
    `share`, `total` and `seconds`. It draws at most ten times a second, and its end when nobody holds it any more:
    after the call that it was handed to, or in a notebook at the end of the cell.

    Parameters
    ----------
    title : str
        What is being done.

    Examples
    --------
    >>> from marginflow.progress import ProgressBar
    >>> bar = ProgressBar("Radii")
    >>> bar.line(3, 12)
    'Radii  25 %  3 of 12'
    """

    def __init__(self, title: str = "") -> None:
        self.title = title
        self._began = time.monotonic()
        self._drawn = -1.0
        self._handle: Any = None
        self._open = False

    def __repr__(self) -> str:
        return f"ProgressBar({self.title!r})"

    def __call__(self, *now: Any) -> None:
        """Draw what there is to say, unless that was done a moment ago."""
        moment = time.monotonic()
        share, _ = _read(now)
        if moment - self._drawn >= _PAUSE or share >= 1.0:
            self._drawn = moment
            self._draw(self.line(*now), share)

    def line(self, *now: Any) -> str:
        """The line that is drawn."""
        share, remark = _read(now)
        known = f"{100 * min(1.0, share):.0f} %" if share >= 0 else f"{time.monotonic() - self._began:.0f} s"
        return _cut("  ".join(part for part in (self.title, known, remark) if part))

    def finish(self) -> None:
        """Draw the end: the whole bar and the time that it took. Whoever keeps a bar may call this."""
        if self._open:
            self._open = False
            took = f"done in {duration(time.monotonic() - self._began)}"
            self._draw("  ".join(part for part in (self.title, took) if part), 1.0)

    def __del__(self) -> None:
        with contextlib.suppress(Exception):  # a bar must not disturb the end of a program
            self.finish()

    def _draw(self, line: str, share: float) -> None:
        self._open = share < 1.0
        if not _in_notebook():
            if sys.stderr.isatty():
                end = "" if self._open else "\n"
                print(f"\r{line:<{_WIDTH}}", end=end, file=sys.stderr, flush=True)
            return
        display: Any = importlib.import_module("IPython.display")
        value = f' value="{min(1.0, share):.4f}"' if share >= 0 else ""
        content = display.HTML(f'<progress max="1"{value}></progress> <code>{html.escape(line)}</code>')
        if self._handle is None:
            self._handle = display.display(content, display_id=True)
            _at_the_end_of_the_cell(self)
        else:
            self._handle.update(content)


def progress_bar(title: str = "") -> ProgressBar:
    """A bar to hand to a `progress` argument: `mf.kkt_point(data, width=200, progress=mf.progress_bar("KKT point"))`.

    Parameters
    ----------
    title : str
        What is being done.

    Returns
    -------
    ProgressBar
    """
    return ProgressBar(title)


def _read(now: tuple[Any, ...]) -> tuple[float, str]:
    """The share done, below zero where nobody knows it, and what there is to say."""
    if len(now) == 2 and isinstance(now[1], str):
        return float(now[0]), now[1]
    if len(now) == 2:
        done, total = now
        return done / max(1, total), f"{done} of {total}"
    if len(now) == 1 and dataclasses.is_dataclass(now[0]) and not isinstance(now[0], type):
        fields = {field.name: getattr(now[0], field.name) for field in dataclasses.fields(now[0])}
        share = float(fields["share"]) if "share" in fields else -1.0
        if "total" in fields and "computed" in fields:
            share = (fields.get("stored", 0) + fields["computed"]) / max(1, fields["total"])
        words = [str(fields["stage"])] if "stage" in fields else []
        if "log_loss" in fields:
            words = [f"step {fields.get('step')}", f"loss 10^{float(fields['log_loss']) / math.log(10):.1f}"]
        words += [f"{name.replace('_', ' ')} {brief_text(fields[name])}" for name in _TELLING if name in fields]
        return share, ", ".join(words)
    return -1.0, " ".join(map(str, now))


def _cut(line: str) -> str:
    """The line, or as many of its parts as fit."""
    while len(line) > _WIDTH and ", " in line:
        line = line.rpartition(", ")[0]
    return line[:_WIDTH]


def _at_the_end_of_the_cell(bar: ProgressBar) -> None:
    """Let the kernel finish a bar that its cell has kept."""
    kernel: Any = sys.modules["IPython"]
    events, kept = kernel.get_ipython().events, weakref.ref(bar)

    def finish(*_: object) -> None:
        events.unregister("post_run_cell", finish)
        if (still := kept()) is not None:
            still.finish()

    events.register("post_run_cell", finish)


def _in_notebook() -> bool:
    """Whether a kernel of Jupyter runs this."""
    kernel = sys.modules.get("IPython")
    shell = kernel.get_ipython() if kernel is not None else None
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"
