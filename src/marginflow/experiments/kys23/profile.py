"""The overfitting profile, clean test error against the noise: its curves, and what makes it tempered or benign."""

import itertools
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from marginflow.experiments.outcome import (
    PAPER,
    Finding,
    Judge,
    Mean,
    Outcome,
    column,
    draws,
    grouped,
    number,
    ours,
    pairs,
    values,
    where,
)
from marginflow.experiments.panel import Drawing, Panel, Row, Rows, over_seeds, recipe_first

CLAIM = (
    "As d increases compared to m, overfitting goes from tempered (clean test error linear in p) to benign (close to "
    "0), except near p = 1/2, where the error stays well above 0."
)
# None of these is a number in the paper. Tempered: L is linear in p, with a slope that is neither 0 nor catastrophic.
LINEAR_R2, LEAST_SLOPE = 0.9, 0.5
_TEMPERED = ours('"almost linear in p" is not a number in the paper')
# Benign: L at noise up to 0.1 is at most this.
SMALL_NOISE, SMALL_ERROR = 0.1, 0.02
# Near p = 1/2, where the error stays well above 0, are noise levels from here on.
NEAR_HALF = 0.45


def curves(rows: Rows, title: str, *, series: str = "dimension", heading: str = "Dimension d") -> Panel:
    """Clean test error against p: a colour for each value of a column, dashes for KKT points."""
    return over_seeds(
        [{**row, "curve": f"{row[series]}"} for row in recipe_first(rows)],
        x="noise",
        y="error",
        series="curve",
        least=0.0,
        most=1.0,
        variant="method" if len(values(rows, "method")) > 1 else None,
        titles={"noise": "Noise p", "error": "Clean test error", "curve": heading, "method": "Network"},
        title=title,
        description=(
            "Clean test error against the probability p of a wrong label; mean and 95 % interval over the seeds. On "
            "the grey line y = x the error equals the noise, as for one nearest neighbour."
        ),
        references={"y = x": [(0.0, 0.0), (0.5, 0.5)]},
        reference_names="start",
    )


def by_dimension(rows: Rows) -> tuple[Panel, ...]:
    """A colour for each dimension."""
    return (curves(rows, f"Clean test error, m = {rows[0]['samples']} samples"),)


def compared(word: Callable[[Row], str], heading: str) -> Drawing:
    """A panel for each dimension, with a colour and dashes of its own for each word, as such curves may coincide."""

    def panels(rows: Rows) -> tuple[Panel, ...]:
        named = [{**row, "word": word(row), "method": "any"} for row in recipe_first(rows)]
        return tuple(
            replace(
                curves(own, f"Clean test error, d = {d}", series="word", heading=heading),
                variant="curve",
            )
            for d, own in grouped(named, "dimension")
        )

    return panels


def fit(rows: Rows) -> tuple[float, float]:
    """Slope and R^2 of the line through the mean errors over the noise."""
    p = np.array(sorted(set(column(rows, "noise"))))
    error = np.array([Mean.of(column(rows, "error", noise=noise)).value for noise in p])
    if not np.isfinite(error).all() or p.size < 2:
        return math.nan, math.nan
    slope, base = np.polyfit(p, error, 1)
    spread = float(((error - error.mean()) ** 2).sum())
    left = float(((error - slope * p - base) ** 2).sum())
    return float(slope), 1.0 - left / spread if spread > 0 else 0.0


def tempered(rows: Rows, name: str) -> list[Finding]:
    """The error is linear in the noise, with a slope that is not small."""
    slope, r2 = fit(rows)
    fewest = min(draws(own) for _, own in grouped(rows, "noise"))
    return [
        Finding.about(f"R² of a line, {name}", r2, ">=", LINEAR_R2, basis=_TEMPERED, draws=fewest),
        Finding.about(f"slope of a line, {name}", slope, ">=", LEAST_SLOPE, basis=_TEMPERED, draws=fewest),
    ]


def interpolation(rows: Rows) -> Finding:
    """Every trained network classifies all noisy training samples correctly."""
    share = sum(bool(row["interpolates"]) for row in rows) / len(rows)
    return Finding.about("share of runs that interpolate", share, "==", 1.0, basis=PAPER)


def little_change(by: str, bound: float) -> Judge:
    """From the least to the largest value of a column the error changes by at most the bound, on the same draws."""
    basis = ours('"almost the same" is not a number in the paper')

    def judge(rows: Rows) -> Outcome:
        findings = [interpolation(rows)]
        least, most = min(column(rows, by)), max(column(rows, by))
        for method, d in itertools.product(values(rows, "method"), values(rows, "dimension")):
            own = where(rows, method=method, dimension=d)
            few, many = (where(own, **{by: value}) for value in (least, most))
            change = Mean.of(b - a for a, b in pairs(few, many, "error", ("noise", "seed")))
            name = f"mean change of the error from {by} {least:g} to {most:g}, {method}, d = {d}"
            findings += Finding.within(name, change, bound, basis=basis, draws=min(draws(few), draws(many)))
        return Outcome(findings=tuple(findings))

    return judge


def tempered_to_benign(rows: Rows) -> Outcome:
    """Tempered in the smallest dimension, less error in the largest, benign there at small noise but not near 1/2."""
    findings = [interpolation(rows)]
    remarks = []
    for method, own in grouped(rows, "method"):
        low, high = min(column(own, "dimension")), max(column(own, "dimension"))
        smallest, largest = where(own, dimension=low), where(own, dimension=high)
        slope, _ = fit(smallest)
        if not math.isnan(slope):
            remarks.append(f"{method}: slope of the line through the errors is {slope:.3g} in dimension {low:g}.")
        if method == "recipe":
            findings += tempered(smallest, f"{method}, d = {low:g}")
        if low < high:
            findings += _less_error(method, smallest, largest)
    return Outcome(findings=tuple(findings), remarks=tuple(remarks))


def _less_error(method: object, smallest: Rows, largest: Rows) -> list[Finding]:
    low, high = (number(rows[0], "dimension") for rows in (smallest, largest))
    noises = sorted(column(largest, "noise"))
    middle = min(noises, key=lambda p: abs(p - 0.3))
    few, many = where(smallest, noise=middle), where(largest, noise=middle)
    drop = Mean.of(a - b for a, b in pairs(few, many, "error", ("seed",)))
    little = [row for row in largest if number(row, "noise") <= SMALL_NOISE + 1e-9]
    fall = f"fall of the error from d = {low:g} to {high:g} at p = {middle:g}, {method}"
    found = [Finding.about(fall, drop, ">=", 0.0, basis=PAPER)]
    if noises[-1] >= NEAR_HALF:
        much = Mean.of(column(largest, "error", noise=noises[-1]))
        name = f"error at p = {noises[-1]:g}, {method}, d = {high:g}"
        basis = ours('"well above 0" is not a number in the paper')
        found.append(Finding.about(name, much, ">=", 0.1, basis=basis, least=0.0, most=1.0))
    if little:
        error = Mean.of(column(little, "error"))
        name = f"error at p up to {SMALL_NOISE:g}, {method}, d = {high:g}"
        basis = ours('"close to 0" is not a number in the paper')
        found.append(
            Finding.about(name, error, "<=", SMALL_ERROR, basis=basis, draws=draws(little), least=0.0, most=1.0)
        )
    return found
