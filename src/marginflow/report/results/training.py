"""What a page tells of a training run."""

from __future__ import annotations

import math

from marginflow.report.chart import Chart
from marginflow.report.charts import lines
from marginflow.report.page import Section
from marginflow.report.results.summary import Record, Summary, number_under, numbers_under, object_under
from marginflow.report.table import Table, text_of

FACTS = {
    "status": "Ended because",
    "recipe": "Recipe",
    "steps": "Steps",
    "loss": "Loss",
    "least_margin": "Smallest margin",
    "normalised_margin": "Normalised margin",
    "separated": "All samples correct",
    "engine": "Engine",
    "seconds": "Seconds",
    "seed": "Seed",
}


def training(record: Record) -> Summary:
    """A run as `marginflow train` writes it, with or without its records."""
    separated = bool(record["separated"])
    power = number_under(record, "log_loss") / math.log(10.0)
    sentence = (
        f"Training ended after {text_of(record['steps'])} steps at loss 10^{power:.1f} "
        f"({record['status']}); {'every sample is' if separated else 'not every sample is'} classified correctly."
    )
    rows = tuple((heading, record.get(key)) for key, heading in FACTS.items() if key in record)
    table = Table(columns=("What", "Value"), rows=rows, caption="How the training ended")
    section = Section(heading="Training", content=(table, *_charts(record)))
    return Summary(sentence=sentence, tone="holds" if separated else "violated", sections=(section,))


def _charts(record: Record) -> tuple[Chart, ...]:
    if "records" not in record:
        return ()
    kept = object_under(record, "records")
    columns = {name: numbers_under(kept, name) for name in ("step", "log_loss", "normalised_margin")}
    rows: list[dict[str, object]] = [
        {"step": step + 1, "loss": log_loss / math.log(10.0), "margin": margin}
        for step, log_loss, margin in zip(*columns.values(), strict=True)
    ]
    titles = {"step": "Step, counted from 1"}
    return (
        lines(
            rows,
            x="step",
            y="loss",
            titles=titles | {"loss": "Loss, power of ten"},
            title="Loss",
            description="The exponent of ten of the loss against the step.",
            x_scale="log",
        ),
        lines(
            rows,
            x="step",
            y="margin",
            titles=titles | {"margin": "Normalised margin"},
            title="Normalised margin",
            description="The smallest margin divided by the power of ‖θ‖ with which the network grows, by step.",
            x_scale="log",
        ),
    )
