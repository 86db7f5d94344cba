"""What the rows at published sizes in docs/gallery took, and what their grids lack would take: nothing is computed.

python benchmarks/gallery_costs.py                 # the lines of the table in docs/gallery, as `--dry-run` estimates
python benchmarks/gallery_costs.py --write         # put them into docs/gallery/README.md
python benchmarks/gallery_costs.py a.sqlite        # beside that, what the finished cells of stores did take

Rows keep no seconds, since they would differ from run to run; the hours are those of the cost model, by the cells in
`src/marginflow/experiments/recorded.csv`. A row that two figures share counts once.
"""

from __future__ import annotations

import argparse
import collections
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from gallery import GALLERY, read

from marginflow import experiments
from marginflow.experiments import Figure
from marginflow.experiments.cost import estimate, recorded
from marginflow.storage import write_text
from marginflow.sweeps import Store

Cells = dict[str, dict[str, object]]
METHODS = {"KKT point": "KKT points", "recipe": "recipe"}


@dataclass(frozen=True, kw_only=True)
class Line:
    """The rows of one figure and method: how many are its own, their hours, what is missing, and its hours."""

    figure: str
    method: str
    rows: int
    spent: float
    missing: int
    left: float

    @property
    def name(self) -> str:
        """What the line begins with."""
        return f"{self.figure}, {METHODS[self.method]}"

    def __str__(self) -> str:
        gap = f"{self.missing} | {rounded(self.left)}" if self.missing else "0 | –"
        return f"| {self.name} | {self.rows} | {self.spent:.1f} | {gap} |"


def by_figure() -> list[Line]:
    """A line for each figure that has rows at published sizes, and method."""
    counted: Cells = {}
    lines = []
    for figure in experiments.figures():
        path = GALLERY / f"{figure.id.replace('/', '-')}-paper.csv"
        if not path.is_file():
            continue
        grid, rows = figure.grid("paper"), read(path)
        there = cells_of(figure, rows)
        whole = cells_of(figure, [{**cell, "seed": seed} for cell in grid.cells for seed in range(grid.seeds)])
        for method in sorted({str(cell["method"]) for cell in whole.values()}):
            own = {key: cell for key, cell in there.items() if cell["method"] == method and key not in counted}
            gap = {key: cell for key, cell in whole.items() if cell["method"] == method and key not in there}
            counted |= own
            spent, left = hours(figure, own), hours(figure, gap)
            lines += [Line(figure=figure.id, method=method, rows=len(own), spent=spent, missing=len(gap), left=left)]
    return lines


def summary(lines: Sequence[Line]) -> str:
    """How many rows there are, and their hours."""
    hours = sum(line.spent for line in lines)
    return f"All {sum(line.rows for line in lines)} rows take about {hours:.0f} core-hours"


def write(lines: Sequence[Line]) -> None:
    """Put the table, and the sentence above it, in the place of those that the page has."""
    page = GALLERY / "README.md"
    text = re.sub(r"All \d+ rows take about \d+ core-hours", summary(lines), page.read_text(encoding="utf-8"))
    for line in lines:
        text = re.sub(rf"^\| {re.escape(line.name)} \|.*$", str(line), text, flags=re.MULTILINE)
    write_text(page, text)


def cells_of(figure: Figure, rows: Sequence[dict[str, object]]) -> Cells:
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


def rounded(amount: float) -> str:
    """Two digits: an estimate is within a factor of two at best."""
    return f"{float(f'{amount:.2g}'):g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stores", nargs="*")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    lines = by_figure()
    print(*lines, sep="\n")
    print(summary(lines))
    if given.write:
        write(lines)
    for name in given.stores:
        seconds: collections.defaultdict[str, float] = collections.defaultdict(float)
        for line in Store(name).lines():
            if line.status == "done":
                seconds[f"{line.task}, {json.loads(line.parameters).get('method', '')}"] += line.seconds
        print(f"{name}: {', '.join(f'{kind} {spent / 3600:.2f} h' for kind, spent in seconds.items())}")


if __name__ == "__main__":
    main()
