"""The rows behind the gallery's published sizes, read by the tests of its captions."""

from __future__ import annotations

import csv
import functools
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
Row = dict[str, str]


class Captions(list[Callable[[], str]]):
    """Functions that compute a passage of the page from the rows."""

    def add(self, make: Callable[[], str]) -> Callable[[], str]:
        self.append(make)
        return make


@functools.cache
def rows(name: str) -> list[Row]:
    with (GALLERY / f"{name}-paper.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def column(name: str, wanted: str, **conditions: object) -> list[float]:
    """A column of the rows with these parameters."""
    return [float(row[wanted]) for row in rows(name) if _fits(row, conditions)]


def _fits(row: Row, conditions: dict[str, object]) -> bool:
    return all(
        row[key] == value if isinstance(value, str) else float(row[key]) == float(str(value))
        for key, value in conditions.items()
    )


def on_the_same_draws(name: str, wanted: str, **conditions: object) -> tuple[float, float]:
    """Means of a column for the recipe and for the KKT points of the same data."""
    pairs = []
    for row in rows(name):
        if row["method"] == "recipe" and _fits(row, conditions):
            same = column(name, wanted, method="KKT point", seed=float(row["seed"]), **conditions)
            pairs += [(float(row[wanted]), value) for value in same]
    trained, limits = zip(*pairs, strict=True)
    return statistics.mean(trained), statistics.mean(limits)


def counted(n: int) -> str:
    return f"{n:,}" if n >= 10_000 else f"{n}"


def listed(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}"


def stretches(dimensions: Sequence[int], step: int = 100) -> str:
    """Numbers in words: 100, ..., 600, 800 and 900."""
    runs: list[list[int]] = []
    for d in dimensions:
        if runs and d == runs[-1][-1] + step:
            runs[-1].append(d)
        else:
            runs.append([d])
    words = [f"{run[0]}, ..., {run[-1]}" if len(run) > 2 else " and ".join(map(str, run)) for run in runs]
    return ", ".join(words)


EXACT: dict[str, object] = {"method": "KKT point"}


GRIDS = {"VYS22-Fig1a": 250, "VYS22-Fig1b": 350, "KYS23-Fig1L": 600, "KYS23-Fig1R": 600, "KYS23-Fig2L": 600}


def run_of_the_grid(name: str) -> str:
    exact, trained = (len(column(name, "seed", method=method)) for method in ("KKT point", "recipe"))
    return f"**{exact} of {GRIDS[name]} KKT points, {trained} of {GRIDS[name]} networks of the recipe**"


def page() -> str:
    """The text of the gallery, every stretch of white space a blank."""
    return " ".join((GALLERY / "README.md").read_text(encoding="utf-8").split())
