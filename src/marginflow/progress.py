"""A progress bar for people who call the library themselves: in a notebook a line that moves, elsewhere on stderr."""

from __future__ import annotations

import dataclasses
import html
import importlib
import sys
import time
from typing import Any, Final

from marginflow.display import brief_text

_PAUSE: Final = 0.1  # seconds between two looks
_WIDTH: Final = 78
_TELLING: Final = ("stage", "step", "log_loss", "iteration", "flips", "live_neurons", "objective", "computed", "failed")


class ProgressBar:
    """What every `progress` argument of the library accepts.

    The library calls it with (share, remark), with (done, total), or with a record of its own that may have the fields
    `share`, `total` and `seconds`. It draws at most ten times a second.

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
        return "  ".join(part for part in (self.title, known, remark) if part)[:_WIDTH]

    def _draw(self, line: str, share: float) -> None:
        if not _in_notebook():
            if sys.stderr.isatty():
                end = "\n" if share >= 1.0 else ""
                print(f"\r{line:<{_WIDTH}}", end=end, file=sys.stderr, flush=True)
            return
        display: Any = importlib.import_module("IPython.display")
        value = f' value="{min(1.0, share):.4f}"' if share >= 0 else ""
        content = display.HTML(f'<progress max="1"{value}></progress> <code>{html.escape(line)}</code>')
        if self._handle is None:
            self._handle = display.display(content, display_id=True)
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
        words = [f"{name.replace('_', ' ')} {brief_text(fields[name])}" for name in _TELLING if name in fields]
        return share, ", ".join(words).replace("'", "")
    return -1.0, " ".join(map(str, now))


def _in_notebook() -> bool:
    """Whether a kernel of Jupyter runs this."""
    kernel = sys.modules.get("IPython")
    shell = kernel.get_ipython() if kernel is not None else None
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"
