import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from marginflow.data import Interval
from marginflow.data.interval import plant_runs
from marginflow.errors import InputError


def maximal_runs(y: np.ndarray) -> list[int]:
    """Lengths of the maximal runs of -1."""
    runs, length = [], 0
    for label in [*y, 1.0]:
        if label < 0:
            length += 1
        elif length:
            runs.append(length)
            length = 0
    return runs


def test_points_are_sorted_and_in_the_interval() -> None:
    for design in ("uniform", "jittered"):
        x = Interval(design=design).sample(200).X[:, 0]
        assert (np.diff(x) > 0).all()
        assert x[0] >= 0
        assert x[-1] <= 1


def test_spacings_of_uniform_points_follow_their_beta_law() -> None:
    # Every one of the n + 1 spacings of n uniform points is Beta(1, n).
    n = 20
    x = np.array([Interval().sample(n, seed=seed).X[:, 0] for seed in range(800)])
    spacings = np.diff(x, axis=1, prepend=0.0, append=1.0)
    for which in (0, 7, n):
        assert stats.kstest(spacings[:, which], stats.beta(1, n).cdf).pvalue > 1e-3
    # and the largest one has the inclusion-exclusion law P(max <= r) = sum_j (-1)^j C(n+1, j) (1 - j r)_+^n
    r = 0.2
    exact = sum(
        (-1) ** j * stats.binom(n + 1, 0.5).pmf(j) * 2.0 ** (n + 1) * max(0.0, 1 - j * r) ** n for j in range(n + 2)
    )
    assert stats.binomtest(int((spacings.max(axis=1) <= r).sum()), 800, exact).pvalue > 1e-3


@pytest.mark.parametrize(("m", "found"), [(50, 0.8395), (200, 0.9395)])
def test_the_event_on_gaps_has_its_measured_probability(m: int, found: float) -> None:
    # [KYS23, Lem. A.1] with delta = 0.1: largest gap at most log(8(m+1)/delta)/(m+1), fewer than (m+1)/8 gaps below
    # 1/(10(m+1)); the frequencies come from an independent experiment with 2000 draws.
    gaps = np.diff([Interval().sample(m, seed=seed).X[:, 0] for seed in range(1000)], axis=1)
    event = (gaps.max(axis=1) <= np.log(80 * (m + 1)) / (m + 1)) & ((gaps < 0.1 / (m + 1)).sum(axis=1) < (m + 1) / 8)
    deviation = np.sqrt(found * (1 - found) * (1 / 1000 + 1 / 2000))
    assert abs(event.mean() - found) < 3 * deviation


@pytest.mark.parametrize("jitter", [0.0, 0.5, 0.99])
def test_jittered_points_keep_their_distance(jitter: float) -> None:
    n = 50
    x = Interval(design="jittered", jitter=jitter).sample(n, seed=1).X[:, 0]
    assert np.diff(x).min() >= (1 - jitter) / n - 1e-15
    np.testing.assert_allclose(x, (np.arange(n) + 0.5) / n, atol=jitter / (2 * n) + 1e-15)


def test_labels_are_minus_with_the_given_probability() -> None:
    data = Interval(p=0.2).sample(5000, seed=2)
    assert data.clean_labels is not None
    assert (data.clean_labels == 1).all()
    assert stats.binomtest(int((data.y < 0).sum()), 5000, 0.2).pvalue > 1e-3
    assert (Interval(p=0.25, count="exact").sample(40, seed=2).y < 0).sum() == 10


@settings(max_examples=100)
@given(
    runs=st.integers(0, 4),
    length=st.integers(1, 6),
    extra=st.integers(0, 10),
    p=st.sampled_from([0.0, 0.3]),
    seed=st.integers(0, 10**6),
)
def test_planted_runs_are_maximal_and_as_many_as_asked(runs: int, length: int, extra: int, p: float, seed: int) -> None:
    n = max(1, runs * (length + 1) - 1 + extra)
    y = Interval(p=p, runs=runs, run_length=length).sample(n, seed=seed).y
    found = maximal_runs(y)
    if p == 0:
        assert found == [length] * runs
    else:
        assert found.count(length) >= runs


def test_places_of_planted_runs_are_uniform() -> None:
    # Two runs of length 2 among 7 labels have the starts (0,3), (0,4), (0,5), (1,4), (1,5), (2,5).
    rng = np.random.default_rng(0)
    seen: dict[tuple, int] = {}
    for _ in range(3000):
        y = plant_runs(np.ones(7), 2, 2, rng)
        seen[tuple(np.flatnonzero(y < 0)[::2])] = seen.get(tuple(np.flatnonzero(y < 0)[::2]), 0) + 1
    assert sorted(seen) == [(0, 3), (0, 4), (0, 5), (1, 4), (1, 5), (2, 5)]
    assert stats.chisquare(list(seen.values())).pvalue > 1e-3


def test_runs_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InputError, match="need at least 11 samples, but there are 10"):
        Interval(runs=2, run_length=5).sample(10)
    assert maximal_runs(Interval(p=0, runs=2, run_length=5).sample(11).y) == [5, 5]


def test_test_points_are_uniform_whatever_the_design() -> None:
    law = Interval(p=0.3, design="jittered", jitter=0.0, runs=1)
    test = law.fresh(2000, train=law.sample(20), seed=0)
    assert stats.kstest(test.X[:, 0], stats.uniform().cdf).pvalue > 1e-3
    assert stats.binomtest(int((test.y < 0).sum()), 2000, 0.3).pvalue > 1e-3
