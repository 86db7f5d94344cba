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

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.networks import Classifier, TwoLayer
from marginflow.robustness.radius.certificate import ClassifierCertificate, ProofNode, RadiusCertificate
from marginflow.robustness.radius.normal import LARGE, SMALL, crosses, length, normal_form, one_unflushed
from marginflow.robustness.radius.shrinking import Cases, ShrinkingSteps
from marginflow.robustness.radius.sight import sight
from marginflow.threads import one_thread

_EPS = float(np.finfo(np.float64).eps)
_FARTHEST = 4096  # no exponent of a float64, or of a product of two, is beyond
_TOGETHER = 20_000  # numbers in the intervals of the regions that are looked at together


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
    with one_thread():
        return judged(certificate, network)


def judged(certificate: RadiusCertificate | ClassifierCertificate, network: TwoLayer | Classifier) -> Judgement:
    """The judgement, for a caller who has set the number of threads."""
    with np.errstate(all="ignore"):
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
    if any(points[0] is not point and not np.array_equal(points[0], point) for point in points):
        return _refused("The proofs for the rivals are about different points.")
    upper, trees, finite = np.inf, [], bool(np.isfinite(points[0]).all())
    for rival, proof in proofs.items():
        network, level = classifier.difference(own, rival)
        if proof.label != 1.0 or proof.level != level:
            return _refused(f"The proof for rival {rival} has another label or level.")
        distance, fault = _ends(proof, network, finite)
        if fault:
            return _refused(f"Rival {rival}: {fault}")
        upper = min(upper, distance)
        if 0.0 < proof.lower < np.inf:
            trees.append((rival, proof, network))
    for together in _alike([(proof, network) for _, proof, network in trees]):
        which, fault = _open_leaf([trees[i][1:] for i in together])
        if fault:
            return _refused(f"Rival {trees[together[which]][0]}: {fault}")
    return Judgement(holds=True, lower=min(certificate.lower, upper), upper=upper, reason="")


def _judge(certificate: RadiusCertificate, network: TwoLayer) -> Judgement:
    upper, fault = _ends(certificate, network, bool(np.isfinite(certificate.point).all()))
    if not fault and 0.0 < certificate.lower < np.inf:
        _, fault = _open_leaf([(certificate, network)])
    return _refused(fault) if fault else Judgement(holds=True, lower=certificate.lower, upper=upper, reason="")


def _ends(certificate: RadiusCertificate, network: TwoLayer, finite: bool) -> tuple[float, str]:
    """The distance of the witness, and what is wrong with it or with a lower bound that needs no tree.

    `finite`: whether all numbers of the point are.
    """
    upper, fault = _upper(certificate, network, finite)
    L = certificate.lower
    if not fault and not 0.0 <= L <= upper:
        fault = f"The lower bound {L!r} is negative or exceeds the distance {upper!r} of the witness."
    if not fault and L == np.inf and not _positive_everywhere(certificate, network):
        fault = "The network is not seen to be positive everywhere."
    return upper, fault


def _upper(certificate: RadiusCertificate, network: TwoLayer, finite: bool) -> tuple[float, str]:
    """The distance of the witness, and what is wrong with it."""
    x, y, level, witness = certificate.point, certificate.label, certificate.level, certificate.witness
    if x.shape != (network.dimension,) or certificate.groups.shape != (network.width,):
        return np.inf, "The network has another shape."
    if abs(y) != 1.0 or not (finite and isfinite(level)):
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


_Claim = tuple[RadiusCertificate, TwoLayer]


def _alike(claims: list[_Claim]) -> list[list[int]]:
    """The claims that can be looked at together: equal bounds and groups, no parabola."""
    kinds: list[list[int]] = []
    straight: dict[int, RadiusCertificate] = {}
    for i, (proof, _) in enumerate(claims):
        if _curved(proof):
            kinds.append([i])
            continue
        for number, first in straight.items():
            same = first.groups is proof.groups or np.array_equal(first.groups, proof.groups)
            if same and first.lower == proof.lower:
                kinds[number].append(i)
                break
        else:
            straight[len(kinds)] = proof
            kinds.append([i])
    return kinds


def _curved(proof: RadiusCertificate) -> bool:
    return any(step.curvatures is not None for node in proof.nodes for step in node.steps)


