"""Merging neurons: never dearer, never a smaller margin; bundles of nearly parallel neurons."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginflow.limit.neurons import Neurons, add_up, equal_pattern_groups, gather, sort_by_sign
from marginflow.limit.problem import Problem


def random_case(seed: int, *, n_patterns: int = 3) -> tuple[Problem, Neurons]:
    """Neurons around a few directions, so that some of them share their pattern on same samples."""
    rng = np.random.default_rng(seed)
    m, r, k = int(rng.integers(2, 10)), int(rng.integers(2, 6)), int(rng.integers(2, 12))
    y = np.where(rng.random(m) < 0.5, 1.0, -1.0)
    problem = Problem.of(rng.normal(size=(m, r)), y, bias=False)
    centres = rng.normal(size=(n_patterns, problem.X.shape[1]))
    U = centres[rng.integers(n_patterns, size=k)] * rng.random((k, 1)) + 0.2 * rng.normal(size=(k, problem.X.shape[1]))
    s = np.sort(np.where(rng.random(k) < 0.5, 1.0, -1.0))[::-1].copy()
    return problem, Neurons(U, s, rng.random(k) + 0.1)


@settings(max_examples=150)
@given(st.integers(0, 10**6))
def test_merging_equal_patterns_never_raises_the_cost_and_never_lowers_a_margin(seed):
    problem, neurons = random_case(seed)
    groups = equal_pattern_groups(problem.X @ neurons.U.T > 0, neurons.s, problem.y)
    merged = add_up(neurons, groups)
    before, after = problem.margins(neurons.U, neurons.s), problem.margins(merged.U, merged.s)
    tolerance = 1e-12 * max(1.0, np.abs(before).max())
    assert (after >= before - tolerance).all()
    lengths = np.linalg.norm(neurons.U, axis=1)
    assert np.linalg.norm(merged.U, axis=1).sum() <= lengths.sum() * (1 + 1e-12)
    a, b = neurons.outputs_squared, merged.outputs_squared
    assert a is not None
    assert b is not None
    assert (np.linalg.norm(merged.U, axis=1) ** 2 / b).sum() <= (lengths**2 / a).sum() * (1 + 1e-12)


def test_merging_does_happen_in_the_cases_above():
    """Otherwise the property would hold for want of anything to merge."""
    merged = 0
    for seed in range(30):
        problem, neurons = random_case(seed)
        groups = equal_pattern_groups(problem.X @ neurons.U.T > 0, neurons.s, problem.y)
        merged += len(neurons.s) - (groups.max() + 1)
    assert merged > 30


def test_merging_unequal_patterns_can_lower_a_margin():
    """The hypothesis is needed: x = (1, 0) and neurons (2, 0), (-1, 0) of its sign have margin 2, their sum 1."""
    problem = Problem.of(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1.0, -1.0]), bias=False)
    U = problem.reduced(np.array([[2.0, 0.0], [-1.0, 0.0]]))
    s = np.ones(2)
    assert equal_pattern_groups(problem.X @ U.T > 0, s, problem.y).tolist() == [0, 1]
    assert problem.margins(U, s)[0] == pytest.approx(2.0)
    assert problem.margins(U.sum(axis=0, keepdims=True), s[:1])[0] == pytest.approx(1.0)


def test_only_patterns_on_same_samples_count():
    A = np.array([[1, 1, 0], [0, 0, 1], [1, 0, 1]], dtype=bool)  # columns are neurons
    y, s = np.array([1.0, 1.0, -1.0]), np.array([1.0, 1.0, -1.0])
    assert equal_pattern_groups(A, s, y).tolist() == [0, 0, 1]
    assert equal_pattern_groups(A, s, -y).tolist() == [0, 1, 2]


def test_neurons_of_opposite_sign_are_never_merged():
    A = np.ones((4, 2), dtype=bool)
    assert equal_pattern_groups(A, np.array([1.0, -1.0]), np.array([1.0, 1.0, -1.0, -1.0])).tolist() == [0, 1]


def test_groups_are_numbered_by_their_first_member_so_positive_ones_stay_first():
    problem, neurons = random_case(4)
    groups = equal_pattern_groups(problem.X @ neurons.U.T > 0, neurons.s, problem.y)
    first_seen = list(dict.fromkeys(groups.tolist()))
    assert first_seen == sorted(first_seen)
    merged = add_up(neurons, groups)
    assert (np.diff(merged.s) <= 0).all()


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(2, 12))
def test_bundles_are_of_one_sign_and_no_more_than_allowed(seed, most):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, 30))
    U, s = rng.normal(size=(k, 4)), np.where(rng.random(k) < 0.5, 1.0, -1.0)
    U[rng.random(k) < 0.1] = 0.0
    U[s > 0] *= 10.0 ** rng.integers(-9, 1)  # after a short flow on noisy labels one sign is tiny beside the other
    groups = gather(U, s, most)
    zero = ~U.any(axis=1)
    assert ((groups == -1) == zero).all()
    if zero.all():
        return
    used = groups[groups >= 0]
    assert sorted(set(used.tolist())) == list(range(used.max() + 1))
    assert used.max() + 1 <= most
    signs = [set(s[groups == g].tolist()) for g in range(used.max() + 1)]
    assert all(len(signs_of_group) == 1 for signs_of_group in signs)
    order = [next(iter(signs_of_group)) for signs_of_group in signs]
    assert order == sorted(order, reverse=True)


@settings(max_examples=60)
@given(st.integers(0, 10**6))
def test_with_bundles_to_spare_every_neuron_is_near_the_leader_of_its_own(seed):
    rng = np.random.default_rng(seed)
    U, s = rng.normal(size=(40, 3)), np.where(rng.random(40) < 0.5, 1.0, -1.0)
    groups = gather(U, s, 100, cosine=0.9)
    unit = U / np.linalg.norm(U, axis=1, keepdims=True)
    for g in range(groups.max() + 1):
        members = np.flatnonzero(groups == g)
        closeness = unit[members] @ unit[members].T
        assert (closeness.min(axis=1) >= 0.9).any()  # at least one member, the leader, is near all others


def test_parallel_neurons_form_one_bundle_and_their_sum_is_the_same_function():
    direction = np.array([0.6, -0.8, 1.5])
    U = np.outer([0.2, 1.0, 3.0, 0.5], direction)
    s = np.array([1.0, 1.0, 1.0, -1.0])
    groups = gather(U, s, 10)
    assert groups.tolist() == [0, 0, 0, 1]
    summed = add_up(Neurons(U, s, np.array([1.0, 2.0, 3.0, 4.0])), groups)
    np.testing.assert_allclose(summed.U, np.outer([4.2, 0.5], direction))
    assert summed.outputs_squared is not None
    assert summed.outputs_squared.tolist() == [6.0, 4.0]
    points = np.random.default_rng(0).normal(size=(50, 3))
    np.testing.assert_allclose(np.maximum(points @ U.T, 0) @ s, np.maximum(points @ summed.U.T, 0) @ summed.s)


def test_a_bundle_limit_below_two_still_keeps_both_signs():
    U, s = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([1.0, -1.0, -1.0])
    assert set(gather(U, s, 1).tolist()) == {0, 1}


def test_sorting_by_sign_puts_positive_neurons_first_and_keeps_their_order():
    assert sort_by_sign(np.array([-1.0, 1.0, -1.0, 1.0])).tolist() == [1, 3, 0, 2]
