"""A recorded run on clusters, for the few statements that are about training itself; made once and kept."""

from functools import cache

from marginflow.data import GramReduction
from marginflow.flow import LossBelow, Steps
from marginflow.theory.frame import Instance
from marginflow.theory.fvbs23.presets import A, law_of, preset
from marginflow.theory.recorded import coarse, fast_flow, flow


def _flow(name: str, stop: LossBelow | Steps) -> Instance:
    """Gradient flow of the mean exponential loss on 12 samples of two clusters in dimension 38, width 6."""
    law = GramReduction(law_of(38, 2, 0.01))
    return flow(name, law.sample(12), stop, width=6, reduction="mean", law=law)


@cache
def flow_run() -> Instance:
    """The flow to a tiny loss."""
    return _flow("gradient flow on two clusters", LossBelow(log_value=-100.0))


@cache
def unfinished_run() -> Instance:
    """The same flow after 20 steps, before the samples are fitted."""
    return _flow("the same flow after 20 steps", Steps(20))


@cache
def coarse_run() -> Instance:
    """Gradient descent with huge steps from the start of the flow."""
    return coarse(flow_run())


@cache
def clusters_run() -> Instance:
    """Gradient flow on the sample of preset A, where Theorem 3.1 applies, from a small start of width 6."""
    good = preset(A)
    data, stop = good.the_data(), LossBelow(log_value=-40.0)
    name = f"gradient flow on {data.n_samples} samples of two clusters to a loss of e^-40"
    return fast_flow(name, data, stop, width=6, law=good.law, test=good.test)
