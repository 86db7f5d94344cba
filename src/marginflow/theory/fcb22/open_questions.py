r"""[FCB22, sec. 5] Open questions, measured: what happens as T grows, and in deeper networks.

Beside them stand measurements that the paper invites: how much noise of each model is tolerated, and how often the
theorem's conclusion holds at a given width and sample size.
"""

import math
from functools import cache
from typing import Final

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.networks import MLP, TwoLayer
from marginflow.theory.fcb22.measures import mean_of, median_of
from marginflow.theory.fcb22.path import RUN, XorSample, path_of
from marginflow.theory.fcb22.recorded import c16, deep, long_run, noise_limits, success, with_parameters
from marginflow.theory.fcb22.thm_3_1.part_2 import clean_error
from marginflow.theory.frame import Check, Findings, Instance, at_least, require, stated, value

MODELS: Final = {
    "uniform": "largest uniform noise rate at which every sample got its clean label",
    "boundary": "the same for noise on the samples nearest to the ideal boundary",
    "direction": "the same for noise on the samples farthest along mu1 + mu2; identifiable below 1/4",
    "one_cluster": "the same for noise on one cluster; identifiable below 1/8",
}


@stated(
    id="FCB22/Open.Tinf",
    number="Section 5",
    meaning="As T grows, does the network fit the noisy samples, and what happens to its test error?",
    formula=r"T \to \infty: \quad \tfrac{|\{i \in \mathcal{N} : y_i f(x_i) > 0\}|}{|\mathcal{N}|}, \quad "
    r"P(\tilde y f(x; W^{(T)}) \le 0)",
    needs=("network", "data", "law", "test", "run", "start"),
    parameters={**RUN, **MODELS},
    example=lambda: with_parameters(long_run(), **noise_limits()),
    control=c16,
    control_shows="two steps are not many",
)
def open_t_infinity(instance: Instance) -> Findings:
    """Noisy samples that are fitted, and the test error, at the last record of a long run."""
    path = path_of(instance)
    run = instance.the_run()
    noisy = path.sample.noisy
    fitted = path.sample.y * path.values > 0
    shares = fitted[:, noisy].mean(axis=1) if noisy.any() else np.zeros(len(path.times))
    limits = tuple(
        value(f"noise limit, {model}", instance.number(model)) for model in MODELS if model in instance.parameters
    )
    return Findings(
        hypotheses=(at_least("steps against 100 T", run.steps, 100 * path.numbers.steps),),
        constants=(
            value("noisy samples fitted at the end", float(shares[-1])),
            value("clean samples fitted at the end", mean_of(fitted[-1, ~noisy])),
            value("first record at which all noisy samples are fitted", path.first_time(shares == 1.0), "-1: not yet"),
            clean_error(instance),
            value("loss", math.exp(run.log_loss)),
            value("||W||_F", float(np.linalg.norm(path.end.W))),
            value("median correlation of J with the own mean", median_of(path.correlations[-1])),
            value("sigma sqrt(d)", path.numbers.sd),
            *limits,
        ),
    )


CELLS: Final = ((4, 100), (16, 100), (32, 200), (16, 20))


def _first_layer(network: MLP | TwoLayer, mu: FloatArray) -> FloatArray:
    """The largest |correlation| of each first-layer neuron with mu1 and mu2."""
    W = network.W if isinstance(network, TwoLayer) else network.weights[0]
    norms = np.maximum(np.linalg.norm(W, axis=1), 1e-300)
    best: FloatArray = np.abs(W @ mu.T).max(axis=1) / norms
    return best


def _moved(before: MLP | TwoLayer, after: MLP | TwoLayer) -> tuple[Check, ...]:
    """Relative change of each hidden layer."""
    if isinstance(before, TwoLayer) or isinstance(after, TwoLayer):
        return ()
    return tuple(
        value(f"relative change of layer {layer + 1}", float(np.linalg.norm(b - a) / np.linalg.norm(a)))
        for layer, (a, b) in enumerate(zip(before.weights, after.weights, strict=True))
    )


@cache
def _deep_with_cells() -> Instance:
    rates = {}
    for m, n in CELLS:
        cell = success(m, n)
        rates[f"success_m{m}_n{n}"] = cell.number("successes") / cell.number("runs")
    return with_parameters(deep(), **rates)


@stated(
    id="FCB22/Open.Deep",
    number="Section 5",
    meaning="Are random features amplified in deeper networks too? And how often is two layers' width enough?",
    formula=r"\left|\left\langle \tfrac{w_j^{(t)}}{\|w_j^{(t)}\|}, \mu_i \right\rangle\right| "
    r"\text{ in the first layer, } t = 0, 1, T",
    needs=("data", "run"),
    parameters={f"success_m{m}_n{n}": f"success rate of Theorem 3.1 at m = {m}, n = {n}" for m, n in CELLS},
    example=_deep_with_cells,
    control=lambda: deep(2, rate=0.25),
    control_shows="two layers, which the paper treats",
)
def open_deep(instance: Instance) -> Findings:
    """Correlations of every layer before and after a step, and success rates where runs are counted."""
    run, sample = instance.the_run(), XorSample.of(instance.the_data())
    kept = run.trajectory.networks or ()
    depth = len(run.network.weights) if isinstance(run.network, MLP) else 2
    enough = (at_least("networks kept", len(kept), 2), at_least("more than two layers", depth, 3))
    require(enough, "", value("depth", depth), given=len(kept) >= 2)
    before, once, last = (_first_layer(network, sample.mu) for network in (kept[0], kept[1], kept[-1]))
    cells = tuple(
        value(f"success rate, m = {m}, n = {n}", instance.number(f"success_m{m}_n{n}"), "two layers, k = 1, d = 400")
        for m, n in CELLS
        if f"success_m{m}_n{n}" in instance.parameters
    )
    f = run.network(sample.X)
    return Findings(
        value("depth", depth),
        value("median |correlation| of the first layer, at the start", float(np.median(before))),
        value("the same after one step", float(np.median(once))),
        value("the same at the end", float(np.median(last)), f"after {run.steps} steps"),
        value("amplification by one step, median", float(np.median(once / np.maximum(before, 1e-300)))),
        value("samples with their clean label", float((sample.clean * f > 0).mean())),
        *_moved(kept[0], kept[-1]),
        *cells,
        hypotheses=enough,
    )
