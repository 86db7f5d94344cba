"""The loop: gradient steps by hand, mini-batches, interrupts, overflow, determinism, bad input."""

import math

import numpy as np
import pytest

import marginflow as mf
from marginflow.data import Dataset, Sphere
from marginflow.errors import InputError
from marginflow.flow import (
    AngleBounded,
    Constant,
    Descent,
    Geometric,
    LossBelow,
    LossNormalised,
    Recording,
    Steps,
    recipes,
    train,
)
from marginflow.losses import Exponential, Logistic
from marginflow.networks import MLP, TwoLayer


@pytest.fixture
def data():
    return Sphere(dimension=10).sample(14, seed=0)


@pytest.fixture
def net():
    return TwoLayer.initialise(25, 10, scale=0.5, seed=1)


def gradient_of_the_loss(net, X, y, loss):
    """By l'(q) itself, not through logarithms: fine where nothing underflows."""
    q = y * net(X)
    if isinstance(loss, Exponential):
        slope = -np.exp(-q)
    else:
        slope = -1.0 / (1.0 + np.exp(q)) / (math.log(2.0) if loss.base == "2" else 1.0)
    return net.gradient(X, y * slope / (q.size if loss.reduction == "mean" else 1.0))


@pytest.mark.parametrize(
    "loss", [Exponential(), Exponential("mean"), Logistic(), Logistic("mean"), Logistic("mean", "2")], ids=repr
)
def test_a_run_is_gradient_descent_on_the_loss(net, data, loss):
    schedule = Geometric(0.02, 1.1, 3)
    run = train(net, data, Descent(loss=loss, schedule=schedule, stop=[Steps(20)]))
    W, b, v = net.W, net.b, net.v
    for step in range(20):
        G = gradient_of_the_loss(TwoLayer(W=W, b=b, v=v), data.X, data.y, loss)
        rate = 0.02 * 1.1 ** (step // 3)
        W, b, v = W - rate * G.W, b - rate * G.b, v - rate * G.v
    np.testing.assert_allclose(run.network.W, W, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(run.network.b, b, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(run.network.v, v, rtol=1e-10, atol=1e-13)
    assert mf.train is train


def test_mini_batches_are_pieces_of_a_permutation(net, data):
    loss = Logistic("mean")
    run = train(net, data, Descent(loss=loss, schedule=Constant(0.1), stop=[Steps(6)], batch=5), seed=7)
    rng = np.random.default_rng(7)
    now, rows = net, []
    while len(rows) < 6:
        order = rng.permutation(14)
        rows += [order[:5], order[5:10], order[10:]]
    for chosen in rows[:6]:
        G = gradient_of_the_loss(now, data.X[chosen], data.y[chosen], loss)
        now = TwoLayer(W=now.W - 0.1 * G.W, b=now.b - 0.1 * G.b, v=now.v - 0.1 * G.v)
    np.testing.assert_allclose(run.network.W, now.W, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("batch", [None, 5])
def test_same_seed_same_bits(net, data, batch):
    plan = Descent(loss=Exponential(), schedule=Constant(0.01), stop=[Steps(100)], batch=batch)
    first, second = train(net, data, plan, seed=3), train(net, data, plan, seed=3)
    assert first.network.W.tobytes() == second.network.W.tobytes()
    for name in ("log_loss", "norm", "cosine", "log_time", "margins", "balance"):
        assert getattr(first.trajectory, name).tobytes() == getattr(second.trajectory, name).tobytes()
    other = train(net, data, plan, seed=4)
    assert (other.network.W.tobytes() == first.network.W.tobytes()) == (batch is None)


@pytest.mark.parametrize("outputs", ["trained", "frozen"])
@pytest.mark.parametrize("bias", [True, False])
def test_permuting_neurons_permutes_the_run(data, outputs, bias):
    net = TwoLayer.initialise(12, 10, bias=bias, outputs=outputs, seed=1)
    order = np.random.default_rng(0).permutation(12)
    plan = Descent(loss=Exponential(), schedule=AngleBounded(0.02), stop=[Steps(30)])
    run, permuted = train(net, data, plan), train(net.neurons(order), data, plan)
    np.testing.assert_allclose(permuted.network.W, run.network.W[order], rtol=1e-8, atol=1e-11)
    np.testing.assert_allclose(permuted.network.v, run.network.v[order], rtol=1e-8, atol=1e-11)


def test_an_mlp_is_trained_by_the_same_loop(net, data):
    plan = Descent(loss=Logistic("mean"), schedule=Constant(0.1), stop=[Steps(30)])
    run, deep = train(net, data, plan), train(MLP.from_two_layer(net), data, plan)
    assert deep.engine == "layers"
    np.testing.assert_allclose(deep.network.to_two_layer().W, run.network.W, rtol=1e-10, atol=1e-13)
    three = MLP.initialise(widths=[12, 8], dimension=10, bias="first", seed=1)
    plan = Descent(loss=Logistic("mean"), schedule=LossNormalised(0.1), stop=[LossBelow(1e-2), Steps(3000)])
    run = train(three, data, plan)
    assert run.status == "loss reached"
    assert run.trajectory.balance.shape[1] == 20
    frozen = MLP.initialise(widths=[12, 8], dimension=10, outputs="frozen", seed=0)
    run = train(frozen, data, plan, stop=[Steps(5)])
    np.testing.assert_array_equal(run.network.weights[-1], frozen.weights[-1])
    assert run.trajectory.balance.shape[1] == 12


# Endings ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["euler", "heun"])
def test_an_interrupt_keeps_the_steps_that_are_done(net, data, method):
    plan = Descent(loss=Exponential(), schedule=AngleBounded(0.01, 0.05), stop=[LossBelow(1e-300)], method=method)

    seen = []

    def once(report):
        if report.step >= 40 and not seen:
            seen.append(report)
            raise KeyboardInterrupt

    run = train(net, data, plan, progress=once)
    assert run.status == "interrupted"
    whole = train(net, data, plan, stop=[Steps(run.steps)])
    assert run.steps >= 40
    assert run.network.W.tobytes() == whole.network.W.tobytes()
    assert (run.log_loss, run.log_time) == (whole.log_loss, whole.log_time)
    assert run.trajectory.step[-1] == run.steps


@pytest.mark.parametrize("moment", range(1, 60, 4))
def test_an_interrupt_between_any_two_operations_leaves_a_whole_number_of_steps(net, data, moment, monkeypatch):
    # The signal arrives between two calls into numpy; here, at the `moment`-th of them from the tenth step on.
    from marginflow.flow import loop as module

    calls = {"left": 10 * 2 + moment}

    class Numpy:
        def __getattr__(self, name):
            function = getattr(np, name)
            if name in {"multiply", "add"}:

                def counted(*args, **kwargs):
                    result = function(*args, **kwargs)
                    calls["left"] -= 1
                    if calls["left"] == 0:
                        raise KeyboardInterrupt
                    return result

                return counted
            return function

    plan = Descent(loss=Exponential(), schedule=Constant(0.01), stop=[Steps(200)])
    monkeypatch.setattr(module, "np", Numpy())
    run = train(net, data, plan)
    monkeypatch.undo()
    assert run.status == "interrupted"
    whole = train(net, data, plan, stop=[Steps(run.steps)])
    assert run.network.W.tobytes() == whole.network.W.tobytes()
    assert run.log_time == whole.log_time


@pytest.mark.parametrize("method", ["euler", "heun"])
def test_a_run_that_overflows_returns_its_last_finite_network(net, data, method):
    plan = Descent(loss=Exponential(), schedule=Geometric(1.0, 100.0, 1), stop=[LossBelow(1e-300)], method=method)
    run = train(net, data, plan)
    assert run.status == "diverged"
    assert np.isfinite(run.network.W).all()
    assert np.isfinite(run.network.margins(data.X, data.y)).all()
    assert run.trajectory.step[-1] == run.steps


def test_a_single_step_beyond_the_floats_is_taken_back(net, data):
    # The step itself is finite, about 1e250; the values of the network after it are not.
    run = train(net, data, Descent(loss=Exponential(), schedule=Constant(1e250), stop=[Steps(10)]))
    assert (run.status, run.steps) == ("diverged", 0)
    np.testing.assert_array_equal(run.network.W, net.W)


def test_a_norm_whose_power_by_the_degree_overflows_is_recorded(data):
    # A deep network may diverge through norms of 1e85, whose fifth power is no float: the run ends, it does not raise.
    net = MLP.initialise(widths=[8, 8, 8, 8], dimension=10, bias="none", scale=3.0, seed=0)
    plan = Descent(loss=Logistic(), schedule=Constant(1e4), stop=[Steps(60)])
    run = train(net, data, plan, recording=Recording(ratio=1.0))
    assert run.status == "diverged"
    assert run.trajectory.norm.max() > 1e62


def test_a_dead_network_is_stalled(data):
    dead = TwoLayer(W=np.zeros((3, 10)), b=-np.ones(3), v=np.ones(3))
    for schedule in (Constant(0.1), LossNormalised(), AngleBounded()):
        run = train(dead, data, Descent(loss=Exponential(), schedule=schedule, stop=[Steps(100)]))
        assert (run.status, run.steps) == ("stalled", 0)


def test_a_loss_normalised_run_that_no_longer_gains_is_stalled():
    # One neuron with v > 0 can lower the loss of the negative sample no further than by letting it go.
    data = Dataset(X=[[1.0, 0.2], [0.2, 1.0]], y=[1, -1])
    net = TwoLayer(W=[[1.0, 1.0]], v=[1.0], outputs="frozen")
    run = train(
        net, data, Descent(loss=Exponential(), schedule=LossNormalised(0.1), stop=[LossBelow(1e-3), Steps(10**6)])
    )
    assert run.status == "stalled"
    assert run.log_loss >= 0.0


def test_loss_normalised_steps_never_raise_the_loss(net, data):
    plan = Descent(loss=Exponential(), schedule=LossNormalised(3.0), stop=[LossBelow(1e-40), Steps(2000)])
    run = train(net, data, plan, recording=Recording(ratio=1))
    assert (np.diff(run.trajectory.log_loss) <= 0.0).all()
    assert run.status == "loss reached"


def test_progress_reports_rise_to_the_end(net, data):
    reports = []
    plan = Descent(loss=Exponential(), schedule=LossNormalised(0.05), stop=[LossBelow(1e-6), Steps(100_000)])
    run = train(net, data, plan, progress=reports.append)
    assert [report.step for report in reports] == sorted(report.step for report in reports)
    assert reports[0].share == 0.0
    assert reports[-1].share == 1.0
    assert reports[-1].step == run.steps
    assert reports[-1].log_loss == pytest.approx(run.log_loss)


def test_a_run_says_in_one_line_how_it_ended(net, data):
    run = train(net, data, recipes.VYS22(every=5))
    assert repr(run).startswith(f"Run(loss reached after {run.steps} steps, loss 10^-30.0")
    assert "all samples correct" in repr(run)
    assert "records to step" in repr(run.trajectory)


# Bad input ----------------------------------------------------------------------------------------

PLAN = Descent(loss=Exponential(), schedule=Constant(0.1), stop=[Steps(1)])


@pytest.mark.parametrize(
    ("network", "dataset", "recipe", "sentence"),
    [
        (TwoLayer.initialise(3, 2), Dataset(X=np.eye(2), y=[1, 1]), PLAN, "both -1 and \\+1 must occur"),
        (TwoLayer.initialise(3, 2), Dataset(X=np.ones((2, 2)), y=[1, -1]), PLAN, "identical but have opposite labels"),
        (TwoLayer.initialise(3, 3), Dataset(X=np.eye(2), y=[1, -1]), PLAN, "dimension 2, but the network has 3"),
        ("net", Dataset(X=np.eye(2), y=[1, -1]), PLAN, "network is 'net'"),
        (TwoLayer.initialise(3, 2), np.eye(2), PLAN, "data is a ndarray"),
        (TwoLayer.initialise(3, 2), Dataset(X=np.eye(2), y=[1, -1]), "VYS22", "recipe is 'VYS22'"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(network, dataset, recipe, sentence):
    with pytest.raises(InputError, match=sentence):
        train(network, dataset, recipe)


def test_bad_plans_are_refused_in_one_sentence(net, data):
    with pytest.raises(InputError, match="stop is empty"):
        Descent(loss=Exponential(), schedule=Constant(0.1), stop=[])
    with pytest.raises(InputError, match="batch is 0"):
        Descent(loss=Exponential(), schedule=Constant(0.1), stop=[Steps(1)], batch=0)
    with pytest.raises(InputError, match="method is 'rk4'"):
        Descent(loss=Exponential(), schedule=Constant(0.1), stop=[Steps(1)], method="rk4")
    with pytest.raises(InputError, match="seed is -1"):
        train(net, data, PLAN, seed=-1)
