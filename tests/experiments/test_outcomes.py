import math

import numpy as np
import pytest
from scipy import stats

from marginflow.errors import InputError
from marginflow.experiments import Finding, Mean, Outcome
from marginflow.experiments.outcome import means


def test_the_interval_of_a_mean_is_that_of_student():
    values = np.random.default_rng(0).normal(size=7)
    low, high = stats.t.interval(0.95, 6, loc=values.mean(), scale=stats.sem(values))
    found = Mean.of(values)
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-12)


def test_the_interval_covers_the_true_mean_as_often_as_it_says():
    rng = np.random.default_rng(1)
    draws = [Mean.of(rng.normal(3.0, 2.0, size=4)) for _ in range(2000)]
    assert 0.93 < np.mean([mean.low <= 3.0 <= mean.high for mean in draws]) < 0.97


def test_one_value_has_no_finite_interval_and_none_is_refused():
    assert Mean.of([2.0]).high == math.inf
    with pytest.raises(InputError, match="no values"):
        Mean.of([])


def finding(value, relation, bound, low=None, high=None, draws=None):
    return Finding(name="x", value=value, relation=relation, bound=bound, low=low, high=high, draws=draws)


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ([finding(1, "<=", 2)], "borne out"),
        ([finding(1, "<=", 2, 0.5, 1.5)], "borne out"),
        ([finding(1, "<=", 2, 0.0, 3.0)], "borne out"),
        ([finding(3, "<=", 2, 1.0, 5.0)], "undecided"),
        ([finding(3, "<=", 2, 2.5, 5.0)], "not borne out"),
        ([finding(3, "<=", 2, 1.0, 5.0), finding(0, ">=", 1)], "not borne out"),
        ([finding(math.nan, "<=", 2)], "undecided"),
        ([finding(1, "==", 1)], "borne out"),
        ([finding(0.999, "==", 1)], "not borne out"),
        ([finding(1, "<=", 2, draws=1)], "undecided"),
        ([finding(3, "<=", 2, draws=1)], "undecided"),
        ([finding(1, "<=", 2, draws=1), finding(1, "<=", 2, 0.5, 1.5, draws=5)], "undecided"),
        ([finding(1, "<=", 2, draws=1), finding(0, ">=", 1)], "not borne out"),
        ([finding(1, "<=", 2, 0.5, 1.5, draws=2)], "borne out"),
    ],
)
def test_a_claim_is_borne_out_undecided_or_not(given, status):
    outcome = Outcome(findings=tuple(given))
    assert outcome.status == status
    assert outcome.to_dict()["status"] == status
    wanted = {"borne out": "bear out", "undecided": "leave the claim open", "not borne out": "do not bear out"}
    assert wanted[status] in outcome.sentence


def test_one_draw_is_called_so_and_speaks_neither_for_nor_against_a_claim():
    found = Finding.about("flip", Mean.of([0.3]), "<=", 0.75)
    assert (found.draws, found.low, found.high, found.holds, found.sure) == (1, None, None, True, False)
    assert str(found).startswith("  ?  ")
    assert "(one draw)" in str(found)
    pooled = Finding.about("error at five noise levels of one seed", Mean.of([0.1, 0.2]), "<=", 0.75, draws=1)
    assert (pooled.low, pooled.sure) == (None, False)
    outcome = Outcome(findings=(found, finding(1, "<=", 2)))
    assert "1 of 2 findings rests on one draw" in outcome.sentence


def test_the_interval_of_a_length_does_not_reach_below_zero():
    mean = Mean.of([0.2, 0.4])
    assert mean.low < 0.0 < 1.0 < mean.high
    assert Finding.about("flip", mean, "<=", 0.75, least=0.0).low == 0.0
    share = Finding.about("share", mean, "<=", 0.75, least=0.0, most=1.0)
    assert (share.low, share.high) == (0.0, 1.0)
    assert not share.sure


def test_an_outcome_without_findings_is_refused():
    with pytest.raises(InputError, match="at least one finding"):
        Outcome(findings=())


def test_means_group_rows_and_leave_out_what_is_not_finite():
    rows = [
        {"d": 1, "v": 1.0},
        {"d": 1, "v": 3.0},
        {"d": 2, "v": 5.0},
        {"d": 2, "v": math.nan},
        {"d": 3, "v": math.inf},
    ]
    found = means(rows, ("d",), "v")
    assert [(row["d"], row["v"], row["seeds"]) for row in found] == [(1, 2.0, 2), (2, 5.0, 1)]
    assert found[1]["low"] == found[1]["high"] == 5.0
