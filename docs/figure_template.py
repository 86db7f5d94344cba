"""Ours: the share of samples on the margin of an exact KKT point against the dimension, m = sqrt(d) samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec

from marginflow.data import Sphere
from marginflow.experiments import Figure, Finding, Grid, Mean, Outcome, Panel, product
from marginflow.experiments.outcome import PAPER, column
from marginflow.experiments.panel import Row, over_seeds
from marginflow.limit import kkt_point
from marginflow.robustness.directions import margin_samples
from marginflow.sweeps import task
from marginflow.sweeps.status import status_of


# 1. The cell: typed parameters, and a pure function of them and a seed.
class FewSamples(msgspec.Struct, frozen=True, kw_only=True):
    """floor(sqrt(d)) samples on the sphere of radius sqrt(d)."""

    dimension: Annotated[int, msgspec.Meta(ge=4)]
    width: Annotated[int, msgspec.Meta(ge=2)] = 50

    @property
    def operations(self) -> float:
        """What a cell costs, up to a factor that is measured: m^2 times the width; may be left out."""
        return self.dimension * self.width


@task("few-samples")
def few_samples(parameters: FewSamples, seed: int) -> dict[str, object]:
    """Share of the samples on the margin of an exact KKT point."""
    d = parameters.dimension
    data = Sphere(dimension=d, labels="both").sample(int(d**0.5), seed=seed)
    limit = kkt_point(data, width=parameters.width, seed=seed)
    on_margin = margin_samples(limit.network, data.X, data.y, tolerance=0.1)
    # How the run ended is a column: a run that we lost is left out, and counted.
    return {"run_status": status_of(limit), "on_margin": float(on_margin.mean())}


# 2. The panels: rows and the roles of their columns; nothing is drawn here.
def panels(rows: Sequence[Row]) -> tuple[Panel, ...]:
    """Mean over the seeds with its interval, against d."""
    drawn = over_seeds(
        rows,
        x="dimension",
        y="on_margin",
        most=1.0,
        titles={"dimension": "Dimension d", "on_margin": "Share on the margin"},
        title="Share of samples on the margin",
        description="Share of the samples with yN(x) at most 1.1 times the smallest, against the dimension.",
    )
    return (drawn,)


# 3. The judge: measured numbers beside what the claim makes of them, and whose bound that is.
def judge(rows: Sequence[Row]) -> Outcome:
    """Every sample of every run is on the margin."""
    share = Mean.of(column(rows, "on_margin"))
    return Outcome(findings=(Finding.about("mean share on the margin", share, ">=", 1.0, basis=PAPER),))


# 4. The figure.
FIGURE = Figure(
    id="VYS22/FewSamples.ours",
    title="share of samples on the margin of exact KKT points, for m = √d samples",
    claim="With m = √d samples every one of them is on the margin.",
    cell=few_samples,
    panels=panels,
    judge=judge,
    sizes={
        "smoke": Grid(cells=product(dimension=(9, 16)), seeds=2),  # seconds
        "laptop": Grid(cells=product(dimension=(25, 49, 100)), seeds=5),  # at most 15 minutes on two cores
        "paper": Grid(cells=product(dimension=(100, 400, 900), width=(1000,)), seeds=5),  # the published grid
    },
    deviations="Not in the paper, which has this share for the networks of its recipe.",
)
