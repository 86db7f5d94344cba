r"""An independent judge of radius certificates: arithmetic on the network and the numbers given, no solver.

Let L be the claimed lower bound and suppose some delta with ||delta|| < L has g(delta) = y N(x + delta) - level <= 0.

1. Every pre-activation z_j = a_j + w_j . delta lies in [a_j - L ||w_j||, a_j + L ||w_j||].
2. For any s >= 0, pi, kappa: s c relu(z) >= kappa z^2 + pi z + theta on [l, u], theta the minimum of the difference,
   found among the ends, 0 and the turning points. Summed over the neurons: psi(delta) <= s g(delta) <= 0.
3. psi linear: n . delta >= t. If t >= L there is no such delta; if not, delta lies in a cap, which gives new [l, u].
4. psi quadratic: ||delta||^2 + tau psi(delta) < L^2, an ellipsoid. Empty, or again new [l, u].
5. A split covers its node: z_j >= 0 or z_j <= 0. Every leaf must end with no delta left.

Rounding is charged: every computed quantity is moved to the safe side by a bound on its error.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.networks import TwoLayer
from marginflow.robustness.radius.certificate import Certificate, Step
from marginflow.robustness.radius.threads import one_thread

_UNIT = float(np.finfo(np.float64).eps)
# Ellipsoids that are looked at, and the flatness up to which they tighten; any values are sound, the search uses these.
_TAUS = (0.25, 0.5, 0.7, 0.85, 0.95, 1.0, 1.03)
_FLAT = 1e-4

_Intervals = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """Whether the certificate holds, the bounds it proves, and what is wrong if it does not."""

    holds: bool
    lower: float
    upper: float
    reason: str


@dataclass(frozen=True, eq=False)
class _Seen:
    """The network from the point: merged neurons, with bounds on the errors of `a` and of the whole."""

    W: FloatArray
    size: FloatArray
    a: FloatArray
    c: FloatArray
    constant: float
    a_error: FloatArray
    g_error: float


def check_certificate(certificate: Certificate, network: TwoLayer) -> Judgement:
    """Verify both bounds of a radius certificate.

    Parameters
    ----------
    certificate : Certificate
        From `Radius.certificate`, or read back from plain values.
    network : TwoLayer
        The network it speaks about.

    Returns
    -------
    Judgement
        `holds` only if the witness crosses the level and every leaf of the tree is refuted.

    Examples
    --------
    >>> from marginflow.networks import TwoLayer
    >>> from marginflow.robustness.radius import check_certificate, exact_radius
    >>> net = TwoLayer(W=[[1.0, 0.0]], b=[-1.0], v=[1.0])
    >>> radius = exact_radius(net, [3.0, 5.0])
    >>> check_certificate(radius.certificate, net).holds
    True
    """
    point, L = np.asarray(certificate.point), float(certificate.lower)
    if point.shape != (network.dimension,) or certificate.groups.shape != (network.width,):
        return _refused("The certificate belongs to a network of another shape.")
    if abs(certificate.label) != 1.0 or not L >= 0.0:
        return _refused(
            f"The label is {certificate.label:g} and the bound {L:g}; -1 or +1 and a bound >= 0 are expected."
        )
    upper, fault = _witness_distance(certificate, network)
    if fault:
        return _refused(fault)
    if L > upper:
        return _refused(f"The lower bound {L!r} exceeds the distance {upper!r} of the witness.")
    if L > 0:
        seen, fault = _merged(certificate, network, L)
        if seen is None:
            return _refused(fault)
        with one_thread():
            fault = _open_leaf(certificate, seen, L)
        if fault:
            return _refused(fault)
    return Judgement(holds=True, lower=L, upper=upper, reason="")


def _refused(reason: str) -> Judgement:
    return Judgement(holds=False, lower=0.0, upper=float("inf"), reason=reason)


def _witness_distance(certificate: Certificate, network: TwoLayer) -> tuple[float, str]:
    """Distance of the witness, once the network has been evaluated there; a value of zero up to rounding counts."""
    if certificate.witness is None:
        return float("inf"), ""
    x = np.asarray(certificate.witness)
    if x.shape != (network.dimension,) or not np.isfinite(x).all():
        return float("inf"), "The witness is not a point of the input space."
    value = certificate.label * float(network(x[None, :])[0])
    b = 0.0 if network.b is None else np.abs(network.b)
    size = float(np.abs(network.v) @ (np.abs(network.W) @ (np.abs(x) + np.abs(certificate.point)) + b))
    rounding = 256.0 * _UNIT * np.sqrt(network.dimension + network.width) * (size + abs(certificate.level))
    if value > certificate.level + rounding:
        return float("inf"), f"At the witness label N is {value:g}, above the level {certificate.level:g}."
    return float(np.linalg.norm(x - certificate.point)), ""


def _merged(certificate: Certificate, network: TwoLayer, L: float) -> tuple[_Seen | None, str]:
    """Neurons as the certificate groups them, each at the scale of its first member.

    What the grouping changes is bounded and charged; a neuron on its own is taken exactly as it is.
    """
    x, groups, label = certificate.point, certificate.groups, certificate.label
    b = np.zeros(network.width) if network.b is None else network.b
    size = np.linalg.norm(network.W, axis=1)
    n = int(groups.max(initial=-1)) + 1
    members = [np.flatnonzero(groups == g) for g in range(n)]
    if groups.min(initial=0) < -1 or any(m.size == 0 or size[m[0]] == 0 for m in members):
        return None, "The groups of parallel neurons are not numbered 0, 1, ... or contain w = 0."
    first = np.array([m[0] for m in members], dtype=np.int64)
    W, beta = network.W[first], b[first]
    reach = float(np.linalg.norm(x)) + (L if np.isfinite(L) else 1e300)
    loose = groups < 0
    error = float(np.abs(network.v[loose]) @ (size[loose] * reach))
    weights = np.zeros(n)
    for g, m in enumerate(members):
        ratio = size[m] / size[m[0]]
        weights[g] = fsum((network.v[m] * ratio).tolist())
        for i, q in zip(m[1:], ratio[1:], strict=True):
            away = float(np.linalg.norm(network.W[i] - q * W[g])) + 4.0 * _UNIT * size[i]
            error += abs(network.v[i]) * (away * reach + abs(b[i] - q * beta[g]) + 4.0 * _UNIT * abs(b[i]))
    constant = label * fsum((network.v[loose] * np.maximum(b[loose], 0.0)).tolist()) - certificate.level
    error += 4.0 * _UNIT * (fsum(np.abs(network.v[loose] * b[loose]).tolist()) + abs(certificate.level))
    a_error = 2.0 * _UNIT * (network.dimension + 4) * (size[first] * float(np.linalg.norm(x)) + np.abs(beta))
    return _Seen(W, size[first], W @ x + beta, label * weights, constant, a_error, error), ""


def _open_leaf(certificate: Certificate, seen: _Seen, L: float) -> str:
    """Walk the tree from the root; the first leaf that is not refuted, in words."""
    nodes, visited = certificate.nodes, set[int]()
    ball = L * seen.size * (1.0 + 8.0 * _UNIT) + seen.a_error
    stack = [(0, seen.a - ball, seen.a + ball)]
    while stack:
        index, low, high = stack.pop()
        if not 0 <= index < len(nodes) or index in visited:
            return f"Node {index} is missing or occurs twice: the leaves do not cover."
        visited.add(index)
        node = nodes[index]
        left: _Intervals | None = (low, high)
        for step in node.steps:
            if not _sound(step, low.size):
                return f"Node {index} has a step whose numbers are not finite or have the wrong shape."
            left = _shrunk(seen, step, low, high, L)
            if left is None:
                break
            low, high = left
        if left is None:
            continue
        if node.split < 0:
            return f"Leaf {index} does not exclude perturbations shorter than {L!r}."
        if node.split >= low.size:
            return f"Node {index} is split by neuron {node.split}, which does not exist."
        j = node.split
        for child, bounds in zip(
            node.children, ((max(low[j], 0.0), high[j]), (low[j], min(high[j], 0.0))), strict=True
        ):
            below, above = low.copy(), high.copy()
            below[j], above[j] = bounds
            stack.append((child, below, above))
    return ""


def _sound(step: Step, n: int) -> bool:
    arrays = [step.slopes] if step.curvatures is None else [step.slopes, step.curvatures]
    return step.scale >= 0 and np.isfinite(step.scale) and all(a.shape == (n,) and np.isfinite(a).all() for a in arrays)


def _shrunk(seen: _Seen, step: Step, low: FloatArray, high: FloatArray, L: float) -> _Intervals | None:
    """Intervals after one step; None if nothing is left."""
    # The numbers are meant for unit neurons; after the division they are as good as any others.
    pi = step.slopes / seen.size
    kappa = np.zeros_like(pi) if step.curvatures is None else step.curvatures / seen.size**2
    theta = np.minimum(
        np.where(low <= 0, _least(-pi, kappa, low, np.minimum(high, 0.0)), np.inf),
        np.where(high >= 0, _least(step.scale * seen.c - pi, kappa, np.maximum(low, 0.0), high), np.inf),
    )
    if not np.isfinite(theta).all():
        return low, high
    terms = np.concatenate([[step.scale * seen.constant], pi * seen.a, kappa * seen.a**2, theta])
    error = step.scale * seen.g_error + float((np.abs(pi) + 2 * np.abs(kappa * seen.a)) @ seen.a_error)
    scale = float(np.abs(terms).sum()) + float(step.scale * np.abs(seen.c) @ np.abs(seen.a))
    constant = fsum(terms.tolist()) - error - 8.0 * _UNIT * scale
    turned = pi + 2.0 * kappa * seen.a
    gradient = turned @ seen.W
    noise = (
        _UNIT * (turned.size + 4) * float(np.abs(turned) @ seen.size)
    )  # of the gradient; over a length L it costs noise L
    if not kappa.any():
        return _cap(seen, low, high, constant, gradient, noise, L)
    return _ellipsoids(seen, low, high, constant - noise * L, gradient, kappa, L)


def _least(p: FloatArray, kappa: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """min of p z - kappa z^2 over [low, high], ends at infinity allowed."""
    with np.errstate(divide="ignore", invalid="ignore"):
        turn = np.where(kappa == 0, low, np.clip(p / (2.0 * kappa), low, high))
        values = [np.where(p == 0, 0.0, p * z) - np.where(kappa == 0, 0.0, kappa * z * z) for z in (low, turn, high)]
    least: FloatArray = np.minimum(np.minimum(values[0], values[1]), values[2])
    return least


def _within(low: FloatArray, high: FloatArray, lowest: FloatArray, highest: FloatArray) -> _Intervals | None:
    low, high = np.maximum(low, lowest), np.minimum(high, highest)
    return None if (low > high).any() else (low, high)


def _cap(
    seen: _Seen, low: FloatArray, high: FloatArray, constant: float, gradient: FloatArray, noise: float, L: float
) -> _Intervals | None:
    size = float(np.linalg.norm(gradient))
    if constant <= 0:
        return low, high
    if size + noise == 0 or constant / (size + noise) >= L:
        return None
    if not np.isfinite(L) or size == 0:
        return low, high
    # n . delta >= t with n the computed unit normal: the gradient's own error acts over a length of at most L.
    t = max((constant - noise * L) / size * (1.0 - 8.0 * _UNIT), 0.0)
    normal, units = gradient / -size, seen.W / seen.size[:, None]
    cosine = units @ normal
    rim = np.sqrt((L - t) * (L + t)) * np.linalg.norm(units - cosine[:, None] * normal, axis=1)
    margin = 32.0 * _UNIT * gradient.size * L
    highest = seen.size * (np.where(cosine * L >= t, L, t * cosine + rim) + margin) + seen.a_error
    lowest = seen.size * (np.where(-cosine * L >= t, -L, t * cosine - rim) - margin) - seen.a_error
    return _within(low, high, seen.a + lowest, seen.a + highest)


def _ellipsoids(
    seen: _Seen, low: FloatArray, high: FloatArray, constant: float, gradient: FloatArray, kappa: FloatArray, L: float
) -> _Intervals | None:
    """For several tau: q(delta) = ||delta||^2 + tau psi(delta) < L^2, written around an approximate minimiser x.

    With r = grad q(x) and y = delta - x, q(delta) = q(x) + r . y + y^T H y >= q(x) - ||r||^2 / (4 H_min).
    """
    bent = np.flatnonzero(kappa)
    V, bend = seen.W[bent], kappa[bent]
    n = V.shape[0] + V.shape[1]
    eigenvalues, axes = np.linalg.eigh(V.T @ (bend[:, None] * V))
    eigenvalues = eigenvalues - 16.0 * _UNIT * n * float(
        np.abs(bend) @ seen.size[bent] ** 2
    )  # certainly not above the true ones
    along, directions = gradient @ axes, seen.W @ axes
    for tau in _TAUS:
        H = 1.0 + tau * eigenvalues
        if H[0] <= 0:
            break
        x = -0.5 * tau * (axes @ (along / H))
        zx = V @ x
        parts = np.array([x @ x, tau * constant, tau * (gradient @ x), tau * (bend @ zx**2)])
        at_x = fsum(parts.tolist()) - 4.0 * _UNIT * n * float(np.abs(parts).sum() + tau * np.abs(bend) @ zx**2)
        residual = float(np.linalg.norm(2.0 * x + tau * (gradient + 2.0 * (bend * zx) @ V)))
        residual += 8.0 * _UNIT * n * float(np.linalg.norm(x) + tau * np.linalg.norm(gradient))
        if at_x - residual**2 / (4.0 * H[0]) >= L**2:
            return None
        if H[0] < _FLAT:
            continue
        room = L**2 - at_x + residual * (L + float(np.linalg.norm(x)))
        reach = np.sqrt(max(room, 0.0) * (directions**2 @ (1.0 / H)) * (1.0 + 8.0 * _UNIT * n / H[0]))
        middle = seen.a + seen.W @ x
        margin = seen.a_error + 4.0 * _UNIT * n * seen.size * float(np.linalg.norm(x))
        left = _within(low, high, middle - reach - margin, middle + reach + margin)
        if left is None:
            return None
        low, high = left
    return low, high
