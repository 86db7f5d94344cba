"""A flow that ends at a minimum of its loss above zero ends; one on a long plateau goes on."""

import marginflow as mf
from marginflow.flow import GradientFlow, LossBelow, train


def test_a_flow_that_cannot_separate_its_samples_comes_to_rest() -> None:
    data = mf.data.Dataset([[-1.0], [0.0], [1.0]], [1, -1, 1])
    start = mf.networks.TwoLayer(W=[[1.0]], b=[1.5], v=[0.5])  # one neuron, active at all three: a linear function
    run = train(start, data, GradientFlow(angle=0.05, decrease=0.2, stop=[LossBelow(1e-6)]))
    assert run.status == "stalled"
    assert not run.separated
    # The best that a constant c does is 2 e^-c + e^c, at e^2c = 2; the symmetry leaves no use for a slope.
    assert abs(run.log_loss - 0.5 * 3 * 0.6931471805599453) < 1e-2


def test_a_long_plateau_is_no_rest() -> None:
    data = mf.data.Dataset([[1.0, 0.0], [0.0, 1.0]], [1, -1])
    start = mf.networks.TwoLayer.initialise(width=8, dimension=2, scale=1e-25, seed=1)
    run = train(start, data, GradientFlow(stop=[LossBelow(1e-3)]))
    assert run.steps > 10_000
    assert run.separated
    assert run.status == "loss reached"
