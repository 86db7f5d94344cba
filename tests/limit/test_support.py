"""Points from the samples near the margin alone, judged on all of them."""

import numpy as np
import pytest

from marginflow import certify
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.limit.support import support_point
from marginflow.limit.support.descent import descend
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
