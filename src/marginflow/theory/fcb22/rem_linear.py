r"""[FCB22, abstract and sec. 1] "Linear classifiers are no better than random guessing": when that is so, exactly.

For sgn(<w, x> + b) and clusters with S(u) = P(<w, z> > -u) the accuracy on clean labels is

.. math:: \tfrac14 [S(b + s_1) + S(b - s_1) + 2 - S(b + s_2) - S(b - s_2)], \qquad s_i = \langle w, \mu_i \rangle,

which is 1/2 for every w if b = 0 and S(u) + S(-u) = 1, that is for symmetric clusters, and not otherwise.
"""

import math
from functools import cache
from typing import Final

import numpy as np

from marginflow.data import UniformNoise, XorClusters
from marginflow.data.isotropic import isotropic_law
from marginflow.errors import InputError
from marginflow.theory.fcb22.numbers import noise_rate
from marginflow.theory.fcb22.path import XorSample
from marginflow.theory.frame import Counterexample, Erratum, Findings, Instance, at_most, equal, stated, true, value

_DIRECTIONS: Final = 64


def axis_accuracy(law: str, sigma: float, bias: float = 0.0) -> float:
    """The exact clean accuracy of sgn(<mu1, x> + b) for a law with independent coordinates and means along axes.

    Examples
    --------
    >>> from marginflow.theory.fcb22.rem_linear import axis_accuracy
    >>> round(axis_accuracy("exponential", 1.0), 3), round(axis_accuracy("gaussian", 0.2, bias=-0.5), 3)
    (0.6, 0.745)
    """
    from marginflow.generalisation.ideal_xor import coordinate_law

    coordinate = coordinate_law(law)

    def S(u: float) -> float:
        return float(coordinate.sf(-u / sigma))

    return 0.25 * (S(bias + 1.0) + S(bias - 1.0) + 2.0 - S(bias) - S(bias))


@cache
def _clusters(word: str, sd: float = 0.5) -> Instance:
    law = XorClusters(dimension=2, sigma=sd, cluster_law=word, noise=UniformNoise(rate=0.1))
    return Instance(name=f"{word} clusters, sigma = {sd:g}", law=law)


@stated(
    id="FCB22/Rem.Linear",
    number="Abstract and Section 1",
    meaning="No linear classifier beats chance. False: with a bias, and without one on skewed clusters.",
    formula=r"\tfrac14 [S(b + s_1) + S(b - s_1) + 2 - S(b + s_2) - S(b - s_2)] = \tfrac12 \quad \forall w, b",
    needs=("law",),
    parameters={"bias": "b, 0 by default", "n": "samples to count on, 4000 by default"},
    example=lambda: _clusters("gaussian", 0.08),
    control=lambda: _clusters("exponential", 0.08),
    control_shows="skewed clusters: sgn<mu1, x> is right with probability (3 - 2/e)/4 = 0.566",
    printed=r"\text{no linear classifier can perform better than random guessing}",
    proved=r"\text{no classifier } \mathrm{sgn}\langle w, x \rangle \text{ can, if the clusters are symmetric}",
    errata=Erratum.false_statement(
        "The clusters of the paper need not be symmetric, and a linear classifier may have a bias.",
        headline="Frei, Chatterji and Bartlett write that no linear classifier beats random guessing on their four "
        "clusters; on skewed clusters of their setting one is right on 56.6 %, and the sentence is true of "
        "symmetric clusters and classifiers without bias.",
        evidence="exponential clusters in the regime of (A3), without bias: (3 - 2/e)/4 = 0.566; Gaussian clusters "
        "with a bias: close to 3/4 (0.745 at sigma = 0.2)",
        repair="FCB22/Rem.Linear-repaired: symmetric clusters, no bias",
    ),
)
def rem_linear(instance: Instance) -> Findings:
    """Every accuracy with an interval, those along an axis exactly, for all laws in the regime of (A3)."""
    return _linear(instance, repaired=False)


