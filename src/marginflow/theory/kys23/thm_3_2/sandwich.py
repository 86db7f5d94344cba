r"""[KYS23, proof of Thm 3.2] What the proof gives for every single sample: LO <= L <= HI, without probability.

.. math:: \mathrm{LO} = \tfrac12 \sum_i (x_{i+1} - x_i) 1\{y_{i-1}, y_i, y_{i+1} = +, -, +\}, \qquad
          \mathrm{HI} = 1 - \sum_i (x_{i+1} - x_i) 1\{y_i, y_{i+1} = +, +\}

Prop. A.4 gives LO and Prop. A.5 gives HI. LO fails where Prop. A.4 does.
"""

import math

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.generalisation import line_error
from marginflow.theory.frame import Check, Erratum, Findings, Instance, at_least, at_most, stated, unmet, value
from marginflow.theory.instances import with_neuron
from marginflow.theory.kys23.enclosed import EnclosedMinimum, refuted_at_minimum
from marginflow.theory.kys23.line import (
    STRUCTURE,
    exact_error,
    in_the_interval,
    local_minimum,
    plus_minus_plus,
    plus_plus,
)
from marginflow.theory.kys23.line_points import five_point_minimum, local_point


def lower_core(x: FloatArray, y: FloatArray) -> float:
    """LO: half the gap behind the - of every pattern +, -, +."""
    i = plus_minus_plus(y)
    return float((x[i + 1] - x[i]).sum()) / 2


def upper_core(x: FloatArray, y: FloatArray) -> float:
    """HI: everything but the gaps between two +; the two end pieces of [0, 1] are in it."""
    i = plus_plus(y)
    return 1.0 - float((x[i + 1] - x[i]).sum())


def expected_cores(x: FloatArray, p: float) -> tuple[float, float]:
    """E_y LO and E_y HI for labels that are independent of x, exactly."""
    gaps = np.diff(x)
    return p * (1 - p) ** 2 / 2 * float(gaps[1:].sum()), 1.0 - (1 - p) ** 2 * float(gaps.sum())


def core_slacks(x: FloatArray, delta: float) -> tuple[float, float]:
    """McDiarmid: LO and HI are within these of their expectations, each with probability 1 - delta.

    One label y_l changes LO by at most half of max(gap_l, gap_{l-1} + gap_{l+1}) - the pattern may lose its middle or
    its sides - and HI by at most gap_{l-1} + gap_l.
    """
    g = np.concatenate([[0.0], np.diff(x), [0.0]])  # g[l] is the gap before, g[l + 1] the gap behind sample l
    further = np.append(g[2:], 0.0)
    lo = np.maximum(g[1:], g[:-1] + further) / 2
    hi = g[:-1] + g[1:]
    factor = math.sqrt(math.log(1 / delta) / 2)
    return factor * float(np.linalg.norm(lo)), factor * float(np.linalg.norm(hi))


def sandwich(x: FloatArray, y: FloatArray, error: float) -> tuple[Check, Check]:
    """LO <= L and L <= HI."""
    low, high = lower_core(x, y), upper_core(x, y)
    return (
        at_least("L_cl >= LO", error, low, scale=1.0, tolerance=STRUCTURE, vacuous=low == 0.0),
        at_most("L_cl <= HI", error, high, scale=1.0, tolerance=STRUCTURE, vacuous=high >= 1.0),
    )


def below_lower_core(found: EnclosedMinimum, x: FloatArray, y: FloatArray) -> str | None:
    """Whether an exact local minimum errs on less than LO, and on how much.

    On [0, 1] N* >= N - w for the width w of its enclosure, so that L* is at most the error of N - w.
    """
    low, high = found.values(np.linspace(0.0, 1.0, 3))
    width = 2.0 * float((high - low).max())  # the width grows with |x| and with the terms of N: twice it is ample
    lowered = with_neuron(found.network, [[0.0]], 1.0, -width)
    error, core = line_error(lowered).value + 1e-12, lower_core(x, y) - 1e-12
    return f"whose clean error is at most {error:.9g}, below LO = {core:.9g}" if error < core else None


@stated(
    id="KYS23/Thm3.2.sandwich",
    kind="lemma",
    number="Proof of Theorem 3.2, per sample",
    meaning="At a local minimum LO <= L <= HI for every sample. The lower half is false, as Prop. A.4 is.",
    formula=r"\tfrac12 \sum_i (x_{i+1} - x_i) 1\{+, -, +\} \le L_{\mathrm{cl}} \le 1 - \sum_i (x_{i+1} - x_i) 1\{+, "
    r"+\}",
    example=lambda: local_point(12, 0.3, 1),
    control=five_point_minimum,
    control_shows="a local minimum with L = 0.25 below LO = 0.30",
    control_outcome="refuted",
    proved=r"\mathbb{E}\,\mathrm{LO} = \tfrac{p (1-p)^2}{2} \tfrac{m-2}{m+1}, \quad "
    r"\mathbb{E}\,\mathrm{HI} = 1 - (1-p)^2 \tfrac{m-1}{m+1}",
    remark="The paper's E HI = 2p forgets the two end pieces of [0, 1], mass 2/(m + 1), where Prop. A.5 is silent.",
    errata=Erratum.proof_gap(
        "The per-sample lower bound behind Theorem 3.2 rests on Prop. A.4 and is false with it; the "
        "theorem, whose constants are free and which speaks of most samples, is not refuted by that.",
        evidence="five points at distances h, h, h and far: a local minimum with error 2.5 h where LO is near "
        "1/2; 0 of 213 local minima on uniform samples fell below LO",
        repair="open with high probability over samples (KYS23/O3)",
    ),
)
def thm_3_2_sandwich(instance: Instance) -> Findings:
    """The exact clean error against LO and HI."""
    hypotheses = (*local_minimum(instance), in_the_interval(instance))
    x, y, error = exact_error(instance, hypotheses, one_label=True)
    claims = sandwich(x, y, error)
    broken = claims[0].state == "failed" and not unmet(hypotheses)
    return Findings(
        value("L_cl", error),
        hypotheses=hypotheses,
        claims=claims,
        counterexample=refuted_at_minimum(instance, below_lower_core) if broken else None,
    )
