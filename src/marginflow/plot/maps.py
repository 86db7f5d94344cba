"""A map of a theorem in a notebook: where it does not apply, says nothing, or says something."""

from dataclasses import replace

from marginflow.plot.results import Showing
from marginflow.report.chart import Chart
from marginflow.report.table import Table
from marginflow.theory.atlas import Atlas


def showing(atlas: Atlas) -> Showing:
    """The sentence of the map, and its counts."""
    rows = tuple((word[0].upper() + word[1:], count) for word, count in atlas.counts().items())
    return Showing(sentence=atlas.sentence(), table=Table(columns=("", "Cells"), rows=rows, caption="The cells"))


def charts(atlas: Atlas) -> list[Chart]:
    """Cells over the first two letters, with the experiments of the paper that lie among them."""
    from marginflow.report.atlas_chart import atlas_chart

    reach = {
        name: (min(cell.numbers[name] for cell in atlas.cells), max(cell.numbers[name] for cell in atlas.cells))
        for name in atlas.axes
    }
    inside = [
        mark for mark in atlas.marks if all(low <= mark.numbers[name] <= high for name, (low, high) in reach.items())
    ]
    return [atlas_chart(replace(atlas, marks=tuple(inside)))] if atlas.axes else []