@stated(
    id="FCB22/Rem.Linear-repaired",
    number="Abstract and Section 1, repaired",
    meaning="On symmetric clusters no linear classifier without bias beats chance.",
    formula=r"b = 0, \; S(u) + S(-u) = 1 \implies \tfrac14 [S(s_1) + S(-s_1) + 2 - S(s_2) - S(-s_2)] = \tfrac12",
    needs=("law",),
    parameters={"bias": "b, 0 by default", "n": "samples to count on, 4000 by default"},
    example=lambda: _clusters("gaussian"),
    control=lambda: _clusters("exponential", 1.0),
    control_shows="skewed clusters: sgn<mu1, x> is right with probability 0.6",
)
def rem_linear_repaired(instance: Instance) -> Findings:
    """The same for symmetric clusters and b = 0."""
    return _linear(instance, repaired=True)


def _linear(instance: Instance, *, repaired: bool) -> Findings:
    """The means, their sums and random directions; every accuracy with an interval, those along an axis exactly."""
    law = instance.the_law()
    if not isinstance(law, XorClusters):
        raise InputError(f"The law is {law!r}; XorClusters is expected.")
    bias = instance.number("bias", 0.0)
    n = instance.whole("n", 4000)
    mu = law.ambient_means()[[0, 2]]
    rng = np.random.default_rng(instance.seed)
    random = rng.standard_normal((_DIRECTIONS, 2)) @ mu + 0.5 * rng.standard_normal((_DIRECTIONS, law.dimension))
    W = np.concatenate([mu, -mu, [mu[0] + mu[1], mu[0] - mu[1]], random])
    sample = XorSample.of(law.sample(n, seed=instance.seed))
    found = ((sample.X @ W.T + bias) * sample.clean[:, None] > 0).mean(axis=0)
    # All of them at once with confidence 0.999, by Hoeffding's inequality.
    width = math.sqrt(math.log(2 * W.shape[0] / 0.001) / (2 * n))
    word = law.cluster_law if isinstance(law.cluster_law, str) else "none"
    exact = math.nan
    if word in ("gaussian", "laplace", "logistic", "cube", "exponential", "gumbel") and law.sigma_value > 0:
        exact = axis_accuracy(word, law.sigma_value, bias)
    eta = noise_rate(law)
    uniform = law.noise is None or isinstance(law.noise, UniformNoise)
    along = (equal("exact accuracy of sgn(<mu1, x> + b)", exact, 0.5),) if math.isfinite(exact) else ()
    return Findings(
        value("largest accuracy seen", float(found.max())),
        value("smallest accuracy seen", float(found.min())),
        value("exact accuracy along mu1, clean labels", exact),
        value("the same on noisy labels", exact * (1 - 2 * eta) + eta),
        value("classifiers", W.shape[0]),
        hypotheses=(
            true("symmetric clusters", isotropic_law(law.cluster_law).symmetric),
            equal("b", bias, 0.0),
            true("uniform noise or none", uniform),
        )
        if repaired
        else (at_most("sigma sqrt(d), for (A3) with C = 8", law.sigma_value * math.sqrt(law.dimension), 1 / 8),),
        claims=(
            *along,
            at_most("largest |accuracy - 1/2| over all classifiers", np.abs(found - 0.5), width, tolerance=0.0),
        ),
        counterexample=None if repaired else _skewed(word, law.sigma_value, bias),
    )


def _skewed(word: str, sigma: float, bias: float) -> Counterexample | None:
    """Exponential clusters, b = 0 and sigma <= 1: the accuracy along mu_1 is (3 + e^(-1 - 1/sigma) - 2/e)/4 > 1/2.

    Larger than 1/2 because 2/e < 1.
    """
    if word != "exponential" or bias != 0 or not 0 < sigma <= 1:
        return None
    summary = (
        "sgn<mu_1, x> is right with probability at least (3 - 2/e)/4 = 0.566 on exponential clusters, without bias"
    )
    return Counterexample(summary=summary, proof="closed form: 2/e < 1")
