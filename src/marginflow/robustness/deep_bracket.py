r"""A bracket around the distance of a point to the decision boundary of a deeper ReLU network: bounds, not a radius.

Lower bound: within the ball of radius r around x every neuron is bounded from both sides by linear functions of the
input, layer by layer. With these an undecided neuron, low <= z <= high, obeys alpha z <= relu(z) <= high (z - low) /
(high - low) for either alpha in {0, 1}, and substituting backwards through the layers leaves a linear function of the
input, whose least value on the ball is exact:

.. math:: \min_{\|\delta\| \le r} \left( g \cdot \delta + c \right) = c - r \|g\| .

The largest r at which y N is seen to be positive is found by bisection. Upper bound: descent along the gradient of N
from x and from random points nearby, and bisection on the segment to where the sign has changed.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import FloatArray, read_only, whole_number
from marginflow.display import Brief
from marginflow.errors import InputError
from marginflow.networks import MLP
from marginflow.networks.evaluation import checked_point
from marginflow.robustness.chord import relu_chords

_BISECTIONS, _STARTS, _STEPS, _MOMENTS = 40, 4, 60, 20
# What rounding may add to a bound, relative to the sizes that it was computed from: far above the true error.
_ROUNDING = 1e-12
# Multiples of the Lipschitz bound up to which the absence of a witness is looked for.
_FARTHEST = 1e9


@dataclass(frozen=True, eq=False, kw_only=True)
class RadiusBracket(Brief):
    """Two bounds on the distance of a point to the other side of a deeper network.

    Attributes
    ----------
    lower : float
        No point nearer than this is on the other side, by linear bounds on every neuron.
    upper : float
        The length of the shortest change of sign that was found; infinite if none was.
    lipschitz : float
        |N(x)| over the product of the spectral norms of the layers: the lower bound that needs no ball.
    witness : array, shape (d,), or None
        A point at distance `upper` on the other side.
    label : float
        The side of x, -1 or +1.
    """

    lower: float
    upper: float
    lipschitz: float
    witness: FloatArray | None
    label: float


def radius_bracket(network: MLP, x: ArrayLike, *, label: float | None = None, seed: int = 0) -> RadiusBracket:
    r"""Bounds on min ||delta|| s.t. y N(x + delta) <= 0 for a ReLU network of any depth.

    Parameters
    ----------
    network : MLP
        With one output; of two hidden layers and more there is no exact radius here, only this bracket.
    x : array, shape (d,)
    label : -1, +1 or None
        y; None for the sign of N(x).
    seed : int
        Of the random points that the descent also begins from.

    Returns
    -------
    RadiusBracket

    Examples
    --------
    >>> from marginflow.networks import MLP
    >>> from marginflow.robustness.deep_bracket import radius_bracket
    >>> linear = MLP(weights=[[[3.0, 4.0]]], biases=[[-5.0]])
    >>> found = radius_bracket(linear, [3.0, 4.0])  # (25 - 5) / 5
    >>> round(found.lower, 9), round(found.upper, 9)
    (4.0, 4.0)
    """
    point = checked_point("x", x, network.dimension)
    value = float(network(point[None, :])[0])
    y = float(np.sign(value) or 1.0) if label is None else float(label)
    if abs(y) != 1.0:
        raise InputError(f"label is {label}; -1, +1 or None is expected.")
    rng = np.random.default_rng(whole_number("seed", seed, minimum=0))
    if y * value <= 0:
        return RadiusBracket(lower=0.0, upper=0.0, lipschitz=0.0, witness=read_only(point), label=y)
    steepness = float(np.prod([np.linalg.norm(W, 2) for W in network.weights]))
    lipschitz = y * value * (1.0 - _ROUNDING) / steepness if steepness > 0 else np.inf
    witness = _witness(network, point, y, lipschitz if np.isfinite(lipschitz) else 1.0, rng)
    upper = np.inf if witness is None else float(np.linalg.norm(witness - point))
    lower = lipschitz if steepness == 0 else _largest_proved(network, point, y, lipschitz, upper)
    return RadiusBracket(
        lower=min(lower, upper),
        upper=upper,
        lipschitz=lipschitz,
        witness=None if witness is None else read_only(witness),
        label=y,
    )


def least_value(network: MLP, x: FloatArray, y: float, radius: float) -> float:
    """A lower bound on y N over the ball of this radius around x."""
    known: _Intervals = []
    for depth in range(1, network.depth):
        eye = np.eye(network.weights[depth - 1].shape[0])
        low, high = (_largest(network, x, radius, rows, known) for rows in (-eye, eye))
        known.append((-low, high))
    return -float(_largest(network, x, radius, np.array([[-y]]), known)[0])


_Intervals = list[tuple[FloatArray, FloatArray]]


def _largest(network: MLP, x: FloatArray, radius: float, rows: FloatArray, known: _Intervals) -> FloatArray:
    """Upper bounds on rows . z, z the pre-activations of the layer after those whose intervals are known.

    The best of three choices of alpha for the undecided neurons: that of the smaller triangle, all 0 and all 1.
    """
    every = [_largest_with(network, x, radius, rows, known, alpha) for alpha in (None, 0.0, 1.0)]
    best: FloatArray = np.min(every, axis=0)
    return best


def _largest_with(
    network: MLP, x: FloatArray, radius: float, rows: FloatArray, known: _Intervals, alpha: float | None
) -> FloatArray:
    constant, charge = np.zeros(rows.shape[0]), np.zeros(rows.shape[0])
    for layer in range(len(known), -1, -1):
        W, b = network.layers[layer]
        if b is not None:
            constant = constant + rows @ b
            charge += np.abs(rows) @ np.abs(b)
        rows = rows @ W
        if layer == 0:
            break
        low, high = known[layer - 1]
        chord, offset = relu_chords(low, high)
        chosen = (high > -low).astype(np.float64) if alpha is None else alpha
        tangent = np.where((low < 0) & (high > 0), chosen, chord)
        above = np.maximum(rows, 0.0)
        constant = constant + above @ offset
        charge += above @ offset
        rows = above * chord + np.minimum(rows, 0.0) * tangent
    charge += np.abs(rows) @ np.abs(x) + radius * np.linalg.norm(rows, axis=1)
    found: FloatArray = constant + rows @ x + radius * np.linalg.norm(rows, axis=1) + _ROUNDING * charge
    return found


def _largest_proved(network: MLP, x: FloatArray, y: float, proved: float, upper: float) -> float:
    """By bisection between a proved and an unproved radius; without a witness the latter is looked for."""
    open_, farthest = upper if np.isfinite(upper) else 2.0 * proved, _FARTHEST * proved
    while not np.isfinite(upper) and open_ < farthest and least_value(network, x, y, open_) > 0:
        proved, open_ = open_, 2.0 * open_
    for _ in range(_BISECTIONS):
        middle = 0.5 * (proved + open_)
        if least_value(network, x, y, middle) > 0:
            proved = middle
        else:
            open_ = middle
    return proved


def _witness(network: MLP, x: FloatArray, y: float, unit: float, rng: np.random.Generator) -> FloatArray | None:
    """The nearest point of the other side that descent finds."""
    best: FloatArray | None = None
    for start in range(_STARTS):
        noise = rng.standard_normal(x.size)
        at = x if start == 0 else x + unit * noise / np.linalg.norm(noise)
        for _ in range(_STEPS):
            value = y * float(network(at[None, :])[0])
            if value <= 0:
                break
            slope = y * network.input_gradient(at[None, :])[0]
            steep = float(slope @ slope)
            if not steep > 0:
                break
            at = at - (1.0 + 1e-6) * (value / steep) * slope
        if np.isfinite(at).all() and y * float(network(at[None, :])[0]) <= 0:
            at = _shortened(network, x, y, at)
            if best is None or np.linalg.norm(at - x) < np.linalg.norm(best - x):
                best = at
    return best


def _shortened(network: MLP, x: FloatArray, y: float, at: FloatArray) -> FloatArray:
    """Towards x on the segment, then along the gradient at the boundary, as long as that is nearer."""
    for _ in range(_MOMENTS):
        at = _on_segment(network, x, y, at)
        slope = y * network.input_gradient(at[None, :])[0]
        steep = float(slope @ slope)
        if not steep > 0:
            break
        # The foot of x on the tangent plane at the boundary, and a little beyond it.
        foot = x - (float(slope @ (x - at)) / steep) * slope
        moved = next(
            (
                near
                for share in (1.0, 0.5, 0.2, 0.05)
                if y * float(network((near := x + (1.0 + 1e-7) * (at + share * (foot - at) - x))[None, :])[0]) <= 0
                and np.linalg.norm(near - x) < np.linalg.norm(at - x) * (1.0 - 1e-9)
            ),
            None,
        )
        if moved is None:
            break
        at = moved
    return at


def _on_segment(network: MLP, x: FloatArray, y: float, at: FloatArray) -> FloatArray:
    low, high = 0.0, 1.0
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        if y * float(network((x + middle * (at - x))[None, :])[0]) <= 0:
            high = middle
        else:
            low = middle
    return x + high * (at - x)
