r"""Where the theorems of [FVBS23] apply and say something, from d, k, sigma, p, c and n alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final

from marginflow.theory.atlas import Region
from marginflow.theory.frame import Check, Findings, above, at_least, at_most, undefined
from marginflow.theory.fvbs23.observed import LOG_BREAKABLE, LOG_TEST_ERROR, SHORTEST_FLIP, TEST_ERROR
from marginflow.theory.fvbs23.setting import log_sum
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


def _least_n(numbers: Mapping[str, float]) -> float:
    return math.ceil(numbers["k"] * math.log(numbers["d"]) ** 2)


DEFAULTS: Final[dict[str, float | Callable[[Mapping[str, float]], float]]] = {
    "sigma": lambda numbers: numbers["d"] ** -0.5,
    "p": 0.0,
    "c": 0.5,
    "epsilon": 0.05,
    "delta": 0.05,
    "n": _least_n,
}


def _delta(numbers: Mapping[str, float]) -> float:
    """Delta = 4 sigma sqrt(d) ln d."""
    return 4 * numbers["sigma"] * math.sqrt(numbers["d"]) * math.log(numbers["d"])


def assumption(numbers: Mapping[str, float]) -> tuple[Check, ...]:
    """Assumption 2.2; the norms are those of the letters."""
    d, k, sigma, p, c = (numbers[name] for name in ("d", "k", "sigma", "p", "c"))
    Delta = _delta(numbers)
    return (
        at_most("k (p + Delta + 1)", k * (p + Delta + 1), (d - Delta + 1) / 10),
        above("sigma, from below", sigma, 0.0, tolerance=0.0),
        at_most("sigma", sigma, 1.0),
        above("balance c of the clusters", c, 0.0),
    )


def enough(numbers: Mapping[str, float]) -> Check:
    """n >= k ln^2 d."""
    return at_least("n", numbers["n"], numbers["k"] * math.log(numbers["d"]) ** 2)


def window(numbers: Mapping[str, float]) -> tuple[Check, ...]:
    """The window for n of Theorem 3.1."""
    d, n, epsilon, delta = (numbers[name] for name in ("d", "n", "epsilon", "delta"))
    L = math.log(d)
    upper = min(
        0.5 * math.log(delta / 3) + d / 32,
        0.5 * math.log(delta) - math.log(3) + L**2 / 4,
        math.log(epsilon / 4) + L**2 / 2,
    )
    return (
        at_most("ln(1 / delta)", -math.log(delta), (L - 1) * L - math.log(3)),
        at_most("ln n", math.log(n), upper),
    )


def log_failure(numbers: Mapping[str, float]) -> float:
    """ln F of Proposition A.1."""
    d, n = numbers["d"], numbers["n"]
    L, twice = math.log(d), 2 * math.log(n)
    return log_sum(math.log(3) + twice - L**2 / 2, twice - d / 16, (1 - L) * L)


def size_of_z(numbers: Mapping[str, float]) -> float:
    """||z|| = (eta_1 + eta_2) ||u|| with ||u||^2 <= k d + k (k - 1) p; infinite where z is not defined."""
    d, k, p, c = (numbers[name] for name in ("d", "k", "p", "c"))
    Delta = _delta(numbers)
    D_u = d - Delta - k * (p + Delta)
    c_prime = k * (p + Delta + 1) / (d - Delta + 1) if d - Delta + 1 > 0 else math.inf
    if D_u <= 0 or c <= 0 or c_prime >= 1 / 3:
        return math.inf
    eta_1 = (2 * Delta + p + 1) / D_u
    eta_2 = 3 * (3 * d + Delta + 1) * (1 - 2 * c_prime) / (D_u * (1 - 3 * c_prime) * c * k)
    return (eta_1 + eta_2) * math.sqrt(k * d + k * (k - 1) * p)


def _generalises(numbers: Mapping[str, float]) -> Findings:
    """Theorem 3.1: a test error of at most epsilon."""
    epsilon = numbers["epsilon"]
    return Findings(
        hypotheses=(*assumption(numbers), enough(numbers), *window(numbers)),
        claims=(at_most("test error", epsilon, epsilon, vacuous=epsilon >= 1),),
    )


def _flips(numbers: Mapping[str, float]) -> Findings:
    """Theorem 4.2: the length of z."""
    d, k, c = numbers["d"], numbers["k"], numbers["c"]
    hypotheses = (*assumption(numbers), enough(numbers), *window(numbers))
    size = size_of_z(numbers)
    if math.isinf(size):
        return undefined(hypotheses, "z is not defined for these numbers")
    claim = at_most("||z|| / sqrt(d)", size / math.sqrt(d), 13.31 / (c * math.sqrt(k)), tolerance=1e-3)
    return Findings(hypotheses=hypotheses, claims=(_marked(claim, nothing=says_nothing(size, int(d))),))


def _marked(check: Check, *, nothing: bool) -> Check:
    from dataclasses import replace

    return replace(check, vacuous=nothing)


def _likely(numbers: Mapping[str, float]) -> Findings:
    """Theorem A.1: ln(4 n q_d), with probability 1 - F."""
    n, L = numbers["n"], math.log(numbers["d"])
    bound = math.log(4 * n) - L**2 / 2
    nothing = bound >= 0 or log_failure(numbers) >= 0
    return Findings(
        hypotheses=(*assumption(numbers), enough(numbers)),
        claims=(at_most("ln P(y N(x) <= 0)", bound, max(bound, 0.0), vacuous=nothing),),
    )


def _robust(numbers: Mapping[str, float]) -> Findings:
    """Theorem 4.1: the robust network keeps its sign within sqrt(d)/8, but with probability 2 k q_d."""
    k, L = numbers["k"], math.log(numbers["d"])
    bound = math.log(2 * k) - L**2 / 2
    return Findings(
        hypotheses=assumption(numbers),
        claims=(at_most("ln P(not robust)", bound, max(bound, 0.0), vacuous=bound >= 0),),
    )


def _few(*names: str) -> dict[str, str]:
    return {name: meaning for name, meaning in LETTERS.items() if name in names}


THEOREM_3_1: Final = Region(letters=LETTERS, defaults=DEFAULTS, judge=_generalises, observation=TEST_ERROR)
THEOREM_A1: Final = Region(letters=LETTERS, defaults=DEFAULTS, judge=_likely, observation=LOG_TEST_ERROR)
THEOREM_4_1: Final = Region(letters=LETTERS, defaults=DEFAULTS, judge=_robust, observation=LOG_BREAKABLE)
THEOREM_4_2: Final = Region(letters=LETTERS, defaults=DEFAULTS, judge=_flips, observation=SHORTEST_FLIP)
