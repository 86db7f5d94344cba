"""The figure of Observation 2: the lengths that flip 90 % of the samples, against the share of wrong labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec

from marginflow.experiments.frame import Figure, Grid, product
from marginflow.experiments.outcome import Finding, Outcome, column, number, ours, where
from marginflow.experiments.panel import Panel, Row, over_seeds
from marginflow.limit import kkt_point
from marginflow.sweeps import task
from marginflow.sweeps.status import status_of
from marginflow_ours.label_noise import FACTOR, SHARE, flips, law

Vector = Literal["sum y x", "sum lambda y x"]
VECTORS: tuple[Vector, ...] = ("sum y x", "sum lambda y x")


class NoiseRun(msgspec.Struct, frozen=True, kw_only=True):
    """Clusters with a share of wrong labels, and one of the two vectors."""

    vector: Vector
    rate: Annotated[float, msgspec.Meta(ge=0, lt=0.5)] = 0.05
    dimension: Annotated[int, msgspec.Meta(ge=2)] = 200
    samples: Annotated[int, msgspec.Meta(ge=2)] = 80
    width: Annotated[int, msgspec.Meta(ge=2)] = 100

    @property
    def operations(self) -> float:
        """n^2 k for a KKT point."""
        return float(self.samples) ** 2 * self.width * 1000.0

    @property
    def cost_kind(self) -> str:
        """All cells cost alike."""
        return "KKT network"


@task("ours-label-noise")
def noise_run(parameters: NoiseRun, seed: int) -> dict[str, object]:
    """A KKT point, and the length along the vector that flips 90 % of its samples."""
    data = law(parameters.rate, parameters.dimension).sample(parameters.samples, seed=seed)
    limit = kkt_point(data, width=parameters.width, seed=seed)
    lengths = flips(limit.network, data, limit.certificate.multipliers)
    length = lengths[VECTORS.index(parameters.vector)]
    return {"length": length, "exact": limit.exact, "run_status": status_of(limit)}


def panels(rows: Sequence[Row]) -> tuple[Panel, ...]:
    """Length over sqrt(d) against the share of wrong labels; one colour for each vector."""
    return (
        over_seeds(
            rows,
            x="rate",
            y="length",
            series="vector",
            least=0.0,
            titles={"rate": "Share of wrong labels", "vector": "Vector", "length": "Length / √d"},
            title=f"Length that flips {100 * SHARE:g} % of the samples",
            description="Length of the multiple of the vector, subtracted from positive and added to negative samples, "
            f"that flips {100 * SHARE:g} % of them, in units of √d; mean and 95 % interval over the seeds.",
        ),
    )


def judge(rows: Sequence[Row]) -> Outcome:
    """Without noise both lengths agree; with 2.5 % to 10 % their medians differ by the factor of Observation 2."""
    findings = []
    for rate in sorted(set(column(rows, "rate"))):
        plain, dual = (
            sorted(number(row, "length") for row in where(rows, rate=rate, vector=vector)) for vector in VECTORS
        )
        ratio = plain[len(plain) // 2] / dual[len(dual) // 2]
        if rate == 0:
            findings.append(
                Finding(
                    name="ratio of the median lengths without noise",
                    value=ratio,
                    relation="<=",
                    bound=1.2,
                    basis=ours("both are √(d/k) up to the noise within clusters"),
                )
            )
        elif rate <= 0.1:
            findings.append(
                Finding(
                    name=f"ratio of the median lengths, {100 * rate:g} % of the labels wrong",
                    value=ratio,
                    relation=">=",
                    bound=FACTOR,
                    basis=ours("Observation 2"),
                )
            )
    return Outcome(findings=tuple(findings))


FIGURE = Figure(
    id="OURS/LabelNoise.ours",
    title="length of two universal perturbations against the share of wrong labels",
    claim="A few wrong labels disarm Σ y x, which the theorems use, and make Σ λ y x stronger.",
    cell=noise_run,
    panels=panels,
    judge=judge,
    sizes={
        "smoke": Grid(cells=product(vector=VECTORS, rate=(0.0, 0.05)), seeds=1),
        "laptop": Grid(cells=product(vector=VECTORS, rate=(0.0, 0.025, 0.05, 0.1, 0.2, 0.3)), seeds=9),
        "paper": Grid(cells=product(vector=VECTORS, rate=(0.0, 0.025, 0.05, 0.1, 0.2, 0.3)), seeds=25),
    },
    deviations="Ours; no paper has it. Ten clusters with orthogonal means, 80 samples in dimension 200, width 100.",
)
