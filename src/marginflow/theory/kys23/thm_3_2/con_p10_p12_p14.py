r"""[KYS23, equations (10), (12), (14)] The moves of two neurons against each other that lower the norm.

Both leave N unchanged outside of one interval, provided the two neurons face the same way:

.. math:: (10): \quad v_1 \to (1 - \delta) v_1, \quad
          b_1 \to b_1 - \tfrac{\delta}{1 - \delta} \big( \tfrac{w_1 b_2}{w_2} - b_1 \big), \quad
          v_2 \to \big( 1 + \delta \tfrac{v_1 w_1}{v_2 w_2} \big) v_2

.. math:: (12), (14): \quad v_1 \to (1 - \delta) v_1, \quad
          (w_2, b_2) \to (w_2, b_2) + \delta \tfrac{v_1}{v_2} (w_1, b_1)

The paper writes them for right-facing neurons, j1 left of j2; for left-facing ones j1 is right of j2.
"""

from functools import partial

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.errors import InputError
from marginflow.networks import TwoLayer
from marginflow.theory.frame import (
    Check,
    Findings,
    Instance,
    above,
    at_least,
    at_most,
    equal,
    require,
    stated,
    true,
    value,
)
from marginflow.theory.kys23.line_points import mirror


def _parts(network: TwoLayer, j1: int, j2: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    if network.dimension != 1 or network.b is None:
        raise InputError(f"The network is {network!r}; dimension 1 with bias is expected.")
    if not (0 <= j1 < network.width and 0 <= j2 < network.width and j1 != j2):
        raise InputError(f"j1, j2 are {j1}, {j2}; two different neurons from 0 to {network.width - 1} are expected.")
    return network.W[:, 0].copy(), network.b.copy(), network.v.copy()


def move_kink(network: TwoLayer, j1: int, j2: int, delta: float) -> TwoLayer:
    """Equation (10): neuron j1 shrinks while its kink moves away from that of j2, and j2 makes up for it."""
    w, b, v = _parts(network, j1, j2)
    w1, b1, v1, w2, b2, v2 = w[j1], b[j1], v[j1], w[j2], b[j2], v[j2]
    v[j1] = (1 - delta) * v1
    b[j1] = b1 - delta / (1 - delta) * (w1 * b2 / w2 - b1)
    v[j2] = (1 + delta * v1 * w1 / (v2 * w2)) * v2
    return TwoLayer(W=w[:, None], b=b, v=v)


def move_kink_drop(network: TwoLayer, j1: int, j2: int) -> float:
    """The drop of ||theta||^2 per delta under (10), to first order."""
    w, b, v = _parts(network, j1, j2)
    w1, b1, v1, w2, b2, v2 = w[j1], b[j1], v[j1], w[j2], b[j2], v[j2]
    return float(2 * (v1**2 - v1 * w1 * v2 / w2 + b1 * (w1 * b2 / w2 - b1)))  # w_1^2 k_1 (k_2 - k_1) in terms of b


def hand_over(network: TwoLayer, j1: int, j2: int, delta: float) -> TwoLayer:
    """Equations (12) and (14): neuron j1 hands a share delta of itself to j2."""
    w, b, v = _parts(network, j1, j2)
    share = delta * v[j1] / v[j2]
    w[j2], b[j2] = w[j2] + share * w[j1], b[j2] + share * b[j1]
    v[j1] = (1 - delta) * v[j1]
    return TwoLayer(W=w[:, None], b=b, v=v)


def hand_over_drop(network: TwoLayer, j1: int, j2: int) -> float:
    """The drop of ||theta||^2 per delta under (12) and (14), to first order."""
    w, b, v = _parts(network, j1, j2)
    return float(2 * (v[j1] ** 2 - v[j1] / v[j2] * (w[j1] * w[j2] + b[j1] * b[j2])))


def second_order(network: TwoLayer, j1: int, j2: int, delta: float, equation: int) -> float:
    """What the drop per delta falls short of its first order by, divided by delta; exact for every delta < 1."""
    w, b, v = _parts(network, j1, j2)
    if equation != 10:
        return float(v[j1] ** 2 + (v[j1] / v[j2]) ** 2 * (w[j1] ** 2 + b[j1] ** 2))
    way = w[j1] * b[j2] / w[j2] - b[j1]  # b_1 moves by -delta / (1 - delta) times this
    kink = (way / (1 - delta)) ** 2 - 2 * b[j1] * way / (1 - delta)
    return float(v[j1] ** 2 + (v[j1] * w[j1] / w[j2]) ** 2 + kink)


def balanced_drop(network: TwoLayer, j1: int, j2: int, equation: int) -> float:
    """The same drops at balanced neurons, where Cauchy-Schwarz makes them positive without any k > 0."""
    w, b, v = _parts(network, j1, j2)
    k1, k2 = -b[j1] / w[j1], -b[j2] / w[j2]
    s1, s2 = float(np.hypot(1.0, k1)), float(np.hypot(1.0, k2))
    if equation == 10:
        return float(2 * w[j1] ** 2 * (1 + k1 * k2 + s1 * s2))
    return float(2 * abs(v[j1] * w[j1]) * (s1 + (1 + k1 * k2) / s2))


def _judge(instance: Instance, equation: int) -> Findings:
    network = instance.the_network()
    ready: tuple[Check, ...] = (
        equal("dimension d", network.dimension, 1.0),
        true("hidden biases", network.b is not None),
        at_least("neurons", network.width, 2.0),
    )
    require(ready, "no two neurons on a line to move against each other")
    j1, j2, delta = instance.whole("j1", 0), instance.whole("j2", 1), instance.number("delta", 1e-5)
    w, b, v = _parts(network, j1, j2)
    hypotheses = (
        *ready,
        above("|w_1|", abs(w[j1]), 0.0),
        above("|w_2|", abs(w[j2]), 0.0),
        true("v_1, v_2 have opposite signs: one bends N up, the other down", bool(v[j1] * v[j2] < 0)),
        at_least("delta, so that the drop is not rounding", delta, 1e-9),
        at_most("delta <= 0.1", delta, 0.1),
        *((above("v_1, which bends N up", float(v[j1]), 0.0),) if equation != 14 else ()),
    )
    require(hypotheses, "no two neurons to move against each other")
    k1, k2 = -b[j1] / w[j1], -b[j2] / w[j2]
    hypotheses = (*hypotheses, above("k2 lies on the side that j1 faces: (k2 - k1) w_1", float((k2 - k1) * w[j1]), 0.0))
    moved = (move_kink if equation == 10 else hand_over)(network, j1, j2, delta)
    drop = (move_kink_drop if equation == 10 else hand_over_drop)(network, j1, j2)
    kinks = [k1, k2, *(-moved.augmented[[j1, j2], 1] / moved.W[[j1, j2], 0])]
    low, high = min(kinks), max(kinks)
    span = high - low
    outside = np.concatenate([np.linspace(low - 2 * span, low, 50), np.linspace(high, high + 2 * span, 50)])
    inside = np.linspace(low, high, 101)[1:-1]
    change_out = moved(outside[:, None]) - network(outside[:, None])
    change_in = moved(inside[:, None]) - network(inside[:, None])
    scale = float(np.abs(network.v) @ np.maximum(network.preactivations(outside[:, None]), 0.0).max(axis=0))
    raised = equation == 10 or v[j1] < 0
    measured = (network.norm_squared() - moved.norm_squared()) / delta
    balanced = bool(np.allclose(np.abs(v[[j1, j2]]), np.hypot(w, b)[[j1, j2]], rtol=1e-9))
    at_balance = (
        (equal("drop per delta = the balanced formula", drop, balanced_drop(network, j1, j2, equation), scale=drop),)
        if balanced and w[j1] * w[j2] > 0
        else ()
    )
    return Findings(
        value("interval of change, left end", low),
        value("interval of change, right end", high),
        value("largest change inside", float(np.abs(change_in).max())),
        value("drop of ||theta||^2 per delta", drop),
        hypotheses=hypotheses,
        claims=(
            equal("N off the interval", change_out, 0.0, scale=scale, tolerance=1e-12),
            at_least(
                "N is raised inside" if raised else "N is lowered inside",
                change_in if raised else -change_in,
                0.0,
                scale=scale,
                tolerance=1e-12,
            ),
            above("first-order drop", drop, 0.0, scale=float(network.norm_squared())),
        ),
        arithmetic=(
            equal(
                "measured drop per delta",
                measured,
                drop - delta * second_order(network, j1, j2, delta, equation),
                scale=float(network.norm_squared()),
                tolerance=1e-14 / delta,
                note="the first order and all beyond it; rounding of the norms over delta",
            ),
            *at_balance,
        ),
    )


def _pair(first: float, *, same_way: bool = True, left: bool = False) -> Instance:
    """Two balanced neurons at 0.3 and 0.6 and two more that stay; `first` is v_1 |w_1|."""
    way = 1.0 if same_way else -1.0
    kinks, facing = np.array([0.3, 0.6, 0.1, 0.8]), np.array([1.0, way, -1.0, 1.0])
    v = np.array([first, -1.5 * first, 0.7, -0.4])
    rows = np.abs(v)[:, None] * np.column_stack([facing, -facing * kinks])
    network = TwoLayer.from_directions(rows, np.sign(v), bias=True)
    name = "two right-facing neurons" if same_way else "neurons that face each other"
    if left:
        network, name = mirror(network).balanced(), "two left-facing neurons"
    return Instance(name=name, network=network)


_move = partial(
    stated,
    needs=("network",),
    parameters={
        "j1": "the neuron that shrinks (default 0)",
        "j2": "its partner (default 1)",
        "delta": "size of the move (default 1e-5)",
    },
    control_outcome="violated",
)


@_move(
    id="KYS23/Con.P10",
    number="Equation (10)",
    meaning="A neuron that bends N up moves away from the next that bends it down: N rises between, the norm falls.",
    formula=r"\|\theta\|^2 - \|\theta_\delta\|^2 = 2 \delta \big( v_1^2 - \tfrac{v_1 w_1 v_2}{w_2} + w_1^2 k_1 (k_2 - "
    r"k_1) \big) + O(\delta^2) = 2 \delta w_1^2 (1 + k_1 k_2 + s_1 s_2) + O(\delta^2)",
    example=lambda: _pair(2.0),
    control=lambda: _pair(2.0, same_way=False),
    control_shows="neurons that face each other: N changes everywhere, which is the gap in the proof of Prop. A.4",
    remark="The text needs k_1 > 0; at balanced neurons Cauchy-Schwarz does without.",
)
def con_p10(instance: Instance) -> Findings:
    """The move of (10) on two given neurons."""
    return _judge(instance, 10)


@_move(
    id="KYS23/Con.P12",
    number="Equation (12)",
    meaning="A neuron that bends N up hands a share to one that bends it down behind: N falls between, the norm falls.",
    formula=r"\|\theta\|^2 - \|\theta_\delta\|^2 = 2 \delta \big( v_1^2 - \tfrac{v_1}{v_2} (w_1 w_2 + b_1 b_2) \big) + "
    r"O(\delta^2) = 2 \delta |v_1 w_1| \big( s_1 + \tfrac{1 + k_1 k_2}{s_2} \big) + O(\delta^2)",
    example=lambda: _pair(2.0, left=True),
    control=lambda: _pair(2.0, same_way=False),
    control_shows="neurons that face each other: N changes off the interval",
    remark="The middle term of (13) must be v_1 w_1 w_2 / v_2; the line before (11) drops v_2^2. N changes up to "
    "the new kink of j2, which is a little beyond the old one.",
)
def con_p12(instance: Instance) -> Findings:
    """The move of (12) on two given neurons."""
    return _judge(instance, 12)


@_move(
    id="KYS23/Con.P14",
    number="Equation (14)",
    meaning="The move of (12) with either order of bends: N changes only between the two kinks, and the norm falls.",
    formula=r"\|\theta\|^2 - \|\theta_\delta\|^2 = 2 \delta \big( v_1^2 - \tfrac{v_1}{v_2} (w_1 w_2 + b_1 b_2) \big) + "
    r"O(\delta^2)",
    example=lambda: _pair(-2.0),
    control=lambda: _pair(-2.0, same_way=False),
    control_shows="neurons that face each other: N changes off the interval",
    remark='"Unchanged outside (x_{i-1}, x_{i+1})" is wrong where k_1 < x_{i-1}; feasibility survives, since only '
    "samples labelled + are raised there.",
)
def con_p14(instance: Instance) -> Findings:
    """The move of (14) on two given neurons."""
    return _judge(instance, 14)
