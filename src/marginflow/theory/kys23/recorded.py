"""Recorded runs on the noisy sphere, for the few statements that are about training itself; made once and kept."""

from functools import cache

from marginflow.flow import GradientFlow, LossBelow, Steps, train
from marginflow.networks import MLP
from marginflow.theory.frame import Instance
from marginflow.theory.kys23.sphere_points import noisy_data
from marginflow.theory.recorded import flow


@cache
def sphere_flow() -> Instance:
    """Gradient flow of the sum of exponential losses on 8 samples, 2 of them negative, in dimension 60, width 8."""
    law, data = noisy_data(8, 2, 60)
    return flow("gradient flow on 8 noisy samples", data, LossBelow(log_value=-100.0), width=8, law=law)


@cache
def sphere_deep(steps: int | None = None) -> Instance:
    """Gradient flow of a homogeneous network of depth 3 on the same samples; the network is in the run."""
    law, data = noisy_data(8, 2, 60)
    start = MLP.initialise(widths=[8, 8], dimension=data.dimension, bias="first", seed=0)
    stop = [LossBelow(1e-4)] if steps is None else [Steps(steps)]
    run = train(start, data, GradientFlow(angle=0.02, decrease=0.1, stop=stop))
    return Instance(name="gradient flow of depth 3 on 8 noisy samples", data=data, law=law, run=run)
