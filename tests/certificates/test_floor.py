from __future__ import annotations

import numpy as np
import pytest

from marginflow.certificates import certify, training_floor
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.networks import TwoLayer

EPS = float(np.finfo(np.float64).eps)


def test_floor_is_the_share_of_the_start_outside_the_span():
    data = Dataset(X=[[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]], y=[1, -1])
    start = TwoLayer(W=[[5.0, 1.0, 3.0], [0.0, 0.0, 4.0]], v=[1.0, -1.0])
    trained = TwoLayer(W=[[6.0, 1.0, 3.0], [0.0, 2.0, 4.0]], v=[2.0, -2.0])
    assert training_floor(start, trained, data) == pytest.approx(5.0 / np.sqrt(36 + 1 + 9 + 4 + 16 + 8))
    assert training_floor(start, trained.scaled(10.0), data) == pytest.approx(training_floor(start, trained, data) / 10)


def test_floor_vanishes_when_the_samples_span_everything():
    rng = np.random.default_rng(0)
    data = Dataset(X=rng.normal(size=(6, 4)), y=[1, -1, 1, -1, 1, -1])
    start = TwoLayer.initialise(5, 4, seed=0)
    assert training_floor(start, start, data) < 50 * EPS


def test_dependent_samples_do_not_hide_the_floor():
    data = Dataset(X=[[1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [3.0, 0.0, 0.0]], y=[1, 1, 1])
    start = TwoLayer(W=[[0.0, 3.0, 4.0]], v=[1.0])
    assert training_floor(start, start, data) == pytest.approx(5.0 / np.sqrt(26.0))


@pytest.mark.parametrize("steps", [50, 200, 800])
def test_no_length_of_training_gets_below_the_floor(steps):
    rng = np.random.default_rng(1)
    data = Dataset(X=rng.normal(size=(5, 20)), y=[1, -1, 1, -1, 1])
    network = start = TwoLayer.initialise(10, 20, seed=0)
    for _ in range(steps):
        g = network.gradient(data.X, data.y * np.exp(-network.margins(data.X, data.y)))
        network = TwoLayer(W=network.W + 0.1 * g.W, b=network.b + 0.1 * g.b, v=network.v + 0.1 * g.v)
    certificate = certify(network, data, start=start)
    assert 0 < certificate.floor <= certificate.stationarity


def test_networks_of_different_shape_are_refused():
    data = Dataset(X=np.eye(3), y=[1, -1, 1])
    with pytest.raises(InputError, match="width 2"):
        training_floor(TwoLayer.initialise(2, 3), TwoLayer.initialise(4, 3), data)
    with pytest.raises(InputError, match="columns"):
        training_floor(TwoLayer.initialise(2, 4), TwoLayer.initialise(2, 4), data)
