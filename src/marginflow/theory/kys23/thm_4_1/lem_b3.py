r"""[KYS23, Lemma B.3]: a network with large biases and ||theta||^2 of order sqrt(|I_-|), as printed and repaired.

Large biases make it positive, and one direction makes the noisy samples negative.
"""

import math
from fractions import Fraction
from functools import cache
from typing import Final

import numpy as np

from marginflow.arrays import FloatArray, whole_number
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.networks import TwoLayer
from marginflow.theory.frame import Erratum, Findings, Instance, at_least, at_most, equal, require, stated, value
from marginflow.theory.kys23.definitions_sphere import noisy_sample
from marginflow.theory.kys23.rational import fractions
from marginflow.theory.kys23.unit_sphere import SphereSample, beta_of, size_of
from marginflow.theory.probability import log_sphere_correlation_tail


def biased_pair(data: Dataset, width: int) -> TwoLayer:
    r"""The weights of Lemma B.3 as printed.

    .. math:: N(x) = 2 \left[ \mathrm{relu}(1 - T) - \mathrm{relu}(T) \right], \qquad T = \sum_{r \in I_-} x_r^\top x

    Half of the neurons have w = -g s, v = 2 (sqrt(k)/n)^(1/2), b = g, the others w = g s, v = -2 (sqrt(k)/n)^(1/2),
    b = 0, with s = sum_{I_-} x_r and g = (4 / (n sqrt(k)))^(1/2). An odd width n gets a zero neuron; n >= 2, k >= 1.
    """
    n = whole_number("width", width, minimum=2)
    minus = data.y < 0
    k = int(minus.sum())
    if k == 0:
        raise InputError("No sample is negative; the construction of Lemma B.3 divides by their number.")
    s = data.X[minus].sum(axis=0)
    half, spare = n // 2, n % 2
    even = 2 * half
    g, v = math.sqrt(4 / (even * math.sqrt(k))), 2 * math.sqrt(math.sqrt(k) / even)
    signs = np.repeat([1.0, -1.0, 0.0], [half, half, spare])
    return TwoLayer(W=-g * np.outer(signs, s), b=np.where(signs > 0, g, 0.0), v=v * signs)


def exact_norm_times_root(samples: FloatArray) -> Fraction:
    r"""sqrt(k) ||theta||^2 of the construction, exactly, for the k negative samples as they are stored.

    .. math:: \sqrt{k} \, \|\theta\|^2 = 4 \|s\|^2 + 4 k + 2

    so that ||theta||^2 <= 9 sqrt(k) exactly when this is at most 9 k: a comparison of fractions.

    Examples
    --------
    >>> import numpy as np
    >>> from marginflow.theory.kys23.thm_4_1.lem_b3 import exact_norm_times_root
    >>> [int(exact_norm_times_root(np.eye(k)) - 9 * k) for k in (1, 2, 3)]
    [1, 0, -1]
    """
    s = fractions(samples).sum(axis=0)
    return Fraction(4 * (s @ s) + 4 * len(samples) + 2)


def log_error_of_construction(sample: SphereSample) -> float:
    """ln P(T >= 1/2), T = s . x: the clean error of the construction, exactly."""
    length = float(np.linalg.norm(sample.s))
    if sample.d < 2 or length <= 0.5:
        return -math.inf
    return log_sphere_correlation_tail(0.5 / length, sample.d) - math.log(2)


def _judge(instance: Instance, repaired: bool) -> Findings:
    data = instance.the_data()
    sample = SphereSample(data)
    n, delta = instance.whole("width", 2), instance.number("delta", 0.1)
    m, k = sample.m, sample.k
    off = np.abs(sample.gram - np.diag(np.diag(sample.gram)))
    reach = float(off[:, sample.minus].sum(axis=1).max(initial=0.0))
    hypotheses = (
        sample.unit_norms(),
        sample.some_negative(),
        at_most("largest sum of |x_r . x_i| over I_-, r != i", reach, 0.1, note="|T - 1{i in I_-}| <= 1/10"),
        at_most("|I_-| / m", k / m, 0.5, note="Property 3 with p <= 1/4"),
        at_least("n", n, 2),
    )
    require(hypotheses, "the construction divides by |I_-|", given=k > 0 and n >= 2)
    network = biased_pair(data, n)
    margins = network.margins(data.X, data.y)
    root = math.sqrt(k)
    printed = math.log(50 * m**2 * math.log(3 * m**2 / delta))
    constants = (
        value("|I_-|", k),
        value("smallest margin as printed", float(margins.min())),
        value("||theta||^2 as printed", size_of(network)),
        value("beta as printed", beta_of(network)),
        value("ln of the clean error, exact", log_error_of_construction(sample)),
        value("ln of the least d that is printed", printed),
        value("ln d", math.log(sample.d)),
    )
    if margins.min() <= 0:
        wrong = at_least("margins at margin 1", margins, 1.0, note="no multiple of the network separates the data")
        return Findings(*constants, hypotheses=hypotheses, claims=(wrong,))
    least = network.at_margin_one(data.X, data.y)
    feasible = at_least("margins at margin 1", least.margins(data.X, data.y), 1.0)
    bounded = at_most("||theta||^2 at margin 1", size_of(least), 9 * root)
    sharp = at_most("||theta||^2 at margin 1, sharp", size_of(least), (8.4 * k + 2) / (1.6 * root))
    if repaired:
        return Findings(*constants, hypotheses=hypotheses, claims=(feasible, bounded, sharp))
    exact = exact_norm_times_root(data.X[sample.minus])
    difference = f"a comparison of fractions, {float(exact):g} against {9 * k}"
    return Findings(
        *constants,
        hypotheses=hypotheses,
        claims=(feasible, bounded),
        proof_steps=(
            at_least("margins of the printed network", margins, 1.6),
            at_most(
                "sqrt(k) ||theta||^2 - 9k of the printed network",
                float(exact - 9 * k),
                0.0,
                tolerance=0.0,
                note=difference,
            ),
        ),
        arithmetic=(equal("||theta||^2 by the formula", size_of(network), float(exact) / root),),
    )


