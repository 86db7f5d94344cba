r"""Feasible descent made visible: a network close by, feasible, with a smaller norm."""

from dataclasses import dataclass, replace

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.data import Dataset
from marginflow.display import Brief
from marginflow.networks import TwoLayer
from marginflow.plain import Plain

_STEPS = tuple(10.0 ** (-0.5 * power) for power in range(2, 15))
_ROUNDING = 1e-13


@dataclass(frozen=True, eq=False, kw_only=True)
class DescentDirection(Brief, Plain):
    """A network at margin 1 with a smaller norm than the one it started from.

    Attributes
    ----------
    network : TwoLayer
        Feasible: min_i y_i N(x_i) = 1.
    distance : float
        ||theta' - theta|| / ||theta||.
    decrease : float
        1 - ||theta'||^2 / ||theta||^2, positive.
    path : tuple of (distance, decrease)
        The same along the direction, towards the point: the decrease stays positive as far as floating point can tell.
    """

    plain_names = ("distance", "decrease", "path")

    network: TwoLayer
    distance: float
    decrease: float
    path: tuple[tuple[float, float], ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class Direction:
    """A curve of parameters: theta + t (A, v), and for the neuron `born`, if any, sqrt(t) or t times its own (A, v)."""

    A: FloatArray
    v: FloatArray
    born: int | None = None
    power: float = 1.0

    def point(self, network: TwoLayer, t: float) -> TwoLayer:
        """The network at time t of the curve."""
        factor = np.full(network.width, t)
        if self.born is not None:
            factor[self.born] = t**self.power
        A = network.augmented + factor[:, None] * self.A
        has_bias = network.b is not None
        return replace(
            network,
            W=A[:, :-1] if has_bias else A,
            b=A[:, -1] if has_bias else None,
            v=network.v + factor * self.v if network.outputs == "trained" else network.v,
        )


def exhibit(network: TwoLayer, data: Dataset, direction: Direction, *, noise: float) -> DescentDirection | None:
    """Walk along `direction` in shrinking steps, rescale to margin 1, and compare norms; None without persistent
    descent.

    Parameters
    ----------
    network : TwoLayer
        At margin 1.
    data : Dataset
    direction : Direction
    noise : float
        How far the network is from being a KKT point. A descent at a rate below a hundred times this number could
        be due to that alone and does not count.

    Returns
    -------
    Descent or None
        Only if the norm falls at every step from some length down to where rounding hides it, three steps at least.
    """
    theta2 = network.norm_squared()
    size = float(np.sqrt(theta2))
    length = float(np.sqrt(np.vdot(direction.A, direction.A) + direction.v @ direction.v))
    if length == 0.0:
        return None
    seen: list[tuple[float, float, TwoLayer]] = []
    for step in _STEPS:
        t = (step if direction.power == 1.0 else step**2) * size / length
        moved = direction.point(network, t)
        least = float(moved.margins(data.X, data.y).min())
        if least <= 0:
            seen.clear()
            continue
        moved = moved.scaled(least ** (-1.0 / moved.degree))
        decrease = 1.0 - moved.norm_squared() / theta2
        change = float(np.vdot(moved.augmented - network.augmented, moved.augmented - network.augmented))
        if moved.outputs == "trained":
            change += float((moved.v - network.v) @ (moved.v - network.v))
        distance = float(np.sqrt(change)) / size
        if abs(decrease) < _ROUNDING or distance < noise:
            break
        if decrease <= 100.0 * noise * distance:
            seen.clear()
            continue
        seen.append((distance, decrease, moved))
    if len(seen) < 3:
        return None
    distance, decrease, moved = max(seen, key=lambda item: item[1])
    return DescentDirection(network=moved, distance=distance, decrease=decrease, path=tuple((a, b) for a, b, _ in seen))
