"""Runs of training that boxes of numbers are turned into. The only file of this room that trains."""

import numpy as np

from marginflow.data import Clusters, ExactCountNoise, GramReduction, Sphere
from marginflow.errors import InputError
from marginflow.flow import LossBelow, recipes, train
from marginflow.networks import TwoLayer, initialisation
from marginflow.theory.fcb22.recorded import gd_run, planted
from marginflow.theory.hunting.boxes import box, ranges
from marginflow.theory.instance import Instance
from marginflow.theory.recorded import fast_flow, of_run

_DIVERGED = 1e50


def _descent_on_clusters(
    samples: int, dimension: int, pairs: int, spread: int, noisy: int, start: int, k: int, seed: int
) -> Instance:
    """[FCB22]'s gradient descent for k + 1 steps, where exactly `noisy` labels are turned."""
    if 2 * noisy > samples:
        raise InputError(f"noisy is {noisy}; at most half of the {samples} samples are expected.")
    rate = noisy / samples
    return gd_run.__wrapped__(
        samples,
        dimension,
        2 * pairs,
        sd=2.0**-spread,
        eta=rate,
        omd=2.0**-start,
        k=k,
        noise=ExactCountNoise(rate=rate) if noisy else None,
        seed=seed,
        test=200,
    )


descent = box(
    "gradient descent on four clusters, width 2 pairs, sigma sqrt(d) = 2^-spread, omega sqrt(md) = 2^-start, "
    "alpha = 1/(4k)",
    ranges(
        samples=(20, 2000), dimension=(2, 1200), pairs=(2, 200), spread=(1, 20), noisy=(0, 100), start=(1, 20), k=(1, 6)
    ),
)(_descent_on_clusters)
narrow_descent = box(
    "gradient descent from a tiny start on four narrow clusters, width 2 pairs, sigma sqrt(d) = 2^-spread, "
    "omega sqrt(md) = 2^-start, alpha = 1/(4k)",
    ranges(
        samples=(400, 2000), dimension=(20, 200), pairs=(4, 60), spread=(12, 24), noisy=(0, 2), start=(12, 24), k=(3, 8)
    ),
)(_descent_on_clusters)


@box("planted good runs of gradient descent, alpha = 1/(4k)", ranges(k=(6000, 20000), copies=(20, 400), noisy=(0, 1)))
def planted_descent(k: int, copies: int, noisy: int) -> Instance:
    """A good run of [FCB22] by construction, so small that the literal constants of the proof apply."""
    return planted.__wrapped__(k, copies=copies, noisy=bool(noisy))


@box(
    "ends of the published recipe on random samples",
    ranges(samples=(2, 12), dimension=(4, 60), width=(2, 20), scale=(1, 64, 1 / 32)),
)
def published_recipe(samples: int, dimension: int, width: int, scale: float, seed: int) -> Instance:
    """[VYS22]'s recipe on random samples of the sphere, from `scale` times its initialisation."""
    data = Sphere(dimension=dimension, labels="both").sample(samples, seed=seed)
    start = TwoLayer.initialise(width, dimension, law=initialisation.VYS22Start(), scale=scale, seed=seed)
    run = train(start, data, recipes.VYS22(every=2))
    assert isinstance(run.network, TwoLayer)
    if not np.abs(run.network.W).max() < _DIVERGED:
        raise InputError(f"The recipe diverged from {scale:g} times its initialisation; a smaller start is expected.")
    name = f"the recipe: {samples} samples, dimension {dimension}, width {width}, start x{scale:g} (seed {seed})"
    return of_run(name, data, start, run)


@box(
    "gradient flow on two clusters, sigma sqrt(d) = 2^-spread",
    ranges(dimension=(400, 2000), spread=(0, 10), width=(4, 8)),
)
def flow_on_clusters(dimension: int, spread: int, width: int, seed: int) -> Instance:
    """Gradient flow on 80 samples of two clusters, sigma sqrt(d) = 2^-spread, to a loss of e^-30."""
    law = GramReduction(Clusters(dimension=dimension, n_clusters=2, sigma=2.0**-spread / dimension**0.5))
    data = law.sample(80, seed=seed)
    name = f"gradient flow on 80 samples of two clusters, d = {dimension}, width {width} (seed {seed})"
    test = law.fresh(300, train=data, seed=seed)
    return fast_flow(name, data, LossBelow(log_value=-30.0), width=width, seed=seed, law=law, test=test)
