"""A training run in a notebook: its loss, its margins and, given the data, how near a KKT point it came."""

import math

from marginflow.plot.results import Showing
from marginflow.report.content import Chart
from marginflow.report.results.summary import Fields
from marginflow.report.results.training import by_step, loss_chart


def run(found: Fields) -> Showing:
    """The end of the run."""
    log_loss = found["log_loss"]
    loss = None if log_loss is None else math.exp(log_loss) if log_loss > -700 else f"10^{log_loss / math.log(10):.1f}"
    rows: tuple[tuple[object, ...], ...] = (
        ("Ended because", found["status"]),
        ("Steps", found["steps"]),
        ("Loss", loss),
        ("Smallest margin / ‖θ‖²", found["margins"]["smallest"][-1]),
        ("All samples correct", found["separated"]),
        ("Seconds", found["seconds"]),
    )
    correct = "every sample is correct" if found["separated"] else "not every sample is correct"
    return Showing.of(f"{found['status']} after {found['steps']} steps; {correct}.", rows, caption="The end of the run")


def run_charts(found: Fields) -> list[Chart]:
    """Loss and margins; the residual of the KKT conditions too where the run was looked at with its data."""
    kept = found.object("records")
    steps = [step + 1 for step in kept["step"]]
    margins: list[dict[str, object]] = [
        {"step": step, "size": value, "margin": name}
        for name, values in found["margins"].items()
        for step, value in zip(steps, values, strict=True)
    ]
    described = "Smallest, median and largest margin, divided by the power of ‖θ‖ with which they grow."
    heading = "Margin / ‖θ‖ to the degree"
    drawn = [
        loss_chart(steps, kept.numbers("log_loss")),
        by_step(margins, "size", heading, series="margin", title="Margins", description=described),
    ]
    if "residuals" in found:
        rows = [row | {"step": row["step"] + 1} for row in found.objects("residuals")]
        described = "Residual of the KKT conditions with the best multipliers, from where the data are separated on."
        title, heading = "Distance from a KKT point", "Relative KKT residual"
        drawn.append(by_step(rows, "residual", heading, title=title, description=described, y_scale="log"))
    return drawn
