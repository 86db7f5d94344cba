"""A figure: what is computed in each cell, what is drawn of it, and whether it bears out the paper's claim."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, final

from marginflow.arrays import whole_number
from marginflow.display import Brief, Plotted, shortened
from marginflow.errors import InputError
from marginflow.experiments.cost import Cost, estimate, measured_in, recorded
from marginflow.experiments.outcome import Judge, Outcome
from marginflow.experiments.panel import Drawing, Panel, Row, Rows
from marginflow.experiments.running import ComputedCells, Show, computed, matching
from marginflow.experiments.soundness import judged_without, sound_judge, sound_panels
from marginflow.plain import Plain
from marginflow.sweeps import AbstractEngine, Store, Sweep, SweepTask

Size = Literal["smoke", "laptop", "paper"]
SIZES: tuple[Size, ...] = ("smoke", "laptop", "paper")


def product(**axes: Sequence[object]) -> tuple[dict[str, object], ...]:
    """Every combination of the values, the last axis fastest.

    Examples
    --------
    >>> from marginflow.experiments.frame import product
    >>> product(d=(10, 20), method=("recipe",))
    ({'d': 10, 'method': 'recipe'}, {'d': 20, 'method': 'recipe'})
    """
    return tuple(dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values()))


@final
@dataclass(frozen=True, kw_only=True)
class Grid(Brief):
    """The cells of one size and the number of seeds of each.

    Parameters
    ----------
    cells : tuple of mappings
        The parameters of each cell, plain values.
    seeds : int
        Seeds seed, seed + 1, ... of each cell.
    """

    cells: tuple[Mapping[str, object], ...]
    seeds: int = 1

    def __post_init__(self) -> None:
        whole_number("seeds", self.seeds)

    @classmethod
    def product(cls, *, seeds: int = 1, **axes: Sequence[object]) -> Grid:
        """The grid of every combination of the values, the last axis fastest."""
        return cls(cells=product(**axes), seeds=seeds)


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Figure(Brief):
    """One figure of a paper, or one of ours that a paper should have had.

    Parameters
    ----------
    id : str
        As in the catalogue of the papers, such as "VYS22/Fig1a"; ours end in ".ours".
    title : str
        What is drawn against what.
    claim : str
        What the paper says the figure shows (ours: what its theorem says), in one sentence.
    cell : SweepTask
        (parameters, seed) -> measurements; a pure module-level function, declared by `sweeps.task`.
    panels : function
        Rows to what is drawn.
    judge : function
        Rows to the outcome of the claim. Both are given the rows in the order of the grid, whatever the order in which
        they came, and without the runs that we lost, which are counted and named beside the outcome.
    sizes : mapping
        A `Grid` for each of "smoke", "laptop" and "paper".
    deviations : str
        Where the smaller sizes, or we, differ from the paper, and why.
    """

    id: str
    title: str
    claim: str
    cell: SweepTask[Any]
    panels: Drawing
    judge: Judge
    sizes: Mapping[Size, Grid]
    deviations: str = ""

    def __post_init__(self) -> None:
        words = {
            name: list(dict.fromkeys(cell[name] for size in SIZES for cell in self.sizes[size].cells if name in cell))
            for name in self.cell.fields
        }
        object.__setattr__(self, "panels", sound_panels(self.panels, words))
        object.__setattr__(self, "judge", sound_judge(self.judge, words))

    def __repr__(self) -> str:
        return shortened(f"Figure({self.id}: {self.title})")

    @property
    def published(self) -> bool:
        """Whether a paper has this figure."""
        return not self.id.endswith(".ours")

    def grid(self, size: str) -> Grid:
        """The cells of a size."""
        for known in SIZES:
            if size == known:
                return self.sizes[known]
        raise InputError(f"size is {size!r}; one of {', '.join(SIZES)} is expected.")

    def select(self, size: str, *, only: Mapping[str, object] | None = None, seeds: int | None = None) -> Grid:
        """The cells of a size that have these parameters, with another number of seeds if one is given."""
        grid = self.grid(size)
        chosen = tuple(matching(self.cell, grid.cells, only)) if only else grid.cells
        return Grid(cells=chosen, seeds=grid.seeds if seeds is None else seeds)

    def sweep(self, grid: Grid, seed: int = 0) -> Sweep:
        """The cells of a grid with seeds from the given one on."""
        return Sweep(task=self.cell, points=grid.cells, seeds=tuple(range(seed, seed + grid.seeds)), name=self.id)

    def cost(self, size: str | Grid, *, store: Store | None = None) -> Cost:
        """What all cells of a size will take, by cells of the store, or by those measured for the library."""
        grid = size if isinstance(size, Grid) else self.grid(size)
        return self._cost(grid.cells * grid.seeds, store)

    def _cost(self, cells: Sequence[Mapping[str, object]], store: Store | None) -> Cost:
        here = () if store is None else measured_in(store, self.cell.name)
        return estimate(self.cell, cells, here, otherwise=recorded(self.cell.name))

    def run(
        self,
        size: str = "laptop",
        *,
        seed: int = 0,
        seeds: int | None = None,
        only: Mapping[str, object] | None = None,
        store: str | Path | None = None,
        workers: int | None = None,
        engine: AbstractEngine | None = None,
        any_code: bool = False,
        only_stored: bool = False,
        progress: Show | None = None,
    ) -> FigureResult:
        """Compute every cell and judge the claim.

        Parameters
        ----------
        size : "smoke", "laptop" or "paper"
        seed : int
            The first seed; the others are counted up from here.
        seeds : int or None
            Their number; by default that of the size.
        only : mapping or None
            Only the cells with these parameters; the claim, which is about all of them, is undecided then at best.
        store : path or None
            An SQLite file that keeps finished cells; what is in it already is not computed again. Figures that show the
            same runs share them.
        only_stored : bool
            Compute nothing: what the store has is drawn and judged, and the rest is named with its cost.
        workers, engine, any_code, progress
            As in `sweeps.run`.

        Examples
        --------
        >>> from marginflow import experiments
        >>> found = experiments.figure("KYS23/Fig3").run(size="smoke")
        >>> found.outcome.borne_out
        True
        """
        grid = self.select(size, only=only, seeds=seeds)
        first = whole_number("seed", seed, minimum=0)
        sweep = self.sweep(grid, first)
        found = computed(
            sweep,
            store=store,
            workers=workers,
            engine=engine,
            any_code=any_code,
            only_stored=only_stored,
            progress=progress,
        )
        whole = len(self.grid(size).cells) * grid.seeds
        return self._result(found, whole, size, first, None if store is None else Store(store))

    def of_rows(self, rows: Rows, size: str, *, seed: int = 0) -> FigureResult:
        """What rows that were computed elsewhere show; what they lack of the grid is named with its cost.

        Parameters
        ----------
        rows : sequence of mappings
            Parameters, seed and measurements of each run.
        size : "smoke", "laptop" or "paper"
            The grid that they belong to.
        seed : int
            Its first seed.
        """
        grid, names = self.grid(size), self.cell.fields
        there = {tuple(row[name] for name in (*names, "seed")) for row in rows}
        sweep = self.sweep(grid, seed)
        missing = tuple(
            cell.parameters
            for cell in sweep.cells
            if (*(cell.parameters[name] for name in names), cell.seed) not in there
        )
        found = ComputedCells(rows=tuple(rows), seconds=0.0, missing=missing)
        return self._result(found, len(sweep.cells), size, seed, None)

    def _result(self, found: ComputedCells, total: int, size: str, seed: int, store: Store | None) -> FigureResult:
        gap = self._gap(found, total, store)
        panels = self.panels(found.rows) if found.rows else ()
        return FigureResult(
            figure=self,
            size=size,
            seed=seed,
            rows=found.rows,
            panels=tuple(replace(panel, description=f"{panel.description} {gap}".rstrip()) for panel in panels),
            outcome=judged_without(self.judge, found.rows, gap, gaps=bool(gap)),
            seconds=found.seconds,
            missing=len(found.missing),
        )

    def _gap(self, found: ComputedCells, total: int, store: Store | None) -> str:
        """What was left out by choice, and what is missing and would cost, in a sentence each."""
        chosen = len(found.rows) + len(found.missing)
        skipped = f"{total - chosen} of {total} runs of the grid were left out by choice." if chosen < total else ""
        if not found.missing:
            return skipped
        cost = self._cost(found.missing, store)
        amount = "" if cost.hours is None else f"{cost.hours:.0f}" if cost.hours >= 10 else f"{cost.hours:.2g}"
        hours = f"about {amount} hours on one core" if amount else "an unknown time"
        gaps = f"{len(found.missing)} of {total} runs of the grid were not made and are gaps; they would take {hours}."
        return f"{skipped} {gaps}".lstrip()


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class FigureResult(Plotted, Plain):
    """A figure computed: rows, what is drawn of them, the outcome of its claim, seconds, and how many are missing."""

    plain_names = (
        *("figure.id", "figure.title", "figure.claim"),
        *("size", "seed", "seconds", "missing", "outcome", "rows"),
    )

    figure: Figure
    size: str
    seed: int
    rows: tuple[Row, ...]
    panels: tuple[Panel, ...]
    outcome: Outcome
    seconds: float
    missing: int = 0

    def __repr__(self) -> str:
        return shortened(f"FigureResult({self.figure.id}, {self.size}, {len(self.rows)} rows: {self.outcome.sentence})")

    def __str__(self) -> str:
        return f"{self.figure.id}, {self.figure.title}\nClaim: {self.figure.claim}\n{self.outcome}"
