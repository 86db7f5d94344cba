"""Soft margins near the penalty at which the zero function stops being the best network."""

from __future__ import annotations

import numpy as np
import pytest

import marginflow as mf
from marginflow.limit.problem import Problem
from marginflow.limit.settings import ASCENTS
from marginflow.limit.starts.rising import least_useful_penalty, peaks, rising_neurons


def data(seed: int) -> mf.data.Dataset:
    X = np.random.default_rng(seed).normal(size=(40, 4))
    return mf.data.Dataset(X=X, y=np.sign(X[:, 0] * X[:, 1]))


def steepest_rise(samples: mf.data.Dataset, draws: int = 20_000) -> float:
    """max |sum_i y_i relu(x_i . u)| over random unit vectors u of (x, 1): a lower bound on 1 / (critical C)."""
    rows = np.column_stack([samples.X, np.ones(len(samples.X))])
    U = np.random.default_rng(9).normal(size=(draws, 5))
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    return float(np.abs(samples.y @ np.maximum(rows @ U.T, 0.0)).max())


@pytest.mark.parametrize("seed", range(4))
def test_just_above_the_critical_penalty_a_network_beats_zero(seed):
    samples = data(seed)
    C = 1.02 / steepest_rise(samples)
    limit = mf.kkt_point(samples, width=40, penalty=C, seed=seed)
    assert limit.exact, limit.status
    assert limit.certificate.multipliers.sum() < C * samples.n_samples  # the value of the zero function


def test_well_below_it_zero_is_the_answer_and_a_sentence_says_so():
    seed = 0
    samples = data(seed)
    C = 0.7 / steepest_rise(samples)
    problem = Problem.of(samples.X, samples.y, bias=True, penalty=C)
    useful = least_useful_penalty(problem, np.zeros((0, 5)))
    assert C < useful <= 1.0001 / steepest_rise(samples)
    with pytest.raises(mf.InputError, match=rf"zero function.*{useful:.3g}"):
        mf.kkt_point(samples, width=40, penalty=C, seed=seed)
    assert rising_neurons(problem, np.random.default_rng(0).normal(size=(30, 5)), seed=0) is None


def test_after_the_time_limit_no_further_direction_is_sought():
    samples = data(0)
    problem = Problem.of(samples.X, samples.y, bias=True, penalty=1.0)
    directions = np.random.default_rng(0).standard_normal((10, 5))
    in_time, late = (peaks(problem, directions, 0, 1.0, deadline=deadline) for deadline in (np.inf, 0.0))
    assert len(in_time) == 2 * (10 + ASCENTS)
    assert [sign for _, sign, _ in late] == [1.0, -1.0]
    assert all(value <= max(v for v, s, _ in in_time if s == sign) * (1 + 1e-12) for value, sign, _ in late)
