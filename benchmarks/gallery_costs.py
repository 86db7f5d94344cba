"""What the rows at published sizes in docs/gallery took, and what their grids lack would take: nothing is computed.

python benchmarks/gallery_costs.py                 # core-hours by figure and method, as `--dry-run` estimates
python benchmarks/gallery_costs.py a.sqlite        # beside that, what the finished cells of stores did take

Rows keep no seconds, since they would differ from run to run; the hours are those of the cost model, by the cells in
`src/marginflow/experiments/recorded.csv`. A row that two figures share counts once.
"""

from __future__ import annotations

import argparse
import collections
import json

import msgspec
from gallery import GALLERY, read

from marginflow import experiments
from marginflow.experiments import Figure
from marginflow.experiments.cost import estimate, recorded
from marginflow.sweeps import Store

Cells = dict[str, dict[str, object]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stores", nargs="*")
    given = parser.parse_args()
    counted: Cells = {}
    total = 0.0
    for figure in experiments.figures():
        path = GALLERY / f"{figure.id.replace('/', '-')}-paper.csv"
        if not path.is_file():
            continue
        there = cells_of(figure, read(path))
        grid = figure.grid("paper")
        whole = cells_of(figure, [{**cell, "seed": seed} for cell in grid.cells for seed in range(grid.seeds)])
        for kind in sorted({str(cell["method"]) for cell in whole.values()}):
            done = {key: cell for key, cell in there.items() if cell["method"] == kind}
            own = hours(figure, {key: cell for key, cell in done.items() if key not in counted})
            left = {key: cell for key, cell in whole.items() if cell["method"] == kind and key not in there}
            counted |= done
            total += own
            print(
                f"{figure.id}, {kind}: {len(done)} rows, {own:.2f} core-hours of their own; {len(left)} missing, "
                f"{hours(figure, left):.1f} core-hours"
            )
    print(f"rows at published sizes: {len(counted)}, about {total:.1f} core-hours")
    for name in given.stores:
        seconds: collections.defaultdict[str, float] = collections.defaultdict(float)
        for line in Store(name).lines():
            if line.status == "done":
                seconds[f"{line.task}, {json.loads(line.parameters).get('method', '')}"] += line.seconds
        print(f"{name}: {', '.join(f'{kind} {spent / 3600:.2f} h' for kind, spent in seconds.items())}")


def cells_of(figure: Figure, rows: list[dict[str, object]]) -> Cells:
    """The parameters of rows with their defaults, by cell and seed."""
    found = {}
    for row in rows:
        given = {name: row[name] for name in figure.cell.fields if name in row}
        cell = msgspec.to_builtins(msgspec.convert(given, figure.cell.parameters))
        found[f"{figure.cell.name} {json.dumps(cell, sort_keys=True)} {row['seed']}"] = cell
    return found


def hours(figure: Figure, cells: Cells) -> float:
    """What the cells take by the cost model."""
    return estimate(figure.cell, cells.values(), recorded(figure.cell.name)).hours or 0.0


if __name__ == "__main__":
    main()
