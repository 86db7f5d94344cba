r"""The maps of [FCB22]: where its theorems apply and say something, and what is observed of a run."""

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from marginflow.theory.fcb22.assumptions import FIGURE
from marginflow.theory.fcb22.constants import E2, GAMMA
from marginflow.theory.fcb22.numbers import DELTA, Numbers
from marginflow.theory.fcb22.path import path_of
from marginflow.theory.fcb22.recorded import gd_run
from marginflow.theory.frame import Check, Findings, Instance, Mark, Region, at_least, at_most
from marginflow.theory.observation import LARGEST, Observation, test_error, whole

MOST_ENTRIES: Final = 20_000_000
"""Entries of the sample up to which a run is made."""


def _run(numbers: Mapping[str, float], seed: int) -> Instance:
    """Gradient descent from a small start, 1 + 1/(4 alpha) steps."""
    n, d, m = whole(numbers, "n", most=LARGEST), whole(numbers, "d", least=2), whole(numbers, "m", most=LARGEST)
    whole({"n d": float(n * d)}, "n d", most=MOST_ENTRIES)
    k = max(1, round(1 / (4 * numbers["alpha"])))
    return gd_run(n, d, m, sd=numbers["sd"], eta=numbers["eta"], omd=numbers["omd"], k=k, seed=seed)


SUCCESS: Final = Observation(
    name="share of runs in which every sample has the sign of its clean label",
    instance=_run,
    measure=lambda numbers, instance: float((path_of(instance).clean_margins[-1] > 0).all()),
)
TEST_ERROR: Final = Observation(name="test error with noise, 1000 points", instance=_run, measure=test_error)
FEATURE_CHANGE: Final = Observation(
    name="least relative change of the features of a sample",
    instance=_run,
    measure=lambda numbers, instance: float(path_of(instance).feature_change.min()),
)

LETTERS: Final = {
    "n": "samples",
    "d": "dimension",
    "m": "width",
    "sd": "sigma sqrt(d), how far samples are from their mean",
    "eta": "noise rate",
    "omd": "omega sqrt(md), the norm of the start; what (A6) allows with C by default",
    "alpha": "step-size; 1/sqrt(C) by default, the largest that (A7) allows",
    "C": "the constant of (A1)-(A7), which the paper leaves open; 16 by default, where runs succeed",
    "delta": "failure probability, 0.1 by default",
}


def _numbers(numbers: Mapping[str, float]) -> Numbers:
    given = {name: numbers[name] for name in ("n", "d", "m", "eta", "alpha", "delta")}
    m, d = numbers["m"], numbers["d"]
    return Numbers(**given, sigma=numbers["sd"] / math.sqrt(d), omega=numbers["omd"] / math.sqrt(m * d))


def _assumptions(s: Numbers, C: float) -> tuple[Check, ...]:
    """(A1)-(A7): C against the cap of each, and against both ends of (A7)."""
    low, high = s.step_size_interval
    return (
        *(at_most(f"C against the cap of ({name})", C, cap) for name, cap in s.caps.items()),
        at_least("C against the lower end of (A7)", C, max(low, 1.0)),
        at_most("C against the upper end of (A7)", C, high),
        *s.confidence(),
    )


def _fits(numbers: Mapping[str, float]) -> Findings:
    """Theorem 3.1, part 1: clean samples are fitted and noisy ones are not, with probability 1 - 4 delta."""
    s = _numbers(numbers)
    chance = 1 - 4 * s.delta
    return Findings(
        hypotheses=_assumptions(s, numbers["C"]),
        claims=(at_least("probability", chance, min(chance, 0.0), vacuous=chance <= 0),),
    )


def _generalises(numbers: Mapping[str, float]) -> Findings:
    """Theorem 3.1, part 2: test error at most eta + C sqrt(log(1/delta)/n)."""
    s = _numbers(numbers)
    bound = s.eta + numbers["C"] * math.sqrt(math.log(1 / s.delta) / s.n)
    nothing = bound >= 1 or 4 * s.delta >= 1
    return Findings(
        hypotheses=_assumptions(s, numbers["C"]),
        claims=(at_most("bound on the test error", bound, max(bound, 1.0), vacuous=nothing),),
    )


def _features(numbers: Mapping[str, float]) -> Findings:
    """Proposition 3.2: the features move by GAMMA / (omega sqrt(md)), relative to their start."""
    s = _numbers(numbers)
    moved = GAMMA / s.omd if s.omd > 0 else math.inf
    return Findings(
        hypotheses=(
            *_assumptions(s, numbers["C"]),
            at_most("omega sqrt(md)", s.omd, E2 / 4096),
            at_most("alpha", s.alpha, 0.1),
        ),
        claims=(at_least("relative change of the features", moved, min(moved, 0.0)),),
    )


DEFAULTS: Final[dict[str, float | Callable[[Mapping[str, float]], float]]] = {
    "C": 16.0,
    "delta": DELTA,
    "sd": lambda numbers: 1 / numbers["C"],
    "eta": lambda numbers: 1 / numbers["C"],
    "omd": lambda numbers: numbers["C"] ** -2,
    "alpha": lambda numbers: numbers["C"] ** -0.5,
}
MARKS: Final = (
    Mark(
        name="Figure 1",
        numbers={"n": 5000, "d": 2, "m": 500, "sd": FIGURE.sd, "eta": 0.15, "omd": 0.25, "alpha": 0.05},
    ),
)
_region = partial(Region, letters=LETTERS, defaults=DEFAULTS, marks=MARKS)
THEOREM_3_1_1: Final = _region(judge=_fits, observation=SUCCESS)
THEOREM_3_1_2: Final = _region(judge=_generalises, observation=TEST_ERROR)
PROPOSITION_3_2: Final = _region(judge=_features, observation=FEATURE_CHANGE)
