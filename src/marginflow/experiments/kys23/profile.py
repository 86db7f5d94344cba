"""The overfitting profile, clean test error against the noise: its curves, and what makes it tempered or benign."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from marginflow.experiments.outcome import Finding, Mean, Outcome, column, means, number, values, where
from marginflow.experiments.panel import Panel, Row

# None of these is a number in the paper. Tempered: L is linear in p, with a slope that is neither 0 nor catastrophic.
LINEAR_R2, LEAST_SLOPE = 0.9, 0.5
# Benign: L at noise up to 0.1 is at most this.
SMALL_NOISE, SMALL_ERROR = 0.1, 0.02

TITLES = {
    "noise": "Noise p",
    "error": "Clean test error",
    "curve": "Dimension",
    "method": "Network",
    "low": "95 % from",
    "high": "95 % to",
    "seeds": "Seeds",
}


def curves(rows: Sequence[Row], title: str, *, series: str = "dimension", heading: str = "Dimension d") -> Panel:
    """Clean test error against p: a colour for each value of a column, dashes for KKT points."""
    named = [{**row, "curve": f"{row[series]}"} for row in rows]
    return Panel(
        title=title,
        description=(
            "Clean test error against the probability p of a wrong label; mean and 95 % interval over the seeds. On "
            "the grey line y = x the error equals the noise, as for one nearest neighbour."
        ),
        rows=means(named, ("noise", "curve", "method"), "error"),
        x="noise",
        y="error",
        low="low",
        high="high",
        series="curve",
        variant="method" if len(values(rows, "method")) > 1 else None,
        titles={**TITLES, "curve": heading},
        references={"y = x": [(0.0, 0.0), (0.5, 0.5)]},
        reference_names="start",
    )


def fit(rows: Sequence[Row]) -> tuple[float, float]:
    """Slope and R^2 of the line through the mean errors over the noise."""
    averaged = means(rows, ("noise",), "error")
    p, error = np.array(column(averaged, "noise")), np.array(column(averaged, "error"))
    slope, base = np.polyfit(p, error, 1)
    spread = float(((error - error.mean()) ** 2).sum())
    left = float(((error - slope * p - base) ** 2).sum())
    return float(slope), 1.0 - left / spread if spread > 0 else 0.0


def interpolation(rows: Sequence[Row]) -> Finding:
    """Every trained network classifies all noisy training samples correctly."""
    share = sum(bool(row["interpolates"]) for row in rows) / len(rows)
    return Finding(name="share of runs that interpolate", value=share, relation="==", bound=1.0)


def tempered_to_benign(rows: Sequence[Row]) -> Outcome:
    """Tempered in the smallest dimension, less error in the largest, benign there at small noise but not near 1/2."""
    findings = [interpolation(rows)]
    remarks = []
    for method in values(rows, "method"):
        own = where(rows, method=method)
        low, high = min(column(own, "dimension")), max(column(own, "dimension"))
        smallest, largest = where(own, dimension=low), where(own, dimension=high)
        slope, r2 = fit(smallest)
        remarks.append(f"{method}: slope of the line through the errors is {slope:.3g} in dimension {low:g}.")
        if method == "recipe":
            findings += [
                Finding(name=f"R² of a line, {method}, d = {low:g}", value=r2, relation=">=", bound=LINEAR_R2),
                Finding(name=f"slope of a line, {method}, d = {low:g}", value=slope, relation=">=", bound=LEAST_SLOPE),
            ]
        if low < high:
            findings += _less_error(method, low, high, smallest, largest)
    return Outcome(findings=tuple(findings), remarks=tuple(remarks))


def _less_error(
    method: object, low: float, high: float, smallest: Sequence[Row], largest: Sequence[Row]
) -> list[Finding]:
    noises = sorted(column(largest, "noise"))
    middle = min(noises, key=lambda p: abs(p - 0.3))
    drop = Mean.of(
        a - b
        for a, b in zip(
            column(where(smallest, noise=middle), "error"), column(where(largest, noise=middle), "error"), strict=True
        )
    )
    little = [row for row in largest if number(row, "noise") <= SMALL_NOISE + 1e-9]
    much = Mean.of(column(where(largest, noise=noises[-1]), "error"))
    found = [
        Finding.about(f"fall of the error from d = {low:g} to {high:g} at p = {middle:g}, {method}", drop, ">=", 0.0),
        Finding.about(f"error at p = {noises[-1]:g}, {method}, d = {high:g}", much, ">=", 0.1),
    ]
    if little:
        error = Mean.of(column(little, "error"))
        name = f"error at p up to {SMALL_NOISE:g}, {method}, d = {high:g}"
        found.append(Finding.about(name, error, "<=", SMALL_ERROR))
    return found
