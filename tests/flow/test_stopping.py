"""Every stop rule ends a run where it says, and no step later."""

import math

import numpy as np
import pytest

from marginflow.data import Sphere
from marginflow.errors import InputError
from marginflow.flow import (
    AngleBounded,
    CertificateBelow,
    Constant,
    Descent,
    DirectionSettled,
    Epochs,
    Interpolated,
    LossBelow,
    LossNormalised,
    Recording,
    Steps,
    WallTime,
    train,
)
from marginflow.flow.dense import DenseTwoLayer
from marginflow.losses import Exponential, Logistic
from marginflow.networks import TwoLayer


@pytest.fixture
def data():
    return Sphere(dimension=15).sample(12, seed=0)


@pytest.fixture
def net():
    return TwoLayer.initialise(30, 15, scale=0.3, seed=1)


def descent(*stop, schedule=None, **options):
    return Descent(loss=Exponential(), schedule=schedule or LossNormalised(0.05), stop=stop, **options)


def test_loss_below_stops_at_the_first_step_below(net, data):
    run = train(net, data, descent(LossBelow(1e-5)), recording=Recording(ratio=1))
    assert run.status == "loss reached"
    assert run.log_loss < math.log(1e-5) <= run.trajectory.log_loss[-2]


def test_loss_below_takes_logarithms_far_beyond_floats(net, data):
    run = train(net, data, descent(LossBelow(log_value=-800 * math.log(10.0)), schedule=LossNormalised(2.0)))
    assert run.status == "loss reached"
    assert -1860.0 < run.log_loss < -1842.0
    assert run.trajectory.least_margin[-1] > 1842.0


def test_loss_of_mini_batches_is_judged_on_all_samples(net, data):
    plan = descent(LossBelow(1e-2), schedule=Constant(0.05), batch=5)
    run = train(net, data, plan)
    assert run.status == "loss reached"
    assert run.epochs == run.steps // 3
    margins = run.network.margins(data.X, data.y)
    assert Exponential().log_value(margins) < math.log(1e-2)
    assert run.log_loss == pytest.approx(Exponential().log_value(margins), rel=1e-12)


def test_all_samples_are_asked_at_most_once_an_epoch(net, data, monkeypatch):
    asked = []
    forward = DenseTwoLayer.forward
    monkeypatch.setattr(DenseTwoLayer, "forward", lambda model, theta: asked.append(1) or forward(model, theta))
    plan = descent(Interpolated(), Epochs(5), schedule=Constant(1e-9), batch=2)
    run = train(net, data, plan, recording=Recording(ratio=1e9))
    assert run.steps == 30
    assert len(asked) <= 6 + len(run.trajectory)  # epochs 0 to 5, and the records


@pytest.mark.parametrize("batch", [None, 5])
def test_steps_and_epochs_are_counted(net, data, batch):
    plan = descent(Steps(10), schedule=Constant(1e-3), batch=batch)
    run = train(net, data, plan)
    assert (run.status, run.steps, run.epochs) == ("steps done", 10, 10 if batch is None else 3)
    run = train(net, data, descent(Epochs(4), schedule=Constant(1e-3), batch=batch))
    assert (run.status, run.steps, run.epochs) == ("epochs done", 4 if batch is None else 12, 4)
    assert train(net, data, descent(Steps(0))).steps == 0


@pytest.mark.parametrize("batch", [None, 5])
def test_interpolation_is_the_first_time_that_all_samples_are_correct(net, data, batch):
    plan = descent(Interpolated(), schedule=Constant(0.002), batch=batch)
    run = train(net, data, plan, recording=Recording(ratio=1))
    assert run.status == "interpolated"
    assert run.separated
    assert run.network.margins(data.X, data.y).min() > 0.0
    assert run.trajectory.least_margin[0] <= 0.0
    if batch is None:
        assert (run.trajectory.least_margin[:-1] <= 0.0).all()


def test_direction_settles_between_records_once_separated(net, data):
    plan = descent(DirectionSettled(1e-4), Steps(20_000), schedule=LossNormalised(0.1))
    run = train(net, data, plan)
    assert run.status == "direction settled"
    assert run.separated
    cosine = run.trajectory.cosine
    assert 1.0 - cosine[-1] <= 1e-4
    early = 1.0 - cosine[1:-1] > 1e-4
    assert (early | (run.trajectory.least_margin[1:-1] <= 0.0)).all()


def test_certificate_is_asked_at_records_of_separating_networks_only(net, data):
    seen = []

    def residual(network):
        seen.append(network)
        return 1.0 / len(seen)

    run = train(net, data, descent(CertificateBelow(residual, 0.25), Steps(20_000)))
    assert run.status == "certificate reached"
    assert len(seen) == 4
    assert all(network.margins(data.X, data.y).min() > 0.0 for network in seen)
    np.testing.assert_array_equal(seen[-1].W, run.network.W)


def test_wall_time_ends_a_run_that_would_not_end(net, data):
    run = train(net, data, descent(WallTime(0.05), schedule=AngleBounded(1e-9)))
    assert run.status == "time is up"
    assert run.seconds >= 0.05


def test_the_first_rule_that_holds_names_the_status_and_further_rules_may_be_added(net, data):
    run = train(net, data, descent(LossBelow(1e-300)), stop=[Steps(3)])
    assert (run.status, run.steps) == ("steps done", 3)


def test_a_logistic_run_below_its_threshold_is_separated(net, data):
    loss = Logistic()
    stop = [LossBelow(log_value=loss.log_threshold(data.n_samples))]
    run = train(net, data, Descent(loss=loss, schedule=LossNormalised(0.05), stop=stop))
    assert run.separated


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: LossBelow(), "either a value or the logarithm"),
        (lambda: LossBelow(1e-3, -3.0), "either a value or the logarithm"),
        (lambda: LossBelow(0.0), "value is 0"),
        (lambda: Steps(-1), "count is -1"),
        (lambda: Epochs(1.5), "count is 1.5"),
        (lambda: DirectionSettled(0.0), "tolerance is 0"),
        (lambda: CertificateBelow(lambda net: 0.0, -1.0), "tolerance is -1"),
        (lambda: WallTime(0.0), "seconds is 0"),
    ],
)
def test_bad_rules_are_refused_in_one_sentence(make, sentence):
    with pytest.raises(InputError, match=sentence):
        make()
