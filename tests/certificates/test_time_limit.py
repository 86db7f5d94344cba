"""A certificate looks at the clock: at its time limit it judges the best multipliers so far."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

import marginflow as mf
from marginflow.certificates import certify
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
    network, data = separating(30, seed=0)
    if method == "gradients":
        monkeypatch.setattr(best, "_suits_atoms", lambda problem: False)
    monkeypatch.setattr(best, "_is_best", lambda *_: False)  # a hard problem: no method is content
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", clock.monotonic)
    certify(network, data)
    whole = clock.looks
    assert whole > 30
    for limit in np.linspace(0, whole, 12):
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
