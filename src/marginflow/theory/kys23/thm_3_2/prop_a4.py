r"""[KYS23, Prop. A.4, Lemmas A.6 and A.7] The pattern +, -, + at a local minimum; false as printed, and repaired.

The proof moves two neurons against each other (con_p10_p12_p14.py) and assumes that both face right. A local minimum
with neurons facing both ways escapes it (`limit.five_points`; the hunter finds more).

Repair. Call the pattern at i *covered* if every neuron that bends N strictly between the last - before x_i (or,
without one, from x_1 on) and the first - behind it (or up to x_m) faces right, and N bends down somewhere there before
x_i. Then the three moves of the proof are local and feasible:

- N(x_i) < -1: j1 the last neuron that bends down before x_i, j2 one that bends up between j1 and x_{i+1}; (14) raises N
  only between them, where x_i has slack and all other samples are +.
- N(x_{i+1}) > 1: j1 bends up in (x_{i-1}, x_i], j2 is the next that bends down; until then N rises, so all samples on
  the way are + and have slack while (14) lowers N. Without a j2 there is no - behind, and j1 alone is made smaller.
- N not linear on (x_i, x_{i+1}): (10) raises N on the way to the next bend down, where no - can be; (12) lowers it
  between two bends around x_i alone.

Each lowers the norm, by Cauchy-Schwarz at balanced neurons. If some - precedes x_i, N bends down after it by itself.
The mirror image holds for left-facing neurons, with (x_{i-1}, x_i) in the place of (x_i, x_{i+1}).
"""

from dataclasses import dataclass, fields
from functools import partial
from typing import Final

import numpy as np

from marginflow.arrays import BoolArray, FloatArray
from marginflow.networks import TwoLayer
from marginflow.theory.frame import Erratum, Findings, Instance, at_least, at_most, equal, require, stated, value
from marginflow.theory.kys23.enclosed import EnclosedMinimum, refuted_at_minimum
from marginflow.theory.kys23.line import SAME_KINK, STRUCTURE, Bends, line_samples, local_minimum, plus_minus_plus
from marginflow.theory.kys23.line_points import five_point_minimum, global_point, mirror, right_facing_point


@dataclass(frozen=True, eq=False, kw_only=True)
class Patterns:
    """What a network does at every pattern +, -, +: N(x_i), N(x_{i+1}), the distance from the chord between them."""

    at_minus: FloatArray
    behind: FloatArray
    nonlinearity: FloatArray
    covered: BoolArray

    @property
    def count(self) -> int:
        """Number of patterns."""
        return int(self.at_minus.size)


def covered(network: TwoLayer, x: FloatArray, y: FloatArray, i: int) -> bool:
    """Whether the pattern at i is covered by the repaired proposition."""
    minus = np.flatnonzero(y < 0)
    before, after = minus[minus < i], minus[minus > i]
    margin = SAME_KINK * max(1.0, float(np.abs(x).max()))
    # the ends count where they are the first or the last sample, not where they are labelled -
    left = float(x[before[-1]]) + margin if before.size else float(x[0]) - margin
    right = float(x[after[0]]) - margin if after.size else float(x[-1]) + margin
    w = network.W[:, 0]
    b = np.zeros_like(w) if network.b is None else network.b
    bending = (w != 0) & (network.v != 0)
    kinks, w, v = -b[bending] / w[bending], w[bending], network.v[bending]
    near = (kinks > left) & (kinks < right)
    down = near & (v < 0) & (kinks < x[i])
    return bool((w[near] > 0).all() and down.any())


def patterns(network: TwoLayer, x: FloatArray, y: FloatArray) -> Patterns:
    """At every pattern +, -, + of samples in order."""
    bends = Bends.of(network)
    values = network(x[:, None])
    indices = plus_minus_plus(y)
    return Patterns(
        at_minus=values[indices],
        behind=values[indices + 1],
        nonlinearity=np.array([bends.nonlinearity(float(x[i]), float(x[i + 1])) for i in indices]),
        covered=np.array([covered(network, x, y, int(i)) for i in indices], dtype=np.bool_),
    )


def covered_both_ways(network: TwoLayer, x: FloatArray, y: FloatArray) -> Patterns:
    """The covered patterns, and those of the mirror image: right-facing and left-facing neurons alike."""
    seen = patterns(network, x, y), patterns(mirror(network), 1.0 - x[::-1], y[::-1])
    names = [field.name for field in fields(Patterns)]
    return Patterns(**{name: np.concatenate([getattr(part, name)[part.covered] for part in seen]) for name in names})


