r"""[KYS23, Thm 3.1 and footnote 2] Any KKT point on the line overfits temperedly, between p^5 and sqrt(p).

As printed the bounds say nothing below three million samples (p = 0.3). What the proof gives for every single sample,
without probability, is judged instead: a KKT point is negative on the best gap of every five consecutive labels -1.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Final

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.generalisation import line_error
from marginflow.theory.frame import (
    Findings,
    Forms,
    Instance,
    Statement,
    at_least,
    at_most,
    undefined,
    value,
)
from marginflow.theory.kys23.line import Bends, in_the_interval, kkt_point, line_samples
from marginflow.theory.kys23.line_points import global_point, spikes
from marginflow.theory.kys23.thm_3_1.cor_a3 import fives, negative_segment

_NOT_CLAIMED: Final = "with the constant 1, which the paper does not claim: reported, not judged"


def group_gaps(x: FloatArray) -> FloatArray:
    """The least gap inside each of the disjoint groups I_1, I_2, ... of five consecutive samples."""
    groups = x[: x.size // 5 * 5].reshape(-1, 5)
    least: FloatArray = np.diff(groups, axis=1).min(axis=1) if groups.size else np.zeros(0)
    return least


def five_group_core(x: FloatArray, y: FloatArray) -> float:
    """The error that the disjoint groups of five labels -1 force on a KKT point: the sum of their least gaps."""
    negative = (y[: x.size // 5 * 5].reshape(-1, 5) < 0).all(axis=1)
    return float(group_gaps(x)[negative].sum())


def deviation(m: int, delta: float) -> float:
    """sqrt(log(m / delta) / m)."""
    return math.sqrt(math.log(m / delta) / m)


@partial(
    Statement,
    id="KYS23/Thm3.1",
    kind="theorem",
    number="Theorem 3.1",
    meaning="On the line every KKT point has a clean error between order p^5 and order sqrt(p), whatever the width.",
    formula=r"c \Big( p^5 - \sqrt{\tfrac{\log(m/\delta)}{m}} \Big) \le L_{\mathrm{cl}}(N_\theta) \le "
    r"C \Big( \sqrt p + \sqrt{\tfrac{\log(m/\delta)}{m}} \Big)",
    needs=("network", "data"),
    parameters={"p": "noise rate (default 0.2)", "delta": "failure probability (default 0.1)"},
    example=lambda: global_point(40, 0.2, runs=2, run_length=9),
    control=lambda: spikes(40, 0.2, runs=2, run_length=9, depth=1000.0),
    control_shows="spikes through the same samples err less than the groups of five force on KKT points",
    forms=Forms(
        proved=r"L_{\mathrm{cl}} \ge \sum_{g} 1\{ y|_{I_g} = -1 \} \min_{\ell \in I_g} (x_{\ell+1} - x_\ell)",
        sharp=r"\mathbb{E} \ge \tfrac{p^5}{4 (m+1)} \lfloor \tfrac m5 \rfloor \approx \tfrac{p^5}{20}",
        remark="The lower bound is positive only for m above about 3e6 (p = 0.3), the upper one below 1 only for p "
        "below about 0.01. The inner sum over a group counts one segment five times, and McDiarmid applies to the "
        "explicit sum, not to the error, which may change everywhere when one label does.",
    ),
)
def thm_3_1(instance: Instance) -> Findings:
    """The exact clean error against what the groups of five force."""
    data, network = instance.the_data(), instance.the_network()
    p, delta = instance.number("p", 0.2), instance.number("delta", 0.1)
    hypotheses = (*kkt_point(instance), in_the_interval(instance), at_least("p", p, 0.0), at_most("p <= 1/2", p, 0.5))
    if network.dimension != 1 or data.dimension != 1:
        return undefined(hypotheses, "the theorem is about the line")
    x, y = line_samples(data)
    m = x.size
    bends = Bends.of(network)
    error = line_error(network).value
    starts = fives(y)
    core = five_group_core(x, y)
    signs = np.sign(network(np.sort(np.concatenate([x, bends.kinks, (x[:-1] + x[1:]) / 2]))[:, None]))
    changes = int((np.diff(signs[signs != 0]) != 0).sum())
    regions = 1 + int(((bends.kinks > 0) & (bends.kinks < 1)).sum())
    slack = deviation(m, delta)
    segments = (
        (
            at_most(
                "largest N on the best segment of five labels -1",
                [negative_segment(bends, x[i : i + 5]) for i in starts],
                0.0,
            ),
        )
        if starts
        else ()
    )
    return Findings(
        hypotheses=hypotheses,
        constants=(
            value("L_cl", error),
            at_least("L_cl >= p^5 - sqrt(log(m/delta)/m)", error, p**5 - slack, note=_NOT_CLAIMED),
            at_most("L_cl <= sqrt(p) + sqrt(log(m/delta)/m)", error, math.sqrt(p) + slack, note=_NOT_CLAIMED),
            value("fives of labels -1", len(starts)),
            value("linear regions / (sign changes + 1)", regions / (changes + 1)),
        ),
        claims=(
            at_least("L_cl against the least gaps of groups of five", error, core, vacuous=core == 0.0),
            *segments,
        ),
    )
