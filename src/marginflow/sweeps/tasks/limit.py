"""`limit`: how well a KKT point on a law is certified, and what it looks like."""

from __future__ import annotations

from typing import Literal

from marginflow.data import Dataset
from marginflow.limit import Limit, kkt_point
from marginflow.sweeps.task import Result, Row, task
from marginflow.sweeps.tasks.laws import Count, DataParameters, sample


class LimitParameters(DataParameters, frozen=True, kw_only=True):
    """Data, and the network that is fitted to them."""

    width: Count = 100
    bias: bool = True
    outputs: Literal["trained", "frozen"] = "trained"
    arrays: bool = False


@task("limit")
def limit(parameters: LimitParameters, seed: int) -> Result:
    """Residuals, norm and sparsity of a KKT point; the seed draws data and initialisation."""
    found = point(parameters, sample(parameters, seed), seed)
    certificate, moved = found.certificate, found.moved
    row = {
        **certified(found),
        "gap": found.gap,
        "norm_squared": certificate.norm_squared,
        "live_neurons": found.compact.width,
        "support": int(certificate.support.sum()),
        "on_margin": int(certificate.margin_set.sum()),
        "cosine_to_flow": None if moved is None else moved.cosine,
    }
    tensors = {"W": found.compact.W, "v": found.compact.v, "multipliers": certificate.multipliers}
    if found.compact.b is not None:
        tensors["b"] = found.compact.b
    return Result(row=row, arrays=tensors if parameters.arrays else {})


def point(parameters: LimitParameters, data: Dataset, seed: int) -> Limit:
    """The KKT point; no limit of time, so that the same seed gives the same bits on any clock."""
    return kkt_point(data, width=parameters.width, seed=seed, bias=parameters.bias, outputs=parameters.outputs)


def certified(found: Limit) -> Row:
    """What every task says of the point that it measures."""
    certificate = found.certificate
    return {"holds": certificate.holds(), "exact": found.exact, "stationarity": certificate.stationarity}
