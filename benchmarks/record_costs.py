"""Which cells of the figures take how long: rows of stores become the measured cells that come with the library.

`python benchmarks/record_costs.py a.sqlite b.sqlite` writes `src/marginflow/experiments/recorded.csv`: for each task
and kind of cell at most eight, from the smallest to the largest, the median of those with equal parameters.
"""

from __future__ import annotations

import csv
import json
import statistics
import sys
from pathlib import Path

import msgspec

from marginflow import experiments
from marginflow.sweeps import Store, tasks

TARGET = Path(__file__).parents[1] / "src" / "marginflow" / "experiments" / "recorded.csv"
KEPT = 8


def main(stores: list[str]) -> None:
    """Read the stores and write the table."""
    known = {figure.cell.name: figure.cell for figure in experiments.figures()} | tasks()
    cells: dict[tuple[str, str], list[tuple[float, int | None]]] = {}
    for name in stores:
        for line in Store(name).lines():
            if line.status == "done":
                cells.setdefault((line.task, line.parameters), []).append((line.seconds, line.memory))
    groups: dict[tuple[str, str], list[tuple[float, str, float, int | None]]] = {}
    for (task, text), measured in cells.items():
        if task not in known:
            continue
        parameters = msgspec.convert(json.loads(text), known[task].parameters)
        seconds = statistics.median(value for value, _ in measured)
        memory = max((value for _, value in measured if value is not None), default=None)
        entry = (getattr(parameters, "operations", 1.0), text, seconds, memory)
        groups.setdefault((task, getattr(parameters, "cost_kind", "")), []).append(entry)
    with TARGET.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["task", "parameters", "seconds", "memory"])
        for (task, _), entries in sorted(groups.items()):
            entries.sort()
            chosen = {round(index * (len(entries) - 1) / (KEPT - 1)) for index in range(KEPT)}
            for index in sorted(chosen):
                _, text, seconds, memory = entries[index]
                writer.writerow([task, text, f"{seconds:.4g}", "" if memory is None else memory])


if __name__ == "__main__":
    main(sys.argv[1:])
