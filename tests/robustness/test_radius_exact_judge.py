"""A second judge in exact arithmetic: what the judge with rounding accepts, rational numbers accept too.

It shares nothing with the first but the theorem: linear systems for eigenvectors, one neuron at a time, no charge.
"""

from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import isqrt

import numpy as np
import pytest

from marginflow.networks import TwoLayer
from marginflow.robustness.radius import ProofStep, RadiusCertificate, check_certificate, exact_radius

_GRAIN = 2**100  # square roots are rounded up to multiples of 1 / _GRAIN


def root_up(value: Fraction) -> Fraction:
    return Fraction(isqrt(value.numerator * _GRAIN**2 // value.denominator) + 1, _GRAIN)


def rational(values: np.ndarray) -> list[Fraction]:
    return [Fraction(float(t)) for t in values]


def dot(p: list[Fraction], q: list[Fraction]) -> Fraction:
    return sum((s * t for s, t in zip(p, q, strict=True)), Fraction(0))


def solved(H: list[list[Fraction]], sides: list[list[Fraction]]) -> list[list[Fraction]] | None:
    """H^-1 times each right-hand side by elimination; None if a pivot shows that H is not positive definite."""
    d = len(H)
    rows = [[*H[i], *(side[i] for side in sides)] for i in range(d)]
    for i in range(d):
        if rows[i][i] <= 0:
            return None
        for k in range(i + 1, d):
            factor = rows[k][i] / rows[i][i]
            rows[k] = [s - factor * t for s, t in zip(rows[k], rows[i], strict=True)]
    for i in reversed(range(d)):
        pivot = rows[i][i]
        rows[i] = [t / pivot for t in rows[i]]
        for k in range(i):
            factor = rows[k][i]
            rows[k] = [s - factor * t for s, t in zip(rows[k], rows[i], strict=True)]
    return [[rows[i][d + j] for i in range(d)] for j in range(len(sides))]


class ExactJudge:
    """Proofs about networks without parallel neurons, each neuron divided by the float64 that is nearly its norm."""

    def __init__(self, certificate: RadiusCertificate, network: TwoLayer) -> None:
        assert sorted(certificate.groups) == list(range(network.width))
        self.L = Fraction(certificate.lower)
        self.nodes = certificate.nodes
        order = np.argsort(certificate.groups)
        sizes = rational(np.linalg.norm(network.W, axis=1)[order])
        self.W = [[t / size for t in rational(w)] for w, size in zip(network.W[order], sizes, strict=True)]
        b = np.zeros(network.width) if network.b is None else network.b[order]
        x = rational(certificate.point)
        self.a = [dot(w, x) + t / size for w, t, size in zip(self.W, rational(b), sizes, strict=True)]
        self.c = [
            Fraction(certificate.label) * t * size for t, size in zip(rational(network.v[order]), sizes, strict=True)
        ]
        self.constant = -Fraction(certificate.level)

    def accepts(self) -> bool:
        reach = [self.L * root_up(dot(w, w)) for w in self.W]
        box = [(a - r, a + r) for a, r in zip(self.a, reach, strict=True)]
        return self._refuted(0, box)

    def _refuted(self, index: int, box: list[tuple[Fraction, Fraction]]) -> bool:
        node = self.nodes[index]
        for step in node.steps:
            left = self._shrunk(step, box)
            if left is None or any(low > high for low, high in left):
                return True
            box = left
        if node.split < 0:
            return False
        low, high = box[node.split]
        halves = ((max(low, Fraction(0)), high), (low, min(high, Fraction(0))))
        return all(
            half[0] > half[1] or self._refuted(child, [*box[: node.split], half, *box[node.split + 1 :]])
            for child, half in zip(node.children, halves, strict=True)
        )

    def _shrunk(self, step: ProofStep, box: list[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]] | None:
        s, pi = Fraction(step.scale), rational(step.slopes)
        kappa = rational(np.zeros(len(pi)) if step.curvatures is None else step.curvatures)
        d = len(self.W[0])
        h = s * self.constant
        p, M = [Fraction(0)] * d, [[Fraction(0)] * d for _ in range(d)]
        for w, a, c, slope, bend, (low, high) in zip(self.W, self.a, self.c, pi, kappa, box, strict=True):
            points = [low, high, Fraction(0)]
            if bend != 0:
                points += [-slope / (2 * bend), (s * c - slope) / (2 * bend)]
            theta = min(s * c * max(z, Fraction(0)) - slope * z - bend * z * z for z in points if low <= z <= high)
            h += bend * a * a + slope * a + theta
            turned = slope + 2 * bend * a
            p = [t + turned * u for t, u in zip(p, w, strict=True)]
            if bend != 0:
                M = [[M[i][k] + bend * w[i] * w[k] for k in range(d)] for i in range(d)]
        for tau in (Fraction(t) for t in step.taus):
            H = [[tau * M[i][k] + (1 if i == k else 0) for k in range(d)] for i in range(d)]
            found = solved(H, [p, *self.W])
            if found is None:
                continue
            room = self.L**2 - tau * h + tau**2 / 4 * dot(p, found[0])
            if room < 0:
                return None
            for j, w in enumerate(self.W):
                middle = self.a[j] - tau / 2 * dot(w, found[0])
                extent = root_up(room * dot(w, found[1 + j]))
                low, high = box[j]
                box = [
                    *box[:j],
                    (max(low, coarse(middle - extent)), min(high, -coarse(-middle - extent))),
                    *box[j + 1 :],
                ]
        return box


def coarse(value: Fraction) -> Fraction:
    """Rounded down a little, so that numbers do not grow from step to step."""
    return Fraction(value.numerator * _GRAIN // value.denominator, _GRAIN)


def largest_accepted(certificate: RadiusCertificate, network: TwoLayer, top: float) -> float:
    """By bisection, the largest lower bound that the judge with rounding accepts, without a witness to contradict."""
    low, high = 0.0, top
    for _ in range(60):
        middle = 0.5 * (low + high)
        accepted = check_certificate(replace(certificate, lower=middle, witness=None), network).holds
        low, high = (middle, high) if accepted else (low, middle)
    return low


@cache
def certificate_of(width: int, d: int, seed: int) -> tuple[RadiusCertificate, TwoLayer]:
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.uniform(-2, 2)
    network = TwoLayer(
        W=scale * rng.standard_normal((width, d)), b=rng.standard_normal(width), v=rng.standard_normal(width)
    )
    radius = exact_radius(network, rng.standard_normal(d))
    assert radius.status == "proved"
    return radius.certificate, network


def steps_of(certificate: RadiusCertificate) -> list[ProofStep]:
    return [step for node in certificate.nodes for step in node.steps]


# One node; branches; branches and parabolas.
CASES = [(3, 2, 0), (6, 2, 41), (8, 2, 3), (8, 2, 9), (8, 3, 3), (24, 2, 49), (30, 2, 11)]


def test_the_cases_have_branches_and_parabolas():
    found = [certificate_of(*case)[0] for case in CASES]
    assert sum(len(certificate.nodes) > 1 for certificate in found) >= 5
    assert sum(any(step.curvatures is not None for step in steps_of(certificate)) for certificate in found) >= 2


@pytest.mark.parametrize("case", CASES)
def test_rational_numbers_accept_the_largest_bound_that_float64_accepts_and_hardly_more(case):
    certificate, network = certificate_of(*case)
    best = largest_accepted(certificate, network, 2.0 * certificate.lower)
    assert best >= certificate.lower
    assert ExactJudge(replace(certificate, lower=best), network).accepts()
    assert not ExactJudge(replace(certificate, lower=best * (1.0 + 1e-8)), network).accepts()


@pytest.mark.parametrize("case", CASES)
def test_rational_numbers_accept_whatever_float64_accepts_of_changed_proofs(case):
    certificate, network = certificate_of(*case)
    rng = np.random.default_rng(0)
    useful = 0
    for spread in (1e-4, 0.02):
        nodes = tuple(
            replace(node, steps=tuple(changed(step, spread, rng) for step in node.steps)) for node in certificate.nodes
        )
        broken = replace(certificate, nodes=nodes)
        best = largest_accepted(broken, network, 2.0 * certificate.lower)
        if best > 0:
            useful += 1
            assert ExactJudge(replace(broken, lower=best), network).accepts()
            assert not ExactJudge(replace(broken, lower=best * (1.0 + 1e-8)), network).accepts()
    assert useful


def changed(step: ProofStep, spread: float, rng: np.random.Generator) -> ProofStep:
    """Other slopes, curvatures of both signs where there were none, other ellipsoids."""
    k = step.slopes.size
    size = float(np.abs(step.slopes).max()) * spread
    bend = np.zeros(k) if step.curvatures is None else step.curvatures
    return ProofStep(
        scale=step.scale * (1.0 + spread),
        slopes=step.slopes + size * rng.standard_normal(k),
        curvatures=bend + size * rng.standard_normal(k) * (rng.random(k) < 2.0 / k),
        taus=tuple(tau * (1.0 + spread * rng.random()) for tau in step.taus[::3]),
    )
