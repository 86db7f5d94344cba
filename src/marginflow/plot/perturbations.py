"""One vector for all samples, and steps along rays, in a notebook: how many samples flip at which length."""

import math

import numpy as np

from marginflow.plot.results import Showing
from marginflow.report.chart import Chart
from marginflow.report.charts import lines, stairs
from marginflow.report.table import Table
from marginflow.robustness.class_universal import UniversalChange
from marginflow.robustness.rays import RaySteps
from marginflow.robustness.universal import Universal

Perturbation = Universal | UniversalChange | RaySteps


def showing(found: Perturbation) -> Showing:
    """What it takes to flip them, in a sentence and in numbers."""
    rows: tuple[tuple[object, ...], ...]
    if isinstance(found, RaySteps):
        rows = (
            ("Samples", found.first.size),
            ("already flipped", int(found.already.sum())),
            ("that flip somewhere", int(np.isfinite(found.first).sum())),
            ("First flip, median step", float(np.median(found.first))),
            ("largest", found.largest_first),
            ("Step that flips all at once", found.all_at_once),
            ("Norm of the direction", _span(found.norms)),
        )
    else:
        hit = found.flipped if isinstance(found, Universal) else found.changed
        rows = (
            ("Shortest vector found", found.upper),
            ("none is shorter than", found.lower),
            ("Samples that it flips", f"{int(hit.sum())} of {hit.size}"),
            ("asked for", f"{100 * found.share:g} %"),
        )
    return Showing(sentence=f"{found.sentence}.", table=Table(columns=("", ""), rows=rows, caption="In numbers"))


def charts(found: Perturbation) -> list[Chart]:
    """The share of the samples against the length; of one vector of two classes its length alone is known."""
    if isinstance(found, Universal) or (isinstance(found, UniversalChange) and found.vector is None):
        return []
    if isinstance(found, RaySteps):
        steps = list(zip(found.steps[::2].tolist(), found.shares[1::2].tolist(), strict=True))
        last = found.all_at_once if math.isfinite(found.all_at_once) else max(step for step, _ in steps)
        steps = [(step, share) for step, share in steps if step <= 1.25 * last]
        across = "Step along the direction"
    else:
        steps, across = list(zip(found.sizes.tolist(), found.shares.tolist(), strict=True)), "Norm of the one vector"
    if not steps:
        return []
    return [
        lines(
            [{"size": size, "share": share} for size, share in stairs(steps)],
            x="size",
            y="share",
            titles={"size": across, "share": "Share of samples flipped"},
            title="How many flip at once",
            description="The share of the samples that are flipped at once, with every breakpoint.",
        )
    ]


def _span(norms: np.ndarray) -> str:
    low, high = f"{norms.min():.4g}", f"{norms.max():.4g}"
    return low if low == high else f"{low} to {high}"
