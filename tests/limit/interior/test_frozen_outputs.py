"""Frozen outputs at exact points of the interior point, judged by sums in plain loops."""

from __future__ import annotations

import numpy as np
import pytest

import marginflow as mf
from marginflow.data import Dataset
from marginflow.limit.neurons import Neurons
from marginflow.limit.starts.interior import dealt_out
from marginflow.networks import TwoLayer


def worst_condition(limit: mf.limit.Limit, data: Dataset, penalty: float | None = None) -> float:
    """The largest violation of w_j = v_j sum_i lambda_i y_i clarke_ij (x_i, 1) and of the rest, relative to sizes."""
    net, lam, clarke = limit.network, limit.certificate.multipliers, limit.certificate.clarke
    worst, squared, norm = 0.0, 0.0, 0.0
    margins = [0.0] * len(data.y)
    for j in range(net.width):
        row = [*net.W[j], net.b[j]]
        missing = list(row)
        for i, (x, label) in enumerate(zip(data.X, data.y, strict=True)):
            point = [*x, 1.0]
            z = sum(w * p for w, p in zip(row, point, strict=True))
            size = sum(abs(w * p) for w, p in zip(row, point, strict=True))
            margins[i] += label * net.v[j] * max(z, 0.0)
            weight = clarke[i, j] if abs(z) <= 1e-9 * size else float(z > 0)
            worst = max(worst, -clarke[i, j], clarke[i, j] - 1.0)
            for column, p in enumerate(point):
                missing[column] -= net.v[j] * lam[i] * label * weight * p
        squared += sum(part**2 for part in missing)
        norm += sum(part**2 for part in row)
    worst = max(worst, (squared / norm) ** 0.5)
    for multiplier, margin in zip(lam, margins, strict=True):
        if penalty is None:
            worst = max(worst, 1.0 - margin, multiplier * abs(margin - 1.0) / lam.max())
        else:
            slack = multiplier * max(margin - 1.0, 0.0) + (penalty - multiplier) * max(1.0 - margin, 0.0)
            worst = max(worst, slack / penalty, multiplier / penalty - 1.0)
    return max(worst, -lam.min() / lam.max())


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("n", [12, 30])
def test_random_labels_on_the_line_are_separated_exactly(n: int, seed: int) -> None:
    rng = np.random.default_rng((n, seed))
    data = Dataset(
        X=np.arange(n)[:, None] + rng.uniform(0.1, 0.9, (n, 1)), y=np.where(rng.permutation(n) % 2, 1.0, -1.0)
    )
    limit = mf.kkt_point(data, width=60, outputs="frozen", seed=seed)
    assert limit.exact, limit.status
    assert worst_condition(limit, data) < 1e-9
    np.testing.assert_array_equal(np.abs(limit.network.v), np.abs(limit.network.v[0]))


@pytest.mark.parametrize("penalty", [None, 0.5, 20.0])
def test_the_plane_with_frozen_outputs(penalty: float | None) -> None:
    rng = np.random.default_rng(5)
    X = rng.standard_normal((50, 2))
    data = Dataset(X=X, y=np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0))
    limit = mf.kkt_point(data, width=80, outputs="frozen", penalty=penalty, seed=0)
    assert limit.exact, limit.status
    assert worst_condition(limit, data, penalty) < 1e-9


def test_outputs_of_different_sizes_stay_what_they_were() -> None:
    rng = np.random.default_rng(1)
    data = Dataset(X=np.linspace(0, 1, 10)[:, None], y=np.where(np.arange(10) % 2, 1.0, -1.0))
    v = np.concatenate([rng.uniform(0.1, 3.0, 20), -rng.uniform(0.1, 3.0, 20)])
    start = TwoLayer(W=0.01 * rng.standard_normal((40, 1)), b=np.zeros(40), v=v, outputs="frozen")
    limit = mf.kkt_point(data, start=start)
    assert limit.exact, limit.status
    np.testing.assert_array_equal(limit.network.v, v)
    assert worst_condition(limit, data) < 1e-9


def test_directions_get_outputs_in_proportion_to_what_they_need() -> None:
    network = TwoLayer(W=np.ones((9, 1)), v=np.array([1.0] * 6 + [-1.0] * 3), outputs="frozen")
    rows = Neurons(np.array([[2.0], [1.0], [5.0]]), np.array([1.0, 1.0, -1.0]))
    neurons, groups = dealt_out(rows, network)
    assert neurons is not None
    assert np.bincount(groups).tolist() == [4, 2, 3]
    assert neurons.outputs_squared.tolist() == [4.0, 2.0, 3.0]
    crowd = Neurons(np.ones((4, 1)), -np.ones(4))
    assert dealt_out(crowd, network)[0] is None
