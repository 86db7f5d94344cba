"""Draw the pictures that docs/gallery shows again from the rows that are committed there: nothing is computed.

python benchmarks/gallery.py                       # the SVG files of the gallery, each for light and dark pages
python benchmarks/gallery.py --trial FOLDER        # every picture at both widths, light and dark, as PNG and PDF
python benchmarks/gallery.py --only KYS23/Fig1L --size paper    # those of one figure, of one size
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

from marginflow import experiments
from marginflow.cli.provenance import versions
from marginflow.experiments import FigureResult
from marginflow.plain import to_plain
from marginflow.report import write
from marginflow.report.modes import follow_reader
from marginflow.report.panels import chart_of
from marginflow.report.results import NamedResult, page_of_results
from marginflow.report.static import draw, svg_text
from marginflow.storage import write_text

GALLERY = Path(__file__).parents[1] / "docs" / "gallery"
# Figures that are drawn from the rows of another.
SHARED = {"VYS22/Fig2a": "VYS22-Fig1a", "VYS22/Fig2b": "VYS22-Fig1a"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trial", type=Path, default=None)
    parser.add_argument("--only", nargs="*", default=[figure.id for figure in experiments.figures()])
    parser.add_argument("--size", nargs="*", default=["laptop", "paper"])
    given = parser.parse_args()
    trial = given.trial
    shown = (GALLERY / "README.md").read_text(encoding="utf-8")
    for figure in map(experiments.figure, given.only):
        name = figure.id.replace("/", "-")
        for size in given.size:
            source = GALLERY / f"{SHARED.get(figure.id, name)}-{size}.csv"
            if not source.is_file():
                continue
            result = figure.of_rows(read(source), size)
            if trial is None and f"({name}-{size}.html)" in shown:
                print(page(result, GALLERY / f"{name}-{size}.html"))
            charts = [chart_of(panel) for panel in result.panels]
            charts = [chart for chart in charts if chart.numbers.rows]
            for number, chart in enumerate(charts, 1):
                stem = f"{name}-{size}" + (f"-{number}" if len(charts) > 1 else "")
                if f"({stem}.svg)" not in shown:
                    continue
                if trial is None:
                    text = follow_reader(svg_text(chart, width="page"))
                    print(write_text(GALLERY / f"{stem}.svg", text))
                    continue
                trial.mkdir(parents=True, exist_ok=True)
                for width in ("column", "page"):
                    for mode in ("light", "dark"):
                        draw(chart, trial / f"{stem}-{width}-{mode}.png", width=width, mode=mode)
                    draw(chart, trial / f"{stem}-{width}.pdf", width=width)


def page(result: FigureResult, path: Path) -> Path:
    """The page of a figure, with pictures that do not answer to the mouse."""
    id, title = result.figure.id, result.figure.title
    content = result.to_dict() | {"panels": result.panels, "deviations": result.figure.deviations}
    made = page_of_results(
        [NamedResult(name=id, content=to_plain(content))],
        title=f"{id}: {title}",
        command=f"marginflow figure {id} --size {result.size}",
        versions=versions(),
    )
    return write(made, path, interactive=False)


def read(path: Path) -> list[dict[str, object]]:
    with path.open(newline="", encoding="utf-8") as file:
        return [{key: value(cell) for key, cell in row.items()} for row in csv.DictReader(file)]


def value(cell: str) -> object:
    if cell in ("", "True", "False"):
        return {"": None, "True": True, "False": False}[cell]
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            continue
    return cell


if __name__ == "__main__":
    main()
