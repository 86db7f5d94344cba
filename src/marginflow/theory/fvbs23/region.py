r"""The maps of [FVBS23]: where its theorems apply and say something, and what is observed in a cell."""

import math
from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from marginflow.data import Clusters, GramReduction
from marginflow.robustness import minimal_step
from marginflow.robustness.lower_bounds import interval_bound
from marginflow.theory.frame import Check, Findings, Instance, Region, at_most, undefined
from marginflow.theory.fvbs23.presets import with_robust_network
from marginflow.theory.fvbs23.setting import LENGTH, ClusterLetters, ClusterSample
from marginflow.theory.instances import pair_with_test
from marginflow.theory.observation import LARGEST, Observation, test_error, whole
from marginflow.theory.probability import clopper_pearson
from marginflow.theory.vacuity import says_nothing

POINTS: Final = 1000


def _instance(numbers: Mapping[str, float], seed: int) -> Instance:
    """The exact pair on n samples of k clusters, and fresh points."""
    d, k = whole(numbers, "d", least=2), whole(numbers, "k", least=2)
    n = whole(numbers, "n", most=LARGEST)
    negative = round(numbers["c"] * k)
    law = Clusters(
        dimension=d,
        n_clusters=k,
        sigma=numbers["sigma"],
        means="equicorrelated" if numbers["p"] else "orthogonal",
        correlation=numbers["p"] / d,
        mean_labels=tuple(np.where(np.arange(k) < k - negative, 1.0, -1.0).tolist()),
    )
    reduced = GramReduction(law) if n + k <= d else law
    name = f"the exact pair on {n} samples of {k} clusters, d = {d}, sigma = {law.sigma_value:.3g} (seed {seed})"
    return pair_with_test(reduced, n, name, test=POINTS, seed=seed)


def _log_upper(count: int) -> float:
    """ln of the upper end of the 99 per cent interval of a share."""
    return math.log(clopper_pearson(count, POINTS).high)


def _breakable(instance: Instance, d: float) -> int:
    """Points whose sign is not certified to stay within sqrt(d)/8."""
    test = instance.the_test()
    radii = interval_bound(instance.the_network(), test.X, test.y).radii
    return int((radii < math.sqrt(d) / 8).sum())


def _flip(numbers: Mapping[str, float], instance: Instance) -> float:
    u, test = ClusterSample.of(instance).u, instance.the_test()
    steps = minimal_step(instance.the_network(), test.X, test.y, u)
    return steps.step_for_share(1 - numbers["epsilon"]) * float(np.linalg.norm(u)) / math.sqrt(numbers["d"])


TEST_ERROR: Final = Observation(name="test error of the exact pair", instance=_instance, measure=test_error)
LOG_TEST_ERROR: Final = Observation(
    name="ln of the 99 % upper limit of the test error of the exact pair, 1000 points",
    instance=_instance,
    measure=lambda numbers, instance: _log_upper(round(POINTS * test_error(numbers, instance))),
)
LOG_BREAKABLE: Final = Observation(
    name="ln of the 99 % upper limit of the share not certified robust within sqrt(d)/8, 1000 points",
    instance=lambda numbers, seed: with_robust_network(_instance(numbers, seed)),
    measure=lambda numbers, instance: _log_upper(_breakable(instance, numbers["d"])),
)
SHORTEST_FLIP: Final = Observation(
    name="||z|| / sqrt(d) of the shortest multiple of u that flips a share 1 - epsilon of the test points",
    instance=_instance,
    measure=_flip,
)

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
