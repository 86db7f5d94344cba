"""What is recorded is what the network at that moment says."""

import numpy as np
import pytest

from marginflow.data import Sphere
from marginflow.errors import InputError
from marginflow.flow import Constant, Descent, LossBelow, LossNormalised, Recording, Steps, train
from marginflow.losses import Exponential, Logistic
from marginflow.networks import MLP, TwoLayer


def vector(net):
    parts = [net.augmented.ravel()] + ([net.v] if net.outputs == "trained" else [])
    return np.concatenate(parts)


@pytest.mark.parametrize("outputs", ["trained", "frozen"])
@pytest.mark.parametrize(("n", "d"), [(12, 8), (8, 30), (20, 2)])
def test_records_agree_with_the_networks_they_are_about(outputs, n, d):
    data = Sphere(dimension=d).sample(n, seed=2)
    net = TwoLayer.initialise(20, d, bias=d != 2, outputs=outputs, seed=1)
    loss = Logistic("mean")
    plan = Descent(loss=loss, schedule=Constant(0.05), stop=[Steps(200)])
    run = train(net, data, plan, recording=Recording(ratio=1.5, networks=True))
    path = run.trajectory
    assert len(path) == len(path.networks) > 8
    assert path.step[0] == 0
    assert path.step[-1] == run.steps == 200
    for index, network in enumerate(path.networks):
        margins = network.margins(data.X, data.y)
        norm = np.sqrt(network.norm_squared())
        assert path.log_loss[index] == pytest.approx(loss.log_value(margins), abs=1e-10)
        assert path.norm[index] == pytest.approx(norm, rel=1e-12)
        np.testing.assert_allclose(path.margins[index], margins, atol=1e-11)
        assert path.least_margin[index] == pytest.approx(margins.min(), abs=1e-11)
        assert path.normalised_margin[index] == pytest.approx(margins.min() / norm**network.degree, abs=1e-11)
        smoothed = loss.smoothed_margin(loss.log_value(margins), n) / norm**network.degree
        assert path.smoothed_margin[index] == pytest.approx(smoothed, abs=1e-10)
        if index:
            u, w = vector(network), vector(path.networks[index - 1])
            cosine = u @ w / np.linalg.norm(u) / np.linalg.norm(w)
            assert path.cosine[index] == pytest.approx(cosine, abs=1e-12)
        if outputs == "trained":
            balance = network.v**2 - (network.augmented**2).sum(axis=1)
            np.testing.assert_allclose(path.balance[index], balance, atol=1e-12)
    assert np.isnan(path.cosine[0])
    assert (outputs == "frozen") == (path.balance is None)


def test_records_are_geometrically_spaced_and_few():
    data = Sphere(dimension=6).sample(6, seed=0)
    net = TwoLayer.initialise(8, 6, seed=0)
    plan = Descent(loss=Exponential(), schedule=Constant(1e-6), stop=[Steps(3000)])
    run = train(net, data, plan)
    steps = run.trajectory.step
    assert len(steps) < 40
    late = steps[steps > 20]
    assert (late[1:] <= 1.25 * late[:-1] + 1).all()
    assert (late[1:-1] >= 1.25 * late[:-2]).all()
    assert run.trajectory.networks is None
    assert len(train(net, data, plan, recording=Recording(ratio=1), stop=[Steps(50)]).trajectory) == 51
    assert train(net, data, plan, recording=Recording(margins=False)).trajectory.margins is None


def test_flow_time_is_the_sum_of_the_rates():
    data = Sphere(dimension=6).sample(6, seed=0)
    net = TwoLayer.initialise(8, 6, seed=0)
    run = train(net, data, Descent(loss=Exponential(), schedule=Constant(0.01), stop=[Steps(37)]))
    assert run.log_time == pytest.approx(np.log(0.37), rel=1e-12)
    assert run.trajectory.log_time[0] == -np.inf


def test_records_do_not_follow_later_changes_and_cannot_be_written_to():
    data = Sphere(dimension=6).sample(6, seed=0)
    net = TwoLayer.initialise(20, 6, seed=0)
    run = train(net, data, Descent(loss=Exponential(), schedule=LossNormalised(0.1), stop=[LossBelow(1e-3)]))
    assert not np.array_equal(run.trajectory.margins[0], run.trajectory.margins[-1])
    with pytest.raises(ValueError, match="read-only"):
        run.trajectory.margins[0, 0] = 1.0


def test_a_network_that_is_not_homogeneous_has_no_normalised_margin():
    data = Sphere(dimension=4).sample(6, seed=0)
    net = MLP.initialise(widths=[6, 5], dimension=4, bias="all", seed=0)
    run = train(net, data, Descent(loss=Logistic("mean"), schedule=Constant(0.1), stop=[Steps(5)]))
    assert np.isnan(run.trajectory.normalised_margin).all()
    assert np.isfinite(run.trajectory.least_margin).all()


def test_a_ratio_below_one_is_refused():
    with pytest.raises(InputError, match=r"ratio is 0\.5"):
        Recording(ratio=0.5)
