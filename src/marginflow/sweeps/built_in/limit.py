"""`limit`: how well a KKT point on a law is certified, and what it looks like."""

from marginflow.sweeps.built_in.point import PointParameters, certified, point, sample
from marginflow.sweeps.registry import TaskResult, task


class LimitParameters(PointParameters, frozen=True, kw_only=True):
    """Data and network; `arrays` keeps the weights of the compact network and the multipliers too."""

    arrays: bool = False


@task("limit")
def limit(parameters: LimitParameters, seed: int) -> TaskResult:
    """Residuals, norm and sparsity of a KKT point; the seed draws data and initialisation."""
    found = point(parameters, sample(parameters, seed), seed)
    certificate, compact = found.certificate, found.compact
    row = {
        **certified(found),
        "gap": found.gap,
        "norm_squared": certificate.norm_squared,
        "live_neurons": compact.width,
        "support": int(certificate.support.sum()),
        "on_margin": int(certificate.margin_set.sum()),
        "cosine_to_flow": None if found.moved is None else found.moved.cosine,
    }
    if not parameters.arrays:
        return TaskResult(row=row)
    biases = {} if compact.b is None else {"b": compact.b}
    return TaskResult(
        row=row, arrays={"W": compact.W, **biases, "v": compact.v, "multipliers": certificate.multipliers}
    )
