"""Recorded runs for the few statements that are about training itself. Only files of this name train in this room.

Statements judge a `Run` that they are given. Their examples need one, so tiny ones are made here, once, and kept.
"""

from functools import cache, partial
from typing import Any, Literal

import numpy as np

from marginflow.data import Dataset, Orthogonal, Sphere
from marginflow.flow import GradientFlow, LossBelow, Recording, Run, Steps, recipes, train
from marginflow.losses import Exponential, Reduction
from marginflow.networks import MLP, TwoLayer, initialisation
from marginflow.theory.instance import Instance

RECORDING = Recording(ratio=1.5, networks=True)


def of_run(name: str, data: Dataset, start: TwoLayer, run: Run, **fields: Any) -> Instance:
    """The instance of a recorded run, with the network at its end."""
    assert isinstance(run.network, TwoLayer)
    return Instance(name=name, data=data, start=start, run=run, network=run.network, **fields)


def flow(
    name: str,
    data: Dataset,
    stop: LossBelow | Steps,
    *,
    width: int,
    scale: float = 0.05,
    reduction: Reduction = "sum",
    angle: float = 0.02,
    decrease: float = 0.1,
    seed: int = 0,
    **fields: Any,
) -> Instance:
    """Gradient flow of the exponential loss from a small balanced start."""
    start = TwoLayer.initialise(width, data.dimension, law=initialisation.Balanced(), scale=scale, seed=seed)
    plan = GradientFlow(loss=Exponential(reduction), angle=angle, decrease=decrease, stop=[stop])
    return of_run(name, data, start, train(start, data, plan, recording=RECORDING), **fields)


fast_flow = partial(flow, scale=0.01, reduction="mean", angle=0.05, decrease=0.2)
"""The same of the mean loss, from a smaller start and in longer steps."""


def coarse(flowing: Instance) -> Instance:
    """Gradient descent from the start of a flow with steps so large that it does not approximate one."""
    start, data = flowing.the_start(), flowing.the_data()
    run = train(start, data, recipes.KYS23(rate=20.0, epochs=12), recording=Recording(ratio=1.0, networks=True))
    return of_run("gradient descent with a rate of 20", data, start, run, law=flowing.law)


@cache
def flow_run() -> Instance:
    """Gradient flow on 6 Hadamard samples in dimension 20, width 8, small balanced start, to ln L = -30."""
    data = Orthogonal(dimension=20, design="hadamard").sample(6)
    name = "gradient flow on 6 orthogonal samples to a loss of e^-30"
    return flow(name, data, LossBelow(log_value=-30.0), width=8)


@cache
def unfinished_run(steps: int = 20) -> Instance:
    """The same flow stopped after a few steps, long before the samples are fitted."""
    return flow(f"the same flow after {steps} steps", flow_run().the_data(), Steps(steps), width=8)


@cache
def coarse_run() -> Instance:
    """Gradient descent with huge steps from the start of the flow."""
    return coarse(flow_run())


@cache
def recipe_run(dimension: int = 50, n_samples: int = 7, width: int = 20, *, every: int = 2) -> Instance:
    """The published recipe on random sphere data with the rate growing every few steps instead of every hundred.

    Default initialisation; the end is the same for n <= d whatever `every` is.
    """
    data = Sphere(dimension=dimension, labels="both").sample(n_samples)
    start = TwoLayer.initialise(width, dimension, law=initialisation.VYS22Start(), seed=0)
    run = train(start, data, recipes.VYS22(every=every))
    name = f"the published recipe: {n_samples} samples, dimension {dimension}, width {width}, initialisation x1"
    return of_run(name, data, start, run)


@cache
def deep_run() -> Instance:
    """Gradient flow of a homogeneous network of depth 3 on the same 6 orthogonal samples; the network is in the run."""
    data = flow_run().the_data()
    start = MLP.initialise(widths=[8, 8], dimension=20, bias="first", seed=0)
    run = train(start, data, GradientFlow(angle=0.02, decrease=0.1, stop=[LossBelow(1e-4)]))
    return Instance(name="gradient flow of depth 3 on 6 orthogonal samples", data=data, run=run)


Optimiser = Literal["gradient", "momentum", "sign", "adam"]


@cache
def trained_by(optimiser: Optimiser) -> TwoLayer:
    """A network trained for 200 steps on the same 6 samples by another rule of descent on ln L, from the same start."""
    whole = flow_run()
    start, data = whole.the_start(), whole.the_data()
    assert start.b is not None
    loss = Exponential()
    network = start
    theta = np.concatenate([start.W.ravel(), start.b, start.v])
    mean, square = np.zeros_like(theta), np.zeros_like(theta)
    k, d = start.W.shape
    for step in range(1, 201):
        p = loss.weights(network.margins(data.X, data.y))
        gradient = network.gradient(data.X, -data.y * p)
        assert gradient.b is not None
        g = np.concatenate([gradient.W.ravel(), gradient.b, gradient.v])
        length = 0.05 * float(np.linalg.norm(theta))
        mean = 0.9 * mean + 0.1 * g
        square = 0.999 * square + 0.001 * g**2
        move = {
            "gradient": g,
            "momentum": mean,
            "sign": np.sign(g),
            "adam": mean / (1 - 0.9**step) / (np.sqrt(square / (1 - 0.999**step)) + 1e-12),
        }[optimiser]
        theta = theta - length * move / float(np.linalg.norm(move))
        network = TwoLayer(W=theta[: k * d].reshape(k, d), b=theta[k * d : k * d + k], v=theta[k * d + k :])
    return network