def orthonormal(m: int, k: int) -> Dataset:
    """m orthonormal samples, the last k of them negative."""
    return Dataset(X=np.eye(m), y=np.where(np.arange(m) < m - k, 1.0, -1.0))


@cache
def orthonormal_samples(m: int, k: int) -> Instance:
    """Those samples as an instance."""
    return Instance(name=f"{m} orthonormal samples, {k} negative", data=orthonormal(m, k))


def _contradiction() -> Instance:
    """Eight orthonormal samples, and the first of them once more with the other label."""
    data = orthonormal(8, 1)
    both = Dataset(X=np.vstack([data.X, data.X[:1]]), y=np.append(data.y, -data.y[0]))
    return Instance(name="orthonormal samples, one of them with both labels", data=both)


_FORMULA: Final = (
    r"N(x) = 2 \left[\sigma(1 - T) - \sigma(T)\right], \ T = \sum_{r \in I_-} x_r^\top x: \quad "
    r"y_i N(x_i) \ge 1, \quad \|\theta\|^2 \le 9 \sqrt{|I_-|}"
)
_PARAMETERS: Final = {"width": "n, 2 by default", "delta": "0.1; only for the printed dimension"}


@stated(
    id="KYS23/LemB.3",
    kind="construction",
    meaning="Some network has margin 1 and ||theta||^2 <= 9 sqrt(|I_-|); the printed one has not for |I_-| = 1.",
    formula=_FORMULA,
    needs=("data",),
    parameters=_PARAMETERS,
    example=lambda: noisy_sample(100, 0.08, 10**7, count="exact"),
    control=_contradiction,
    control_shows="one place has both labels: no network has a positive margin there",
    gap=lambda: orthonormal_samples(8, 1),
    printed=r"\|\theta\|^2 \le 9 \sqrt{|I_-|}",
    proved=r"\|\theta\|^2 = \frac{4 \|s\|^2 + 4k + 2}{\sqrt{k}}, \quad s = \sum_{I_-} x_r",
    remark="For k = 0 the formula divides by zero.",
    errata=Erratum.proof_gap(
        "The sum of v_j^2 is 4 sqrt(k); the proof has 2 sqrt(k). So the printed network exceeds 9 sqrt(k) "
        "for k = 1, attains it for k = 2 orthonormal samples, exceeds it for k = 2 when x_1 . x_2 > 0, and is "
        "below it from k = 4 on. The claim, that some network has the bound, is true for all k.",
        evidence="one negative sample: ||theta||^2 = 10 > 9, in fractions; at margin 1 it is 5",
        repair="divide by the margin, which is at least 1.6: KYS23/LemB.3-repaired",
    ),
)
def lemma_b3(instance: Instance) -> Findings:
    """The construction as printed: margins, and its norm in fractions."""
    return _judge(instance, repaired=False)


@stated(
    id="KYS23/LemB.3-repaired",
    kind="construction",
    number="Lemma B.3, rescaled to margin 1",
    meaning="At margin 1, which divides it by at least 1.6, the network has ||theta||^2 <= 9 sqrt(|I_-|) for every k.",
    formula=_FORMULA,
    needs=("data",),
    parameters=_PARAMETERS,
    example=lambda: orthonormal_samples(8, 1),
    control=lambda: noisy_sample(40, 0.3, 60, count="exact"),
    control_shows="in dimension 60 the samples are too far from orthogonal, and the network does not separate them",
    proved=r"\|\theta\|^2 \le \frac{8.4 k + 2}{1.6 \sqrt{k}} \le 6.5 \sqrt{k}",
    sharp=r"4 \sqrt{k} + \frac{1}{\sqrt{k}} \quad \text{on orthonormal samples}",
    remark="The least ||theta||^2 on orthonormal samples is that of the exact pair, "
    "2 (sqrt(q (1 + k)/(1 + m)) + sqrt(k (1 + q)/(1 + m))).",
)
def lemma_b3_repaired(instance: Instance) -> Findings:
    """The construction at margin 1."""
    return _judge(instance, repaired=True)