def pattern_findings(instance: Instance, *, linear: bool, values: bool, repaired: bool = False) -> Findings:
    """What Prop. A.4, either of its halves, or its repair says of an instance."""
    hypotheses = require(local_minimum(instance), "no local minimum on the line")
    x, y = line_samples(instance.the_data())
    network = instance.certificate.network
    every = patterns(network, x, y)
    found = covered_both_ways(network, x, y) if repaired else every
    count = found.count
    hypotheses = (*hypotheses, at_least("patterns +, -, +" + (" covered" if repaired else ""), count, 1.0))
    require(hypotheses, "no pattern that the proposition speaks of", given=every.count > 0)
    if not count:  # does not apply; what the other patterns do is shown all the same
        found = every
    by_values = (
        equal("N(x_i) = -1", found.at_minus, -1.0, tolerance=STRUCTURE),
        equal("N(x_{i+1}) = 1", found.behind, 1.0, tolerance=STRUCTURE),
    )
    by_chord = at_most("distance of N from its chord", found.nonlinearity, 0.0, scale=1.0, tolerance=STRUCTURE)
    claims = (*(by_values if values else ()), *((by_chord,) if linear else ()))
    broken = not repaired and any(check.state == "failed" for check in claims)
    breaks = partial(pattern_breaks, linear=linear, values=values)
    return Findings(
        value("patterns", every.count),
        value("patterns whose neurons face right", float(every.covered.sum())),
        hypotheses=hypotheses,
        claims=claims,
        counterexample=refuted_at_minimum(instance, breaks) if broken else None,
    )


def pattern_breaks(found: EnclosedMinimum, x: FloatArray, y: FloatArray, *, linear: bool, values: bool) -> str | None:
    """Which value or chord is off at an exact local minimum."""
    low, high = found.values(x)
    bends = Bends.of(found.network)
    for i in plus_minus_plus(y):
        for index, wanted in ((i, -1.0), (i + 1, 1.0)) if values else ():
            if low[index] > wanted or high[index] < wanted:
                return f"at which N({x[index]:g}) in [{low[index]:.9g}, {high[index]:.9g}], not {wanted:g}"
        for kink in bends.inside(float(x[i]), float(x[i + 1])) if linear else ():
            inner = found.values(np.array([kink]))
            share = (kink - x[i]) / (x[i + 1] - x[i])
            above = inner[0][0] - ((1 - share) * high[i] + share * high[i + 1])
            under = inner[1][0] - ((1 - share) * low[i] + share * low[i + 1])
            if above > 1e-9 or under < -1e-9:
                return f"at which N({kink:.6g}) is off its chord by at least {max(above, -under):.6g}"
    return None


PATTERN: Final = r"(y_{i-1}, y_i, y_{i+1}) = (1, -1, 1)"


@stated(
    id="KYS23/PropA.4",
    meaning="At a local minimum a pattern +, -, + has N = -1, then 1, and N linear in between. False as printed.",
    formula=PATTERN + r" \;\Rightarrow\; N_\theta(x_i) = -1, \; N_\theta(x_{i+1}) = 1, \; N_\theta \text{ linear on } "
    r"(x_i, x_{i+1})",
    example=lambda: global_point(20, 0.3, 5),
    control=five_point_minimum,
    control_shows="five points, four neurons facing both ways: a strict local minimum with N(x_5) = 4",
    printed=PATTERN + r" \Rightarrow N_\theta(x_i) = -1, N_\theta(x_{i+1}) = 1, \text{ linear}",
    remark="No global optimum has violated it so far.",
    errata=Erratum.false_statement(
        "Equation (9) reads the change of slope off v_j w_j, but for a left-facing neuron it is v_j |w_j|; "
        "the perturbations are local only if both neurons face the same way.",
        headline="Kornowski, Yehudai and Shamir say that at a local minimum on the line a sample -1 between two "
        "samples +1 has output -1 and the one behind it output 1; a strict local minimum on five points has "
        "output 4 there, and the proof is right where the neurons around face the same way.",
        evidence="five points at distances h, h, h and far, four neurons facing both ways: a strict local "
        "minimum with N(x_5) = 4 instead of 1, enclosed in ball arithmetic; the hunter finds others",
        repair="KYS23/PropA.4-repaired",
    ),
)
def prop_a4(instance: Instance) -> Findings:
    """Values and chord at every pattern +, -, +."""
    return pattern_findings(instance, linear=True, values=True)


@stated(
    id="KYS23/PropA.4-repaired",
    number="Proposition A.4, repaired",
    meaning="Prop. A.4 where the neurons around the pattern face right; its mirror image where they face left.",
    formula=PATTERN + r", \; w_j > 0 \text{ for all kinks around} \;\Rightarrow\; N_\theta(x_i) = -1, \; "
    r"N_\theta(x_{i+1}) = 1, \; N_\theta \text{ linear on } (x_i, x_{i+1})",
    example=lambda: right_facing_point(10, 0.35, 0),
    control=five_point_minimum,
    control_shows="around both patterns of the five points neurons face both ways, or N does not bend down before",
    proved=r"\text{all neurons that bend } N \text{ between the last } - \text{ before and the first } - \text{ "
    r"behind face right, and } N \text{ bends down before } x_i",
    remark="With one orientation the perturbations (10), (12), (14) are local and the proof goes through; at "
    "differentiable points it needs the KKT conditions only.",
)
def prop_a4_repaired(instance: Instance) -> Findings:
    """Values and chord at the covered patterns, and at those of the mirror image."""
    return pattern_findings(instance, linear=True, values=True, repaired=True)
