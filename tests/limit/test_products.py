"""Products with the own transpose: the same in blocks, and never a large symmetric product."""

import numpy as np
import pytest

from marginflow.data import Sphere
from marginflow.limit import problem as problem_room
from marginflow.limit import products
from marginflow.limit.neurons import Neurons
from marginflow.limit.problem import Problem
from marginflow.limit.products import product, times_transpose
from marginflow.limit.solver.polish import polish
from marginflow.threads import blas_threads, share


@pytest.mark.parametrize("rows", [1, 6, 7, 8, 20, 21])
def test_blocks_make_the_same_matrix(monkeypatch, rows):
    monkeypatch.setattr(products, "BLOCK", 7)
    A = np.random.default_rng(rows).normal(size=(rows, 5))
    product = times_transpose(A)
    np.testing.assert_allclose(product, A @ A.T, rtol=0, atol=1e-14 * np.abs(A @ A.T).max())
    np.testing.assert_array_equal(product, product.T)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(900, 120, 30), (30, 900, 400), (150, 300, 150)])
def test_parts_of_a_product_are_shared_and_no_thread_changes_a_bit(monkeypatch, shape, dtype):
    m, r, k = shape
    rng = np.random.default_rng(0)
    A, B, out = rng.normal(size=(r, m)).astype(dtype).T, rng.normal(size=(r, k)).astype(dtype), np.empty((m, k), dtype)
    parts = []

    def counted(work, some, threads=None):
        parts.append(len(some))
        share(work, some, threads)

    monkeypatch.setattr(products, "share", counted)
    expected = product(A, B, threads=1)
    assert product(A, B, out=out, threads=2) is out
    np.testing.assert_array_equal(out, expected)
    size = r * np.abs(A).max() * np.abs(B).max()
    np.testing.assert_allclose(expected, A.astype(float) @ B, rtol=0, atol=np.finfo(dtype).eps * size)
    with blas_threads(1):
        one = times_transpose(B.T) if k > m else times_transpose(A)
    with blas_threads(2):
        two = times_transpose(B.T) if k > m else times_transpose(A)
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one, one.T)
    assert max(parts) > 1


class NoLargeProduct(np.ndarray):
    """An array that refuses products with results of more than seven rows and columns at once."""

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        plain = [np.asarray(part) for part in inputs]
        if ufunc is np.matmul:
            assert plain[0].shape[0] <= 7
            assert plain[1].shape[1] <= 7
        out = options.pop("out", None)
        result = getattr(ufunc, method)(*plain, **options)
        if out is not None:
            np.asarray(out[0])[...] = result
        return result


def test_no_product_is_larger_than_a_block(monkeypatch):
    monkeypatch.setattr(products, "BLOCK", 7)
    A = np.random.default_rng(0).normal(size=(20, 3))
    np.testing.assert_allclose(times_transpose(A.view(NoLargeProduct)), A @ A.T, atol=1e-14)


def some_problem() -> tuple[Problem, Neurons]:
    data = Sphere(dimension=10).sample(30, seed=0)
    problem = Problem.of(data.X, data.y, bias=True)
    U = np.random.default_rng(0).normal(size=(40, problem.X.shape[1]))
    return problem, Neurons(U, np.repeat([1.0, -1.0], 20))


def test_many_samples_get_their_first_multipliers_without_a_matrix_of_all_pairs(monkeypatch):
    problem, neurons = some_problem()
    expected = problem.warm_multipliers(neurons.U, neurons.s)
    monkeypatch.setattr(problem_room, "GRAM_KEPT", 10)
    monkeypatch.setattr(problem_room, "RIDGE_STEPS", 300)
    again, _ = some_problem()
    np.testing.assert_allclose(again.warm_multipliers(neurons.U, neurons.s), expected, atol=2e-3 * expected.max())
    np.testing.assert_allclose(again.gram(np.arange(3)), problem.gram(np.arange(3)), atol=1e-14)


def test_first_multipliers_of_many_samples_keep_the_time_limit(monkeypatch):
    monkeypatch.setattr(problem_room, "GRAM_KEPT", 10)
    problem, neurons = some_problem()
    at_once = problem.warm_multipliers(neurons.U, neurons.s, deadline=-1.0)
    monkeypatch.setattr(problem_room, "RIDGE_STEPS", 1)
    np.testing.assert_array_equal(at_once, problem.warm_multipliers(neurons.U, neurons.s))
    assert at_once.sum() == pytest.approx(float(np.linalg.norm(neurons.U, axis=1).sum()))


def test_first_multipliers_are_not_eliminated_where_that_would_end_after_the_time_limit(monkeypatch):
    problem, neurons = some_problem()

    def solve(*_):
        raise AssertionError("a dense system was begun after the deadline")

    monkeypatch.setattr(np.linalg, "solve", solve)
    at_once = problem.warm_multipliers(neurons.U, neurons.s, deadline=-1.0)
    assert at_once.sum() == pytest.approx(float(np.linalg.norm(neurons.U, axis=1).sum()))
    with pytest.raises(AssertionError, match="was begun"):
        problem.warm_multipliers(neurons.U, neurons.s)


def test_a_polish_needs_no_matrix_of_all_pairs(monkeypatch):
    monkeypatch.setattr(problem_room, "GRAM_KEPT", 10)
    problem, neurons = some_problem()
    found = polish(problem, neurons)
    assert found.exact
    assert problem._gram is None
