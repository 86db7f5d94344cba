"""What samples are worth, and how near unlearning comes to the truth, in a notebook."""

import numpy as np

from marginflow.influences import Unlearning, Valuation
from marginflow.plot.results import Showing
from marginflow.report.chart import Chart
from marginflow.report.charts import points
from marginflow.report.table import Table


def showing(found: Valuation | Unlearning) -> Showing:
    """The most harmful groups first; of unlearning those that are farthest from the truth."""
    if isinstance(found, Valuation):
        rows: tuple[tuple[object, ...], ...] = tuple(
            (int(g), float(found.values[g]), float(found.margin_values[g]), float(found.shares[g]))
            for g in found.rank()
        )
        harmful = int((found.values < 0).sum())
        sentence = (
            f"accuracy {100 * found.accuracy:.3g} % with all samples; it is higher without {harmful} of "
            f"{len(rows)} groups, each left out alone."
        )
        names = ("Group", "Accuracy lost without it", "Mean margin lost", "Share of the multipliers")
        return Showing(sentence=sentence, table=Table(columns=names, rows=rows, caption="What each group is worth"))
    order = np.argsort(-found.kept, kind="stable")
    rows = tuple((int(g), float(found.kept[g]), float(found.unlearned[g])) for g in order)
    nearer = f"the method came nearer for {100 * found.helped:.0f} % of the groups that matter"
    answer = "no group changes anything" if np.isnan(found.helped) else nearer
    columns = ("Group", "Doing nothing", "The method")
    return Showing(
        sentence=f"distances of outputs to those of the exactly retrained network; {answer}.",
        table=Table(columns=columns, rows=rows, caption="Sines of angles between outputs"),
    )


def charts(found: Valuation | Unlearning) -> list[Chart]:
    """Each group as a point."""
    if isinstance(found, Valuation):
        names = {"share": "Share of the multipliers", "lost": "Mean margin lost without it", "group": "Group"}
        columns = (found.shares, found.margin_values)
        title = "What each group is worth"
    else:
        names = {"share": "Doing nothing", "lost": "The method", "group": "Group"}
        columns = (found.kept, found.unlearned)
        title = "Distance to the exactly retrained network"
    rows = [
        {"group": number, "share": float(x), "lost": float(y)}
        for number, (x, y) in enumerate(zip(*columns, strict=True))
    ]
    return [points(rows, x="share", y="lost", titles=names, title=title, description="Every group as a point.")]
