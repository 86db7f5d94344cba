r"""An independent judge of radius certificates: arithmetic on the network and the numbers given, no solver.

Let L be the claimed lower bound and suppose some delta with ||delta|| < L has g(delta) = y N(x + delta) - level <= 0.

1. Every pre-activation z_j = a_j + w_j . delta of a unit neuron lies in [a_j - L, a_j + L].
2. For any s >= 0, pi, kappa: s c relu(z) >= kappa z^2 + pi z + theta on [l, u], theta the least difference, found among
   the ends, 0 and the turning points. Summed: psi(delta) = h + p . delta + delta^T M delta <= s g(delta) <= 0.
3. So ||delta||^2 + tau psi(delta) < L^2 for every tau >= 0: an ellipsoid where I + tau M is positive definite, a ball
   if psi is linear. Either it is empty, and there is no such delta, or it gives new [l, u].
4. A split covers its node: z_j >= 0 or z_j <= 0. Every leaf must end with no delta left.

Rounding is charged: a sum errs by less than `noise` times the sum of the magnitudes in it. On the ball, g is at
least constant + sum_j c_j relu(a_j + w_j . delta), with these very numbers, once `blur` is taken off the constant. h, p
and M are charged together, by noise times all that enters psi. Eigenvectors are not trusted: how far they are from
being orthogonal and from giving M is measured and charged. What is not a number compares as false, so proves nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.networks import TwoLayer
from marginflow.robustness.radius.certificate import Certificate, Step
from marginflow.threads import one_thread

_EPS, _TINY = float(np.finfo(np.float64).eps), 1e-300  # rounding, and far above underflow
_Seen = tuple[FloatArray, FloatArray, FloatArray, float, float, float]


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """Whether the certificate holds, the bounds it proves, and what is wrong if it does not."""

    holds: bool
    lower: float
    upper: float
    reason: str


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
        `holds` only if the witness crosses the level, up to rounding, and every leaf of the tree is refuted.

    Examples
    --------
    >>> from marginflow.networks import TwoLayer
    >>> from marginflow.robustness.radius import check_certificate, exact_radius
    >>> net = TwoLayer(W=[[1.0, 0.0]], b=[-1.0], v=[1.0])
    >>> radius = exact_radius(net, [3.0, 5.0])
    >>> check_certificate(radius.certificate, net).holds
    True
    """
    x, y, level, L = certificate.point, certificate.label, certificate.level, certificate.lower
    witness = x if certificate.witness is None else certificate.witness
    if not x.shape == witness.shape == (network.dimension,) or certificate.groups.shape != (network.width,):
        return Judgement(holds=False, lower=0.0, upper=np.inf, reason="The network has another shape.")
    upper = np.inf if certificate.witness is None else float(np.linalg.norm(witness - x))
    W, v, b = network.W, network.v, network.preactivations(np.zeros((1, x.size)))[0]
    noise = 8.0 * _EPS * (network.width + network.dimension + 8)
    with np.errstate(all="ignore"), one_thread():
        value = y * float(v @ np.maximum(W @ witness + b, 0.0))
        size = np.abs(v) @ (np.abs(W) @ (np.abs(x) + np.abs(witness)) + np.abs(b)) + abs(level)
        if abs(y) != 1.0 or not np.isfinite(size):
            fault = "The label is not -1 or +1, or a number is not finite."
        elif upper < np.inf and not value <= level + 16.0 * noise * size:
            fault = f"At the witness label N is {value:g}, above the level {level:g}."
        elif not 0.0 <= L <= upper:
            fault = f"The lower bound {L!r} is negative or exceeds the distance {upper!r} of the witness."
        elif L == np.inf:  # what depends on delta must be non-negative, and the rest positive
            seeing, rest = W.any(axis=1), np.append(y * v * np.maximum(b, 0.0) * ~W.any(axis=1), -level)
            positive = (y * v[seeing] >= 0).all() and rest.sum() > noise * np.abs(rest).sum()
            fault = "" if positive else "The network is not seen to be positive everywhere."
        else:
            fault = _open_leaf(certificate, W, v, b, noise) if L > 0 else ""
    return Judgement(holds=not fault, lower=0.0 if fault else L, upper=np.inf if fault else upper, reason=fault)


