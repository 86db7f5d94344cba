r"""What a search says, put into the words of a certificate: units, claims, the witness on the other side."""

import time
from collections.abc import Iterator

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.networks import Classifier, TwoLayer
from marginflow.robustness.radius.certificate import ClassifierCertificate, ProofNode, ProofStep, RadiusCertificate
from marginflow.robustness.radius.checker import Judgement, judged
from marginflow.robustness.radius.normal import margins
from marginflow.robustness.radius.options import RadiusOptions
from marginflow.robustness.radius.result import Radius, Status
from marginflow.robustness.radius.search import TreeNode

# What is given up of the lower bound so that the checker, which charges all rounding, confirms it.
ROUNDING = 1e-9
# Shares of the lower bound that are claimed one after the other if the judge refuses it.
_MODEST = (1.0 - 1e-7, 0.99, 0.5, 1e-2, 1e-4, 1e-6)
# How much farther than computed the witness may be put so that the network is seen to cross the level there.
_STRETCHES = np.append(0.0, np.geomspace(1e-15, 1e-8, 8))


def in_plain_units(
    trees: list[list[TreeNode]], unit: int, outputs: list[int]
) -> list[tuple[tuple[int, int], tuple[ProofNode, ...]]]:
    """Units and nodes of each tree: in the user's units (exponents 0, 0) unless a number becomes too large or small."""
    farthest = max(max(abs(exponent), abs(exponent - unit)) for exponent in outputs)
    plain = farthest < 600 and _moderate([step for tree in trees for node in tree for step in node.steps])
    found = []
    for tree, exponent in zip(trees, outputs, strict=True):
        nodes = tuple(
            ProofNode(
                steps=tuple([_shifted(step, exponent, unit) for step in node.steps] if plain else node.steps),
                split=node.split,
                children=node.children,
            )
            for node in tree
        )
        found.append(((0, 0) if plain else (unit, exponent), nodes))
    return found


def _moderate(steps: list[ProofStep]) -> bool:
    """Whether no number is so large or small that it could leave float64 when the units change."""
    arrays = [array for step in steps for array in (step.slopes, step.curvatures) if array is not None]
    sizes = np.abs(np.concatenate(arrays)) if arrays else np.ones(1)
    sizes[sizes == 0] = 1.0
    within = sizes.max(initial=1.0) < 1e100 and sizes.min(initial=1.0) > 1e-100
    return bool(within) and all(tau == 0 or 1e-100 < tau < 1e100 for step in steps for tau in step.taus)


def _shifted(step: ProofStep, outputs: int, unit: int) -> ProofStep:
    """Slopes, curvatures and taus times powers of two, all exact."""
    per_tau = 2.0 ** (unit - outputs)
    return ProofStep(
        scale=step.scale,
        slopes=np.ldexp(step.slopes, outputs),
        curvatures=None if step.curvatures is None else np.ldexp(step.curvatures, outputs - unit),
        taus=tuple([tau * per_tau for tau in step.taus]),
    )


Claim = RadiusCertificate | ClassifierCertificate


def confirmed(
    claim: Claim,
    network: TwoLayer | Classifier,
    options: RadiusOptions,
    begin: float,
    *,
    nodes: int,
    trace: tuple[tuple[float, float, float], ...] = (),
    rival: int | None = None,
) -> Radius:
    """The radius by the largest claim that the judge confirms, with the reason why it refused the first.

    `begin` is when the search began; without a trace the bounds are all there is to say of how they met.
    """
    reason = ""
    for modest in _ever_more_modest(claim):
        judgement = judged(modest, network)
        if judgement.holds:
            break
        reason = reason or judgement.reason
    else:
        raise ArithmeticError(reason)  # the last claim says nothing
    seconds = time.monotonic() - begin
    return Radius(
        point=modest.point,
        label=float(modest.label),
        level=options.level,
        lower=judgement.lower,
        upper=judgement.upper,
        witness=modest.witness,
        status=status_of(judgement, options.tolerance),
        nodes=nodes,
        seconds=seconds,
        trace=trace or ((seconds, judgement.lower, judgement.upper),),
        certificate=modest if options.certificate else None,
        reason=reason,
        rival=None if modest.witness is None else rival,
    )


def _ever_more_modest(claim: Claim) -> Iterator[Claim]:
    """The claim, then less and less of its bound, and either half of it by itself; the last says nothing."""
    yield claim
    for share in _MODEST if np.isfinite(claim.lower) else ():
        yield claim.claiming(share * claim.lower)
    yield claim.claiming(0.0)
    yield claim.claiming(claim.lower, witness=False)
    yield claim.claiming(0.0, witness=False)


def status_of(judgement: Judgement, tolerance: float) -> Status:
    """What a radius with these confirmed bounds is called."""
    if judgement.upper == 0:
        return "misclassified"
    if judgement.lower == np.inf:
        return "infinite"
    gap = judgement.upper - judgement.lower
    return "proved" if gap <= tolerance * judgement.upper < np.inf else "bounded"


def on_the_other_side(
    network: TwoLayer, point: FloatArray, delta: FloatArray, label: float, level: float
) -> FloatArray:
    """point + delta, lengthened by as little as makes label N <= level certain, or at least likely.

    Where N only touches the level, rounding decides; then the point is kept as it is, and the judge allows for it.
    """
    candidates: FloatArray = point + (1.0 + _STRETCHES[:, None]) * delta
    values, errors = margins(network, candidates, label, level)
    for good in (values < -errors, values <= 0):
        if good.any():
            chosen: FloatArray = candidates[int(np.argmax(good))]
            return chosen
    nearest: FloatArray = candidates[0]
    return nearest
