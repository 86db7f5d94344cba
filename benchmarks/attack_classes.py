"""Attack the exact radius of classifiers: random ones of every scale, proofs with changed numbers, rivals left out.

    python benchmarks/attack_classes.py [--networks 2000] [--forged 20000] [--seed 0]

The kinds and scales are those of `attack_radius`, with two to six outputs and, half of the time, an output bias.
"Wrong" is decided in rational arithmetic: a radius that is called proved although its own certificate is refused, whose
witness does not have another class, or that has a point of another class nearer than its lower bound, looked for along
many rays. A forged certificate claims a lower bound above the distance of a confirmed witness.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
from attack_radius import KINDS, exact_square, mutated, network_of

from marginflow.arrays import FloatArray
from marginflow.networks import Classifier
from marginflow.robustness import Radius, check_certificate, exact_radius
from marginflow.robustness.radius.certificate import ClassifierCertificate


def classifier_of(kind: str, rng: np.random.Generator) -> tuple[Classifier, FloatArray]:
    """The hidden layer and the point of a network of that kind; its output weights, shaken, for every class."""
    network, x = network_of(kind, rng)
    K = int(rng.integers(2, 7))
    V = network.v * rng.standard_normal((K, network.width))
    if rng.random() < 0.2:
        V[-1] = V[0]  # two classes that are one
    with np.errstate(over="ignore", under="ignore"):
        sizes = np.abs(network(x[None, :])).max()
        c = float(sizes) * rng.standard_normal(K) if rng.random() < 0.5 and np.isfinite(sizes) else None
    return Classifier(W=network.W, b=network.b, V=V, c=c), x


def exact_logits(classifier: Classifier, point: FloatArray) -> list[Fraction]:
    at = [Fraction(float(value)) for value in point]
    b = np.zeros(classifier.width) if classifier.b is None else classifier.b
    c = np.zeros(classifier.n_classes) if classifier.c is None else classifier.c
    hidden = [
        max(Fraction(0), sum((Fraction(float(w)) * t for w, t in zip(row, at, strict=True)), Fraction(float(o))))
        for row, o in zip(classifier.W, b, strict=True)
    ]
    return [
        sum((Fraction(float(v)) * h for v, h in zip(row, hidden, strict=True)), Fraction(float(o)))
        for row, o in zip(classifier.V, c, strict=True)
    ]


def lead(classifier: Classifier, point: FloatArray, own: int) -> Fraction:
    """By how much the own class is above the largest other; not positive on the boundary and beyond."""
    logits = exact_logits(classifier, point)
    return logits[own] - max(value for index, value in enumerate(logits) if index != own)


def nearer(classifier: Classifier, radius: Radius, own: int, rng: np.random.Generator) -> str:
    """Why the lower bound is wrong, empty if no nearer point of another class is found."""
    if radius.lower == 0:
        return ""
    reach = 1e3 * float(np.abs(radius.point).max() + 1.0) if radius.lower == np.inf else radius.lower
    e = np.frexp(reach)[1]
    towards = np.zeros((0, classifier.dimension))
    if radius.witness is not None:
        towards = (radius.witness - radius.point)[None, :]
    rows = classifier.W[classifier.W.any(axis=1)][:6]
    for direction in (*rng.standard_normal((8, classifier.dimension)), *towards, *rows, *-rows):
        unit = np.ldexp(direction, -np.frexp(np.abs(direction).max())[1])
        length = np.linalg.norm(unit)
        if length == 0:
            continue
        for share in (0.999999, 0.3):
            with np.errstate(over="ignore", under="ignore"):
                point = radius.point + np.ldexp(share * np.ldexp(reach, -e) * (unit / length), e)
            if not np.isfinite(point).all() or lead(classifier, point, own) > 0:
                continue
            if radius.lower == np.inf or exact_square(point, radius.point) < Fraction(radius.lower) ** 2:
                return f"a point at {share} of the lower bound has another class"
    return ""


def fault_of(classifier: Classifier, radius: Radius, own: int, rng: np.random.Generator) -> str:
    """What is wrong with an answer, empty if nothing is."""
    if radius.certificate is None or not check_certificate(radius.certificate, classifier).holds:
        return "its own certificate is refused"
    if radius.witness is not None:
        ahead = [exact_logits(classifier, point) for point in (radius.witness, radius.point)]
        left, at_point = (logits[own] - logits[radius.rival] for logits in ahead)
        if left > 0 and left * 10**9 > at_point:  # touching, of the rival that the witness is of, is allowed
            return "the witness has the same class"
    return nearer(classifier, radius, own, rng)


def forged(certificate: ClassifierCertificate, beyond: float, rng: np.random.Generator) -> ClassifierCertificate:
    """A false claim: every bound above a witness, some proofs mutated, exchanged, left out or said of another class."""
    proofs = {
        rival: mutated(proof, beyond, rng) if rng.random() < 0.7 else replace(proof, lower=beyond, witness=None)
        for rival, proof in certificate.proofs.items()
    }
    label, rivals = certificate.label, list(proofs)
    way = rng.integers(0, 7)
    if way == 0 and len(rivals) > 1:
        del proofs[rivals[int(rng.integers(0, len(rivals)))]]
    elif way == 1:
        first, second = rng.choice(rivals, 2)
        proofs[int(first)], proofs[int(second)] = proofs[int(second)], proofs[int(first)]
    elif way == 2:
        proofs[int(rng.choice([-1, label, 99, 10**9]))] = next(iter(proofs.values()))
    elif way == 3:
        proofs = {int(rng.choice([-1, label, 99, rivals[0]])): proof for proof in proofs.values()}
    elif way == 4:
        label = int(rng.choice([-1, len(rivals), 99]))
    elif way == 5:
        proofs = {
            rival: replace(proof, level=float(rng.choice([-1e300, -1.0, 1.0]))) for rival, proof in proofs.items()
        }
    return ClassifierCertificate(label=label, proofs=proofs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", type=int, default=2_000)
    parser.add_argument("--forged", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    np.seterr(all="ignore")  # the attacks themselves overflow
    begin = time.process_time()
    statuses, wrong, accepted, tried = Counter[str](), 0, 0, 0
    share = int(np.ceil(2.0 * options.forged / max(options.networks, 1)))
    for i in range(options.networks):
        kind, rng = KINDS[i % len(KINDS)], np.random.default_rng([options.seed, 2, i])
        classifier, x = classifier_of(kind, rng)
        radius = exact_radius(classifier, x, max_nodes=100, time_limit=20.0)
        statuses[radius.status] += 1
        certificate = radius.certificate
        own = certificate.label if isinstance(certificate, ClassifierCertificate) else int(radius.label)
        if fault := fault_of(classifier, radius, own, rng):
            wrong += 1
            print(f"WRONG ({kind}, {i}): {radius!r}: {fault}", flush=True)
        if not isinstance(certificate, ClassifierCertificate) or radius.witness is None or not certificate.proofs:
            continue
        if lead(classifier, radius.witness, own) > 0:
            continue  # it only touches: no false bound can be told from a true one
        beyond = max(float(np.nextafter(radius.upper, np.inf)) * (1.0 + 1e-15), 5e-324)
        while Fraction(beyond) ** 2 <= exact_square(radius.witness, radius.point):
            beyond = float(np.nextafter(beyond, np.inf))
        for _ in range(share):
            if tried < options.forged:
                tried += 1
                false = forged(certificate, beyond, rng)
                if false.label == own and check_certificate(false, classifier).holds:
                    accepted += 1
                    print(f"ACCEPTED ({kind}, {i}): lower {false.lower!r} beside a witness at {radius.upper!r}")
    print(f"{options.networks} classifiers, {dict(statuses)}: {wrong} wrong; {tried} forged: {accepted} accepted")
    print(f"{time.process_time() - begin:.0f} s of processor time")


if __name__ == "__main__":
    main()
