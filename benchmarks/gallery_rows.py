"""Take finished cells of a store over into the rows of docs/gallery: nothing is computed.

python benchmarks/gallery_rows.py cells.sqlite     # then `python benchmarks/gallery.py` draws the pictures again
python benchmarks/gallery_rows.py cells.sqlite --begin KYS23/Fig1R     # also for a figure that has no rows there yet
python benchmarks/gallery_rows.py cells.sqlite --replace     # rows that are there already too, say of an older solver

A cell goes to every figure of the gallery whose published grid has it, a row of one figure also to the others. A KKT
point that is not exact is left out.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
from pathlib import Path

import msgspec
from gallery import GALLERY, read

from marginflow import experiments
from marginflow.experiments import Figure
from marginflow.sweeps import Store

Row = dict[str, object]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("stores", nargs="*")
    parser.add_argument("--begin", nargs="*", default=[])
    parser.add_argument("--replace", action="store_true")
    given = parser.parse_args()
    lines = [line for name in given.stores for line in Store(name).lines() if line.status == "done"]
    found = [(line.task, {**json.loads(line.parameters), "seed": line.seed, **json.loads(line.row)}) for line in lines]
    for figure in experiments.figures():
        path = GALLERY / f"{figure.id.replace('/', '-')}-paper.csv"
        found += [(figure.cell.name, dict(row)) for row in read(path)] if path.is_file() else []
    for figure in experiments.figures():
        path = GALLERY / f"{figure.id.replace('/', '-')}-paper.csv"
        if not path.is_file() and figure.id not in given.begin:
            continue
        grid = {_text(figure, cell): number for number, cell in enumerate(figure.grid("paper").cells)}
        new: dict[tuple[str, object], Row] = {}  # a cell of a store comes before a row that is there already
        for task, row in found:
            if task != figure.cell.name:
                continue
            cell = _text(figure, {name: row[name] for name in figure.cell.fields})
            if cell not in grid:
                continue
            if row.get("method") == "KKT point" and not row["exact"]:
                print(f"{figure.id}: not exact and left out: {cell}, seed {row['seed']}")
            else:
                new.setdefault((cell, row["seed"]), row)
        _extend(figure, path, [*new.values()], grid, replace=given.replace)


def _text(figure: Figure, cell: object) -> str:
    """The parameters of a cell with their defaults, as one text."""
    return json.dumps(msgspec.to_builtins(msgspec.convert(cell, figure.cell.parameters)), sort_keys=True)


def _extend(figure: Figure, path: Path, new: list[Row], grid: dict[str, int], *, replace: bool) -> None:
    """Write the rows in the order of the grid, seeds fastest."""
    names = (*figure.cell.fields, "seed")
    old = [dict(row) for row in read(path)] if path.is_file() else []
    by_cell = {tuple(row[name] for name in names): row for row in old}
    for row in new:
        cell = tuple(row[name] for name in names)
        if replace or cell not in by_cell:
            by_cell[cell] = row
    rows = list(by_cell.values())
    if not rows:
        return
    rows.sort(key=lambda row: (grid[_text(figure, {name: row[name] for name in names[:-1]})], row["seed"]))
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n", restval="")
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(text.getvalue(), encoding="utf-8")
    print(f"{figure.id}: {len(old)} rows, {len(rows) - len(old)} more")


if __name__ == "__main__":
    main()
