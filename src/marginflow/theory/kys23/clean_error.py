"""The clean error of networks without bias under a rotation invariant law: exact in two dimensions, counted in more.

For weights that are whole numbers the exact error is enclosed. Between two neighbouring kinks N is linear,
N(x) = c . x with a whole c, so that every border of the set N <= 0 points along a whole vector. Borders are found and
sorted by signs of determinants; only their angles are numbers.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cmp_to_key
from itertools import groupby, pairwise

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.generalisation import Estimate, sampled_error, two_neuron_error
from marginflow.generalisation.plane import decision_rays
from marginflow.networks import MLP, TwoLayer
from marginflow.theory.check import Relation
from marginflow.theory.frame import Check, Instance

Vector = tuple[int, int]

_POINTS = 20_000


# Singular values below this share of the largest do not count towards the rank of the weights.
_RANK = 1e-12

# A float angle of a whole vector is within a few units of the last place; this is far more.
_ANGLE = Fraction(1, 10**12)


@dataclass(frozen=True, kw_only=True)
class CleanError:
    """P(N(x) <= 0): a number, and an interval unless it is exact."""

    value: float
    how: str
    interval: tuple[float, float] | None = None

    def check(self, name: str, relation: Relation, bound: float) -> Check:
        """Decided only if the whole interval agrees; an exact value may be off by rounding."""
        tolerance = 0.0 if self.interval is not None else 1e-12
        return Check(name, self.value, relation, bound, interval=self.interval, tolerance=tolerance, note=self.how)


def clean_error(network: TwoLayer, *, seed: int = 0) -> CleanError:
    """The clean error of a network without bias in dimension 2 or more, whatever the dimension is."""
    if network.b is not None and network.b.any():
        return CleanError(value=math.nan, how="the network has biases")
    live = network.W.any(axis=1) & (network.v != 0)
    W, v = network.W[live], network.v[live]
    if not live.any():
        return CleanError(value=1.0, how="the zero function")
    if v.size == 2 and network.dimension >= 2:
        return CleanError(value=two_neuron_error(TwoLayer(W=W, v=v)), how="exact, two neurons")
    _, sizes, basis = np.linalg.svd(W, full_matrices=False)
    rank = int((sizes > _RANK * sizes[0]).sum())
    if rank <= 2:
        plane: FloatArray = np.zeros((v.size, 2))
        plane[:, :rank] = W @ basis[:rank].T
        return CleanError(value=_share_of_circle(TwoLayer(W=plane, v=v)), how="exact, weights in a plane")
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


def fresh_error(instance: Instance, network: TwoLayer | MLP) -> Estimate:
    """The clean error on 2000 fresh points of the law of the instance."""
    return sampled_error(
        network, instance.the_law(), 2000, seed=instance.seed + 1, train=instance.the_data(), confidence=0.99
    )


def _cross(a: Vector, b: Vector) -> int:
    return a[0] * b[1] - a[1] * b[0]


def _half(a: Vector) -> int:
    """0 for angles in [0, pi), 1 for [pi, 2 pi)."""
    return 0 if a[1] > 0 or (a[1] == 0 and a[0] > 0) else 1


def _order(a: Vector, b: Vector) -> int:
    """Negative, 0 or positive as the angle of a in [0, 2 pi) is smaller than that of b, the same, or larger."""
    return _half(a) - _half(b) or _cross(b, a)


def _sorted(vectors: list[Vector]) -> list[Vector]:
    """By angle, each direction once."""
    angle = cmp_to_key(_order)
    return [next(same) for _, same in groupby(sorted(vectors, key=angle), key=angle)]


def _linear_part(W: Sequence[Sequence[int]], v: Sequence[int], inside: Vector) -> Vector:
    """c with N(x) = c . x around a point that is on no kink."""
    active = [(w, a) for w, a in zip(W, v, strict=True) if w[0] * inside[0] + w[1] * inside[1] > 0]
    return sum(a * w[0] for w, a in active), sum(a * w[1] for w, a in active)


def enclosed_error(W: Sequence[Sequence[int]], v: Sequence[int]) -> tuple[Fraction, Fraction]:
    """Bounds of P(N(x) <= 0) for x uniform on the circle.

    Examples
    --------
    >>> from marginflow.theory.kys23.clean_error import enclosed_error
    >>> enclosed_error([[1, 0], [-1, 0]], [1, 1])
    (Fraction(0, 1), Fraction(0, 1))
    """
    kinks = [vector for w in W for vector in ((-w[1], w[0]), (w[1], -w[0]))]
    borders = _sorted([*kinks, (1, 0), (0, 1), (-1, 0), (0, -1)])
    zeros = []
    for a, b in pairwise([*borders, borders[0]]):
        c = _linear_part(W, v, (a[0] + b[0], a[1] + b[1]))
        for zero in ((-c[1], c[0]), (c[1], -c[0])):
            if zero != (0, 0) and _cross(a, zero) > 0 and _cross(zero, b) > 0:
                zeros.append(zero)
    cones = _sorted([*borders, *zeros])
    low = high = Fraction(0)
    for a, b in pairwise([*cones, cones[0]]):
        middle = (a[0] + b[0], a[1] + b[1])  # inside, for no cone is wider than a quarter
        c = _linear_part(W, v, middle)
        if c[0] * middle[0] + c[1] * middle[1] <= 0:
            angle = math.atan2(_cross(a, b), a[0] * b[0] + a[1] * b[1])
            share = Fraction(angle) / Fraction(2 * math.pi)
            low, high = low + share - _ANGLE, high + share + _ANGLE
    return max(low, Fraction(0)), high
