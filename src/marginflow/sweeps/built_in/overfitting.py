"""`overfitting`: the clean test error at a KKT point that interpolates noisy labels [KYS23, sec. 3 to 5]."""

from typing import ClassVar

from marginflow.data import Interval
from marginflow.generalisation import line_error, sampled_error
from marginflow.sweeps.built_in.point import Count, PointParameters, certified, distribution, point, sample
from marginflow.sweeps.registry import Row, task


class OverfittingParameters(PointParameters, frozen=True, kw_only=True):
    """Data, network, and the number of test points where the error is counted."""

    constant_target: ClassVar[bool] = True

    law: str = "noisy-sphere"
    n_test: Count = 10_000


@task("overfitting")
def overfitting(parameters: OverfittingParameters, seed: int) -> Row:
    """Clean test error at a KKT point with noisy labels: exact on the interval, counted on the noisy sphere."""
    data = sample(parameters, seed)
    noisy = 0 if data.noisy is None else int(data.noisy.sum())
    if noisy in (0, data.n_samples):
        # A constant network of the one label that is there: no margin problem with two classes, and nothing to certify.
        error = 0.0 if noisy == 0 else 1.0
        nothing = {"run_status": "constant label", "holds": None, "exact": None, "stationarity": None}
        return {**nothing, "noisy": noisy, **_error(error, error, error)}
    found = point(parameters, data, seed)
    if isinstance(distribution(parameters), Interval):
        exact = line_error(found.network).value
        return {**certified(found), "noisy": noisy, **_error(exact, exact, exact)}
    counted = sampled_error(found.compact, distribution(parameters), parameters.n_test, seed=seed, train=data)
    return {**certified(found), "noisy": noisy, **_error(counted.value, counted.lower, counted.upper)}


def _error(value: float, lower: float, upper: float) -> Row:
    return {"clean_error": value, "clean_error_lower": lower, "clean_error_upper": upper}
