"""What the page of the demo says, from what the demo found."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from marginflow.certificates import DEFAULT_TOLERANCE, Certificate
from marginflow.cli.demo_edge import Edge, edge_section, relative
from marginflow.cli.demo_theory import Judgement, theory_section
from marginflow.data import Clusters, Dataset
from marginflow.flow import Run
from marginflow.generalisation import Estimate
from marginflow.limit import Limit
from marginflow.losses import as_power_of_ten
from marginflow.networks import TwoLayer
from marginflow.report import Chart, Page, Section, Table, dots, histogram, lines, text_of
from marginflow.report.references import references
from marginflow.report.results.certificates import CONDITIONS, PROBLEM

Row = dict[str, object]


@dataclass(frozen=True, eq=False, kw_only=True)
class Judged:
    """A network, its certificate, and what it does on fresh points.

    `flip_size` is the norm of the multiple of sum_q y^(q) mu^(q) that flips every correctly classified fresh point.
    """

    name: str
    network: TwoLayer
    certificate: Certificate
    error: Estimate
    flip_size: float
    seconds: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Findings:
    """Everything that the demo found.

    `path` holds (step, certificate) along the training; `judged` the trained network, then the KKT point; `limit` how
    the point was found; `edges` the KKT point and a robust network side by side for more and more clusters; `theorems`
    what the statements of FVBS23 say of this instance.
    """

    data: Dataset
    law: Clusters
    run: Run
    path: tuple[tuple[int, Certificate], ...]
    judged: tuple[Judged, Judged]
    limit: Limit
    edges: tuple[Edge, ...]
    theorems: tuple[Judgement, ...]
    parameters: Mapping[str, object]
    versions: Mapping[str, str]
    command: str


def demo_page(found: Findings) -> Page:
    """The page of the demo."""
    return Page(
        title="From training to a certified KKT point",
        verdict=_verdict(found),
        tone="holds" if found.judged[-1].certificate.holds() else "violated",
        sections=(
            _side_by_side(found),
            edge_section(found.edges),
            theory_section(found.theorems),
            _on_the_way(found),
            _where_the_samples_are(found),
            _how_far(found),
            _meaning(found),
        ),
        parameters=found.parameters,
        versions=found.versions,
        command=found.command,
        references=tuple(str(one) for one in references(("FVBS23", "LL20", "JT20", "C90", "YR03", "BPCPE11", "CP34"))),
    )


def _verdict(found: Findings) -> str:
    trained, point = found.judged
    residual = text_of(trained.certificate.total)
    begun = f"Training to loss {_power(found)} ended with relative KKT residual {residual}; the point it heads for "
    if point.certificate.holds():
        return (
            begun + f"was found in {point.seconds:.1f} seconds and is certified, with residual {_order(point)}. "
            f"{_double_edge(found)}"
        )
    return begun + f"was not found: the best residual is {_order(point)}."


def _order(judged: Judged) -> str:
    return f"{judged.certificate.total:.0e}"


def _power(found: Findings) -> str:
    """The loss at the end as a power of ten, with a raised exponent."""
    base, _, exponent = as_power_of_ten(found.run.log_loss, digits=0).partition("^")
    return base + exponent.translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _side_by_side(found: Findings) -> Section:
    def line(what: str, values: list[object]) -> tuple[object, ...]:
        return (what, *values)

    certificates = [judged.certificate for judged in found.judged]
    rows = (
        line("Stationarity residual", [c.stationarity for c in certificates]),
        line("Complementarity residual", [c.complementarity for c in certificates]),
        line("Feasibility residual", [c.feasibility for c in certificates]),
        line(f"KKT conditions hold at {text_of(DEFAULT_TOLERANCE)}", [c.holds() for c in certificates]),
        line("‖θ‖² at margin 1", [c.norm_squared for c in certificates]),
        line("Samples exactly on the margin", [int(c.margin_set.sum()) for c in certificates]),
        line("Neurons", [judged.network.width for judged in found.judged]),
        line("Neurons once parallel ones are merged", [_merged(judged) for judged in found.judged]),
        line("Pairs (sample, neuron) on a kink", [c.kink_report.count for c in certificates]),
        line(f"Wrong on {found.judged[0].error.trials} fresh points", [judged.error.errors for judged in found.judged]),
        line("Test error is at most (95 %, Clopper and Pearson)", [judged.error.upper for judged in found.judged]),
        line("Norm of the one step that flips them all", [judged.flip_size for judged in found.judged]),
        line("Seconds", [judged.seconds for judged in found.judged]),
    )
    residuals: list[Row] = [
        {"network": judged.name, "condition": condition, "residual": value}
        for judged in found.judged
        for condition, value in (
            ("Stationarity", judged.certificate.stationarity),
            ("Complementarity", judged.certificate.complementarity),
            ("Feasibility", judged.certificate.feasibility),
        )
    ]
    chart = dots(
        residuals,
        value="residual",
        category="condition",
        series="network",
        titles={"residual": "Relative residual", "condition": "Condition", "network": "Network"},
        title="How far from a KKT point",
        description=(
            "Residual of each KKT condition, on a logarithmic axis; farther left is better, exact zeros are not drawn."
        ),
        scale="log",
    )
    table = Table(
        columns=("", *(judged.name[0].upper() + judged.name[1:] for judged in found.judged)),
        rows=rows,
        caption="The same data, judged by the same certificate",
    )
    d = found.law.dimension
    return Section(
        heading="Side by side",
        paragraphs=(
            f"{found.data.n_samples} samples of {found.law.k} Gaussian clusters in dimension {d}, means of norm "
            f"√{d} ≈ {math.sqrt(d):.0f}. The certificate finds the best multipliers and Clarke weights by itself and "
            "knows nothing of how a network was made.",
        ),
        content=(PROBLEM, CONDITIONS, table, chart),
    )


def _merged(judged: Judged) -> int:
    return judged.network.compact(rtol=1e-9).width


def _how_far(found: Findings) -> Section:
    moved, limit = found.limit.moved, found.limit
    if moved is None:
        return Section(
            heading="How far the point is from training", paragraphs=("The point was found without training.",)
        )
    table = Table(
        columns=("What changed between the trained network and the KKT point", ""),
        rows=(
            ("1 − cosine between their outputs on fresh points", 1.0 - moved.cosine),
            ("‖θ‖² at margin 1 before", moved.norm_squared_before),
            ("‖θ‖² at margin 1 after", moved.norm_squared_after),
            ("Share of activation patterns that changed", moved.patterns_changed),
            ("Share of neurons that vanished", moved.neurons_vanished),
            ("Relative duality gap of the last convex problem", limit.gap),
        ),
        caption="How far the polish moved",
    )
    return Section(
        heading="How far the point is from training",
        paragraphs=(
            "There are many KKT points. This one was polished from the trained network by a convex-concave procedure "
            "and Newton's method, and these numbers say how far the polish went.",
            *(() if limit.exact else (limit.status,)),
        ),
        content=(table,),
    )


def _on_the_way(found: Findings) -> Section:
    trajectory = found.run.trajectory
    progress: list[Row] = [
        {"step": int(step), "log10_loss": float(log_loss) / math.log(10.0), "margin": float(margin)}
        for step, log_loss, margin in zip(
            trajectory.step, trajectory.log_loss, trajectory.normalised_margin, strict=True
        )
    ]
    residuals: list[Row] = [
        {"step": step, "residual": value, "condition": condition}
        for step, certificate in found.path
        for condition, value in (
            ("Training: stationarity", certificate.stationarity),
            ("Training: complementarity", certificate.complementarity),
            ("KKT point: both together", found.judged[-1].certificate.total),
        )
    ]
    loss = lines(
        progress,
        x="step",
        y="log10_loss",
        titles={"step": "Step", "log10_loss": "Loss, power of ten"},
        title="Loss",
        description=f"The exponent of ten of the loss against the step; it ends at {_power(found)}.",
    )
    margin = lines(
        progress,
        x="step",
        y="margin",
        titles={"step": "Step", "margin": "Normalised margin"},
        title="Normalised margin",
        description="The smallest margin divided by ‖θ‖², which gradient flow drives up, against the step.",
        x_scale="log",
    )
    residual = lines(
        residuals,
        x="step",
        y="residual",
        series="condition",
        titles={"step": "Step", "residual": "Relative residual", "condition": "Condition"},
        title="Residual on the way",
        description="The KKT residuals of the network on the way, from the step on at which it separates the data.",
        x_scale="log",
        y_scale="log",
    )
    return Section(
        heading="What training does",
        paragraphs=("The loss falls without end; the direction of the parameters settles far more slowly.",),
        content=(loss, residual, margin),
    )


def _where_the_samples_are(found: Findings) -> Section:
    rows: list[Row] = [
        {"margin": float(margin), "network": judged.name}
        for judged in found.judged
        for margin in judged.certificate.margins
    ]
    chart: Chart = histogram(
        rows,
        value="margin",
        series="network",
        titles={"margin": "Margin yᵢ N(xᵢ), smallest one scaled to 1", "network": "Network"},
        title="Margins",
        description="How many samples have which margin once the smallest margin is scaled to 1.",
    )
    return Section(heading="Margins of the samples", content=(chart,))


def _double_edge(found: Findings) -> str:
    """The two edges in one sentence, measured."""
    last, error = found.edges[-1], found.judged[-1].error
    thin, robust = last.sides
    return (
        f"It is wrong on {error.errors} of {error.trials} fresh points; and with {last.k} clusters a KKT point lets "
        f"them come {robust.median / thin.median:.2g} times nearer to its boundary than a robust network does."
    )


def _meaning(found: Findings) -> Section:
    last = found.judged[-1]
    root = math.sqrt(found.law.dimension)
    first, most = found.edges[0], found.edges[-1]
    return Section(
        heading="What it means",
        paragraphs=(
            f"One edge: the {last.name} is wrong on {last.error.errors} of {last.error.trials} fresh points, so its "
            f"error is at most {text_of(last.error.upper)} with 95 % confidence.",
            f"The other: one vector of norm {text_of(last.flip_size)} = {text_of(last.flip_size / root)} √d flips "
            f"every fresh point that it gets right. With {found.law.k} clusters that alone is no weakness: the robust "
            f"network with {first.k} clusters has its boundary {text_of(relative(first, 1))} √d away as well. With "
            f"{most.k} clusters it is one: {text_of(relative(most, 0))} √d for the KKT point against "
            f"{text_of(relative(most, 1))} √d for the robust network, on data that both classify.",
            "That is what was measured here, on one draw for each number of clusters. That it is so for every KKT "
            "point, with high probability over the draw, is what the theorems say where they apply.",
        ),
    )
