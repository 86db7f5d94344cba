r"""The maps of [KYS23]: where its theorems apply and say something, and the clean error observed in a cell."""

import math
from collections.abc import Mapping
from typing import Final

from marginflow.generalisation import line_error
from marginflow.theory.frame import Findings, Instance, Mark, Region, at_least, at_most, below
from marginflow.theory.kys23.clean_error import fresh_error
from marginflow.theory.kys23.line_points import local_point
from marginflow.theory.kys23.sphere_points import frozen_point, pair_point
from marginflow.theory.observation import Observation, whole

LONGEST_LINE: Final = 2000
MOST_ON_THE_SPHERE: Final = 1000


def _sizes(numbers: Mapping[str, float]) -> tuple[int, int, int]:
    """m, the number of negative samples (at least one), and d."""
    m = whole(numbers, "m", least=2, most=MOST_ON_THE_SPHERE)
    return m, max(1, round(numbers["p"] * m)), whole(numbers, "d", least=2)


def _pair(numbers: Mapping[str, float], seed: int) -> Instance:
    m, k, d = _sizes(numbers)
    return pair_point(m, k, d, seed)


def _frozen(numbers: Mapping[str, float], seed: int) -> Instance:
    m, k, d = _sizes(numbers)
    return frozen_point(m, whole(numbers, "n", least=2, most=50), k, d, seed)


def _counted(numbers: Mapping[str, float], instance: Instance) -> float:
    return fresh_error(instance, instance.the_network()).value


_NOISE: Final = 1 / 22
_NOISES: Final = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
_DIMENSIONS: Final = (50, 250, 500, 1000, 2000, 10_000)
_FIGURES: Final = (
    ("Figure 1, left", 500, 1000, _DIMENSIONS),
    ("Figure 1, right", 2000, 1000, _DIMENSIONS),
    ("Figure 2, left, width 50", 500, 50, (250, 2000, 10_000)),
    ("Figure 2, left, width 3000", 500, 3000, (250, 2000, 10_000)),
)
C2_PROOF: Final = 5.0
C3_PROOF: Final = 648.0
"""c_2 and c_3 of the proof of Theorem 4.1: Bernstein asks for 5, the test point for 648 m^2 log(2m/eps)."""
_C: Final = {"c1": 0.0065**2, "c2": C2_PROOF, "c3": C3_PROOF, "c4": 0.0065}


def deviation(m: float, delta: float) -> float:
    """sqrt(log(m / delta) / m)."""
    return math.sqrt(math.log(m / delta) / m)


def _line(numbers: Mapping[str, float], least: float, most: float) -> Findings:
    """Both halves: c (least - deviation) <= L_cl <= C (most + deviation)."""
    p, slack = numbers["p"], deviation(numbers["m"], numbers["delta"])
    lower, upper = numbers["c"] * (least - slack), numbers["C"] * (most + slack)
    return Findings(
        hypotheses=(at_least("samples m", numbers["m"], 2), at_least("p, from below", p, 0.0), at_most("p", p, 0.5)),
        claims=(
            at_most("upper bound on L_cl", upper, max(upper, 1.0), vacuous=upper >= 1),
            at_least("lower bound on L_cl", lower, min(lower, 0.0), vacuous=lower <= 0),
        ),
    )


def _near_max_margin(numbers: Mapping[str, float]) -> Findings:
    """Theorem 4.1: clean error at most epsilon; the ratio of the norms is at least 1, so that p <= c_4^2."""
    m, d, p, epsilon, delta = (numbers[name] for name in ("m", "d", "p", "epsilon", "delta"))
    c1, c2, c3, c4 = (numbers[name] for name in ("c1", "c2", "c3", "c4"))
    return Findings(
        hypotheses=(
            at_most("p against c_1", p, c1),
            at_least("samples m", m, c2 * math.log(1 / delta) / p if p > 0 else math.inf),
            at_least("dimension d", d, c3 * m**2 * math.log(m / epsilon) * math.log(m / delta)),
            at_least("c_4 / sqrt(p), which a ratio of norms is below", c4 / math.sqrt(p) if p > 0 else math.inf, 1.0),
        ),
        claims=(at_most("clean error", epsilon, epsilon, vacuous=epsilon >= 1),),
    )


def _frozen_outputs(numbers: Mapping[str, float]) -> Findings:
    """Theorem 4.3, with the constants of its proof."""
    m, d, n, p, epsilon, delta = (numbers[name] for name in ("m", "d", "n", "p", "epsilon", "delta"))
    mn4 = (m * n) ** 4
    return Findings(
        hypotheses=(
            below("p n^2", p * n**2, _NOISE),
            at_least("samples m", m, 2 * n),
            at_least("d, for the samples", d, 32 * mn4 * math.log(2 * m**2 / delta)),
            at_least("d, for a fresh point", d, 288 * mn4 * math.log(2 * m / epsilon)),
        ),
        claims=(at_most("clean error", epsilon, epsilon, vacuous=epsilon >= 1),),
    )


_SAMPLE: Final = {"m": "samples", "p": "share of negative labels", "delta": "failure probability, 0.1 by default"}
_LINE: Final = _SAMPLE | {"c": "of the lower half, left open", "C": "of the upper half, left open"}
_SPHERE: Final = _SAMPLE | {"d": "dimension", "epsilon": "clean error, 0.01 by default"}


def _marks(*letters: str) -> tuple[Mark, ...]:
    """The published figures: clean error against p in several dimensions (Figure 1 has them in its legend)."""
    return tuple(
        Mark(
            name=f"{name}, d = {d}",
            numbers={key: value for key, value in {"m": m, "d": d, "p": p, "n": n}.items() if key in letters},
        )
        for name, m, n, dimensions in _FIGURES
        for d in dimensions
        for p in _NOISES
    )


_LINE_ERROR: Final = Observation(
    name="exact clean error of a local minimum on the line",
    instance=lambda numbers, seed: local_point(
        whole(numbers, "m", least=2, most=LONGEST_LINE), numbers["p"], seed, start=seed
    ),
    measure=lambda numbers, instance: line_error(instance.the_network()).value,
)
THEOREM_3_1: Final = Region(  # between p^5 and sqrt(p)
    letters=_LINE,
    defaults={"delta": 0.1, "c": 1.0, "C": 1.0},
    judge=lambda numbers: _line(numbers, numbers["p"] ** 5, math.sqrt(numbers["p"])),
    observation=_LINE_ERROR,
)
THEOREM_3_2: Final = Region(  # of order p
    letters=_LINE,
    defaults={"delta": 0.1, "c": 1 / 8, "C": 2.0},
    judge=lambda numbers: _line(numbers, numbers["p"], numbers["p"]),
    observation=_LINE_ERROR,
)
THEOREM_4_1: Final = Region(
    letters=_SPHERE | {name: f"{name[0]}_{name[1]}, left open; that of the proof by default" for name in _C},
    defaults={"delta": 0.1, "epsilon": 0.01, **_C},
    judge=_near_max_margin,
    observation=Observation(
        name="clean error of the exact pair on the sphere, 2000 points", instance=_pair, measure=_counted
    ),
    marks=_marks("m", "d", "p"),
)
THEOREM_4_3: Final = Region(
    letters=_SPHERE | {"n": "width"},
    defaults={"delta": 0.1, "epsilon": 0.01},
    judge=_frozen_outputs,
    observation=Observation(
        name="clean error of a KKT point with frozen outputs on the sphere, 2000 points",
        instance=_frozen,
        measure=_counted,
    ),
    marks=_marks("m", "d", "p", "n"),
)
