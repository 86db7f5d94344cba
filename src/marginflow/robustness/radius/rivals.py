r"""The radius of a classifier: the least, over rivals t, of the radius of the difference network f_y - f_t.

Rivals come in the order of g_t(0) / ||grad g_t(0)||, the distance if the network were linear; the nearest comes first
nearly always. It is solved as a network of its own, every other only within the best radius R so far: most are screened
out by one step. The proof is one witness and, for every rival, a certificate that it is no nearer than the common lower
bound. The geometry (parallel neurons, span of W) is shared by all rivals.
"""

import time
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from marginflow.arrays import FloatArray, read_only
from marginflow.networks import Classifier, TwoLayer
from marginflow.robustness.radius.certificate import ClassifierCertificate, RadiusCertificate
from marginflow.robustness.radius.claims import ROUNDING, confirmed, in_plain_units, on_the_other_side
from marginflow.robustness.radius.horizons import HORIZONS, first_look, solve, solve_within
from marginflow.robustness.radius.normal import input_form, length, margin_sign, normal_form, one_unflushed
from marginflow.robustness.radius.options import RadiusOptions
from marginflow.robustness.radius.problems import Outputs, Problems
from marginflow.robustness.radius.reduction import Geometry, Reduction, farthest
from marginflow.robustness.radius.result import Radius
from marginflow.robustness.radius.screening import Screened, screen
from marginflow.robustness.radius.search import TreeNode

# Differences of logits below this share of their size are looked at in rational arithmetic.
_CLOSE = 1e-6


@dataclass(frozen=True, eq=False)
class Pair:
    """The difference of two logits as a network with its level, reduced."""

    network: TwoLayer
    level: float
    reduction: Reduction


@dataclass(frozen=True, eq=False)
class ClassifierReduction:
    """The geometry of a classifier, and the pairs that were asked for."""

    classifier: Classifier
    geometry: Geometry
    known: dict[tuple[int, int], Pair] = field(default_factory=dict)

    outputs: dict[int, Outputs] = field(default_factory=dict)

    def outputs_of(self, own: int) -> Outputs:
        """f_own - f_t for all other classes t, in their order."""
        if own not in self.outputs:
            pairs = [self.pair(own, t) for t in range(self.classifier.n_classes) if t != own]
            self.outputs[own] = Outputs([pair.reduction for pair in pairs], [pair.level for pair in pairs])
        return self.outputs[own]

    def pair(self, own: int, rival: int) -> Pair:
        """f_own - f_rival."""
        if (own, rival) not in self.known:
            network, level = self.classifier.difference(own, rival)
            with np.errstate(all="ignore"):
                form = normal_form(network)
                reduction = self.geometry.with_outputs(form.v, form.outputs)
            self.known[own, rival] = Pair(network, level, reduction)
        return self.known[own, rival]


@lru_cache(maxsize=4)
def reduce_classifier(classifier: Classifier) -> ClassifierReduction:
    """Prepared once for many points; remembered, since networks cannot change."""
    network, _ = classifier.difference(0, 1)
    used = (classifier.V != classifier.V[0]).any(axis=0)  # a neuron that adds the same to all logits does nothing
    with np.errstate(all="ignore"):
        return ClassifierReduction(classifier, Geometry.of(input_form(network), used))


@dataclass(eq=False, kw_only=True)
class _Rival:
    number: int
    pair: Pair
    usable: bool = False
    start: Screened | None = None
    lower: float = 0.0
    tree: list[TreeNode] = field(default_factory=list)


def classifier_radius(classifier: Classifier, point: FloatArray, label: float | None, options: RadiusOptions) -> Radius:
    """One point of a classifier; the level is 0."""
    reduction, begin = reduce_classifier(classifier), time.monotonic()
    with np.errstate(all="ignore"):
        logits = classifier(point[None, :])[0]
        own = int(np.argmax(logits)) if label is None else int(label)
        others = [t for t in range(classifier.n_classes) if t != own]
        ahead = logits[own] - logits
        close = [t for t in others if not ahead[t] > _CLOSE * float(np.abs(logits).max())]
        pairs = [(t, reduction.pair(own, t)) for t in close]
        beaten = [t for t, pair in pairs if margin_sign(pair.network, point, 1.0, pair.level) <= 0]
        if beaten:
            found = _Found(upper=0.0, witness=point, rival=beaten[0], unit=0)
            rivals = [_Rival(number=t, pair=reduction.pair(own, t)) for t in others]
        else:
            outputs = reduction.outputs_of(own)
            unit = reduction.geometry.unit(point)
            rivals, problems = _in_order(reduction, own, others, outputs.at(point, unit))
            found = _searched(rivals, problems, point, unit, options, begin + options.time_limit)
    nodes = sum(len(rival.tree) for rival in rivals)
    return confirmed(_claim(own, rivals, found, point), classifier, options, begin, nodes=nodes, rival=found.rival)


