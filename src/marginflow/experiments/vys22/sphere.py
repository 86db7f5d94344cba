r"""The runs behind the figures of [VYS22, section 6]: sphere data, the published recipe or an exact KKT point."""

import math
from dataclasses import replace
from typing import Annotated, Literal

import msgspec
import numpy as np

from marginflow.certificates import Certificate, certify
from marginflow.data import Dataset, Gaussian, Sphere
from marginflow.flow import LossNormalised, Run, recipes, train
from marginflow.limit import kkt_point
from marginflow.measurements import flip, named_direction
from marginflow.networks import TwoLayer
from marginflow.robustness.directions import margin_samples
from marginflow.sweeps import task
from marginflow.sweeps.status import status_of

Method = Literal["recipe", "KKT point"]
Schedule = Literal["published", "published, mean loss", "every 20", "every 5", "normalised"]
STOP_LOSS = 1e-30


class SphereRun(msgspec.Struct, frozen=True, kw_only=True):
    """One network: m = floor(d^alpha) samples in dimension d.

    `schedule` is how the recipe's rate grows: "published" (times 1.1 every 100 steps, some 73,000 of them), the same on
    the mean of the losses instead of their sum, which the paper leaves open and which does not diverge at once,
    "every 20" and "every 5" (the same faster), or "normalised" (each step lowers ln L by 0.02: some 4,000 steps). A KKT
    point depends neither on the schedule nor on the loss, and so both are none there.
    """

    dimension: Annotated[int, msgspec.Meta(ge=2)]
    alpha: float = 1.0
    width: Annotated[int, msgspec.Meta(ge=2)] = 1000
    method: Method = "recipe"
    schedule: Schedule | None = None
    inputs: Literal["sphere", "gaussian", "unit sphere"] = "sphere"
    loss: Literal["exponential", "logistic"] | None = None

    def __post_init__(self) -> None:
        trained = self.method == "recipe"
        given = {"schedule": self.schedule or "normalised", "loss": self.loss or "exponential"}
        for name, value in given.items():
            msgspec.structs.force_setattr(self, name, value if trained else None)

    @property
    def n_samples(self) -> int:
        """m; the paper does not say how d^alpha is rounded."""
        return max(2, int(self.dimension**self.alpha + 1e-9))

    @property
    def steps(self) -> int:
        """Steps that the recipe takes to a loss of 1e-30, about."""
        if self.schedule is None:
            return 0
        steps = {"every 20": 15_000, "every 5": 4_000, "normalised": 4_100}
        return steps.get(self.schedule, 75_000)

    @property
    def operations(self) -> float:
        """4 m d k for a step on at most 5000 samples, in the span if m < d, and its overhead.

        Of a KKT point the flow, ADMM, Newton's method, what is done once for each neuron, and what is always done, with
        the weights that fit 34 cells with 3 to 2828 samples, dimensions 12 to 1000 and widths 20 to 8000 best; m^3 is
        that of a factorisation, which matters for more samples than were measured.
        """
        m, d, k = self.n_samples, self.dimension, self.width
        if self.method == "KKT point":
            return 1.1 * m**2 * k + 3300.0 * m**2 + 0.4 * m**3 + 220.0 * k * d + 4e7
        return self.steps * (4.0 * min(m, 5000) * min(d, m) * k + 2e6)

    @property
    def cost_kind(self) -> str:
        """Which cells have the same cost for an operation."""
        return self.method

    @property
    def radius(self) -> float:
        """Norm of the inputs: sqrt(d) on the sphere, 1 on the unit sphere and about 1 for variance 1/d."""
        return math.sqrt(self.dimension) if self.inputs == "sphere" else 1.0


@task("vys22-sphere")
def sphere_run(parameters: SphereRun, seed: int) -> dict[str, object]:
    """Train as the paper did, or find an exact KKT point; then measure the margin set, the flip and the residual."""
    law = (
        Gaussian(dimension=parameters.dimension, variance="1/d", labels="both")
        if parameters.inputs == "gaussian"
        else Sphere(dimension=parameters.dimension, radius=parameters.radius, labels="both")
    )
    data = law.sample(parameters.n_samples, seed=seed)
    if parameters.method == "recipe":
        run = _trained(parameters, data, seed)
        network = run.network
        assert isinstance(network, TwoLayer)
        steps, exact, status, certificate = run.steps, False, run.status, None
    else:
        limit = kkt_point(data, width=parameters.width, seed=seed)
        network, steps, exact, status = limit.compact, 0, limit.exact, status_of(limit)
        certificate = limit.certificate
    known = {"samples": data.n_samples, "run_status": status, "steps": steps, "exact": exact}
    return known | measured(network, data, parameters.radius, certificate)


def _trained(parameters: SphereRun, data: Dataset, seed: int) -> Run:
    published = recipes.VYS22(
        every={"every 20": 20, "every 5": 5}.get(parameters.schedule or "", 100),
        loss=parameters.loss or "exponential",
        reduction="mean" if parameters.schedule == "published, mean loss" else "sum",
        stop_loss=STOP_LOSS,
    )
    start = published.network(parameters.width, parameters.dimension, seed=seed)
    plan = published.plan(start, data.n_samples)
    if parameters.schedule == "normalised":
        plan = replace(plan, schedule=LossNormalised(0.02), batch=None)
    return train(start, data, plan, seed=seed)


def measured(
    network: TwoLayer, data: Dataset, radius: float, certificate: Certificate | None = None
) -> dict[str, object]:
    """The margin set with 10 % slack, the flip of all of it along z = sum_I y_i x_i, and the KKT residual.

    A KKT point brings its certificate; to look for its multipliers again would take longer than to find the point.
    """
    margins = network.margins(data.X, data.y)
    separated = bool(margins.min() > 0)
    if not separated:
        return {"separated": False, "on_margin": math.nan, "off_margin": math.nan, "flip": math.nan}
    on = margin_samples(network, data.X, data.y)
    z = named_direction(network, data, "margin")
    steps = flip(network, data.subset(on), z / np.linalg.norm(z), at_zero="keeps").steps
    return {
        "separated": True,
        "on_margin": float(on.mean()),
        "off_margin": int((~on).sum()),
        "flip": steps.all_at_once,
        "flip_over_radius": steps.all_at_once / radius,
        "median_flip": float(np.median(steps.first)),
        "margin_ratio": float(margins.max() / margins.min()),
        "residual": (certify(network, data) if certificate is None else certificate).total,
    }
