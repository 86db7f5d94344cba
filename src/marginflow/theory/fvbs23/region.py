r"""Where the theorems of [FVBS23] apply and say something, from d, k, sigma, p, c and n alone."""

import math
from collections.abc import Callable, Mapping
from typing import Final

from marginflow.theory.atlas import Region
from marginflow.theory.frame import Check, Findings, at_most, undefined
from marginflow.theory.fvbs23.observed import LOG_BREAKABLE, LOG_TEST_ERROR, SHORTEST_FLIP, TEST_ERROR
from marginflow.theory.fvbs23.setting import LENGTH, ClusterLetters
from marginflow.theory.vacuity import says_nothing

LETTERS: Final = {
    "d": "dimension",
    "k": "clusters",
    "sigma": "noise per coordinate, 1/sqrt(d) by default",
    "p": "largest inner product of two means, 0 by default",
    "c": "share of the rarer label among the clusters, 1/2 by default",
    "n": "samples, the least that is allowed by default",
    "epsilon": "test error (or share not flipped), 0.05 by default",
    "delta": "failure probability, 0.05 by default",
}


DEFAULTS: Final[dict[str, float | Callable[[Mapping[str, float]], float]]] = {
    "sigma": lambda numbers: numbers["d"] ** -0.5,
    "p": 0.0,
    "c": 0.5,
    "epsilon": 0.05,
    "delta": 0.05,
    "n": lambda numbers: math.ceil(numbers["k"] * math.log(numbers["d"]) ** 2),
}


def _letters(numbers: Mapping[str, float]) -> ClusterLetters:
    return ClusterLetters(
        dimension=numbers["d"],  # type: ignore[arg-type]  # a map may be asked between whole numbers
        n_clusters=numbers["k"],  # type: ignore[arg-type]  # here too
        sigma=numbers["sigma"],
        p=numbers["p"],
        balance=numbers["c"],
    )


def _assumption(s: ClusterLetters) -> tuple[Check, ...]:
    """Assumption 2.2; the norms are those of the letters."""
    return (s.separation(), *s.noise_range(), s.two_labels())


def _theorem(s: ClusterLetters, numbers: Mapping[str, float]) -> tuple[Check, ...]:
    """What Theorems 3.1 and 4.2 ask for."""
    n = numbers["n"]
    return (*_assumption(s), s.enough(n), *s.window(n, numbers["epsilon"], numbers["delta"]))


def _generalises(numbers: Mapping[str, float]) -> Findings:
    """Theorem 3.1: a test error of at most epsilon."""
    epsilon = numbers["epsilon"]
    return Findings(
        hypotheses=_theorem(_letters(numbers), numbers),
        claims=(at_most("test error", epsilon, epsilon, vacuous=epsilon >= 1),),
    )


def _flips(numbers: Mapping[str, float]) -> Findings:
    """Theorem 4.2: the length of z = (eta_1 + eta_2) u, with ||u||^2 <= k d + k (k - 1) p."""
    s = _letters(numbers)
    hypotheses = _theorem(s, numbers)
    if s.D_u <= 0 or s.c <= 0 or s.c_prime >= 1 / 3:
        return undefined(hypotheses, "z is not defined for these numbers")
    size = (s.eta_1 + s.eta_2) * math.sqrt(s.k * s.d + s.k * (s.k - 1) * s.p)
    relative, bound, nothing = size / math.sqrt(s.d), LENGTH / (s.c * math.sqrt(s.k)), says_nothing(size, int(s.d))
    return Findings(
        hypotheses=hypotheses, claims=(at_most("||z|| / sqrt(d)", relative, bound, tolerance=1e-3, vacuous=nothing),)
    )


def _likely(numbers: Mapping[str, float]) -> Findings:
    """Theorem A.1: ln(4 n q_d), with probability 1 - F."""
    s, n = _letters(numbers), numbers["n"]
    bound = s.log_test_failure(n)
    nothing = bound >= 0 or s.log_failure(n) >= 0
    return Findings(
        hypotheses=(*_assumption(s), s.enough(n)),
        claims=(at_most("ln P(y N(x) <= 0)", bound, max(bound, 0.0), vacuous=nothing),),
    )


def _robust(numbers: Mapping[str, float]) -> Findings:
    """Theorem 4.1: the robust network keeps its sign within sqrt(d)/8, but with probability 2 k q_d."""
    s = _letters(numbers)
    bound = math.log(2 * s.k) + s.log_q
    return Findings(
        hypotheses=_assumption(s), claims=(at_most("ln P(not robust)", bound, max(bound, 0.0), vacuous=bound >= 0),)
    )


THEOREM_3_1: Final = Region(letters=LETTERS, defaults=DEFAULTS, judge=_generalises, observation=TEST_ERROR)
THEOREM_A1: Final = Region(letters=LETTERS, defaults=DEFAULTS, judge=_likely, observation=LOG_TEST_ERROR)
THEOREM_4_1: Final = Region(letters=LETTERS, defaults=DEFAULTS, judge=_robust, observation=LOG_BREAKABLE)
THEOREM_4_2: Final = Region(letters=LETTERS, defaults=DEFAULTS, judge=_flips, observation=SHORTEST_FLIP)
