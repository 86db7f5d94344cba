"""The grid that Figures 1(a), 2(a) and 2(b) of VYS22 share, and what their curves have in common."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from marginflow.experiments.frame import Grid, Size, product
from marginflow.experiments.panel import Row

ALPHAS = (0.5, 0.8, 1.0, 1.2, 1.5)
METHODS = ("recipe", "KKT point")
# More samples than this take a minute for each network.
LAPTOP_LARGEST = 464

DEVIATIONS = (
    "The paper has d = 100, ..., 1000, width 1000 and the schedule of its section 6; smoke and laptop have d up to "
    "100, at most 464 samples, width 200 and a schedule in which each step lowers ln L by 0.02, which ends at the same "
    "loss of 1e-30 with equal flips and margins (see VYS22/Exp.recipe). KKT points are found from small initialisation "
    "and are exact, their certificate says so; the paper's networks are not, and the residual of each is in the rows."
)


def _laptop() -> tuple[Mapping[str, object], ...]:
    return tuple(
        {"method": method, "alpha": alpha, "dimension": d, "width": 200}
        for method in METHODS
        for alpha in ALPHAS
        for d in (40, 60, 80, 100)
        if int(d**alpha) <= LAPTOP_LARGEST
    )


SIZES: Mapping[Size, Grid] = {
    "smoke": Grid(cells=product(method=METHODS, alpha=(0.5, 1.0), dimension=(12, 20), width=(30,)), seeds=2),
    "laptop": Grid(cells=_laptop(), seeds=5),
    "paper": Grid(
        cells=product(
            method=METHODS, alpha=ALPHAS, dimension=tuple(range(100, 1001, 100)), width=(1000,), schedule=("published",)
        ),
        seeds=5,
    ),
}
TITLES = {"dimension": "Dimension d", "samples": "Samples", "method": "Network", "seeds": "Seeds"}


def named(rows: Sequence[Row]) -> list[Row]:
    """Rows with the sample size as a word for the legend."""
    return [{**row, "samples": f"m = d^{row['alpha']:g}"} for row in rows]


def root(rows: Sequence[Row]) -> list[tuple[float, float]]:
    """The curve sqrt(d), above which a perturbation is not adversarial."""
    low, high = (choose(float(str(row["dimension"])) for row in rows) for choose in (min, max))
    return [(d, math.sqrt(d)) for d in (low + (high - low) * step / 20 for step in range(21))]
