"""One vector for all samples, and steps along rays, in a notebook: how many samples flip at which length."""

import math
import statistics

from marginflow.plot.results import Showing, endless
from marginflow.report.chart import Chart
from marginflow.report.charts import lines, stairs
from marginflow.report.results.summary import Fields
from marginflow.report.table import Table


def showing(found: Fields) -> Showing:
    """What it takes to flip them, in a sentence and in numbers."""
    rows: tuple[tuple[object, ...], ...]
    if "first" in found:
        first = [endless(step) for step in found["first"]]
        rows = (
            ("Samples", len(first)),
            ("already flipped", sum(found["already"])),
            ("that flip somewhere", sum(map(math.isfinite, first))),
            ("First flip, median step", statistics.median(first)),
            ("largest", endless(found["largest_first"])),
            ("Step that flips all at once", endless(found["all_at_once"])),
            ("Norm of the direction", _span(found["norms"])),
        )
    else:
        hit = found["flipped" if "flipped" in found else "changed"]
        rows = (
            ("Shortest vector found", endless(found["upper"])),
            ("none is shorter than", found["lower"]),
            ("Samples that it flips", f"{sum(hit)} of {len(hit)}"),
            ("asked for", f"{100 * found['share']:g} %"),
        )
    return Showing(sentence=f"{found['sentence']}.", table=Table(columns=("", ""), rows=rows, caption="In numbers"))


def charts(found: Fields) -> list[Chart]:
    """The share of the samples against the length; of one vector of two classes its length alone is known."""
    if "flipped" in found or found.get("vector", ()) is None:
        return []
    if "first" in found:
        steps = list(zip(found["steps"][::2], found["shares"][1::2], strict=True))
        last = found["all_at_once"] if found["all_at_once"] is not None else max(step for step, _ in steps)
        steps = [(step, share) for step, share in steps if step <= 1.25 * last]
        across = "Step along the direction"
    else:
        steps, across = list(zip(found["sizes"], found["shares"], strict=True)), "Norm of the one vector"
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


def _span(norms: list[float]) -> str:
    low, high = f"{min(norms):.4g}", f"{max(norms):.4g}"
    return low if low == high else f"{low} to {high}"
