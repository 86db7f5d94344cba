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

All this needs numbers whose products neither overflow nor fall among the denormal numbers, which round by up to half
their value. So the judge first divides by powers of two, which rounds nothing: outputs such that the largest weight is
near 1, distances such that L is in [1/2, 1). Then, by rule, a number above 2^200 is refused (of the network: the
certificate; of a step: the step; a tau: that tau), and a number of a step below 2^-200 counts as zero, which is as good
a number as any. At the witness the sign of y N - level is decided in rational arithmetic where float64 cannot.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from marginflow.arrays import BoolArray, FloatArray, IntArray
from marginflow.networks import Classifier, TwoLayer
from marginflow.robustness.radius.certificate import ClassifierCertificate, ProofStep, RadiusCertificate
from marginflow.robustness.radius.normal import (
    LARGE,
    SMALL,
    InputForm,
    crosses,
    exponent,
    length,
    normal_form,
    one_unflushed,
    shifted,
)
from marginflow.threads import one_thread

_EPS = float(np.finfo(np.float64).eps)
_FARTHEST = 4096  # no exponent of a float64, or of a product of two, is beyond
_Seen = tuple[FloatArray, FloatArray, FloatArray, FloatArray, float, float, float]


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """Whether the certificate holds, the bounds it proves, and what is wrong if it does not."""

    holds: bool
    lower: float
    upper: float
    reason: str


def check_certificate(
    certificate: RadiusCertificate | ClassifierCertificate, network: TwoLayer | Classifier
) -> Judgement:
    """Verify both bounds of a radius certificate.

    Parameters
    ----------
    certificate : RadiusCertificate or ClassifierCertificate
        From `Radius.certificate`, or read back from plain values.
    network : TwoLayer or Classifier
        The network it speaks about.

    Returns
    -------
    Judgement
        `holds` only if the witness crosses the level, or touches it, and every leaf of the tree is refuted; for a
        classifier, only if that is so for every rival.

    Examples
    --------
    >>> from marginflow.networks import Classifier, TwoLayer
    >>> from marginflow.robustness.radius import check_certificate, exact_radius
    >>> net = TwoLayer(W=[[1.0, 0.0]], b=[-1.0], v=[1.0])
    >>> radius = exact_radius(net, [3.0, 5.0])
    >>> check_certificate(radius.certificate, net).holds
    True
    """
    with np.errstate(all="ignore"), one_thread():
        if isinstance(certificate, RadiusCertificate) and isinstance(network, TwoLayer):
            return _judge(certificate, network)
        if isinstance(certificate, ClassifierCertificate) and isinstance(network, Classifier):
            return _judge_rivals(certificate, network)
    return _refused("The certificate is for another kind of network.")


def _refused(reason: str) -> Judgement:
    return Judgement(holds=False, lower=0.0, upper=np.inf, reason=reason)


def _judge_rivals(certificate: ClassifierCertificate, classifier: Classifier) -> Judgement:
    """One proof for every rival, all about the same point; the bounds are the least of theirs.

    The weights of a difference are rounded to float64, by less than the charge for rounding allows for.
    """
    own, proofs = certificate.label, certificate.proofs
    if set(proofs) | {own} != set(range(classifier.n_classes)) or own in proofs:
        return _refused("There is not one proof for every rival of the class.")
    points = [proof.point for proof in proofs.values()]
    if any(not np.array_equal(points[0], point) for point in points):
        return _refused("The proofs for the rivals are about different points.")
    upper = np.inf
    for rival, proof in proofs.items():
        network, level = classifier.difference(own, rival)
        if proof.label != 1.0 or proof.level != level:
            return _refused(f"The proof for rival {rival} has another label or level.")
        judged = _judge(proof, network)
        if not judged.holds:
            return _refused(f"Rival {rival}: {judged.reason}")
        upper = min(upper, judged.upper)
    return Judgement(holds=True, lower=min(certificate.lower, upper), upper=upper, reason="")


