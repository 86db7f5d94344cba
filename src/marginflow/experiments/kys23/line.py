"""Ours: KYS23 in one dimension, the clean test error against the noise at KKT points, local minima and the optimum."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Annotated, Literal

import msgspec

from marginflow.certificates import certify, minimality
from marginflow.data import Dataset, Interval
from marginflow.experiments.frame import Figure, Grid
from marginflow.experiments.kys23.profile import curves
from marginflow.experiments.kys23.proof_cases import through
from marginflow.experiments.outcome import (
    PAPER,
    ROUNDING,
    Finding,
    Mean,
    Outcome,
    column,
    draws,
    grouped,
    least,
    most,
    number,
    ours,
    where,
)
from marginflow.experiments.panel import Panel, Row, Rows, over_seeds
from marginflow.generalisation import line_error, nearest_neighbour_line_error
from marginflow.limit import line
from marginflow.networks import TwoLayer
from marginflow.sweeps import task
from marginflow.theory.kys23.thm_3_2.sandwich import lower_core, upper_core

Kind = Literal["global optimum", "local minimum", "local minimum, right-facing start", "KKT point, no local minimum"]
MINIMA: tuple[Kind, ...] = ("global optimum", "local minimum", "local minimum, right-facing start")
SADDLE: Kind = "KKT point, no local minimum"
KINDS: tuple[Kind, ...] = (*MINIMA, SADDLE)
# So many KKT points that are not local minima are looked at for each sample; the first is the one that is drawn.
_LOOKED_AT = 5
_LINEAR = ours('"proportional to p" has constants that the theorem does not state')
_CALLED = ours("what is drawn must be what it is called")


class LineRun(msgspec.Struct, frozen=True, kw_only=True):
    """m uniform points on [0, 1], round(p m) of them with the label -1, and which KKT point is taken."""

    noise: Annotated[float, msgspec.Meta(gt=0, le=0.5)]
    kind: Kind
    samples: Annotated[int, msgspec.Meta(ge=3)] = 50

    @property
    def operations(self) -> float:
        """Growing a little faster than the square of the samples, for saddle points much faster."""
        power = 3.3 if self.kind == SADDLE else 2.0
        return math.pow(self.samples, power)

    @property
    def cost_kind(self) -> str:
        """Which cells have the same cost for an operation."""
        return self.kind


@task("kys23-line", version=2)
def line_run(parameters: LineRun, seed: int) -> dict[str, object]:
    """Solve, certify, and measure the error exactly, beside that of one nearest neighbour and two functions of labels.

    The functions are those of the sandwich behind Theorem 3.2: half of the gaps after the middle of +, -, + from below,
    and everything but the gaps between two + from above. Whether the point is a local minimum is decided for every
    kind; where only local minima are found, the row says so.
    """
    data = Interval(p=parameters.noise, count="exact").sample(parameters.samples, seed=seed)
    best = line.max_margin(data)
    points = _points(parameters.kind, data, best, seed)
    x, y = data.X[:, 0], data.y
    return {
        "nearest_neighbour": nearest_neighbour_line_error(data.X, data.y).value,
        "below": lower_core(x, y),
        "above": upper_core(x, y),
        **_measured(points, best),
    }


def _points(kind: Kind, data: Dataset, best: line.LineLimit, seed: int) -> list[line.LineLimit]:
    """The KKT points of a kind that are looked at: one minimum, or the first few that are none."""
    if kind == "global optimum":
        return [best]
    if kind == "local minimum":
        return [line.local_minimum(data, seed=seed)]
    if kind == SADDLE:
        return list(islice(line.saddle_points(data, seed=seed), _LOOKED_AT))
    return [line.local_minimum(data, start=_right_facing(data))]


def _measured(points: Sequence[line.LineLimit], best: line.LineLimit) -> dict[str, object]:
    """Of the first point everything; of all of them the largest residual, the number and the range of errors."""
    judged = []
    for point in points:
        weights = point.multipliers[:, None] * point.clarke
        certificate = certify(point.network, point.data, multipliers=(point.multipliers, weights))
        judged.append(minimality(point.network, point.data, certificate=certificate))
    errors = [line_error(point.network).value for point in points]
    descents = [found.descent.decrease for found in judged if found.descent is not None]
    return {
        "found": bool(points),
        "points": len(points),
        "verdict": "; ".join(dict.fromkeys(found.verdict for found in judged)) or None,
        "descents": len(descents),
        "error": errors[0] if points else None,
        "least_error": min(errors, default=None),
        "largest_error": max(errors, default=None),
        "residual": max((found.certificate.total for found in judged), default=None),
        "norm_over_best": points[0].objective / best.lower if points else None,
    }


def _right_facing(data: Dataset) -> TwoLayer:
    """The network that is linear between the samples, at its labels there, with neurons that all face right."""
    x = data.X[:, 0]
    return through([float(x[0]) - 0.05, *x.tolist()], [0.0, *data.y.tolist()])


def panels(rows: Rows) -> tuple[Panel, ...]:
    """Error against p, and how far from the global optimum the points are."""
    named = [{**row, "method": "exact"} for row in rows]
    same_data = where(named, kind=named[0]["kind"])
    nearest = [{**row, "kind": "one nearest neighbour", "error": row["nearest_neighbour"]} for row in same_data]
    drawn = curves([*named, *nearest], "Clean test error on the line", series="kind", heading="KKT point")
    drawn = replace(drawn, variant="curve")  # some curves coincide: dashes show all of them
    norms = over_seeds(
        rows,
        x="noise",
        y="norm_over_best",
        series="kind",
        least=1.0,  # nothing is below the optimum, though an interval of a mean may be
        titles={"noise": "Noise p", "norm_over_best": "‖θ‖² / optimum", "kind": "KKT point"},
        title="‖θ‖² relative to the global optimum",
        description="‖θ‖² over the proven optimum for the same samples, against the noise; mean and 95 % interval.",
    )
    return drawn, norms


def judge(rows: Rows) -> Outcome:
    """The error is linear in p, within the sandwich of Theorem 3.2; for the global optimum it is that of 1-NN.

    The theorem is about local minima. KKT points that are none must be what they are called; their errors are remarked
    upon and decide nothing.
    """
    found = where(rows, found=True)
    findings = [
        Finding.about("largest KKT residual", most(column(found, "residual")), "<=", 1e-8, basis=ROUNDING),
        Finding.about("share of points that are what they are called", _rightly(found), "==", 1.0, basis=_CALLED),
    ]
    minima = [row for row in rows if row["kind"] != SADDLE]
    for kind, own in grouped(minima, "kind"):
        ratio = _over_noise(own)
        below = least(number(row, "error") - number(row, "below") for row in own)
        above = most(number(row, "error") - number(row, "above") for row in own)
        findings += [
            Finding.about(f"L / p, {kind}", ratio, ">=", 0.5, basis=_LINEAR, draws=draws(own), least=0.0),
            Finding.about(f"L / p, {kind}", ratio, "<=", 2.0, basis=_LINEAR, draws=draws(own), least=0.0),
            Finding.about(f"least L minus the bound from below, {kind}", below, ">=", -1e-12, basis=PAPER),
            Finding.about(f"largest L minus the bound from above, {kind}", above, "<=", 1e-12, basis=PAPER),
        ]
    best = where(minima, kind="global optimum")
    apart = most([0.0, *(_apart(row, "error") for row in best)])
    findings.append(Finding.about("|L − L of 1-NN| at the global optimum", apart, "<=", 1e-9, basis=PAPER))
    others = [row for row in minima if row["kind"] != "global optimum"]
    better = sum(number(row, "norm_over_best") > 1.0 + 1e-9 for row in others)
    unlike = sum(_apart(row, "error") > 1e-9 for row in others)
    remark = f"{better} of {len(others)} local minima are not global, and {unlike} have another error than 1-NN."
    return Outcome(findings=tuple(findings), remarks=(remark, *_saddles(where(rows, kind=SADDLE))))


def _rightly(rows: Rows) -> float:
    """The share of rows whose points are minima, or are not and have a certified descent each, as the kind says."""
    right = [
        row["verdict"] == "not a local minimum" and row["descents"] == row["points"]
        if row["kind"] == SADDLE
        else row["verdict"] == "local minimum"
        for row in rows
    ]
    return sum(right) / len(right)


def _over_noise(rows: Rows) -> Mean:
    return Mean.of(number(row, "error") / number(row, "noise") for row in rows)


def _apart(row: Row, *names: str) -> float:
    """How far errors are from that of one nearest neighbour, at most."""
    return max(abs(number(row, name) - number(row, "nearest_neighbour")) for name in names)


def _saddles(rows: Rows) -> list[str]:
    """What the numbers say about KKT points that are not local minima, of which Theorem 3.2 does not speak."""
    found = where(rows, found=True)
    if not found:
        return [f"Every KKT point that was found is a local minimum; samples searched: {len(rows)}."]
    ratio = _over_noise(found)
    outside = sum(
        number(row, "least_error") < number(row, "below") - 1e-12
        or number(row, "largest_error") > number(row, "above") + 1e-12
        for row in found
    )
    shares = [
        number(row, name) / number(row, "nearest_neighbour")
        for row in found
        for name in ("least_error", "largest_error")
        if number(row, "nearest_neighbour") > 0
    ]
    between = f"between {min(shares):.4g} and {max(shares):.4g} times that" if shares else "beside an error of 0"
    unlike = sum(_apart(row, "least_error", "largest_error") > 1e-9 for row in found)
    return [
        f"KKT points that are not local minima, with a certified descent each, were found for {len(found)} of "
        f"{len(rows)} samples, {sum(int(number(row, 'points')) for row in found)} points in all. At the first one of "
        f"each sample, L / p is {ratio.value:.4g} [{ratio.low:.4g}, {ratio.high:.4g}].",
        f"For {unlike} of these samples some such point has another error than 1-NN: {between}. "
        f"The bounds behind Theorem 3.2, which speaks of local minima only, are left for {outside}.",
    ]


FIGURE = Figure(
    id="KYS23/Line.ours",
    title="clean test error against the noise on the line: KKT points, local minima and global optimum",
    claim=(
        "At every local minimum of the max-margin problem on the line the clean test error is proportional to p "
        "(Theorem 3.2), and at the global optimum it is that of one nearest neighbour."
    ),
    cell=line_run,
    panels=panels,
    judge=judge,
    sizes={
        "smoke": Grid.product(kind=KINDS, noise=(0.2, 0.4), samples=(9,), seeds=2),
        "laptop": Grid.product(kind=KINDS, noise=(0.05, 0.1, 0.2, 0.3, 0.4, 0.5), samples=(50,), seeds=10),
        "paper": Grid.product(kind=KINDS, noise=(0.05, 0.1, 0.2, 0.3, 0.4, 0.5), samples=(200,), seeds=50),
    },
    deviations=(
        "The paper has no figure in one dimension. All errors are exact lengths, all points certified; of every point "
        "it is decided whether it is a local minimum. KKT points that are not local minima are beyond the claim and "
        "only drawn."
    ),
)
