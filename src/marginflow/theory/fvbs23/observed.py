r"""What the theorems of [FVBS23] bound, on clusters of given d, k, sigma, p, c and n, at an exact KKT point."""

import math
from collections.abc import Mapping
from typing import Final

import numpy as np

from marginflow.data import Clusters, GramReduction
from marginflow.robustness import minimal_step
from marginflow.robustness.lower_bounds import interval_bound
from marginflow.theory.fvbs23.presets import with_robust_network
from marginflow.theory.fvbs23.setting import ClusterSample
from marginflow.theory.instance import Instance
from marginflow.theory.instances import pair_with_test
from marginflow.theory.observation import LARGEST, Observation, whole
from marginflow.theory.probability import clopper_pearson

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


def _wrong(instance: Instance) -> float:
    test = instance.the_test()
    return float((test.y * instance.the_network()(test.X) <= 0).mean())


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


TEST_ERROR: Final = Observation(
    name="test error of the exact pair", instance=_instance, measure=lambda numbers, instance: _wrong(instance)
)
LOG_TEST_ERROR: Final = Observation(
    name="ln of the 99 % upper limit of the test error of the exact pair, 1000 points",
    instance=_instance,
    measure=lambda numbers, instance: _log_upper(round(POINTS * _wrong(instance))),
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
