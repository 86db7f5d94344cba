"""A recorded run on clusters, for the few statements that are about training itself; made once and kept."""

from __future__ import annotations

from functools import cache

from marginflow.data import Dataset, GramReduction
from marginflow.flow import GradientFlow, LossBelow, Recording, Steps, recipes, train
from marginflow.losses import Exponential
from marginflow.networks import TwoLayer, initialisation
from marginflow.theory.frame import Instance
from marginflow.theory.fvbs23.presets import A, law_of, preset
from marginflow.theory.recorded import RECORDING, of_run


@cache
def _start() -> tuple[GramReduction, Dataset, TwoLayer]:
    law = GramReduction(law_of(38, 2, 0.01))
    data = law.sample(12)
    return law, data, TwoLayer.initialise(6, data.dimension, law=initialisation.Balanced(), scale=0.05, seed=0)


def _flow(name: str, stop: LossBelow | Steps) -> Instance:
    """Gradient flow of the mean exponential loss on 12 samples of two clusters in dimension 38, width 6."""
    law, data, start = _start()
    plan = GradientFlow(loss=Exponential("mean"), angle=0.02, decrease=0.1, stop=[stop])
    return of_run(name, data, start, train(start, data, plan, recording=RECORDING), law=law)


@cache
def flow_run(log_loss: float = -100.0) -> Instance:
    """The flow to a tiny loss."""
    return _flow("gradient flow on two clusters", LossBelow(log_value=log_loss))


@cache
def unfinished_run() -> Instance:
    """The same flow after 20 steps, before the samples are fitted."""
    return _flow("the same flow after 20 steps", Steps(20))


@cache
def coarse_run() -> Instance:
    """Gradient descent with steps so large that it follows no flow."""
    law, data, start = _start()
    run = train(start, data, recipes.KYS23(rate=20.0, epochs=12), recording=Recording(ratio=1.0, networks=True))
    return of_run("gradient descent with a rate of 20", data, start, run, law=law)


@cache
def clusters_run(log_loss: float = -40.0) -> Instance:
    """Gradient flow on the sample of preset A, where Theorem 3.1 applies, from a small start of width 6."""
    good = preset(A)
    data = good.the_data()
    start = TwoLayer.initialise(6, data.dimension, law=initialisation.Balanced(), scale=0.01, seed=0)
    plan = GradientFlow(loss=Exponential("mean"), angle=0.05, decrease=0.2, stop=[LossBelow(log_value=log_loss)])
    run = train(start, data, plan, recording=RECORDING)
    name = f"gradient flow on {data.n_samples} samples of two clusters to a loss of e^{log_loss:g}"
    return of_run(name, data, start, run, law=good.law, test=good.test)
