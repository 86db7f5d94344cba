"""The clean error of networks without bias under a rotation invariant law: exact in two dimensions, counted in more."""

import math
from dataclasses import dataclass

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.generalisation import Estimate, two_neuron_error
from marginflow.generalisation.plane import decision_rays
from marginflow.networks import TwoLayer
from marginflow.theory.check import Relation
from marginflow.theory.frame import Check

_POINTS = 20_000


# Singular values below this share of the largest do not count towards the rank of the weights.
_RANK = 1e-12


@dataclass(frozen=True, kw_only=True)
class CleanError:
    """P(N(x) <= 0): a number, and an interval unless it is exact."""

    value: float
    interval: tuple[float, float] | None
    how: str

    def check(self, name: str, relation: Relation, bound: float) -> Check:
        """Decided only if the whole interval agrees; an exact value may be off by rounding."""
        tolerance = 0.0 if self.interval is not None else 1e-12
        return Check(name, self.value, relation, bound, interval=self.interval, tolerance=tolerance, note=self.how)


def clean_error(network: TwoLayer, *, seed: int = 0) -> CleanError:
    """The clean error of a network without bias in dimension 2 or more, whatever the dimension is."""
    if network.b is not None and network.b.any():
        return CleanError(value=math.nan, interval=None, how="the network has biases")
    live = network.W.any(axis=1) & (network.v != 0)
    W, v = network.W[live], network.v[live]
    if not live.any():
        return CleanError(value=1.0, interval=None, how="the zero function")
    if v.size == 2 and network.dimension >= 2:
        return CleanError(value=two_neuron_error(TwoLayer(W=W, v=v)), interval=None, how="exact, two neurons")
    _, sizes, basis = np.linalg.svd(W, full_matrices=False)
    rank = int((sizes > _RANK * sizes[0]).sum())
    if rank <= 2:
        plane: FloatArray = np.zeros((v.size, 2))
        plane[:, :rank] = W @ basis[:rank].T
        return CleanError(
            value=_share_of_circle(TwoLayer(W=plane, v=v)), interval=None, how="exact, weights in a plane"
        )
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((_POINTS, rank))
    values = np.maximum(points @ (W @ basis[:rank].T).T, 0.0) @ v
    counted = Estimate.counted(int((values <= 0).sum()), _POINTS, confidence=0.99)
    return CleanError(
        value=counted.value,
        interval=(counted.lower, counted.upper),
        how=f"{counted.errors} of {counted.trials}, 99 % Clopper-Pearson interval",
    )


def _share_of_circle(network: TwoLayer) -> float:
    """The share of angles at which N is not positive."""
    angles, signs = decision_rays(network)
    if angles.size == 0:
        return float(network([[1.0, 0.0]])[0] <= 0)
    lengths = np.diff(np.append(angles, angles[0] + 2 * math.pi))
    return float(lengths[signs <= 0].sum()) / (2 * math.pi)
