"""Which cells of the figures take how long: rows of stores become the measured cells that come with the library.

`python benchmarks/record_costs.py a.sqlite b.sqlite` writes `src/marginflow/experiments/recorded.csv`: for each task
and kind of cell at most twelve, from the smallest to the largest, and the one with the most memory; the median of
those with equal parameters. Cells that are recorded already stay among them unless the stores have newer ones; with
`--afresh` they go where the stores have cells of their kind, say because a solver has become faster.
`--check` writes nothing: it says how the estimates of the cells of the stores compare with what they took, by the
other cells that are recorded.
"""

from __future__ import annotations

import argparse
import csv
import json
import statistics
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from marginflow import experiments
from marginflow.experiments.cost import MeasuredCell, estimate, recorded
from marginflow.sweeps import Store, SweepTask, tasks

TARGET = Path(__file__).parents[1] / "src" / "marginflow" / "experiments" / "recorded.csv"
KEPT = 12
Groups = dict[tuple[str, str], list[tuple[float, str, MeasuredCell]]]


def main() -> None:
    """Read the stores, and write the table or compare it with them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stores", nargs="+")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--afresh", action="store_true")
    given = parser.parse_args()
    known = {figure.cell.name: figure.cell for figure in experiments.figures()} | tasks()
    there = {_name(known[cell.task], cell): cell for task in known for cell in recorded(task)}
    new = measured(given.stores, known)
    if given.afresh:
        kinds = {_kind(known, cell) for cell in new.values()}
        there = {name: cell for name, cell in there.items() if _kind(known, cell) not in kinds}
    if given.check:
        check(known, there | new if given.afresh else there, new)
    else:
        write(grouped(known, there | new))


def measured(stores: list[str], known: dict[str, SweepTask[Any]]) -> dict[str, MeasuredCell]:
    """The finished cells of the stores: of those that differ in the seed only, the median and the largest memory."""
    found: dict[str, list[MeasuredCell]] = {}
    for name in stores:
        for line in Store(name).lines():
            if line.status == "done" and line.task in known:
                parameters = json.loads(line.parameters)
                cell = MeasuredCell(task=line.task, parameters=parameters, seconds=line.seconds, memory=line.memory)
                found.setdefault(_name(known[line.task], cell), []).append(cell)
    return {
        name: MeasuredCell(
            task=cells[0].task,
            parameters=cells[0].parameters,
            seconds=statistics.median(cell.seconds for cell in cells),
            memory=max((cell.memory for cell in cells if cell.memory is not None), default=None),
        )
        for name, cells in found.items()
    }


def grouped(known: dict[str, SweepTask[Any]], cells: dict[str, MeasuredCell]) -> Groups:
    """The cells by task and kind, with their operations."""
    groups: Groups = {}
    for name, cell in cells.items():
        parameters: Any = msgspec.convert(dict(cell.parameters), known[cell.task].parameters)
        groups.setdefault(_kind(known, cell), []).append((getattr(parameters, "operations", 1.0), name, cell))
    return groups


def _kind(known: dict[str, SweepTask[Any]], cell: MeasuredCell) -> tuple[str, str]:
    """The task of a cell, and which cells have the same cost for an operation."""
    parameters: Any = msgspec.convert(dict(cell.parameters), known[cell.task].parameters)
    return cell.task, getattr(parameters, "cost_kind", "")


def write(groups: Groups) -> None:
    """Write the table."""
    with TARGET.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["task", "parameters", "seconds", "memory"])
        for (task, _), entries in sorted(groups.items()):
            entries.sort(key=lambda entry: entry[:2])
            sizes = np.log([max(1.0, operations) for operations, _, _ in entries])
            chosen = {int(np.argmin(abs(sizes - size))) for size in np.linspace(sizes[0], sizes[-1], KEPT)}
            chosen.add(max(range(len(entries)), key=lambda index: entries[index][2].memory or 0))
            for index in sorted(chosen):
                cell = entries[index][2]
                memory = "" if cell.memory is None else cell.memory
                writer.writerow([task, json.dumps(dict(cell.parameters)), f"{cell.seconds:.4g}", memory])


def check(known: dict[str, SweepTask[Any]], there: dict[str, MeasuredCell], new: dict[str, MeasuredCell]) -> None:
    """Say of each kind how many times too long or too short the estimates are, without the very cells among them."""
    for (task, kind), entries in sorted(grouped(known, new).items()):
        ratios = []
        for _, name, cell in entries:
            others = [other for key, other in there.items() if other.task == task and key != name]
            hours = estimate(known[task], [cell.parameters], others).hours
            if hours is not None:
                ratios.append(3600 * hours / cell.seconds)
        if ratios:
            good = sum(0.5 <= ratio <= 2.0 for ratio in ratios)
            print(
                f"{task}, {kind}: {good} of {len(ratios)} estimates within a factor of 2 of what was measured, from "
                f"{min(ratios):.2g} to {max(ratios):.2g} times that, median {statistics.median(ratios):.2g}"
            )


def _name(task: SweepTask[Any], cell: MeasuredCell) -> str:
    """Task and parameters with their defaults, as one text."""
    parameters = msgspec.to_builtins(msgspec.convert(dict(cell.parameters), task.parameters))
    return f"{cell.task} {json.dumps(parameters, sort_keys=True)}"


if __name__ == "__main__":
    main()
