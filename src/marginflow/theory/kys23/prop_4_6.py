r"""[KYS23, Proposition 4.6]: a KKT point without bias that errs on more than half of the sphere.

One specialist per negative sample and one neuron for all positive ones, on orthonormal samples: as printed (all outputs
+1, -1, all multipliers 1) with frozen outputs, and balanced with trained ones. Both have the same function.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.certificates import certify
from marginflow.data import Dataset
from marginflow.generalisation import specialists_error
from marginflow.limit import ClosedForm, catastrophic
from marginflow.networks import TwoLayer
from marginflow.theory.frame import (
    Check,
    Erratum,
    Findings,
    Instance,
    at_least,
    at_most,
    equal,
    is_kkt_point,
    stated,
    undefined,
    unmet,
    value,
)
from marginflow.theory.kys23.definitions_sphere import noisy_sample
from marginflow.theory.kys23.rational import fractions
from marginflow.theory.kys23.thm_4_1.lem_b3 import orthonormal_samples
from marginflow.theory.kys23.unit_sphere import SphereSample

# Products of entries up to which residuals are computed in fractions.
_FEW: Final = 20_000


def residuals(point: ClosedForm) -> tuple[Any, Any]:
    r"""The largest entries of the residuals of stationarity in w and in v, with the given multipliers.

    .. math:: w_j - v_j \sum_i \lambda_i y_i \sigma'_{ij} x_i, \qquad
              v_j - \sum_i \lambda_i y_i \, \mathrm{relu}(w_j^\top x_i)

    The second is 0 by definition where the outputs are frozen. Floats are taken as the fractions that they are where
    these are few enough, and computed with as floats for larger samples.
    """
    few = point.network.width * point.data.X.size <= _FEW
    numbers: Callable[[FloatArray], Any] = fractions if few else np.asarray
    W, v, X, y = (numbers(part) for part in (point.network.W, point.network.v, point.data.X, point.data.y))
    pull = numbers(point.multipliers) * y
    hidden = np.abs(W - v[:, None] * ((pull[:, None] * numbers(point.clarke)).T @ X)).max()
    if point.network.outputs == "frozen":
        return hidden, 0
    return hidden, np.abs(v - np.maximum(X @ W.T, 0).T @ pull).max()


def merging_step(data: Dataset, t: float) -> TwoLayer:
    r"""The repaired point with two specialists moved towards each other: feasible, and smaller for every t in (0, 1].

    .. math:: u_a = x_a + t x_b, \quad u_b = (1 - t) x_b, \qquad \|u_a\| + \|u_b\| = \sqrt{1 + t^2} + 1 - t < 2

    Both negative samples keep N = -1 and no other sample notices: the point is not a local minimum when |I_-| >= 2.
    """
    point = catastrophic(data)
    U = point.network.directions.copy()
    U[0], U[1] = U[0] + t * U[1], (1 - t) * U[1]
    return TwoLayer.from_directions(U, point.network.signs, bias=False)


def _orthonormal(sample: SphereSample) -> tuple[Check, ...]:
    off = sample.gram - np.eye(sample.m)
    return (
        at_most("|x_i . x_l - 1{i = l}|", np.abs(off), 0.0, scale=1.0),
        sample.some_negative(),
        sample.some_positive(),
    )


def _errors(sample: SphereSample) -> tuple[tuple[Check, ...], tuple[Check, ...]]:
    q, k = sample.q, sample.k
    exact = specialists_error(q, k)
    printed = 0.5 - math.ldexp(1.0, -k)
    return (
        (value("clean error, exact", exact), value("clean error with '<'", specialists_error(q, k, ties="correct"))),
        (
            at_least("clean error, as printed", exact, printed, vacuous=printed <= 0),
            at_least("clean error, sharp", exact, 0.5),
        ),
    )


def _balanced_point(data: Dataset) -> tuple[ClosedForm, Check]:
    """The construction with balanced neurons, and whether it is a KKT point with trained outputs."""
    point = catastrophic(data, outputs="trained")
    mu = point.multipliers[:, None] * point.clarke
    return point, is_kkt_point(certify(point.network, data, multipliers=(point.multipliers, mu)))


def _elsewhere(hypotheses: tuple[Check, ...], data: Dataset) -> Findings:
    """The construction on samples that are not orthonormal, where it need not be a KKT point."""
    minus = data.y < 0
    if minus.all() or not minus.any():
        return undefined(hypotheses, "the construction needs samples of both labels")
    U = np.vstack([data.X[minus], data.X[~minus].sum(axis=0)])
    network = TwoLayer.from_directions(U, np.append(-np.ones(int(minus.sum())), 1.0), bias=False)
    return Findings(hypotheses=hypotheses, claims=(is_kkt_point(certify(network, data)),))


_FORMULA: Final = (
    r"N(x) = \sigma\Big(\sum_{i \in I_+} x_i^\top x\Big) - \sum_{i \in I_-} \sigma(x_i^\top x): \quad "
    r"L_{cl} = \Pr\Big[\sqrt{q}\, g_0^+ \le \sum_{i \le k} g_i^+\Big] \ge \tfrac12"
)


@stated(
    id="KYS23/Prop4.6",
    kind="construction",
    number="Proposition 4.6, as printed",
    meaning="On orthonormal samples a KKT point without bias errs on almost half of the sphere, given many negatives.",
    formula=_FORMULA,
    needs=("data",),
    example=lambda: orthonormal_samples(4, 3),
    control=lambda: noisy_sample(12, 0.25, 20, count="exact"),
    control_shows="random samples are not orthogonal, and the construction is not a KKT point",
    gap=lambda: orthonormal_samples(10, 2),
    printed=r"L_{cl} \ge \frac12 - 2^{-|I_-|}",
    proved=r"L_{cl} \ge \frac12",
    sharp=r"\Pr\Big[\sqrt{q}\, g_0^+ \le \sum_{i \le k} g_i^+\Big]",
    remark="Needs sigma'(0) = 0 at every kink, a choice of Clarke weights that a checker with sigma'(0) = 1 or 1/2 "
    "rejects.",
    errata=(
        Erratum.proof_gap(
            "The printed network is not stationary in its outputs: its layers are not balanced. The claim, "
            "that some KKT point errs so much, is true by the same function with balanced neurons.",
            evidence="q = 8 positive samples: stationarity asks for v = 8, printed is v = 1, in fractions",
            repair="KYS23/Prop4.6-repaired, a KKT point but not a local minimum",
        ),
        Erratum.slip("I_- is defined as a number and used as a set; w_{k+1} = sum of w_i means of x_i."),
    ),
)
def proposition_4_6(instance: Instance) -> Findings:
    """The balanced witness of the claim, and the residuals of the printed one with all of Problem (1) trained."""
    data = instance.the_data()
    sample = SphereSample(data)
    hypotheses = _orthonormal(sample)
    if unmet(hypotheses):
        return _elsewhere(hypotheses, data)
    printed = catastrophic(data, outputs="frozen")
    printed = replace(printed, network=replace(printed.network, outputs="trained"))
    hidden, output = map(float, residuals(printed))
    constants, (as_printed, sharp) = _errors(sample)
    return Findings(
        value("|I_+|", sample.q),
        value("|I_-|", sample.k),
        *constants,
        hypotheses=hypotheses,
        claims=(_balanced_point(data)[1], as_printed),
        proof_steps=(
            equal("y_i N(x_i) of the printed network", printed.network.margins(data.X, data.y), 1.0),
            equal("its residual in w", hidden, 0.0, scale=1.0),
            equal("its residual in v", output, 0.0, scale=1.0),
        ),
        derived=(sharp,),
    )


@stated(
    id="KYS23/Prop4.6-repaired",
    kind="construction",
    number="Proposition 4.6, balanced",
    meaning="With v = q^(1/4), w = q^(-1/4) sum x_i the same function is a KKT point with trained outputs.",
    formula=_FORMULA + r", \quad v = q^{1/4}, \ w = q^{-1/4} \sum_{I_+} x_i, \ \lambda_{I_+} = q^{-1/2}, \ "
    r"\lambda_{I_-} = 1",
    needs=("data",),
    example=lambda: orthonormal_samples(18, 2),
    control=lambda: noisy_sample(12, 0.25, 20, count="exact"),
    control_shows="random samples are not orthogonal, and the balanced network is not a KKT point",
    remark="A KKT point, but not a local minimum once |I_-| >= 2, even without a zero neuron: two specialists that "
    "lean towards each other keep every margin, and ||theta||^2 falls by 2 (t + 1 - sqrt(1 + t^2)).",
)
def proposition_4_6_repaired(instance: Instance) -> Findings:
    """The balanced construction: its certificate, its multipliers, its clean error, and a step that merges."""
    data = instance.the_data()
    sample = SphereSample(data)
    hypotheses = _orthonormal(sample)
    if unmet(hypotheses):
        return _elsewhere(hypotheses, data)
    point, kkt = _balanced_point(data)
    hidden, output = map(float, residuals(point))
    constants, (as_printed, sharp) = _errors(sample)
    size = point.network.norm_squared()
    extra: list[Check] = []
    if sample.k >= 2:
        moved = merging_step(data, 1e-3)
        extra = [
            equal("smallest margin after a step of merging", float(moved.margins(data.X, data.y).min()), 1.0),
            at_most("||theta||^2 after it: not a local minimum", moved.norm_squared(), size * (1 - 1e-9)),
        ]
    return Findings(
        *constants,
        value("||theta||^2", size),
        hypotheses=hypotheses,
        claims=(
            kkt,
            equal("multipliers on I_+", point.multipliers[~sample.minus], sample.q**-0.5),
            equal("multipliers on I_-", point.multipliers[sample.minus], 1.0),
            as_printed,
        ),
        derived=(sharp, *extra),
        arithmetic=(equal("residual in w", hidden, 0.0, scale=1.0), equal("residual in v", output, 0.0, scale=1.0)),
    )
