"""Points from the samples near the margin alone, judged on all of them."""

from dataclasses import replace

import numpy as np
import pytest

from marginflow import certify
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.limit.budget import Budget
from marginflow.limit.support import support_point, watched
from marginflow.limit.support.descent import descend
from marginflow.limit.support.watched import Watched
from marginflow.limit.task import Task
from marginflow.networks import TwoLayer


def clusters(n: int = 120, seed: int = 0) -> Dataset:
    """Two clusters that overlap a little."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    return Dataset(X=(rng.standard_normal((n, 4)) + 1.2 * y[:, None]) / 3.0, y=y)


def start(data: Dataset, width: int = 8) -> TwoLayer:
    return TwoLayer.initialise(width, data.dimension, scale=0.3, seed=0)


def test_the_point_is_one_of_all_samples_without_the_multipliers_that_were_offered():
    data = clusters()
    found = support_point(data, start(data), penalty=1.0)
    assert found.exact
    assert certify(found.network, data, penalty=1.0).holds(1e-8)
    assert (found.certificate.multipliers == 0).any()


def test_a_hard_margin_is_one_for_every_sample():
    rng = np.random.default_rng(1)
    y = np.where(np.arange(60) % 2, 1.0, -1.0)
    data = Dataset(X=(rng.standard_normal((60, 6)) + 2.0 * y[:, None]) / 4.0, y=y)
    found = support_point(data, start(data))
    assert found.exact
    assert found.network.margins(data.X, data.y).min() == pytest.approx(1.0, abs=1e-9)
    assert certify(found.network, data).holds(1e-8)


def test_a_deadline_ends_the_descent_on_the_way():
    data = clusters()

    def objective(network: TwoLayer) -> float:
        return network.norm_squared() / 2 + np.maximum(1.0 - network.margins(data.X, data.y), 0.0).sum()

    late, _ = descend(data, start(data), 1.0, deadline=-np.inf)
    whole, _ = descend(data, start(data), 1.0)
    assert objective(whole) < objective(late) < objective(start(data))


def test_frozen_outputs_and_bad_numbers_are_refused():
    data = clusters(20)
    with pytest.raises(InputError, match="outputs of start are frozen"):
        support_point(data, TwoLayer.initialise(8, 4, outputs="frozen", seed=0), penalty=1.0)
    with pytest.raises(InputError, match="penalty is -1"):
        support_point(data, start(data), penalty=-1.0)


def test_samples_that_the_first_set_misses_are_taken_in(monkeypatch):
    """Begun with three samples of each label and those on the wrong side, the point is one of all samples."""
    monkeypatch.setattr(watched, "NEAR_MARGIN", 0.0)
    monkeypatch.setattr(watched, "LEAST_SUPPORT", 3)
    data = clusters(200)
    network, lam = descend(data, start(data), 1.0)
    task = Task.of(data, network, penalty=1.0, flow_steps=0)
    found = Watched(lam).propose(task, Budget())
    assert found is not None
    assert any(entry.flips > 0 for entry in found.history)
    assert certify(found.network, data, penalty=1.0, multipliers=(found.lam, found.mu)).holds(1e-9)


def test_units_of_the_samples_do_not_matter():
    """Powers of two round nothing: samples 2^20 times as long have the same point, 2^20 times as small."""
    data = clusters()
    long = Dataset(X=2.0**20 * data.X, y=data.y)
    plain = TwoLayer.initialise(8, 4, scale=0.3, bias=False, seed=0)
    descended, lam = descend(data, plain, 1.0)
    small = replace(descended, W=2.0**-20 * descended.W)
    # u and the multipliers carry the unit once, so does the penalty
    one = Watched(lam).propose(Task.of(data, descended, penalty=1.0, flow_steps=0), Budget())
    other = Watched(2.0**-20 * lam).propose(Task.of(long, small, penalty=2.0**-20, flow_steps=0), Budget())
    assert one is not None
    assert other is not None
    np.testing.assert_array_equal(other.network(long.X), one.network(data.X))


def test_nothing_is_proposed_where_time_is_over():
    data = clusters()
    task = Task.of(data, start(data), penalty=1.0, flow_steps=0)
    assert Watched(np.zeros(data.n_samples)).propose(task, Budget(time_limit=1e-9)) is None
