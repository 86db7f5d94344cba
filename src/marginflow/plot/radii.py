"""An exact radius in a notebook: its bounds, and how they met."""

from marginflow.plot.results import Showing, endless
from marginflow.report.chart import Chart
from marginflow.report.charts import lines
from marginflow.report.results.summary import Fields
from marginflow.report.table import Table


def showing(radius: Fields) -> Showing:
    """Bounds, status and work."""
    lower, upper, status = endless(radius["lower"]), endless(radius["upper"]), radius["status"]
    rows: list[tuple[object, ...]] = [
        ("Distance at least", lower),
        ("Distance at most", upper),
        ("Status", status),
        ("Regions looked at", radius["nodes"]),
        ("Seconds", radius["seconds"]),
    ]
    if radius["rival"] is not None:
        rows.append(("Class on the other side", radius["rival"]))
    table = Table(columns=("", ""), rows=tuple(rows), caption="The radius")
    return Showing(sentence=f"distance to the decision boundary {upper:.6g}, {status}.", table=table)


def charts(radius: Fields) -> list[Chart]:
    """Both bounds against time, as steps: each holds until the next one is found, and at first it is at least 0."""
    rows: list[dict[str, object]] = [{"seconds": 0.0, "bound": 0.0, "which": "at least"}] if radius["trace"] else []
    for number, name in ((1, "at least"), (2, "at most")):
        last = 0.0 if number == 1 else None
        for entry in radius["trace"]:
            value = entry[number]
            if value is None:
                continue
            if last is not None:
                rows.append({"seconds": entry[0], "bound": last, "which": name})
            rows.append({"seconds": entry[0], "bound": value, "which": name})
            last = value
        if last is not None:
            rows.append({"seconds": radius["seconds"], "bound": last, "which": name})
    if not rows:
        return []
    return [
        lines(
            rows,
            x="seconds",
            y="bound",
            series="which",
            titles={"seconds": "Seconds", "bound": "Distance to the boundary", "which": "The distance is"},
            title="How the bounds met",
            description="Lower and upper bound of the distance against the time of the search.",
        )
    ]
