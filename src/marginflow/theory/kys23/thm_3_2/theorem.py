r"""[KYS23, Thm 3.2 and footnote 4] Local minima on the line err on a share of order p: the sandwich LO <= L <= HI.

.. math:: \mathrm{LO} = \tfrac12 \sum_i (x_{i+1} - x_i) 1\{y_{i-1}, y_i, y_{i+1} = +, -, +\}, \qquad
          \mathrm{HI} = 1 - \sum_i (x_{i+1} - x_i) 1\{y_i, y_{i+1} = +, +\}

Prop. A.4 gives LO and Prop. A.5 gives HI, for every sample and without probability. LO fails where Prop. A.4 does; the
theorem itself, whose constants are free, is not refuted by that.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.generalisation import line_error, nearest_neighbour_line_error
from marginflow.theory.frame import (
    Findings,
    Forms,
    Instance,
    Statement,
    at_least,
    at_most,
    below,
    undefined,
    unmet,
    value,
)
from marginflow.theory.kys23.line import (
    STRUCTURE,
    in_the_interval,
    line_samples,
    local_minimum,
    on_the_line,
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


@partial(
    Statement,
    id="KYS23/Thm3.2",
    kind="theorem",
    number="Theorem 3.2",
    meaning="On the line the clean error of every local minimum is of order p, whatever the width.",
    formula=r"c \Big( p - \sqrt{\tfrac{\log(m/\delta)}{m}} \Big) \le L_{\mathrm{cl}}(N_\theta) \le "
    r"C \Big( p + \sqrt{\tfrac{\log(m/\delta)}{m}} \Big)",
    needs=("network", "data"),
    parameters={"p": "noise rate (default 0.3)", "delta": "failure probability (default 0.1)"},
    example=lambda: local_point(12, 0.3, 1),
    control=five_point_minimum,
    control_shows="a local minimum with L = 0.25 below LO = 0.30: the proof's per-sample lower bound is false",
    control_outcome="violated",
    forms=Forms(
        proved=r"\mathrm{LO} \le L_{\mathrm{cl}} \le \mathrm{HI}, \quad \mathbb{E}\,\mathrm{LO} = \tfrac{p (1-p)^2}{2} "
        r"\tfrac{m-2}{m+1}, \quad \mathbb{E}\,\mathrm{HI} = 1 - (1-p)^2 \tfrac{m-1}{m+1}",
        remark="The lower half rests on Prop. A.4, which is false where neurons face both ways: five points at "
        "distances h, h, h and far have a local minimum with L = 2.5 h and LO near 1/2. With high probability over "
        "samples the theorem is neither proved nor refuted (KYS23/O3). The paper's E HI = 2p forgets the two "
        "end pieces.",
    ),
)
def thm_3_2(instance: Instance) -> Findings:
    """The exact clean error against LO and HI."""
    data, network = instance.the_data(), instance.the_network()
    p, delta = instance.number("p", 0.3), instance.number("delta", 0.1)
    hypotheses = (*local_minimum(instance), in_the_interval(instance), at_least("p", p, 0.0), below("p < 1/2", p, 0.5))
    if unmet(on_the_line(instance)):
        return undefined(hypotheses, "the theorem is about samples on a line, one label at each place")
    x, y = line_samples(data)
    error = line_error(network).value
    low, high = lower_core(x, y), upper_core(x, y)
    low_mean, high_mean = expected_cores(x, p)
    low_slack, high_slack = core_slacks(x, delta)
    slack = math.sqrt(math.log(x.size / delta) / x.size)
    return Findings(
        hypotheses=hypotheses,
        constants=(
            value("L_cl", error),
            value("E LO over the labels", low_mean, f"McDiarmid: within {low_slack:.3g} with probability 1 - delta"),
            value("E HI over the labels", high_mean, f"McDiarmid: within {high_slack:.3g} with probability 1 - delta"),
            value("L of 1-nearest neighbour", nearest_neighbour_line_error(data.X, data.y).value),
            at_least(
                "L_cl >= (p - sqrt(log(m/delta)/m)) / 8",
                error,
                (p - slack) / 8,
                vacuous=p <= slack,
                note="the paper's constant, at the p that was stated: nothing ties one sample to it",
            ),
        ),
        claims=(
            at_least("L_cl >= LO", error, low, scale=1.0, rtol=STRUCTURE, vacuous=low == 0.0),
            at_most("L_cl <= HI", error, high, scale=1.0, rtol=STRUCTURE, vacuous=high >= 1.0),
        ),
    )
