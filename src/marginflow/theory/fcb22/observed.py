r"""What the theorems of [FCB22] bound, on runs of gradient descent of given sizes."""

from collections.abc import Mapping
from typing import Final

from marginflow.theory.fcb22.path import path_of
from marginflow.theory.fcb22.recorded import gd_run
from marginflow.theory.instance import Instance
from marginflow.theory.observation import LARGEST, Observation, whole

MOST_ENTRIES: Final = 20_000_000
"""Entries of the sample up to which a run is made."""


def _run(numbers: Mapping[str, float], seed: int) -> Instance:
    """Gradient descent from a small start, 1 + 1/(4 alpha) steps."""
    n, d, m = whole(numbers, "n", most=LARGEST), whole(numbers, "d", least=2), whole(numbers, "m", most=LARGEST)
    whole({"n d": float(n * d)}, "n d", most=MOST_ENTRIES)
    k = max(1, round(1 / (4 * numbers["alpha"])))
    return gd_run(n, d, m, sd=numbers["sd"], eta=numbers["eta"], omd=numbers["omd"], k=k, seed=seed)


def _wrong(numbers: Mapping[str, float], instance: Instance) -> float:
    test = instance.the_test()
    return float((test.y * instance.the_network()(test.X) <= 0).mean())


SUCCESS: Final = Observation(
    name="share of runs in which every sample has the sign of its clean label",
    instance=_run,
    measure=lambda numbers, instance: float((path_of(instance).clean_margins[-1] > 0).all()),
)
TEST_ERROR: Final = Observation(name="test error with noise, 1000 points", instance=_run, measure=_wrong)
FEATURE_CHANGE: Final = Observation(
    name="least relative change of the features of a sample",
    instance=_run,
    measure=lambda numbers, instance: float(path_of(instance).feature_change.min()),
)