def _judge(certificate: RadiusCertificate, network: TwoLayer) -> Judgement:
    upper, fault = _upper(certificate, network)
    L = certificate.lower
    if not fault and not 0.0 <= L <= upper:
        fault = f"The lower bound {L!r} is negative or exceeds the distance {upper!r} of the witness."
    if not fault and L == np.inf and not _positive_everywhere(certificate, network):
        fault = "The network is not seen to be positive everywhere."
    if not fault and 0.0 < L < np.inf:
        fault = _open_leaf(certificate, network)
    return Judgement(holds=not fault, lower=0.0 if fault else L, upper=np.inf if fault else upper, reason=fault)


def _upper(certificate: RadiusCertificate, network: TwoLayer) -> tuple[float, str]:
    """The distance of the witness, and what is wrong with it."""
    x, y, level, witness = certificate.point, certificate.label, certificate.level, certificate.witness
    if x.shape != (network.dimension,) or certificate.groups.shape != (network.width,):
        return np.inf, "The network has another shape."
    if abs(y) != 1.0 or not (np.isfinite(level) and np.isfinite(x).all()):
        return np.inf, "The label is not -1 or +1, or a number is not finite."
    if witness is None:
        return np.inf, ""
    if witness.shape != x.shape or not np.isfinite(witness - x).all():
        return np.inf, "The witness has another shape, or is not finite."
    if not crosses(network, x, witness, y, level):
        return np.inf, f"At the witness label N is above the level {level:g}."
    return length(witness - x), ""


def _positive_everywhere(certificate: RadiusCertificate, network: TwoLayer) -> bool:
    """Whether what depends on delta is non-negative and the rest positive, in rational arithmetic."""
    sees = network.W.any(axis=1)
    rest = -Fraction(certificate.level)
    if network.b is not None:
        pairs = zip(network.v[~sees].tolist(), network.b[~sees].tolist(), strict=True)
        rest += Fraction(certificate.label) * sum((Fraction(v) * Fraction(max(b, 0.0)) for v, b in pairs), Fraction(0))
    return bool((certificate.label * network.v[sees] >= 0).all()) and rest > 0


def _open_leaf(certificate: RadiusCertificate, network: TwoLayer) -> str:
    """Walk the tree from the root; the first leaf that is not refuted, in words."""
    form, noise = normal_form(network), 8.0 * _EPS * (network.width + network.dimension + 8)
    view = _view(form.inputs, certificate.groups, certificate.point, certificate.lower, noise)
    v, k, live, size = form.v, view.unit, view.grouped.live, view.grouped.size
    level = one_unflushed(certificate.level, -(form.outputs + k))
    if max(abs(unit) for unit in certificate.units) > _FARTHEST:
        return f"The units 2^{certificate.units[0]} and 2^{certificate.units[1]} are beyond float64."
    farther, higher = certificate.units[0] - k, certificate.units[1] - form.outputs
    if max(abs(level), view.largest, float(np.abs(v).max())) > LARGE:
        return "The bound is too small beside the point, a bias or the level for what float64 can tell."
    if not (size > 0).all():
        return "A group has a neuron that does not see the input."
    # Neurons act as the first of their group, those without one as constants; g is below that by at most `blur`.
    weights, rest = v[live] * size, v[~live]
    blur = float(np.abs(weights) @ view.away + np.abs(rest) @ view.astray) + noise * (abs(level) + SMALL)
    constant = certificate.label * float(rest @ view.steady) - level - blur
    rows, lengths, a, L = view.grouped.rows, view.grouped.lengths, view.a, view.L
    c = np.bincount(view.grouped.group, certificate.label * weights).astype(np.float64)
    curved = any(step.curvatures is not None for node in certificate.nodes for step in node.steps)
    if curved and a.size < network.dimension:
        # Only Q^T delta matters, with Q a basis of the rows: how far it is from orthogonal, and from that, is charged.
        rows, off, loose = view.grouped.span
        constant -= float(np.abs(weights).sum()) * off * L
        L *= 1.0 + loose
        lengths = np.sqrt((rows * rows).sum(axis=1))
    seen, ball = (rows, lengths, a, c, constant, noise, L), L + noise * (np.abs(a) + L)
    stack, nodes = [(0, a - ball, a + ball)], dict(enumerate(certificate.nodes))
    while stack:
        index, low, high = stack.pop()
        if (node := nodes.pop(index, None)) is None:
            return f"Node {index} is missing or occurs twice: the leaves do not cover."
        for step in node.steps:
            low, high = _shrunk(seen, step, farther, higher, low, high)
            if (low > high).any():
                break
        else:
            split, (plus, minus) = np.arange(a.size) == node.split, node.children
            if not split.any():
                return f"Leaf {index} does not exclude perturbations shorter than {certificate.lower!r}."
            stack.append((plus, np.where(split, np.maximum(low, 0.0), low), high))
            stack.append((minus, low, np.where(split, np.minimum(high, 0.0), high)))
    return ""


