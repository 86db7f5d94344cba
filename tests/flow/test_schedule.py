"""Step lengths as logarithms."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginflow.errors import InputError
from marginflow.flow import AngleBounded, Constant, Geometric, LossNormalised

nan = math.nan


def test_a_rate_on_the_loss_is_a_step_on_its_logarithm_times_the_loss():
    assert Constant(0.1).log_step(7, -2000.0, nan, nan) == pytest.approx(math.log(0.1) - 2000.0)


@pytest.mark.parametrize(("step", "power"), [(0, 0), (99, 0), (100, 1), (250, 2), (72_700, 727)])
def test_geometric_rate_grows_by_the_factor_every_so_many_steps(step, power):
    expected = math.log(1e-5) + power * math.log(1.1) - 3.0
    assert Geometric(1e-5, 1.1, 100).log_step(step, -3.0, nan, nan) == pytest.approx(expected, rel=1e-14)


def test_geometric_rate_does_not_overflow():
    # 1.1^(10^7 / 100) is about 10^4139.
    assert Geometric(1e-5, 1.1, 100).log_step(10_000_000, 0.0, nan, nan) == pytest.approx(9519.5, abs=0.1)


@settings(max_examples=50)
@given(st.floats(1e-6, 1e6), st.floats(1e-6, 1e6), st.floats(1e-4, 1.0), st.floats(1e-4, 1.0))
def test_loss_and_angle_bounds_are_met_with_equality_by_the_tighter_one(gradient, norm, angle, decrease):
    predicted = math.exp(LossNormalised(decrease).log_step(0, 0.0, gradient, norm)) * gradient
    assert predicted == pytest.approx(decrease)
    length = math.exp(AngleBounded(angle).log_step(0, 0.0, gradient, norm)) * math.sqrt(gradient / norm)
    assert length == pytest.approx(angle)
    step = math.exp(AngleBounded(angle, decrease).log_step(0, 0.0, gradient, norm))
    both = (step * math.sqrt(gradient / norm) / angle, step * gradient / decrease)
    assert max(both) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Constant(-0.1), "rate is -0.1"),
        (lambda: Constant(0.0), "rate is 0"),
        (lambda: Geometric(1e-5, factor=0.0), "factor is 0"),
        (lambda: Geometric(1e-5, every=0), "every is 0"),
        (lambda: LossNormalised(math.inf), "decrease is inf"),
        (lambda: AngleBounded(1.5), "angle is 1.5"),
        (lambda: AngleBounded(0.1, -1.0), "decrease is -1"),
    ],
)
def test_bad_lengths_are_refused_in_one_sentence(make, sentence):
    with pytest.raises(InputError, match=sentence):
        make()
