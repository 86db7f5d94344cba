"""Recorded runs on the noisy sphere, for the few statements that are about training itself; made once and kept."""

from functools import cache

from marginflow.data import Dataset, GramReduction, NoisySphere
from marginflow.flow import GradientFlow, LossBelow, Steps, train
from marginflow.networks import MLP
from marginflow.theory.frame import Instance
from marginflow.theory.recorded import flow


@cache
def _sample() -> tuple[GramReduction, Dataset]:
    law = GramReduction(NoisySphere(dimension=60, p=0.25, count="exact"))
    return law, law.sample(8)


@cache
def sphere_flow() -> Instance:
    """Gradient flow of the sum of exponential losses on 8 samples, 2 of them negative, in dimension 60, width 8."""
    law, data = _sample()
    return flow("gradient flow on 8 noisy samples", data, LossBelow(log_value=-100.0), width=8, law=law)


@cache
def sphere_deep(steps: int | None = None) -> Instance:
    """Gradient flow of a homogeneous network of depth 3 on the same samples; the network is in the run."""
    law, data = _sample()
    start = MLP.initialise(widths=[8, 8], dimension=data.dimension, bias="first", seed=0)
    stop = [LossBelow(1e-4)] if steps is None else [Steps(steps)]
    run = train(start, data, GradientFlow(angle=0.02, decrease=0.1, stop=stop))
    return Instance(name="gradient flow of depth 3 on 8 noisy samples", data=data, law=law, run=run)
