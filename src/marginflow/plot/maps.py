"""A map of a theorem in a notebook: where it does not apply, says nothing, or says something."""

from marginflow.plot.results import Showing
from marginflow.report.chart import Chart
from marginflow.report.results.summary import Fields
from marginflow.report.table import Table


def showing(atlas: Fields) -> Showing:
    """The sentence of the map, and its counts."""
    rows = tuple((word[0].upper() + word[1:], count) for word, count in atlas["counts"].items())
    return Showing(sentence=atlas["sentence"], table=Table(columns=("", "Cells"), rows=rows, caption="The cells"))


def charts(atlas: Fields) -> list[Chart]:
    """Cells over the first two letters, with the experiments of the paper that lie among them."""
    from marginflow.report.atlas_chart import atlas_chart

    numbers = [cell["numbers"] for cell in atlas["cells"]]
    reach = {name: sorted(found[name] for found in numbers) for name in atlas["axes"]}
    inside = [
        mark
        for mark in atlas["marks"]
        if all(found[0] <= mark["numbers"][name] <= found[-1] for name, found in reach.items())
    ]
    return [atlas_chart(atlas | {"marks": inside})] if atlas["axes"] else []
