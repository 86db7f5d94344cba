"""Samples that occur more than once, and samples that depend on each other."""

import numpy as np
import pytest

import marginflow as mf
from marginflow.limit.advice import advice
from marginflow.limit.budget import Budget
from marginflow.limit.problem import Problem
from marginflow.limit.samples import distinct, spread
from marginflow.limit.solver.kink_basis import KinkBasis
from marginflow.limit.task import Task


def with_copies(dimension: int, samples: int, copies: int, seed: int) -> mf.data.Dataset:
    """Random labels on the sphere; some samples occur again, anywhere."""
    rng = np.random.default_rng(seed)
    sample = mf.data.Sphere(dimension=dimension).sample(samples, seed=seed)
    order = rng.permutation(np.concatenate([np.arange(samples), rng.integers(0, samples, copies)]))
    return sample.subset(order)


def residual(network: mf.networks.TwoLayer, data: mf.data.Dataset, lam: np.ndarray, clarke: np.ndarray) -> float:
    """||theta - sum_i lambda_i y_i grad N(x_i)|| / ||theta||, written out sample by sample."""
    W, b, v = np.zeros_like(network.W), np.zeros(network.width), np.zeros(network.width)
    for x, y, multiplier, weight in zip(data.X, data.y, lam, clarke, strict=True):
        W += multiplier * y * np.outer(network.v * weight, x)
        b += multiplier * y * network.v * weight
        v += multiplier * y * np.maximum(network.W @ x + network.b, 0.0)
    rest = np.concatenate([(network.W - W).ravel(), network.b - b, network.v - v])
    return float(np.linalg.norm(rest) / np.sqrt(network.norm_squared()))


@pytest.mark.parametrize(("dimension", "samples", "copies"), [(20, 40, 20), (30, 200, 100)])
def test_copies_do_not_keep_a_point_from_being_exact(dimension: int, samples: int, copies: int) -> None:
    data = with_copies(dimension, samples, copies, seed=40)
    limit = mf.kkt_point(data, width=200)
    c = limit.certificate
    assert limit.exact
    assert c.margins.shape == c.multipliers.shape == (samples + copies,)
    assert residual(limit.network, data, c.multipliers, c.clarke) < 1e-9
    assert float(c.margins.min()) > 1 - 1e-9


def test_the_flow_sees_every_copy() -> None:
    sample = mf.data.Sphere(dimension=10).sample(12, seed=0)
    data = sample.subset(np.concatenate([np.arange(12), np.zeros(8, dtype=int)]))
    start = mf.networks.TwoLayer.initialise(30, 10, scale=0.01, seed=0)
    task, whole = Task(data, start), Task(data, start, penalty=1e6)
    assert len(task.X) == 12
    assert len(whole.X) == 20
    of_copies = task.flow(50, Budget()).network
    of_all = whole.flow(50, Budget()).network
    np.testing.assert_allclose(task.outside(of_copies.augmented), whole.outside(of_all.augmented), rtol=1e-3, atol=1e-5)


def test_samples_are_told_apart_by_value_and_label() -> None:
    X = np.array([[1.0, 0.0], [1.0, -0.0], [2.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
    first, index = distinct(mf.data.Dataset(X=X, y=[1, 1, 1, -1, 1]))
    assert first.tolist() == [0, 2, 3]
    assert index.tolist() == [0, 0, 1, 2, 1]
    np.testing.assert_array_equal(spread(np.array([5.0, 6.0, 7.0]), first, 5), [5.0, 0.0, 6.0, 7.0, 0.0])


def test_advice_counts_samples_as_the_caller_does() -> None:
    X = np.array([[0.0, 1.0], [0.0, 1.0], [3.0, 0.0], [3.0, 1e-7], [-3.0, 0.0]])
    data = mf.data.Dataset(X=X, y=[1, 1, 1, -1, -1])
    assert "Samples 2 and 3" in advice(Task(data, mf.networks.TwoLayer.initialise(4, 2, seed=0)))


def test_dependent_kinks_project_on_their_own_span_only() -> None:
    rng = np.random.default_rng(0)
    for rank, dimension in ((6, 30), (20, 30)):
        rows = rng.standard_normal((rank, dimension))
        rows = np.concatenate([rows, rows[:2], rows[:1] + rows[1:2]])
        samples = np.concatenate([rows, rng.standard_normal((40, dimension))])
        problem = Problem.of(samples, np.ones(len(samples)), bias=False)
        kinks = np.zeros(len(samples), dtype=bool)
        kinks[: len(rows)] = True
        basis = KinkBasis.of(problem, kinks)
        g = rng.standard_normal(problem.X.shape[1])
        projected, weights = basis.split(g)
        XK = problem.X[kinks]
        outside = g - np.linalg.pinv(XK) @ (XK @ g)
        np.testing.assert_allclose(projected, outside, atol=1e-11)
        np.testing.assert_allclose(XK.T @ weights, g - projected, atol=1e-11)
        columns = basis.narrow.shape[1]
        assert columns == (dimension - rank if basis.complement else rank)


def test_tall_samples_keep_every_direction_when_they_are_rotated() -> None:
    rng = np.random.default_rng(1)
    samples = rng.standard_normal((900, 20)) @ rng.standard_normal((20, 400))
    samples += 1e-7 * rng.standard_normal((900, 400))
    problem = Problem.of(samples, np.ones(900), bias=True)
    Xt = np.column_stack([samples, np.ones(900)])
    np.testing.assert_allclose(problem.X @ problem.basis, Xt, atol=1e-11)
    np.testing.assert_allclose(problem.basis @ problem.basis.T, np.eye(len(problem.basis)), atol=1e-12)
    np.testing.assert_allclose(problem.X.T @ problem.X, np.diag(problem.s2), atol=1e-10 * problem.s2[0])
