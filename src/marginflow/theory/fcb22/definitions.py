r"""[FCB22, sec. 4] The ideal classifier, the neuron sets J, and capture."""

import math
from dataclasses import replace
from functools import cache
from typing import Final

import numpy as np

from marginflow.arrays import BoolArray, FloatArray
from marginflow.data import XorClusters
from marginflow.generalisation.ideal_xor import ideal_xor_error, ideal_xor_network
from marginflow.networks import TwoLayer
from marginflow.theory.fcb22.measures import mean_of
from marginflow.theory.fcb22.numbers import has_gaussian_clusters
from marginflow.theory.fcb22.path import NeuronSets, XorSample, beginning_with, path_of, stated_of_run
from marginflow.theory.fcb22.recorded import c16, figure
from marginflow.theory.frame import Findings, Instance, at_least, at_most, equal, stated, true, value
from marginflow.theory.probability import clopper_pearson


@cache
def ideal_instance(sigma: float = 0.4, turned: bool = False) -> Instance:
    """The four neurons of Eq. (1) on Gaussian clusters in the plane, wide enough to count errors."""
    law = XorClusters(dimension=2, sigma=sigma)
    test = law.sample(4000)
    network = ideal_xor_network([1.0, 0.0], [0.0, 1.0])
    if turned:
        c, s = math.cos(0.1), math.sin(0.1)
        network = TwoLayer(W=network.W @ np.array([[c, s], [-s, c]]), v=network.v, outputs="frozen")
    name = "four neurons" + (", turned by 0.1" if turned else "")
    return Instance(name=name, network=network, law=law, test=test)


@stated(
    id="FCB22/Def.fstar",
    number="Equation (1)",
    meaning="The ideal classifier is a network of four neurons; its clean error on Gaussian clusters is 2q(1-q).",
    formula=r"f^*(x) = |\langle \mu_1, x \rangle| - |\langle \mu_2, x \rangle|, \quad "
    r"P(\tilde y f^*(x) \le 0) = 2 q (1 - q), \; q = \Phi\left(-\tfrac{1}{\sigma \sqrt{2}}\right)",
    needs=("network", "law", "test"),
    example=ideal_instance,
    control=lambda: ideal_instance(turned=True),
    control_shows="the neurons are turned by 0.1 from the means",
)
def def_fstar(instance: Instance) -> Findings:
    """Eq. (1) on the test points, and the clean error against the exact one."""
    sample = XorSample.of(instance.the_test())
    network, law = instance.the_network(), instance.the_law()
    gaussian = isinstance(law, XorClusters) and has_gaussian_clusters(law)
    sigma = law.sigma_value if isinstance(law, XorClusters) else math.nan
    wrong = int((sample.clean * sample.ideal <= 0).sum())
    counted = clopper_pearson(wrong, sample.n)
    exact = ideal_xor_error(sigma)
    return Findings(
        value("exact clean error, 2 q (1 - q)", exact),
        value("errors counted", wrong, f"of {sample.n}"),
        value("neurons", network.width),
        hypotheses=(true("Gaussian clusters", gaussian),),
        claims=(
            equal("network against |<mu1, x>| - |<mu2, x>|", network(sample.X), sample.ideal, scale=1.0),
            at_least("exact error against the lower limit of the counted one", exact, counted.low, scale=1.0),
            at_most("exact error against the upper limit", exact, counted.high, scale=1.0),
        ),
    )


def plain_sets(start: TwoLayer, means: FloatArray, threshold: float) -> tuple[BoolArray, BoolArray]:
    """The sets J_mu neuron by neuron, as they are defined, and which entries rounding could turn; shapes (4, m)."""
    inside = np.zeros((4, start.width), dtype=np.bool_)
    close = np.zeros_like(inside)
    for j in range(start.width):
        w, a = start.W[j], float(start.v[j])
        norm = math.sqrt(math.fsum(float(entry) ** 2 for entry in w))
        if norm == 0.0:
            continue
        for mean in (0, 1) if a > 0 else (2, 3) if a < 0 else ():
            correlation = float(w @ means[mean]) / norm
            inside[mean, j] = correlation >= threshold
            close[mean, j] = abs(correlation - threshold) <= 1e-13
    return inside, close