def _open_leaf(claims: list[_Claim]) -> tuple[int, str]:
    """Walk the trees from their roots; the first leaf that is not refuted, in words, and the claim that it is of.

    The claims are about the same hidden neurons, point and bound; a claim with parabolas comes alone.
    """
    proofs, forms, W = [proof for proof, _ in claims], [normal_form(network) for _, network in claims], claims[0][1].W
    noise = 8.0 * _EPS * (sum(W.shape) + 8)
    seen = sight(forms[0].inputs, proofs[0].groups, proofs[0].point, proofs[0].lower, noise)
    live, size, k = seen.grouped.live, seen.grouped.size, seen.unit
    v = np.stack([form.v for form in forms])
    levels = np.array([one_unflushed(p.level, -(form.outputs + k)) for p, form in zip(proofs, forms, strict=True)])
    for i, proof in enumerate(proofs):
        if max(map(abs, proof.units)) > _FARTHEST:
            return i, f"The units 2^{proof.units[0]} and 2^{proof.units[1]} are beyond float64."
    farther = np.array([proof.units[0] - k for proof in proofs])
    higher = np.array([proof.units[1] - form.outputs for proof, form in zip(proofs, forms, strict=True)])
    largest = np.maximum(np.abs(v).max(axis=1), np.maximum(np.abs(levels), seen.largest))
    if (largest > LARGE).any():
        reason = "The bound is too small beside the point, a bias or the level for what float64 can tell."
        return int(np.argmax(largest > LARGE)), reason
    if not (size > 0).all():
        return 0, "A group has a neuron that does not see the input."
    # Neurons act as the first of their group, those without a group as constants; g is below that by at most `blur`.
    labels, weights, rest = np.array([proof.label for proof in proofs]), v[:, live] * size, v[:, ~live]
    blur = np.abs(weights) @ seen.away + np.abs(rest) @ seen.astray + noise * (np.abs(levels) + SMALL)
    constants = labels * (rest @ seen.steady) - levels - blur
    rows, longest, L = seen.grouped.rows, seen.grouped.longest, seen.L
    c = seen.grouped.summed(labels[:, None] * weights)
    if len(proofs) == 1 and seen.a.size < W.shape[1] and _curved(proofs[0]):
        # Only Q^T delta matters, with Q a basis of the rows: how far it is from orthogonal, and from that, is charged.
        rows, off, loose = seen.grouped.span
        constants -= np.abs(weights).sum(axis=1) * off * L
        L *= 1.0 + loose
        longest = float(np.sqrt((rows * rows).sum(axis=1)).max(initial=0.0))
    cases = Cases(
        W=rows, longest=longest, a=seen.a, c=c, constants=constants, farther=farther, higher=higher, noise=noise, L=L
    )
    return _walk(proofs, cases)


def _walk(proofs: list[RadiusCertificate], cases: Cases) -> tuple[int, str]:
    """All regions of all trees, some of them at a time."""
    numbers, ball = np.arange(cases.a.size), cases.L + cases.noise * cases.Z
    everywhere = np.stack([cases.a - ball, cases.a + ball])
    stack = [(case, 0, everywhere) for case in range(len(proofs))]
    left = [dict(enumerate(proof.nodes)) for proof in proofs]
    together = max(1, _TOGETHER // max(1, numbers.size))
    while stack:
        now, stack = stack[-together:], stack[:-together]
        nodes = []
        for case, index, _ in now:
            if (node := left[case].pop(index, None)) is None:
                return case, f"Node {index} is missing or occurs twice: the leaves do not cover."
            nodes.append(node)
        for i, ends in _left(
            cases, [case for case, _, _ in now], nodes, np.stack([ends for _, _, ends in now], axis=1)
        ):
            (case, index, _), split, (plus, minus) = now[i], numbers == nodes[i].split, nodes[i].children
            if not split.any():
                return case, f"Leaf {index} does not exclude perturbations shorter than {proofs[case].lower!r}."
            stack.append((case, plus, np.stack([np.where(split, np.maximum(ends[0], 0.0), ends[0]), ends[1]])))
            stack.append((case, minus, np.stack([ends[0], np.where(split, np.minimum(ends[1], 0.0), ends[1])])))
    return 0, ""


def _left(cases: Cases, of: list[int], nodes: list[ProofNode], ends: FloatArray) -> Iterator[tuple[int, FloatArray]]:
    """The regions that their steps leave, and the intervals there."""
    counts = np.array([len(node.steps) for node in nodes])
    rows = np.arange(counts.size)
    if counts.any():
        given = [(case, step) for case, node in zip(of, nodes, strict=True) for step in node.steps]
        steps = ShrinkingSteps(cases, [case for case, _ in given], [step for _, step in given])
        first = np.cumsum(counts) - counts
        shortest = int(counts.min())
        for number in range(int(counts.max())):
            if number >= shortest:
                more = counts[rows] > number
                yield from ((int(i), ends[:, j]) for j, i in zip(np.flatnonzero(~more), rows[~more], strict=True))
                rows, ends = rows[more], ends[:, more]
                if not rows.size:
                    return
                shortest = int(counts[rows].min())
            ends = steps.shrunk(first[rows] + number, ends)
            empty = np.logical_or.reduce(ends[0] > ends[1], axis=1)
            if empty.any():
                rows, ends = rows[~empty], ends[:, ~empty]
            if not rows.size:
                return
    yield from ((int(i), ends[:, j]) for j, i in enumerate(rows))
