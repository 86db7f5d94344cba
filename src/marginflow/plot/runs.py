"""A training run in a notebook: its loss, its margins and, given the data, how near a KKT point it came."""

import math
from typing import Any

import numpy as np

from marginflow.certificates import certify
from marginflow.data import Dataset
from marginflow.flow import Run
from marginflow.networks import TwoLayer
from marginflow.plot.results import Showing
from marginflow.report.chart import Chart
from marginflow.report.results.training import by_step, loss_chart
from marginflow.report.table import Table


def showing(run: Run) -> Showing:
    """The end of the run."""
    rows: tuple[tuple[object, ...], ...] = (
        ("Ended because", run.status),
        ("Steps", run.steps),
        ("Loss", math.exp(run.log_loss) if run.log_loss > -700 else f"10^{run.log_loss / math.log(10):.1f}"),
        ("Smallest margin / ‖θ‖²", float(run.trajectory.normalised_margin[-1])),
        ("All samples correct", run.separated),
        ("Seconds", run.seconds),
    )
    table = Table(columns=("", ""), rows=rows, caption="The end of the run")
    correct = "every sample is correct" if run.separated else "not every sample is correct"
    return Showing(sentence=f"{run.status} after {run.steps} steps; {correct}.", table=table)


def charts(run: Run, *, data: Dataset | None = None) -> list[Chart]:
    """Loss and margins; the residual of the KKT conditions too if `data` is given and networks were recorded.

    `train(..., recording=Recording(networks=True))` records them; otherwise the residual is that of the end.
    """
    path = run.trajectory
    steps = [int(step) + 1 for step in path.step]
    drawn = [
        loss_chart(steps, path.log_loss),
        by_step(
            _margins(run, steps),
            "size",
            "Margin / ‖θ‖ to the degree",
            series="margin",
            title="Margins",
            description="Smallest, median and largest margin, divided by the power of ‖θ‖ with which they grow.",
        ),
    ]
    if data is not None:
        drawn.append(_residuals(run, data, steps))
    return drawn


def _margins(run: Run, steps: list[int]) -> list[dict[str, object]]:
    path = run.trajectory
    with np.errstate(divide="ignore", invalid="ignore"):
        growth = path.least_margin / path.normalised_margin  # ||theta|| to the degree
    kinds: dict[str, Any] = {"smallest": path.normalised_margin}
    if path.margins is not None:
        kinds["median"] = np.median(path.margins, axis=1) / growth
        kinds["largest"] = path.margins.max(axis=1) / growth
    return [
        {"step": step, "size": float(value), "margin": name}
        for name, values in kinds.items()
        for step, value in zip(steps, values, strict=True)
    ]


def _residuals(run: Run, data: Dataset, steps: list[int]) -> Chart:
    networks: list[tuple[int, Any]] = [(steps[-1], run.network)]
    if run.trajectory.networks is not None:
        networks = list(zip(steps, run.trajectory.networks, strict=True))
    rows: list[dict[str, object]] = []
    for step, network in networks:
        if isinstance(network, TwoLayer):
            found = certify(network, data)
            if found.status != "does not separate":
                rows.append({"step": step, "residual": found.total})
    described = "Residual of the KKT conditions with the best multipliers, from where the data are separated on."
    title = "Distance from a KKT point"
    return by_step(rows, "residual", "Relative KKT residual", title=title, description=described, y_scale="log")