NAMES: Final = ("+mu1", "-mu1", "+mu2", "-mu2")


@cache
def _no_neurons() -> Instance:
    """A start that is orthogonal to both means: every J is empty."""
    good = c16()
    start, mu = good.the_start(), XorSample.of(good.the_data()).mu
    moved = replace(start, W=start.W - (start.W @ mu.T) @ mu)
    return beginning_with(good, moved, "a start orthogonal to the means").but(start=moved)


@stated_of_run(
    id="FCB22/Def.J",
    number="Lemma 4.2",
    meaning="Neurons whose initial correlation with a mean of their own label reaches 1/(3 C0 sqrt(d)).",
    formula=r"J_{\pm\mu_1} = \{j : a_j > 0, \langle \tfrac{w_j^{(0)}}{\|w_j^{(0)}\|}, \pm\mu_1 \rangle \ge "
    r"\tfrac{1}{3 C_0 \sqrt{d}}\}, \quad J_{\pm\mu_2} = \{j : a_j < 0, \dots \pm\mu_2 \dots\}",
    example=c16,
    control=_no_neurons,
    control_shows="the start is orthogonal to both means, so that J is empty",
)
def def_j(instance: Instance) -> Findings:
    """J as the other statements use it, from the initial network, against the definition on the first record."""
    path = path_of(instance)
    neurons = path.neurons
    d = instance.the_data().full_dimension
    plain, close = plain_sets(path.networks[0], path.sample.means, 1 / (3 * path.C0 * math.sqrt(d)))
    sweep = tuple(
        value(f"|J|/m at C0 = {C0:g}", float(NeuronSets.of(path.networks[0], path.sample.mu, C0).J.mean()))
        for C0 in (1.0, 2.0, 4.0, 10.0, 100.0, 1000.0)
    )
    return Findings(
        *(value(f"|J_mu|, mu = {name}", int(size)) for name, size in zip(NAMES, neurons.sizes, strict=True)),
        value("1/(3 C0 sqrt(d))", neurons.threshold),
        *sweep,
        claims=(
            equal("entries that differ from the first record", int(((neurons.sets != plain) & ~close).sum()), 0),
            at_most("sets that a neuron belongs to", plain.sum(axis=0), 1),
            at_least("neurons in J", int(neurons.J.sum()), 1),
        ),
    )


@stated_of_run(
    id="FCB22/Def.capture",
    number="Section 4.1",
    meaning="A neuron captures a cluster when it is active on its samples exactly where the mean itself would be.",
    formula=r"\mathrm{sgn}\langle w_j, x_i \rangle = \mathrm{sgn}\langle \mu, x_i \rangle \text{ for all } i \in I_\mu",
    example=c16,
    control=lambda: figure(5, n=1000, m=100),
    control_shows="the start of Figure 1 is large against the step-size: after 5 steps many clusters are not captured",
)
def def_capture(instance: Instance) -> Findings:
    """sgn<w_j, x> against sgn<mu, x> over the own cluster, at the first and the last record."""
    path = path_of(instance)
    sample, neurons = path.sample, path.neurons
    mine = sample.clusters[:, None] == neurons.own
    ideal = np.sign(sample.X @ sample.means.T)[:, neurons.own]

    def shares(record: int) -> tuple[float, float]:
        same = np.sign(sample.X @ path.networks[record].W[neurons.J].T) == ideal
        return mean_of(same[mine]), mean_of((same | ~mine).all(axis=0))

    start, end = shares(0), shares(-1)
    return Findings(
        value("captured (neuron, sample) pairs at the start", start[0]),
        value("captured clusters at the start", start[1]),
        value("captured pairs at the end", end[0]),
        hypotheses=(at_least("neurons in J", neurons.own.size, 1),),
        claims=(equal("share of neurons of J that capture their cluster at the end", end[1], 1.0),),
    )