@dataclass(frozen=True, eq=False, kw_only=True)
class _View:
    """The hidden neurons from the point, in units of 2^unit: the part of the judgement that does not know the outputs.

    `away` is what a neuron may differ from the first of its group on the ball, and `astray` what one without a group
    may from the constant `steady`, rounding included; `a` are the distances to the first of each group.
    """

    grouped: _Grouped
    unit: int
    L: float
    largest: float
    away: FloatArray
    astray: FloatArray
    steady: FloatArray
    a: FloatArray


# The last view, with all that it was made of: the rivals of a class share it.
_last_view: list[tuple[_Grouped, FloatArray, float, float, _View]] = []


def _view(inputs: InputForm, groups: IntArray, point: FloatArray, lower: float, noise: float) -> _View:
    grouped = _grouped(inputs, groups)
    for same, seen, bound, charged, view in tuple(_last_view):
        if same is grouped and (bound, charged) == (lower, noise) and np.array_equal(seen, point):
            return view
    k = exponent(np.array(lower))
    x, L, b = shifted(point, -k), float(np.ldexp(lower, -k)), inputs.biases(k)
    live, first, group = grouped.live, grouped.first, grouped.group
    reach, offsets = float(np.linalg.norm(x)) + L, b[live] / grouped.size
    view = _View(
        grouped=grouped,
        unit=k,
        L=L,
        largest=max(float(np.abs(x).max()), float(np.abs(b).max())),
        away=grouped.apart * reach + np.abs(offsets - offsets[first][group]) + noise * (reach + np.abs(offsets)),
        astray=grouped.sums[~live] * reach + noise * np.abs(b[~live]),
        steady=np.maximum(b[~live], 0.0),
        a=grouped.rows @ x + offsets[first],
    )
    _last_view[:] = [(grouped, point.copy(), lower, noise, view)]
    return view


@dataclass(frozen=True, eq=False)
class _Grouped:
    """Neurons with a group, the first of each group, their norms and unit rows, and how far from the first they are."""

    live: BoolArray
    first: IntArray
    group: IntArray
    size: FloatArray
    rows: FloatArray
    apart: FloatArray
    sums: FloatArray

    @cached_property
    def lengths(self) -> FloatArray:
        """Of the rows, as computed."""
        computed: FloatArray = np.sqrt((self.rows * self.rows).sum(axis=1))
        return computed

    @cached_property
    def span(self) -> tuple[FloatArray, float, float]:
        """Rows in a basis Q of their span, how far Q is from giving them, and how far from orthogonal."""
        Q, R = np.linalg.qr(self.rows.T)
        loose = float(np.linalg.norm(Q.T @ Q - np.eye(self.rows.shape[0])))
        return R.T, float(np.linalg.norm(self.rows - R.T @ Q.T)), loose


# What the last certificate said of groups, with the inputs it was about: the rivals of a class share both.
_last: list[tuple[InputForm, IntArray, _Grouped]] = []


def _grouped(inputs: InputForm, groups: IntArray) -> _Grouped:
    for known, same, found in tuple(_last):
        if known is inputs and np.array_equal(same, groups):
            return found
    live = groups >= 0
    size = np.linalg.norm(inputs.W[live], axis=1)
    units = inputs.W[live] / size[:, None]
    _, first, group = np.unique(groups[live], return_index=True, return_inverse=True)
    apart = np.linalg.norm(units - units[first][group], axis=1)
    found = _Grouped(live, first, group, size, units[first], apart, np.abs(inputs.W).sum(axis=1))
    _last[:] = [(inputs, groups.copy(), found)]
    return found


