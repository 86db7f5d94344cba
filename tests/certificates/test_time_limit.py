"""A certificate looks at the clock: at its time limit it judges the best multipliers so far."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

import marginflow as mf
from marginflow.certificates import certify, pattern
from marginflow.certificates.multipliers import best
from marginflow.data import Dataset, Sphere
from marginflow.networks import TwoLayer


class Clock:
    """A clock that goes on by one second at every look."""

    def __init__(self) -> None:
        self.looks = 0

    def monotonic(self) -> float:
        self.looks += 1
        return float(self.looks)


def separating(n: int, *, seed: int) -> tuple[TwoLayer, Dataset]:
    """A network that separates its data and has samples on its kinks, but is not a KKT point: outputs are off."""
    data = Sphere(dimension=5).sample(n, seed=seed)
    network = mf.kkt_point(data, width=30, seed=0).network
    rng = np.random.default_rng(seed)
    return replace(network, v=network.v * (1.0 + 0.1 * rng.random(network.width))), data


@pytest.mark.parametrize("method", ["atoms", "gradients"])
def test_after_the_time_limit_few_looks_at_the_clock_are_left(monkeypatch, method):
    network, data = separating(30 if method == "atoms" else 16, seed=0)
    if method == "gradients":
        monkeypatch.setattr(best, "_suits_atoms", lambda problem: False)
    monkeypatch.setattr(best, "_is_best", lambda *_: False)  # a hard problem: no method is content
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", clock.monotonic)
    certify(network, data)
    whole = clock.looks
    assert whole > 30
    for limit in np.linspace(0, 0.6 * whole, 4):
        clock.looks = 0
        certificate = certify(network, data, time_limit=float(limit))
        assert clock.looks <= limit + 8
        assert certificate.total_lower_bound <= certificate.total


def test_what_the_clock_cuts_short_is_feasible_and_never_called_better_than_it_is():
    network, data = separating(30, seed=1)
    whole = certify(network, data)
    short = certify(network, data, time_limit=0.0)
    assert whole.total_lower_bound <= whole.total * (1 + 1e-9)
    assert whole.total <= short.total * (1 + 1e-9)
    assert short.total_lower_bound <= whole.total
    assert short.dual_feasibility == 0.0
    assert short.kink_report.hard_residual is None
    assert whole.kink_report.count > 0
    assert whole.kink_report.hard_residual is not None


def test_a_limit_that_is_not_reached_changes_no_bit():
    network, data = separating(20, seed=2)
    assert certify(network, data, time_limit=1e6).to_dict() == certify(network, data).to_dict()


def test_a_candidate_that_is_not_enough_is_judged_as_it_is_when_time_is_over(monkeypatch):
    network, data = separating(30, seed=2)
    nothing = (np.zeros(data.n_samples), np.zeros((data.n_samples, network.width)))

    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("other multipliers were sought after the time limit")

    monkeypatch.setattr(best, "_with_growing_sample_set", forbidden)
    certificate = certify(network, data, multipliers=nothing, time_limit=0.0)
    assert certificate.status == "candidate accepted"
    assert certificate.stationarity == pytest.approx(1.0)


@pytest.mark.parametrize("penalty", [None, 0.5])
@pytest.mark.parametrize("outputs", ["trained", "frozen"])
def test_samples_taken_in_blocks_give_the_same_certificate(monkeypatch, penalty, outputs):
    data = Sphere(dimension=4).sample(20, seed=3)
    point = mf.kkt_point(data, width=25, seed=0, outputs=outputs, penalty=penalty)
    rng = np.random.default_rng(0)
    network = replace(point.network, W=point.network.W * (1.0 + 0.01 * rng.random((point.network.width, 1))))
    whole = certify(network, data, penalty=penalty, hard_patterns=False, kink_tolerance=1e-2)
    candidate = (whole.multipliers, whole.multipliers[:, None] * whole.clarke)
    whole = certify(network, data, penalty=penalty, multipliers=candidate, as_given=True, kink_tolerance=1e-2)
    monkeypatch.setattr(pattern, "CACHED_NUMBERS", 3 * network.width)
    parts = certify(network, data, penalty=penalty, multipliers=candidate, as_given=True, kink_tolerance=1e-2)
    assert whole.kink_report.count > 0
    assert parts.kink_report.count == whole.kink_report.count
    for name in ("largest_inside", "smallest_outside", "relied_on"):  # products of other shapes round otherwise
        assert getattr(parts.kink_report, name) == pytest.approx(getattr(whole.kink_report, name), abs=1e-13)
    assert np.array_equal(parts.kinks, whole.kinks)
    np.testing.assert_allclose(parts.clarke, whole.clarke, rtol=0, atol=1e-12)
    for name in ("stationarity", "complementarity", "total_lower_bound", "dual_feasibility"):
        assert getattr(parts.residuals, name) == pytest.approx(getattr(whole.residuals, name), rel=1e-9, abs=1e-12)
    np.testing.assert_allclose(parts.margins, whole.margins, rtol=1e-12)
