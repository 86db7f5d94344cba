"""Ours: KYS23 in one dimension, the clean test error against the noise for local minima and the global optimum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Literal

import msgspec
import numpy as np

from marginflow.certificates import certify
from marginflow.data import Dataset, Interval
from marginflow.experiments.frame import Figure, Grid, product
from marginflow.experiments.kys23.perturbations import through
from marginflow.experiments.kys23.profile import curves
from marginflow.experiments.outcome import Finding, Mean, Outcome, column, means, number, values, where
from marginflow.experiments.panel import Panel, Row
from marginflow.generalisation import line_error, nearest_neighbour_line_error
from marginflow.limit import line
from marginflow.networks import TwoLayer
from marginflow.sweeps import task

Kind = Literal["global optimum", "local minimum", "local minimum, right-facing start"]
KINDS: tuple[Kind, ...] = ("global optimum", "local minimum", "local minimum, right-facing start")


class LineRun(msgspec.Struct, frozen=True, kw_only=True):
    """m uniform points on [0, 1], round(p m) of them with the label -1, and which KKT point is taken."""

    noise: Annotated[float, msgspec.Meta(gt=0, le=0.5)]
    kind: Kind
    samples: Annotated[int, msgspec.Meta(ge=3)] = 50


@task("kys23-line")
def line_run(parameters: LineRun, seed: int) -> dict[str, object]:
    """Solve, certify, and measure the error exactly, beside that of one nearest neighbour and two functions of labels.

    The functions are those of the sandwich behind Theorem 3.2: half of the gaps after the middle of +, -, + from below,
    and everything but the gaps between two + from above.
    """
    data = Interval(p=parameters.noise, count="exact").sample(parameters.samples, seed=seed)
    best = line.max_margin(data)
    if parameters.kind == "global optimum":
        point = best
    elif parameters.kind == "local minimum":
        point = line.local_minimum(data, seed=seed)
    else:
        point = line.local_minimum(data, start=_right_facing(data))
    certificate = certify(
        point.network, data, multipliers=(point.multipliers, point.multipliers[:, None] * point.clarke)
    )
    gaps, y = np.diff(data.X[:, 0]), data.y
    spike = (y[:-2] > 0) & (y[1:-1] < 0) & (y[2:] > 0)
    return {
        "error": line_error(point.network).value,
        "nearest_neighbour": nearest_neighbour_line_error(data.X, data.y).value,
        "below": 0.5 * float(gaps[1:][spike].sum()),
        "above": 1.0 - float(gaps[(y[:-1] > 0) & (y[1:] > 0)].sum()),
        "residual": certificate.total,
        "norm_over_best": point.objective / best.lower,
    }


def _right_facing(data: Dataset) -> TwoLayer:
    """The network that is linear between the samples, at its labels there, with neurons that all face right."""
    x = data.X[:, 0]
    return through([float(x[0]) - 0.05, *x.tolist()], [0.0, *data.y.tolist()])


def panels(rows: Sequence[Row]) -> tuple[Panel, ...]:
    """Error against p, and how far from the global optimum the points are."""
    named = [{**row, "method": "exact"} for row in rows]
    same_data = where(named, kind=named[0]["kind"])
    nearest = [{**row, "kind": "one nearest neighbour", "error": row["nearest_neighbour"]} for row in same_data]
    drawn = curves([*named, *nearest], "Clean test error on the line", series="kind", heading="KKT point")
    drawn = replace(drawn, variant="curve")  # some curves coincide: dashes show all of them
    norms = Panel(
        title="‖θ‖² relative to the global optimum",
        description="‖θ‖² over the proven optimum for the same samples, against the noise; mean and 95 % interval.",
        rows=means(rows, ("noise", "kind"), "norm_over_best"),
        x="noise",
        y="norm_over_best",
        low="low",
        high="high",
        series="kind",
        titles={
            "noise": "Noise p",
            "norm_over_best": "‖θ‖² / optimum",
            "kind": "KKT point",
            "low": "95 % from",
            "high": "95 % to",
            "seeds": "Seeds",
        },
    )
    return drawn, norms


def judge(rows: Sequence[Row]) -> Outcome:
    """The error is linear in p, within the sandwich of Theorem 3.2; for the global optimum it is that of 1-NN."""
    findings = [
        Finding(name="largest KKT residual", value=max(column(rows, "residual")), relation="<=", bound=1e-8),
    ]
    for kind in values(rows, "kind"):
        own = where(rows, kind=kind)
        ratio = Mean.of(number(row, "error") / number(row, "noise") for row in own)
        findings += [
            Finding.about(f"L / p, {kind}", ratio, ">=", 0.5),
            Finding.about(f"L / p, {kind}", ratio, "<=", 2.0),
            Finding(
                name=f"least L minus the bound from below, {kind}",
                value=min(number(row, "error") - number(row, "below") for row in own),
                relation=">=",
                bound=-1e-12,
            ),
            Finding(
                name=f"largest L minus the bound from above, {kind}",
                value=max(number(row, "error") - number(row, "above") for row in own),
                relation="<=",
                bound=1e-12,
            ),
        ]
    best = where(rows, kind="global optimum")
    apart = max((abs(number(row, "error") - number(row, "nearest_neighbour")) for row in best), default=0.0)
    findings.append(Finding(name="|L − L of 1-NN| at the global optimum", value=apart, relation="<=", bound=1e-9))
    others = [row for row in rows if row["kind"] != "global optimum"]
    differ = sum(abs(number(row, "error") - number(row, "nearest_neighbour")) > 1e-9 for row in others)
    better = sum(number(row, "norm_over_best") > 1.0 + 1e-9 for row in others)
    return Outcome(
        findings=tuple(findings),
        remarks=(
            f"{better} of {len(others)} local minima are not global, and {differ} have another error than 1-NN. A "
            "local minimum that is not global, with a neuron of zero weights added, is a KKT point that is no local "
            "minimum, with the same error.",
        ),
    )


def hours(parameters: Mapping[str, object]) -> float:
    """Growing a little faster than the square of the samples; measured."""
    run = msgspec.convert(dict(parameters), LineRun)
    return (0.1 + 2e-4 * run.samples**2) / 3600


FIGURE = Figure(
    id="KYS23/Line.ours",
    title="clean test error against the noise on the line, local minima and global optimum",
    claim=(
        "At every local minimum of the max-margin problem on the line the clean test error is proportional to p "
        "(Theorem 3.2), and at the global optimum it is that of one nearest neighbour."
    ),
    cell=line_run,
    panels=panels,
    judge=judge,
    sizes={
        "smoke": Grid(cells=product(kind=KINDS, noise=(0.2, 0.4), samples=(12,)), seeds=2),
        "laptop": Grid(cells=product(kind=KINDS, noise=(0.05, 0.1, 0.2, 0.3, 0.4, 0.5), samples=(50,)), seeds=10),
        "paper": Grid(cells=product(kind=KINDS, noise=(0.05, 0.1, 0.2, 0.3, 0.4, 0.5), samples=(200,)), seeds=50),
    },
    hours=hours,
    deviations="The paper has no figure in one dimension. All errors are exact lengths, all points certified.",
)
