r"""What the theorems of [KYS23] bound: the clean error at a KKT point, exact on the line and counted on the sphere."""

from collections.abc import Mapping
from typing import Final

from marginflow.generalisation import line_error
from marginflow.theory.instance import Instance
from marginflow.theory.kys23.clean_error import fresh_error
from marginflow.theory.kys23.line_points import local_point
from marginflow.theory.kys23.sphere_points import frozen_point, pair_point
from marginflow.theory.observation import Observation, whole

LONGEST_LINE: Final = 2000
MOST_ON_THE_SPHERE: Final = 1000


def _on_the_line(numbers: Mapping[str, float], seed: int) -> Instance:
    return local_point(whole(numbers, "m", least=2, most=LONGEST_LINE), numbers["p"], seed, start=seed)


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


LINE_ERROR: Final = Observation(
    name="exact clean error of a local minimum on the line",
    instance=_on_the_line,
    measure=lambda numbers, instance: line_error(instance.the_network()).value,
)
PAIR_ERROR: Final = Observation(
    name="clean error of the exact pair on the sphere, 2000 points", instance=_pair, measure=_counted
)
FROZEN_ERROR: Final = Observation(
    name="clean error of a KKT point with frozen outputs on the sphere, 2000 points", instance=_frozen, measure=_counted
)
