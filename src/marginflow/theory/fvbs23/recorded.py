"""A recorded run on clusters, for the few statements that are about training itself; made once and kept."""

from __future__ import annotations

from functools import cache

from marginflow.data import GramReduction
from marginflow.flow import GradientFlow, LossBelow, Recording, Steps, recipes, train
from marginflow.losses import Exponential
from marginflow.networks import TwoLayer, initialisation
from marginflow.theory.frame import Instance
from marginflow.theory.fvbs23.presets import A, law_of, preset

_RECORDING = Recording(ratio=1.5, networks=True)


def _start() -> tuple[GramReduction, TwoLayer]:
    law = GramReduction(law_of(38, 2, 0.01))
    data = law.sample(12)
    return law, TwoLayer.initialise(6, data.dimension, law=initialisation.Balanced(), scale=0.05, seed=0)


@cache
def flow_run(log_loss: float = -100.0) -> Instance:
    """Gradient flow of the mean exponential loss on 12 samples of two clusters in dimension 38, width 6."""
    law, start = _start()
    data = law.sample(12)
    stop = [LossBelow(log_value=log_loss)]
    run = train(
        start, data, GradientFlow(loss=Exponential("mean"), angle=0.02, decrease=0.1, stop=stop), recording=_RECORDING
    )
    assert isinstance(run.network, TwoLayer)
    return Instance(name="gradient flow on two clusters", data=data, law=law, start=start, run=run, network=run.network)


@cache
def unfinished_run() -> Instance:
    """The same flow after 20 steps, before the samples are fitted."""
    law, start = _start()
    data = law.sample(12)
    plan = GradientFlow(loss=Exponential("mean"), angle=0.02, decrease=0.1, stop=[Steps(20)])
    run = train(start, data, plan, recording=_RECORDING)
    assert isinstance(run.network, TwoLayer)
    return Instance(name="the same flow after 20 steps", data=data, law=law, start=start, run=run, network=run.network)


@cache
def coarse_run() -> Instance:
    """Gradient descent with steps so large that it follows no flow."""
    law, start = _start()
    data = law.sample(12)
    run = train(start, data, recipes.KYS23(rate=20.0, epochs=12), recording=Recording(ratio=1.0, networks=True))
    assert isinstance(run.network, TwoLayer)
    return Instance(
        name="gradient descent with a rate of 20", data=data, law=law, start=start, run=run, network=run.network
    )


@cache
def clusters_run(log_loss: float = -40.0) -> Instance:
    """Gradient flow on the sample of preset A, where Theorem 3.1 applies, from a small start of width 6."""
    good = preset(A)
    data = good.the_data()
    start = TwoLayer.initialise(6, data.dimension, law=initialisation.Balanced(), scale=0.01, seed=0)
    plan = GradientFlow(loss=Exponential("mean"), angle=0.05, decrease=0.2, stop=[LossBelow(log_value=log_loss)])
    run = train(start, data, plan, recording=_RECORDING)
    assert isinstance(run.network, TwoLayer)
    name = f"gradient flow on {data.n_samples} samples of two clusters to a loss of e^{log_loss:g}"
    return Instance(name=name, data=data, law=good.law, test=good.test, start=start, run=run, network=run.network)
