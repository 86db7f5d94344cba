"""What a page tells of a training run."""

import math
from collections.abc import Iterable, Sequence

from marginflow.report.charts import lines
from marginflow.report.content import Chart, Table, text_of
from marginflow.report.encodings import Row, Scale
from marginflow.report.page import Section
from marginflow.report.results.summary import Fields, Summary

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


def training(record: Fields) -> Summary:
    """A run as `marginflow train` writes it, with or without its records."""
    separated = bool(record["separated"])
    loss = _power_of_ten(record.number("log_loss"))
    sentence = (
        f"Training ended after {text_of(record['steps'])} steps at loss {loss} "
        f"({record['status']}); {'every sample is' if separated else 'not every sample is'} classified correctly."
    )
    facts = record | {"loss": loss}
    rows = tuple((heading, facts.get(key)) for key, heading in FACTS.items() if key in record)
    table = Table(columns=("What", "Value"), rows=rows, caption="How the training ended")
    section = Section.of("Training", *_charts(record), table)
    return Summary(sentence=sentence, tone="holds" if separated else "violated", sections=(section,))


def _power_of_ten(log_loss: float) -> str:
    """A loss that may be below every float, from its natural logarithm."""
    if not math.isfinite(log_loss):
        return "0" if log_loss < 0 else "–"
    exponent, rest = divmod(log_loss / math.log(10.0), 1.0)
    return f"{10.0**rest:.1f}e{exponent:+.0f}" if abs(exponent) > 3 else f"{math.exp(log_loss):.3g}"


def _charts(record: Fields) -> tuple[Chart, ...]:
    if "records" not in record:
        return ()
    kept = record.object("records")
    columns = {name: kept.numbers(name) for name in ("step", "log_loss", "normalised_margin")}
    steps = [int(step) + 1 for step in columns["step"]]
    margins: list[dict[str, object]] = [
        {"step": step, "margin": margin} for step, margin in zip(steps, columns["normalised_margin"], strict=True)
    ]
    described = "The smallest margin divided by the power of ‖θ‖ with which the network grows, by step."
    return (
        loss_chart(steps, columns["log_loss"]),
        by_step(margins, "margin", "Normalised margin", title="Normalised margin", description=described),
    )


def loss_chart(steps: Sequence[int], log_loss: Iterable[float]) -> Chart:
    """The loss on the way, which may be far below the smallest float."""
    rows: list[dict[str, object]] = [
        {"step": step, "loss": float(value) / math.log(10.0)} for step, value in zip(steps, log_loss, strict=True)
    ]
    described = "The exponent of ten of the loss against the step."
    return by_step(rows, "loss", "Loss, power of ten", title="Loss", description=described)


def by_step(
    rows: Sequence[Row],
    column: str,
    heading: str,
    *,
    title: str,
    description: str,
    series: str | None = None,
    y_scale: Scale = "linear",
) -> Chart:
    """A column against the step, counted from 1 on a logarithmic axis; a column of series is its own heading."""
    titles = {"step": "Step, counted from 1", column: heading} | ({series: series.capitalize()} if series else {})
    return lines(
        rows,
        x="step",
        y=column,
        series=series,
        titles=titles,
        title=title,
        description=description,
        x_scale="log",
        y_scale=y_scale,
    )