@dataclass(frozen=True, eq=False)
class _Found:
    upper: float
    witness: FloatArray | None
    rival: int | None
    unit: int


def _in_order(
    reduction: ClassifierReduction, own: int, others: list[int], problems: Problems
) -> tuple[list[_Rival], Problems]:
    """The rivals as seen from the point, first the nearest if all were linear; problems of the usable."""
    values, slopes = problems.values_and_slopes()
    finite = bool(np.isfinite(problems.a).all())
    order = np.argsort(np.where(slopes > 0, values / slopes, np.inf), kind="stable")
    rivals = []
    for i in order.tolist():
        pair = reduction.pair(own, others[i])
        usable = finite and bool(values[i] > 0) and pair.reduction.fits
        rivals.append(_Rival(number=others[i], pair=pair, usable=usable))
    return rivals, problems.chosen(order[[rival.usable for rival in rivals]])


def _searched(
    rivals: list[_Rival], problems: Problems, point: FloatArray, unit: int, options: RadiusOptions, deadline: float
) -> _Found:
    """A witness of the first rival, bounds for all within its distance, and a search for each that this leaves open."""
    usable = [rival for rival in rivals if rival.usable]
    best, nearest, seen = float("inf"), None, 0.0
    aim = 0.97 * options.tolerance - 2 * ROUNDING  # bound and witness are rounded once more
    for i, rival in enumerate(usable):
        if rival.start is not None and rival.start.lower >= best * (1.0 - aim):
            rival.tree, rival.lower = [TreeNode(steps=rival.start.steps)], rival.start.lower
            continue
        problem = problems[i]
        now = replace(options, tolerance=aim, time_limit=max(deadline - time.monotonic(), 1e-3))
        if best == np.inf:
            look = first_look(problems if i == 0 else problems.chosen(np.arange(i, len(usable))), aim)
            seen = look.horizon
            for other, start in zip(usable[i:], look.starts, strict=True):
                other.start = start
            outcome = solve(problem, now, look)
        else:
            if rival.start is None or seen < best:
                (rival.start,) = screen(Problems.of(problem), best, aim)
            # A witness of this rival may lie within the last 2e-9 of the radius: nothing is lost by not looking there.
            outcome = solve_within(problem, now, best, rival.start)
        rival.tree, rival.lower = outcome.tree, outcome.lower
        if outcome.lower == np.inf and (rival.pair.network.v < 0)[rival.pair.network.W.any(axis=1)].any():
            rival.lower = HORIZONS[-1] * farthest(problem)  # neurons have cancelled, up to rounding only
        if outcome.delta is not None and outcome.upper < best:
            best, nearest = outcome.upper, (rival, outcome.delta)
    if nearest is None:
        return _Found(np.inf, None, None, unit)
    winner, delta = nearest
    lifted = np.ldexp(winner.pair.reduction.geometry.lift(delta), unit)
    witness = on_the_other_side(winner.pair.network, point, lifted, 1.0, winner.pair.level)
    return _Found(length(witness - point), witness, winner.number, unit)


def _claim(own: int, rivals: list[_Rival], found: _Found, point: FloatArray) -> ClassifierCertificate:
    """The largest common bound, with a proof for every rival."""
    least = min(rival.lower for rival in rivals) * (1.0 - ROUNDING)
    lower = min(one_unflushed(least, found.unit), found.upper)
    proofs: dict[int, RadiusCertificate] = {}
    exponents = [rival.pair.reduction.outputs for rival in rivals]
    plain = in_plain_units([rival.tree for rival in rivals], found.unit, exponents)
    given = read_only(point)
    for rival, (units, nodes) in zip(rivals, plain, strict=True):
        proofs[rival.number] = RadiusCertificate(
            point=given,
            label=1.0,
            level=rival.pair.level,
            lower=lower,
            witness=read_only(found.witness) if found.witness is not None and rival.number == found.rival else None,
            groups=rival.pair.reduction.geometry.groups,
            nodes=nodes,
            units=units,
        )
    return ClassifierCertificate(label=own, proofs=proofs)
