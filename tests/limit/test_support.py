"""Points from the samples near the margin alone, judged on all of them."""

import numpy as np
import pytest

from marginflow import certify
from marginflow.data import Dataset, Sphere
from marginflow.errors import InputError
from marginflow.limit.budget import Budget
from marginflow.limit.support import support_point
from marginflow.limit.support.descent import descend
from marginflow.limit.support.start import MoreSamples
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


def test_one_more_sample_mostly_needs_newton_steps_alone():
    """From the point without a sample to one with it: what is returned is exact, and most often something is."""
    data, ended = Sphere(dimension=20).sample(60, seed=0), 0
    lam = support_point(data, start(data), penalty=1.0).certificate.multipliers
    removed = np.flatnonzero((lam > 1e-9) & (lam < 1.0 - 1e-6))[:6]
    assert len(removed) == 6
    for i in removed:
        rest = np.delete(np.arange(data.n_samples), i)
        before = support_point(data.subset(rest), start(data), penalty=1.0)
        task = Task.of(data, before.network, penalty=1.0, callers_own=True, flow_steps=0)
        found = MoreSamples(np.insert(before.certificate.multipliers, i, 0.0)).propose(task, Budget())
        if found is not None:
            ended += 1
            assert certify(found.network, data, penalty=1.0, multipliers=(found.lam, found.mu)).holds(1e-9)
    assert ended >= 3
    nothing = MoreSamples(np.zeros(data.n_samples)).propose(task, Budget())  # multipliers of nowhere
    assert nothing is None or certify(nothing.network, data, penalty=1.0).holds(1e-8)