def _open_leaf(certificate: Certificate, W: FloatArray, v: FloatArray, b: FloatArray, noise: float) -> str:
    """Walk the tree from the root; the first leaf that is not refuted, in words."""
    x, L, live = certificate.point, certificate.lower, certificate.groups >= 0
    reach, size = float(np.linalg.norm(x)) + L, np.linalg.norm(W[live], axis=1)
    if not (size > 1e-100).all() or not 1e-100 < L < 1e100:
        return "The bound is beyond what float64 can square, or a group has a neuron that does not see the input."
    units, offsets, weights = W[live] / size[:, None], b[live] / size, v[live] * size
    _, first, group = np.unique(certificate.groups[live], return_index=True, return_inverse=True)
    # Neurons act as the first of their group, those without one as constants; g is below that by at most `blur`.
    away = np.linalg.norm(units - units[first][group], axis=1) * reach + np.abs(offsets - offsets[first][group])
    blur = np.abs(weights) @ (away + noise * (reach + np.abs(offsets))) + noise * (abs(certificate.level) + _TINY)
    blur += np.abs(v[~live]) @ (np.abs(W[~live]).sum(axis=1) * reach + noise * np.abs(b[~live]))
    constant = certificate.label * float(v[~live] @ np.maximum(b[~live], 0.0)) - certificate.level - float(blur)
    a, c = units[first] @ x + offsets[first], np.bincount(group, certificate.label * weights).astype(np.float64)
    seen, ball = (units[first], a, c, constant, noise, L), L + noise * (np.abs(a) + L)
    stack, nodes = [(0, a - ball, a + ball)], dict(enumerate(certificate.nodes))
    while stack:
        index, low, high = stack.pop()
        if (node := nodes.pop(index, None)) is None:
            return f"Node {index} is missing or occurs twice: the leaves do not cover."
        for step in node.steps:
            low, high = _shrunk(seen, step, low, high)
            if (low > high).any():
                break
        else:
            split, (plus, minus) = np.arange(a.size) == node.split, node.children
            if not split.any():
                return f"Leaf {index} does not exclude perturbations shorter than {L!r}."
            stack.append((plus, np.where(split, np.maximum(low, 0.0), low), high))
            stack.append((minus, low, np.where(split, np.minimum(high, 0.0), high)))
    return ""


def _shrunk(seen: _Seen, step: Step, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Intervals after one step, low > high if no delta is left; the old ones if its numbers are no numbers."""
    W, a, c, constant, noise, L = seen
    s, pi, kappa = step.scale, step.slopes, 0.0 * step.slopes if step.curvatures is None else step.curvatures
    if not (0 <= s < 1e100 and pi.shape == kappa.shape == a.shape and (np.abs(kappa) < 1e100).all()):
        return low, high
    bend = np.where(kappa == 0, 1.0, 2.0 * kappa)
    points = [low, high, *(np.clip(turn, low, high) for turn in (0.0 * a, -pi / bend, (s * c - pi) / bend))]
    theta = np.min([s * c * np.maximum(z, 0.0) - pi * z - kappa * z * z for z in points], axis=0)
    h = s * constant + float((kappa * a * a + pi * a + theta).sum())
    p, curve, Z = (pi + 2.0 * kappa * a) @ W, np.zeros(W.shape[1]), np.abs(a) + L
    if kappa.any():  # turn the coordinates so that M is diagonal
        M = W.T @ (kappa[:, None] * W)
        curve, Q = np.linalg.eigh(M)
        noise += float(np.linalg.norm(Q.T @ Q - np.eye(curve.size))) + _EPS * curve.size**2
        h -= float(np.linalg.norm((Q * curve) @ Q.T - M)) * L**2
        W, p = W @ Q, p @ Q
    h -= noise * float(s * (abs(constant) + np.abs(c) @ Z) + np.abs(pi) @ Z + np.abs(kappa) @ Z**2 + _TINY)
    tau = np.array([[t] for t in step.taus if t >= 0 and (1.0 + t * curve > 0).all()]).reshape(-1, 1)
    H = 1.0 + tau * curve
    x = -0.5 * tau * p / H  # the centre of the ellipsoid, where ||delta||^2 + tau psi(delta) is least: tau h - drop
    drop = (H * x * x).sum(axis=1, keepdims=True)
    room = L**2 - tau * h + drop + noise * (L**2 * (1.0 + tau * np.abs(curve).max()) + drop)
    extent = np.sqrt(room * ((1.0 / H) @ (W * W).T))
    extent += noise * (Z + np.linalg.norm(x, axis=1, keepdims=True) + extent)
    lowest = (a + x @ W.T - extent).max(axis=0, initial=-np.inf)
    highest = (a + x @ W.T + extent).min(axis=0, initial=np.inf)
    return (low + np.inf, low) if (room < 0).any() else (np.maximum(low, lowest), np.minimum(high, highest))
