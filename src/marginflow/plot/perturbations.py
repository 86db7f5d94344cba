"""How far samples are from flipping, in a notebook: an exact radius, one vector for all of them, steps along rays."""

import math
import statistics

from marginflow.plot.results import Showing, endless
from marginflow.report.charts import lines, stairs
from marginflow.report.content import Chart
from marginflow.report.results.summary import Fields


def radius(found: Fields) -> Showing:
    """Bounds, status and work."""
    lower, upper, status = endless(found["lower"]), endless(found["upper"]), found["status"]
    rows: list[tuple[object, ...]] = [
        ("Distance at least", lower),
        ("Distance at most", upper),
        ("Status", status),
        ("Regions looked at", found["nodes"]),
        ("Seconds", found["seconds"]),
    ]
    if found["rival"] is not None:
        rows.append(("Class on the other side", found["rival"]))
    return Showing.of(f"distance to the decision boundary {upper:.6g}, {status}.", rows, caption="The radius")


def radius_charts(found: Fields) -> list[Chart]:
    """Both bounds against time, as steps: each holds until the next one is found, and at first it is at least 0."""
    rows: list[dict[str, object]] = [{"seconds": 0.0, "bound": 0.0, "which": "at least"}] if found["trace"] else []
    for number, name in ((1, "at least"), (2, "at most")):
        last = 0.0 if number == 1 else None
        for entry in found["trace"]:
            value = entry[number]
            if value is None:
                continue
            if last is not None:
                rows.append({"seconds": entry[0], "bound": last, "which": name})
            rows.append({"seconds": entry[0], "bound": value, "which": name})
            last = value
        if last is not None:
            rows.append({"seconds": found["seconds"], "bound": last, "which": name})
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


def perturbation(found: Fields) -> Showing:
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
    return Showing.of(f"{found['sentence']}.", rows, caption="In numbers")


def perturbation_charts(found: Fields) -> list[Chart]:
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
