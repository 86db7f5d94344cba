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
def sphere_flow(log_loss: float = -100.0, steps: int | None = None) -> Instance:
    """Gradient flow of the sum of exponential losses on 8 samples, 2 of them negative, in dimension 60, width 8."""
    law, data = _sample()
    stop = LossBelow(log_value=log_loss) if steps is None else Steps(steps)
    name = "gradient flow on 8 noisy samples" if steps is None else f"the same flow after {steps} steps"
    return flow(name, data, stop, width=8, law=law)


@cache
def sphere_deep(depth: int = 3, steps: int | None = None) -> Instance:
    """Gradient flow of a deeper homogeneous network on the same samples; the network is in the run."""
    law, data = _sample()
    start = MLP.initialise(widths=[8] * (depth - 1), dimension=data.dimension, bias="first", seed=0)
    stop = [LossBelow(1e-4)] if steps is None else [Steps(steps)]
    run = train(start, data, GradientFlow(angle=0.02, decrease=0.1, stop=stop))
    return Instance(name=f"gradient flow of depth {depth} on 8 noisy samples", data=data, law=law, run=run)
