"""What samples are worth, and how near unlearning comes to the truth, in a notebook."""

from itertools import count

from marginflow.plot.results import Showing
from marginflow.report.chart import Chart
from marginflow.report.charts import points
from marginflow.report.results.summary import Fields
from marginflow.report.table import Table


def showing(found: Fields) -> Showing:
    """The most harmful groups first; of unlearning those that are farthest from the truth."""
    if "values" in found:
        rows = tuple((g, *(found[name][g] for name in ("values", "margin_values", "shares"))) for g in found["rank"])
        harmful = sum(value < 0 for value in found["values"])
        sentence = (
            f"accuracy {100 * found['accuracy']:.3g} % with all samples; it is higher without {harmful} of "
            f"{len(rows)} groups, each left out alone."
        )
        names = ("Group", "Accuracy lost without it", "Mean margin lost", "Share of the multipliers")
        return Showing(sentence=sentence, table=Table(columns=names, rows=rows, caption="What each group is worth"))
    groups = zip(count(), found["kept"], found["unlearned"], strict=False)
    rows = tuple(sorted(groups, key=lambda row: (row[1] is None, -(row[1] or 0.0))))
    answer = "no group changes anything"
    if found["helped"] is not None:
        answer = f"the method came nearer for {100 * found['helped']:.0f} % of the groups that matter"
    columns = ("Group", "Doing nothing", "The method")
    return Showing(
        sentence=f"distances of outputs to those of the exactly retrained network; {answer}.",
        table=Table(columns=columns, rows=rows, caption="Sines of angles between outputs"),
    )


def charts(found: Fields) -> list[Chart]:
    """Each group as a point."""
    if "values" in found:
        names = {"share": "Share of the multipliers", "lost": "Mean margin lost without it", "group": "Group"}
        columns = (found["shares"], found["margin_values"])
        title = "What each group is worth"
    else:
        names = {"share": "Doing nothing", "lost": "The method", "group": "Group"}
        columns = (found["kept"], found["unlearned"])
        title = "Distance to the exactly retrained network"
    rows = [{"group": number, "share": x, "lost": y} for number, (x, y) in enumerate(zip(*columns, strict=True))]
    return [points(rows, x="share", y="lost", titles=names, title=title, description="Every group as a point.")]
