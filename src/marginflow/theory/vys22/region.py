r"""Where [VYS22, Thm 4.1] applies and says something, from d, m, p and c alone."""

import math
from collections.abc import Mapping
from typing import Final

from marginflow.theory.atlas import Mark, Region
from marginflow.theory.frame import Findings, above, at_most, undefined
from marginflow.theory.vacuity import says_nothing
from marginflow.theory.vys22.observed import SHORTEST_FLIP, typical_p


def _judge(numbers: Mapping[str, float]) -> Findings:
    """The hypotheses of Theorem 4.1 and the length of its z, with ||u||^2 <= m d + m^2 p."""
    d, m, p, c = (numbers[name] for name in ("d", "m", "p", "c"))
    D, c_prime = d - m * p, m * (p + 1) / (d + 1)
    hypotheses = (
        at_most("sample size m", m, (d + 1) / (3 * (p + 1))),
        above("class balance c", c, 0.0),
        at_most("class balance c, from above", c, 0.5),
    )
    if D <= 0 or c <= 0 or m <= 0:
        return undefined(hypotheses, "z is not defined for these numbers")
    eta = (p + 1) / D + 2 * (c * c_prime + 1) * (d + 1) / (m * c * D)
    size = eta * math.sqrt(m * d + m**2 * p)
    order = 18 * math.sqrt(2 / m) / c
    return Findings(
        hypotheses=hypotheses,
        claims=(at_most("||z|| / sqrt(d)", size / math.sqrt(d), order, vacuous=says_nothing(size, int(d))),),
    )


THEOREM_4_1: Final = Region(
    letters={
        "d": "dimension",
        "m": "samples",
        "p": "largest inner product of two samples; by default the median of random samples",
        "c": "share of the smaller class, 1/2 by default",
    },
    defaults={"c": 0.5, "p": typical_p},
    judge=_judge,
    observation=SHORTEST_FLIP,
    marks=tuple(
        Mark(name=f"Figure 1, alpha = {alpha:g}", numbers={"d": d, "m": int(d**alpha)})
        for alpha in (0.5, 0.8, 1.0, 1.2, 1.5)
        for d in range(100, 1001, 100)
    ),
)
