"""Attack the exact radius: random networks of every scale, proofs with changed numbers, proofs made to deceive.

    python benchmarks/attack_radius.py [--networks 10000] [--mutated 100000] [--constructed 1000] [--seed 0]

Networks of 17 kinds with weights, biases and points from 1e-300 to 1e300. "Wrong" is decided in rational arithmetic: a
radius that is called proved although its own certificate is refused, whose witness does not cross the level, or that
has a point on the other side nearer than its lower bound (on the line the nearest crossing itself, elsewhere the
crossings along many rays). A forged certificate claims a lower bound above the distance of a confirmed witness.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.networks import TwoLayer
from marginflow.robustness import Radius, RadiusCertificate, check_certificate, exact_radius
from marginflow.robustness.radius import ProofNode, ProofStep
from marginflow.robustness.radius.normal import exact_margin

KINDS = (
    "gaussian",
    "without bias",
    "wide",
    "one neuron",
    "integers",
    "sparse",
    "blind neurons",
    "parallel",
    "nearly parallel",
    "cancelling pairs",
    "neurons of all scales",
    "entries of all scales",
    "denormal entries",
    "far point",
    "point near a kink",
    "all of one sign",
    "on the line",
)


def network_of(kind: str, rng: np.random.Generator) -> tuple[TwoLayer, FloatArray]:
    """A network and a point; then everything is multiplied by scales from 1e-300 to 1e300 as far as float64 goes."""
    width, d = int(rng.integers(2, 13)), int(rng.integers(1, 6))
    width = {"one neuron": 1, "wide": 40}.get(kind, width)
    d = 1 if kind == "on the line" else d
    W, b, v = rng.standard_normal((width, d)), rng.standard_normal(width), rng.standard_normal(width)
    x = rng.standard_normal(d)
    if kind == "integers":
        W, b, v, x = (np.round(2.0 * array) for array in (W, b, v, x))
    elif kind == "sparse":
        W *= rng.random(W.shape) < 0.4
    elif kind == "blind neurons":
        W[rng.random(width) < 0.4] = 0.0
    elif kind in ("parallel", "nearly parallel", "cancelling pairs"):
        again = rng.integers(0, width, width)
        q = rng.choice([0.5, 1.0, 3.0], width)
        shake = 1e-13 if kind == "nearly parallel" else 0.0
        W = np.vstack([W, q[:, None] * W[again] * (1.0 + shake * rng.standard_normal((width, d)))])
        b = np.append(b, q * b[again])
        v = np.append(v, -v[again] / q if kind == "cancelling pairs" else rng.standard_normal(width))
    elif kind == "neurons of all scales":
        each = 10.0 ** rng.uniform(-120, 120, width)
        W, b, v = W * each[:, None], b * each, v / each
    elif kind == "entries of all scales":
        W, b, v = (array * 10.0 ** rng.uniform(-90, 90, array.shape) for array in (W, b, v))
    elif kind == "denormal entries":
        W[rng.random(W.shape) < 0.3] = 5e-324
        v[rng.random(width) < 0.2] = 1e-310
    elif kind == "far point":
        x = x * 10.0 ** rng.uniform(0, 20)
    elif kind == "point near a kink":
        x = x - W[0] * (W[0] @ x + b[0]) / max(W[0] @ W[0], 1e-30)
    elif kind == "all of one sign":
        v = np.abs(v)
    inner, outer, far = 10.0 ** (rng.uniform(-300, 300, 3) * (rng.random(3) < 0.6))
    with np.errstate(over="ignore", under="ignore"):
        scaled = (W * inner / far, b * inner, v * outer, x * far)
    if all(np.isfinite(array).all() for array in scaled):
        W, b, v, x = scaled
    return TwoLayer(W=W, b=None if kind == "without bias" else b, v=v), x


# The truth -----------------------------------------------------------------------------------------------------------


def exact_square(point: FloatArray, x: FloatArray) -> Fraction:
    return sum((Fraction(float(p)) - Fraction(float(q))) ** 2 for p, q in zip(point, x, strict=True))  # type: ignore[return-value]


def nearest_on_the_line(network: TwoLayer, x: float, label: float) -> Fraction | None:
    """The distance of the nearest zero of label N, in rational numbers: knots, and a crossing between two of them."""
    b = np.zeros(network.width) if network.b is None else network.b
    triples = [
        (Fraction(float(w)), Fraction(float(o)), Fraction(float(c)))
        for w, o, c in zip(network.W[:, 0], b, label * network.v, strict=True)
    ]

    def value(t: Fraction) -> Fraction:
        return sum((c * max(w * t + o, Fraction(0)) for w, o, c in triples), Fraction(0))

    start = Fraction(x)
    knots = sorted({start, *(-o / w for w, o, _ in triples if w != 0)})
    ends = [2 * min(knots) - max(knots) - 1, *knots, 2 * max(knots) - min(knots) + 1]
    found: list[Fraction] = []
    values = [value(t) for t in ends]
    for (s, g), (t, h) in zip(zip(ends, values, strict=True), zip(ends[1:], values[1:], strict=True), strict=False):
        found += [abs(r - start) for r, f in ((s, g), (t, h)) if f <= 0]
        if (g > 0) != (h > 0):
            found.append(abs(s + (t - s) * g / (g - h) - start))
    for near, far, g, h in ((ends[1], ends[0], values[1], values[0]), (ends[-2], ends[-1], values[-2], values[-1])):
        if g > 0 and h < g:  # falls for ever
            found.append(abs(near + (far - near) * g / (g - h) - start))
    return min(found, default=None)


def nearer_witness(network: TwoLayer, radius: Radius, rng: np.random.Generator) -> str:
    """Why the lower bound is wrong, empty if no nearer point on the other side is found."""
    if radius.lower == 0:
        return ""
    if network.dimension == 1:
        truth = nearest_on_the_line(network, float(radius.point[0]), radius.label)
        wrong = truth is not None and (radius.lower == np.inf or Fraction(radius.lower) > truth)
        return "a zero on the line is nearer" if wrong else ""
    reach = 1e3 * float(np.abs(radius.point).max() + 1.0) if radius.lower == np.inf else radius.lower
    e = np.frexp(reach)[1]
    directions = rng.standard_normal((24, network.dimension))
    towards = np.zeros((0, network.dimension)) if radius.witness is None else (radius.witness - radius.point)[None, :]
    rows = network.W[network.W.any(axis=1)]
    for direction in (*directions, *towards, *rows, *-rows):
        size = np.frexp(np.abs(direction).max())[1]
        unit = np.ldexp(direction, -size)
        unit = unit / np.linalg.norm(unit)
        for share in (0.999999, 0.5, 0.1):
            with np.errstate(over="ignore", under="ignore"):
                point = radius.point + np.ldexp(share * np.ldexp(reach, -e) * unit, e)
            if not np.isfinite(point).all() or exact_margin(network, point, radius.label, 0.0) > 0:
                continue
            if radius.lower == np.inf or exact_square(point, radius.point) < Fraction(radius.lower) ** 2:
                return f"a point at {share} of the lower bound is on the other side"
    return ""


def fault_of(network: TwoLayer, radius: Radius, rng: np.random.Generator) -> str:
    """What is wrong with an answer, empty if nothing is."""
    if radius.certificate is None or not check_certificate(radius.certificate, network).holds:
        return "its own certificate is refused"
    if radius.witness is not None:
        left = exact_margin(network, radius.witness, radius.label, 0.0)
        at_point = exact_margin(network, radius.point, radius.label, 0.0)
        if left > 0 and left * 10**9 > at_point:
            return "the witness is not on the other side"
    return nearer_witness(network, radius, rng)


# Forgeries -----------------------------------------------------------------------------------------------------------

EXTREMES = (0.0, 5e-324, 1e-320, 2.3e-308, 1e-200, 1e-60, 1e-16, 1.0, 1e16, 1e60, 1e150, 1e300, 1.7e308, np.inf, np.nan)


def mutated(certificate: RadiusCertificate, beyond: float, rng: np.random.Generator) -> RadiusCertificate:
    """A false claim: the bound above a witness, numbers, nodes, groups and units changed at random."""

    def shaken(values: FloatArray) -> FloatArray:
        values = np.array(values, dtype=np.float64)
        way = rng.integers(0, 5)
        if way == 0:
            return values
        if way == 1:
            return values * (1.0 + 10.0 ** rng.uniform(-12, 0) * rng.standard_normal(values.shape))
        if way == 2:
            return values * 10.0 ** rng.uniform(-320, 300)
        if way == 3 and values.size:
            values[rng.integers(0, values.size)] = rng.choice(EXTREMES) * rng.choice([-1.0, 1.0])
            return values
        return values + float(np.abs(values).max(initial=0.0)) * rng.standard_normal(values.shape)

    def changed(step: ProofStep) -> ProofStep:
        scale = step.scale if rng.random() < 0.5 else float(rng.choice(EXTREMES))
        bends = step.curvatures if step.curvatures is not None or rng.random() < 0.7 else np.zeros_like(step.slopes)
        taus = np.array([*step.taus, *rng.choice(EXTREMES, 3), *10.0 ** rng.uniform(-300, 308, 3)])
        return ProofStep(
            scale=scale,
            slopes=shaken(step.slopes),
            curvatures=None if bends is None else shaken(bends),
            taus=tuple(shaken(taus).tolist()),
        )

    nodes = [replace(node, steps=tuple(changed(step) for step in node.steps)) for node in certificate.nodes]
    if nodes and rng.random() < 0.2:
        i = int(rng.integers(0, len(nodes)))
        children = (int(rng.integers(-1, len(nodes) + 1)), int(rng.integers(-1, len(nodes) + 1)))
        nodes[i] = replace(nodes[i], split=int(rng.integers(-1, certificate.groups.size + 1)), children=children)
    groups = certificate.groups.copy()
    if rng.random() < 0.2:
        groups[rng.integers(0, groups.size)] = rng.integers(-1, groups.size)
    units = certificate.units
    if rng.random() < 0.2:
        units = (int(rng.integers(-5000, 5000)), int(rng.integers(-5000, 5000)))
    factor = float(rng.choice([1.0, 1.0 + 1e-9, 1.001, 2.0, 1e3, 1e100]))
    return replace(
        certificate,
        lower=float(rng.choice([beyond * factor, np.inf], p=[0.95, 0.05])),
        witness=None,
        nodes=tuple(nodes),
        groups=groups,
        units=units,
    )


def constructed(rng: np.random.Generator) -> tuple[RadiusCertificate, TwoLayer]:
    """The point is on the other side already; steps made of numbers at the edges of float64."""
    width, d = int(rng.integers(1, 4)), int(rng.integers(1, 3))
    a = 10.0 ** rng.choice([0.0, 8.0, 10.0, 12.0, 16.0, 20.0, 150.0, -150.0, 300.0])
    W, b, v = rng.standard_normal((width, d)), a * rng.standard_normal(width), rng.standard_normal(width)
    tiny = rng.random() < 0.6
    if tiny:  # s c rounds to the next multiple of the least denormal: 0.51 to 1 and -1.49 to -1
        W, d = np.ones((2, 1)), 1
        b, v = np.array([rng.uniform(0.0, 1.0) * a, 0.0]), np.array([rng.uniform(0.5, 1.0), -rng.uniform(1.0, 1.5)])
    width = v.size
    network = TwoLayer(W=W, b=b, v=v * 10.0 ** rng.choice([0.0, 0.0, 0.0, -170.0, 170.0, -300.0]))
    x = np.full(1, a) if d == 1 else a * rng.standard_normal(d)
    label = -1.0 if exact_margin(network, x, 1.0, 0.0) > 0 else 1.0
    numbers = np.array((5e-324, 1e-323, 2e-323) if tiny else EXTREMES[:-2])

    def entries() -> FloatArray:
        drawn: FloatArray = rng.choice(numbers, width) * rng.choice([-1.0, 0.0, 1.0], width)
        return drawn

    steps = tuple(
        ProofStep(
            scale=float(rng.choice(numbers)),
            slopes=entries(),
            curvatures=entries() if rng.random() < 0.4 else None,
            taus=tuple(np.geomspace(1e290, 1.7e308, 30)) + tuple(np.geomspace(1e-300, 1e290, 30)),
        )
        for _ in range(4)
    )
    return RadiusCertificate(
        point=x,
        label=label,
        level=0.0,
        lower=float(rng.choice([0.016, 0.1, 1.0, a, 1e-3 * a, 1e-12 * a, 1e-300, 1e300])),
        witness=None,
        groups=np.arange(width),
        nodes=(ProofNode(steps=steps),),
        units=(int(rng.choice([0, 0, 0, -1000, 1000])), int(rng.choice([0, 0, 0, -1000, 1000]))),
    ), network


# Runs ----------------------------------------------------------------------------------------------------------------


def networks(count: int, seed: int) -> Iterator[tuple[str, TwoLayer, Radius, np.random.Generator]]:
    for i in range(count):
        kind = KINDS[i % len(KINDS)]
        rng = np.random.default_rng([seed, i])
        network, x = network_of(kind, rng)
        yield kind, network, exact_radius(network, x, max_nodes=200, time_limit=20.0), rng


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", type=int, default=10_000)
    parser.add_argument("--mutated", type=int, default=100_000)
    parser.add_argument("--constructed", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    np.seterr(all="ignore")  # the attacks themselves overflow
    begin = time.process_time()
    statuses, wrong, accepted, tried = Counter[str](), 0, 0, 0
    share = options.mutated / max(options.networks, 1)
    for kind, network, radius, rng in networks(options.networks, options.seed):
        statuses[radius.status] += 1
        if statuses.total() % 500 == 0:
            print(
                f"{statuses.total()} networks, {tried} mutated certificates: {wrong} wrong, {accepted} accepted",
                flush=True,
            )
        if fault := fault_of(network, radius, rng):
            wrong += 1
            print(f"WRONG ({kind}): {radius!r}: {fault}")
        if radius.status not in ("proved", "misclassified") or radius.certificate is None or radius.witness is None:
            continue
        if exact_margin(network, radius.witness, radius.label, 0.0) > 0:
            continue  # it only touches: no false bound can be told from a true one
        beyond = float(np.nextafter(radius.upper, np.inf)) * (1.0 + 1e-15)
        while Fraction(beyond) ** 2 <= exact_square(radius.witness, radius.point):
            beyond = float(np.nextafter(beyond, np.inf))
        for _ in range(int(np.ceil(1.3 * share))):
            if tried < options.mutated:
                tried += 1
                false = mutated(radius.certificate, max(beyond, 5e-324), rng)
                if check_certificate(false, network).holds:
                    accepted += 1
                    print(f"ACCEPTED ({kind}, mutated): lower {false.lower!r} beside a witness at {radius.upper!r}")
    deceived = 0
    for i in range(options.constructed):
        proof, network = constructed(np.random.default_rng([options.seed, 1, i]))
        if check_certificate(proof, network).holds:
            deceived += 1
            print(f"ACCEPTED (constructed {i}): lower {proof.lower!r} at a point on the other side")
    print(f"{options.networks} networks, {dict(statuses)}: {wrong} wrong")
    print(f"{tried} mutated certificates: {accepted} accepted; {options.constructed} constructed: {deceived} accepted")
    print(f"{time.process_time() - begin:.0f} s of processor time")


if __name__ == "__main__":
    main()
