"""Stores of sweeps as a page: once, or again and again while other processes write to them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import marginflow as mf
from marginflow.cli.engines import sweep_of
from marginflow.cli.output import note
from marginflow.errors import InputError
from marginflow.storage import write_text

if TYPE_CHECKING:
    from marginflow.report.page import Page
    from marginflow.sweeps import Sight

SUFFIXES: Final = (".sqlite", ".toml")


def are_stores(paths: Sequence[Path]) -> bool:
    """Whether the files are stores or the spec of a sweep; an `InputError` if only some of them are."""
    of_sweeps = [path for path in paths if path.suffix.lower() in SUFFIXES]
    if of_sweeps and len(of_sweeps) < len(paths):
        raise InputError(
            "Stores (.sqlite) and the spec of a sweep (.toml) have a page of their own; name nothing else."
        )
    return bool(of_sweeps)


def page_of_stores(paths: Sequence[Path], make: Callable[..., Page], out: Path, *, every: float | None) -> Page | None:
    """The page of what is stored now, made by `sight_page`.

    With `every` it is first written at this interval in seconds, until the sweep has ended; None after Ctrl-C.
    """
    from marginflow.report.live import live_text

    watched = _Watched(paths)
    sight = watched.look()
    if every is None:
        return make(sight)
    note(f"{out} is written every {every:g} s until the sweep has ended; Ctrl-C ends this and not the sweep.")
    try:
        while not sight.ended:
            write_text(out, live_text(make(sight, seconds_left=watched.seconds_left(sight)), finished=False))
            time.sleep(every)
            sight = watched.look()
    except KeyboardInterrupt:
        write_text(out, live_text(make(watched.look()), finished=True))
        return None
    return make(sight)


class _Watched:
    """The stores of a sweep, with its spec if there is one, and how many cells there were when they were first seen."""

    def __init__(self, paths: Sequence[Path]) -> None:
        specs = [path for path in paths if path.suffix.lower() == ".toml"]
        self._stores = [path for path in paths if path.suffix.lower() == ".sqlite"]
        if len(specs) > 1:
            raise InputError("One spec, .toml, is expected.")
        if not specs:
            specs = sorted({spec for path in self._stores if (spec := _beside(path)).is_file()})[:2]
        self._spec = specs[0] if len(specs) == 1 else None
        self._sweep = None if self._spec is None else sweep_of(self._spec)
        if self._sweep is None:
            mf.experiments.figures()  # puts their tasks into the registry
        for path in self._stores:
            if self._sweep is None and not path.is_file():
                raise InputError(f"There is no store {path}.")
        self._begun: tuple[float, int] | None = None

    def look(self) -> Sight:
        """What is there by now; without named stores all that `sweep` makes of the spec, also those of shards."""
        paths = self._stores
        if not paths and self._spec is not None:
            whole = self._spec.with_suffix(".sqlite")
            shards = sorted(whole.parent.glob(f"{whole.stem}.shard-*-of-*.sqlite"))
            paths = [whole, *shards] if whole.is_file() or not shards else shards
        return mf.sweeps.look([mf.sweeps.Store(path) for path in paths], self._sweep)

    def seconds_left(self, sight: Sight) -> float | None:
        """At the pace since this was first asked; None before a cell has come."""
        now, count = time.monotonic(), len(sight.records)
        self._begun = (now, count) if self._begun is None else self._begun
        begun, before = self._begun
        if not sight.missing or count == before:
            return None
        return (now - begun) / (count - before) * sight.missing


def _beside(store: Path) -> Path:
    """The spec whose store this would be."""
    return store.with_name(f"{store.stem.partition('.shard-')[0]}.toml")