def _shrunk(
    seen: _Seen, step: ProofStep, farther: int, higher: int, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Intervals after one step, low > high if no delta is left; the old ones if its numbers are refused.

    Its units are 2^farther (distances) and 2^higher (outputs) times those of the judge.
    """
    W, _, a, c, constant, noise, L = seen
    s, pi = 0.0 if abs(step.scale) < SMALL else float(step.scale), shifted(step.slopes, higher)
    if not (0 <= s <= LARGE and pi.shape == a.shape and np.abs(pi).max(initial=0.0) <= LARGE):
        return low, high
    taus = shifted(np.array(step.taus, dtype=np.float64), farther - higher)
    tau = taus[(taus >= 0) & (taus <= LARGE)].reshape(-1, 1)
    if step.curvatures is None:
        return _shrunk_by_a_line(seen, s, pi, tau, low, high)
    kappa = shifted(step.curvatures, higher - farther)
    if not (kappa.shape == a.shape and np.abs(kappa).max(initial=0.0) <= LARGE):
        return low, high
    if not kappa.any():
        return _shrunk_by_a_line(seen, s, pi, tau, low, high)
    bend = np.where(kappa == 0, 1.0, 2.0 * kappa)
    points = [low, high, *(np.clip(turn, low, high) for turn in (0.0 * a, -pi / bend, (s * c - pi) / bend))]
    theta = np.min([s * c * np.maximum(z, 0.0) - pi * z - kappa * z * z for z in points], axis=0)
    h = s * constant + float((kappa * a * a + pi * a + theta).sum())
    Z = np.abs(a) + L
    # Turn the coordinates so that M is diagonal.
    M = W.T @ (kappa[:, None] * W)
    curve, Q = np.linalg.eigh(M)
    noise += float(np.linalg.norm(Q.T @ Q - np.eye(curve.size))) + _EPS * curve.size**2
    h -= float(np.linalg.norm((Q * curve) @ Q.T - M)) * L**2
    W, p = W @ Q, (pi + 2.0 * kappa * a) @ W @ Q
    h -= noise * float(s * (abs(constant) + np.abs(c) @ Z) + np.abs(pi) @ Z + np.abs(kappa) @ Z**2 + SMALL)
    tau = tau[(1.0 + tau * curve > 0).all(axis=1)]
    H = 1.0 + tau * curve
    x = -0.5 * tau * p / H  # the centre of the ellipsoid, where ||delta||^2 + tau psi(delta) is least: tau h - drop
    drop = (H * x * x).sum(axis=1, keepdims=True)
    room = L**2 - tau * h + drop + noise * (L**2 * (1.0 + tau * np.abs(curve).max()) + drop)
    extent = np.sqrt(room * ((1.0 / H) @ (W * W).T))
    return _cut(a + x @ W.T, extent, noise * (Z + np.linalg.norm(x, axis=1, keepdims=True)), noise, room, low, high)


def _shrunk_by_a_line(
    seen: _Seen, s: float, pi: FloatArray, tau: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The same without curvatures: psi is linear, the ellipsoids are balls around multiples of its gradient."""
    W, lengths, a, c, constant, noise, L = seen
    ends = np.stack([low, high, np.minimum(np.maximum(low, 0.0), high)])
    theta = (s * c * np.maximum(ends, 0.0) - pi * ends).min(axis=0)
    Z, p = np.abs(a) + L, pi @ W
    h = s * constant + float((pi * a + theta).sum())
    h -= noise * float(s * (abs(constant) + np.abs(c) @ Z) + np.abs(pi) @ Z + SMALL)
    drop = 0.25 * tau * tau * float(p @ p)
    room = L**2 - tau * h + drop + noise * (L**2 + drop)
    if (room < 0).any():
        return low + np.inf, low
    extent = np.sqrt(room) * lengths
    return _cut(a - 0.5 * tau * (W @ p), extent, noise * (Z + np.sqrt(drop)), noise, room, low, high)


def _cut(
    centres: FloatArray,
    extent: FloatArray,
    charge: FloatArray,
    noise: float,
    room: FloatArray,
    low: FloatArray,
    high: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Intervals within every ellipsoid, rounding charged; low > high where an ellipsoid is empty."""
    if (room < 0).any():
        return low + np.inf, low
    extent = extent + charge + noise * extent
    lowest, highest = (centres - extent).max(axis=0, initial=-np.inf), (centres + extent).min(axis=0, initial=np.inf)
    return np.maximum(low, lowest), np.minimum(high, highest)
