"""Losses in the log domain against high-precision decimal arithmetic and closed forms."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from marginflow.errors import InputError
from marginflow.losses import Exponential, Logistic, as_power_of_ten, log_sum_exp

EPS = float(np.finfo(np.float64).eps)

LOSSES = [
    Exponential(),
    Exponential("mean"),
    Logistic(),
    Logistic("mean"),
    Logistic("sum", "2"),
    Logistic("mean", "2"),
]
margins = arrays(np.float64, st.integers(1, 12), elements=st.floats(-600.0, 5000.0))


def decimal_log_loss(loss, q):
    """Ln L by decimals with digits enough: an independent evaluation that has no tail to lose."""
    with localcontext() as context:
        context.prec = 60 + int(max(q) / math.log(10.0))
        terms = [(-Decimal(float(x))).exp() for x in q]
        if isinstance(loss, Logistic):
            terms = [(1 + term).ln() for term in terms]
        value = sum(terms)
        if isinstance(loss, Logistic) and loss.base == "2":
            value /= Decimal(2).ln()
        if loss.reduction == "mean":
            value /= len(q)
        return float(value.ln())


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("q", [[0.0], [-3.0, 0.2], [36.0, 37.5, 40.0], [745.2, 800.0], [1842.068], [-500.0, 700.0]])
def test_log_loss_equals_its_value_in_decimal_arithmetic(loss, q):
    assert loss.log_value(q) == pytest.approx(decimal_log_loss(loss, q), rel=50 * EPS, abs=50 * EPS)


@settings(max_examples=60)
@given(margins)
def test_weights_are_minus_the_derivative_of_the_log_loss(q):
    for loss in LOSSES:
        for i in range(q.size):
            h = 1e-5 * np.eye(q.size)[i]
            slope = (loss.log_value(q + h) - loss.log_value(q - h)) / 2e-5
            # Values near 5000 carry 1e-12 of rounding, divided by the step.
            assert -slope == pytest.approx(loss.weights(q)[i], abs=1e-6)


@settings(max_examples=60)
@given(margins)
def test_weights_do_not_depend_on_reduction_or_base_and_sum_to_at_most_one(q):
    first = Logistic().weights(q)
    for loss in LOSSES[3:]:
        np.testing.assert_array_equal(loss.weights(q), first)
    np.testing.assert_array_equal(Exponential().weights(q), Exponential("mean").weights(q))
    assert Exponential().weights(q).sum() == pytest.approx(1.0, abs=50 * EPS)
    assert 0.0 <= first.sum() <= 1.0 + 50 * EPS


def test_a_loss_of_ten_to_the_minus_800_is_a_number_like_any_other():
    q = 800 * math.log(10.0)
    for loss in (Exponential(), Logistic()):
        assert loss.log_value([q, q]) == pytest.approx(-q + math.log(2.0), rel=50 * EPS)
        np.testing.assert_allclose(loss.weights([q, q + math.log(3.0)]), [0.75, 0.25], rtol=1e-12)
    # Where ln L = -1e28 has no digits left for ln 2, the weights still have all of theirs.
    np.testing.assert_array_equal(Exponential().weights([1e28, 1e28]), [0.5, 0.5])
    assert as_power_of_ten(Exponential().log_value([q])) == "10^-800.000"
    assert as_power_of_ten(0.0, digits=1) == "10^0.0"


@settings(max_examples=60)
@given(arrays(np.float64, st.integers(1, 12), elements=st.floats(37.0, 1e6)))
def test_logistic_equals_exponential_to_rounding_in_the_far_tail(q):
    assert Logistic().log_value(q) == pytest.approx(Exponential().log_value(q), rel=50 * EPS)
    np.testing.assert_allclose(Logistic().weights(q), Exponential().weights(q), rtol=50 * EPS, atol=0)


@pytest.mark.parametrize(
    ("loss", "value"), [(Exponential(), 1.0), (Logistic(), math.log(2.0)), (Logistic("sum", "2"), 1.0)]
)
def test_threshold_is_the_loss_of_one_sample_at_zero(loss, value):
    assert loss.log_threshold(7) == pytest.approx(math.log(value), abs=50 * EPS)


@settings(max_examples=100)
@given(arrays(np.float64, st.integers(1, 12), elements=st.floats(-3.0, 12.0)))
def test_below_the_threshold_every_margin_is_positive(q):
    for loss in LOSSES:
        if loss.log_value(q) < loss.log_threshold(q.size):
            assert q.min() > 0.0


def test_the_natural_logistic_threshold_is_not_one():
    # Trap: with natural logarithms a loss below 1 does not mean that all samples are correct.
    assert Logistic().log_value([-0.5]) < 0.0 < -Logistic().log_threshold(1)
    assert Logistic().log_value([-0.5]) > Logistic().log_threshold(1)


@settings(max_examples=100)
@given(margins)
def test_smoothed_margin_has_the_loss_of_the_whole_sample(q):
    for loss in LOSSES:
        smoothed = loss.smoothed_margin(loss.log_value(q), q.size)
        alone = loss.log_value([smoothed]) + (loss.log_scale(q.size) - loss.log_scale(1))
        assert alone == pytest.approx(loss.log_value(q), rel=1e-12, abs=1e-12)
        assert smoothed <= q.min() + 1e-9 * max(1.0, abs(q.min()))
    assert Exponential().smoothed_margin(Exponential().log_value(q), q.size) >= q.min() - math.log(q.size) - 1e-9


def test_log_sum_exp_of_nothing_but_minus_infinity():
    assert log_sum_exp(np.array([-math.inf, -math.inf])) == -math.inf
    assert log_sum_exp(np.array([-math.inf, 3.0])) == 3.0


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Exponential("median"), "reduction is 'median'"),
        (lambda: Logistic(base="10"), "base is '10'"),
        (lambda: Exponential().log_value([1.0, np.nan]), "margins has the value nan"),
    ],
)
def test_bad_losses_are_refused_in_one_sentence(make, sentence):
    with pytest.raises(InputError, match=sentence):
        make()


@pytest.mark.parametrize("loss", [Exponential(), Logistic()], ids=repr)
@pytest.mark.parametrize("log_term", [-800.0, -41.0, -39.0, -20.0, -4.5, -1.0, -0.1, 0.0, 1.5, 6.0])
def test_inverse_finds_the_margin_of_a_given_loss_at_every_size(loss, log_term):
    assert loss.log_value([loss.inverse(log_term)]) == pytest.approx(log_term, rel=50 * EPS, abs=50 * EPS)
