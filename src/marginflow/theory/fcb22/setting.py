r"""[FCB22, sec. 2.1] The setting: four clusters in XOR position with label noise, the network, gradient descent."""

import math
from dataclasses import replace
from functools import cache
from typing import Final

import numpy as np
from scipy import special

from marginflow.data import XorClusters
from marginflow.data.isotropic import REFUSED, isotropic_law
from marginflow.errors import InputError
from marginflow.networks import TwoLayer
from marginflow.theory.fcb22.numbers import noise_rate
from marginflow.theory.fcb22.path import RUN, XorSample
from marginflow.theory.fcb22.recorded import c16, engines, summed_loss
from marginflow.theory.frame import (
    Findings,
    Instance,
    at_least,
    at_most,
    below,
    equal,
    require,
    stated,
    true,
    unmet,
    value,
)
from marginflow.theory.instances import changed

# Tail probabilities of counts below this speak against the law.
_SIGNIFICANT: Final = 1e-4


# |Cov/sigma^2 - I| <= 4 (sqrt(d/n) + d/n): the Gaussian value is 2 sqrt(d/n) + d/n, heavier laws have twice as much.
_SPREAD: Final = 4.0


# Var(z_k^2) <= 8 sigma^4 for log-concave coordinates, equal for the exponential law; six deviations of their mean.
_TRACE: Final = 6.0 * math.sqrt(8.0)


def _binomial_tails(count: int, n: int, p: float) -> float:
    """The smaller of P(B <= count) and P(B >= count), B ~ Binomial(n, p)."""
    if p <= 0.0 or p >= 1.0:
        return 1.0 if count == round(n * p) else 0.0
    lower = float(special.bdtr(count, n, p))
    upper = 1.0 if count == 0 else float(special.bdtrc(count - 1, n, p))
    return min(lower, upper)


def _refused() -> int:
    """How many of the laws outside the theory are refused."""
    count = 0
    for word in REFUSED:
        try:
            isotropic_law(word)
        except InputError:
            count += 1
    return count


@cache
def _stretched() -> Instance:
    """Samples whose clusters are four times as wide along one direction: not isotropic."""
    law = XorClusters(dimension=20, sigma=1 / 16 / math.sqrt(20))
    data = law.sample(1000)
    assert data.means is not None
    assert data.clusters is not None
    z = data.X - data.means[data.clusters]
    z[:, 7] *= 4.0
    return Instance(
        name="clusters stretched along one direction", law=law, data=replace(data, X=data.means[data.clusters] + z)
    )


@stated(
    id="FCB22/Setting.Data",
    number="Section 2.1",
    meaning="Four log-concave isotropic clusters at +mu1, -mu1 (label +1) and +mu2, -mu2 (label -1), with label noise.",
    formula=r"x = c + z, \; c \sim \mathrm{Unif}\{\pm\mu_1, \pm\mu_2\}, \; E z = 0, \; E z z^\top = \sigma^2 I, \; "
    r"P(y = -\tilde y \mid x) = \eta(x)",
    needs=("data", "law"),
    parameters=RUN,
    example=c16,
    control=_stretched,
    control_shows="one direction has four times the deviation of the others",
    remark="A uniform law on a convex body has U = +inf outside it; the footnote's real-valued U would exclude it. "
    "Section 4 once gives the label -1 to samples of -mu1; the clean label is +1.",
)
def setting_data(instance: Instance) -> Findings:
    """Labels by definition; noise, cluster sizes, mean and covariance of z against what the law says."""
    law = instance.the_law()
    sample = XorSample.of(instance.the_data())
    sigma = eta = math.nan
    symmetric = False
    if isinstance(law, XorClusters):
        sigma, eta, symmetric = law.sigma_value, noise_rate(law), isotropic_law(law.cluster_law).symmetric
    n, d = sample.X.shape
    gram = sample.mu @ sample.mu.T
    label = np.array([1.0, 1.0, -1.0, -1.0])[sample.clusters]
    z = sample.X - sample.means[sample.clusters]
    # The operator norm of Cov/sigma^2 - I from the smaller of the two Gram matrices.
    small = (z.T @ z if d <= n else z @ z.T) / (n * sigma**2) if sigma > 0 else np.eye(min(n, d))
    spectrum = np.linalg.eigvalsh(small)
    deviation = float(max(spectrum[-1] - 1, 1 - spectrum[0] if d <= n else 1.0))
    mean = float(np.linalg.norm(z.mean(axis=0))) / (sigma * math.sqrt(d / n)) if sigma > 0 else 0.0
    ratio = d / n
    trace = float((z**2).mean()) / sigma**2 if sigma > 0 else 1.0
    likely = min(_binomial_tails(int(size), n, 0.25) for size in sample.sizes)
    noisy = _binomial_tails(int(sample.noisy.sum()), n, eta)
    return Findings(
        hypotheses=(true("the law is XorClusters", isinstance(law, XorClusters)),),
        constants=(
            value("|Cov/sigma^2 - I|", deviation),
            value("sqrt(d/n)", math.sqrt(ratio)),
            value("noise rate observed", sample.noisy_share),
            value("noise rate of the law", eta),
            true("the cluster law is symmetric", symmetric, "if not, a linear classifier beats chance"),
        ),
        claims=(
            equal("Gram matrix of mu1, mu2", gram, np.eye(2), scale=1.0),
            equal("clean label of the cluster", sample.clean, label),
            at_least("binomial tail of the cluster sizes", likely, _SIGNIFICANT, tolerance=0.0),
            at_least("binomial tail of the number of noisy labels", noisy, _SIGNIFICANT, tolerance=0.0),
            at_most("|mean of z| / (sigma sqrt(d/n))", mean, _SPREAD),
            at_most("|Cov/sigma^2 - I|, bounded", deviation, _SPREAD * (math.sqrt(ratio) + ratio)),
            at_most("|tr Cov / (sigma^2 d) - 1|", abs(trace - 1.0), _TRACE / math.sqrt(n * d)),
            equal("laws outside the theory that are refused", _refused(), len(REFUSED)),
        ),
    )


@stated(
    id="FCB22/Setting.Net",
    number="Section 2.1",
    meaning="A two-layer ReLU network without bias, outputs +-1/sqrt(m) in equal numbers and frozen.",
    formula=r"f(x; W) = \sum_{j=1}^m a_j \phi(\langle w_j, x \rangle), \quad |a_j| = \tfrac{1}{\sqrt{m}}, \quad "
    r"|f(x; W)| \le \|W x\| \le \|W\|_2 \|x\|",
    parameters=RUN,
    example=c16,
    control=lambda: changed(c16(), "the same network with biases", lambda f: replace(f, b=np.full(f.width, 0.01))),
    control_shows="with biases f is not homogeneous in x",
    remark="For odd m the last output is 0. ||a|| is printed as the sum of a_j^2; it is the root of it.",
)
def setting_net(instance: Instance) -> Findings:
    """Outputs, homogeneity, Eq. (16) and the Lipschitz bound on the samples and on random pairs."""
    network, X = instance.the_network(), instance.the_data().X
    m = network.width
    rng = np.random.default_rng(instance.seed)
    other = X[rng.permutation(X.shape[0])]
    f, g = network(X), network(other)
    spectral = float(np.linalg.norm(network.W, 2))
    frobenius = float(np.linalg.norm(network.W))
    half = network.v[: m - m % 2] * math.sqrt(m)
    J = rng.random(m) < 0.5
    part = network.neurons(J) if J.any() else network
    scale = float(np.abs(f).max(initial=0.0))
    return Findings(
        value("||W||_2", spectral),
        value("||W||_F", frobenius),
        value("max |f(x_i)|", scale),
        claims=(
            true("no bias", network.b is None),
            true("outputs frozen", network.outputs == "frozen"),
            equal("|a_j| sqrt(m)", np.abs(half), 1.0),
            equal("sum of a_j (half +, half -)", float(half.sum()), 0.0, scale=float(m)),
            *((equal("last output of an odd number", float(network.v[-1]), 0.0),) if m % 2 else ()),
            equal("f(3 x) against 3 f(x)", network(3.0 * X), 3.0 * f, scale=3 * scale),
            equal("f(x; 3 W) against 3 f(x; W)", network.scaled(3.0)(X), 3.0**network.degree * f, scale=9 * scale),
            at_most("|f(x_i)|, Eq. (16)", np.abs(f), spectral * np.linalg.norm(X, axis=1)),
            at_most("|f(x) - f(x')|", np.abs(f - g), frobenius * np.linalg.norm(X - other, axis=1), scale=scale),
            at_most(
                "the same for half of the neurons",
                np.abs(part(X) - part(other)),
                frobenius * np.linalg.norm(X - other, axis=1),
                scale=scale,
            ),
        ),
    )


@stated(
    id="FCB22/Setting.GD",
    number="Section 2.1",
    meaning="Full-batch gradient descent on the first layer, mean logistic loss, constant step-size.",
    formula=r"w_j^{(t+1)} = w_j^{(t)} + \frac{\alpha a_j}{n} \sum_{i=1}^n -\ell'(y_i f(x_i; W^{(t)})) \, y_i \, "
    r"\phi'(\langle w_j^{(t)}, x_i \rangle) \, x_i",
    needs=("network", "data", "run"),
    parameters=RUN,
    example=engines,
    control=summed_loss,
    control_shows="the loss was summed instead of averaged: every step is n times as long",
    remark="phi'(0) is not stated; it is 0 here. It matters for W = 0 and exact ties only.",
)
def setting_gd(instance: Instance) -> Findings:
    """Every pair of consecutive records against the update written out over all samples."""
    data, run = instance.the_data(), instance.the_run()
    kept = run.trajectory.networks or ()
    steps = run.trajectory.step
    rate = instance.number("alpha", getattr(run.plan.schedule, "rate", math.nan))
    errors, sizes = [], []
    for before, after, made in zip(kept[:-1], kept[1:], np.diff(steps), strict=False):
        if made != 1 or not isinstance(before, TwoLayer) or not isinstance(after, TwoLayer):
            continue
        U = data.X @ before.W.T
        slope = 1.0 / (1.0 + np.exp(data.y * (np.maximum(U, 0.0) @ before.v)))  # -l'(y f) = 1 / (1 + e^{y f})
        sums = ((U > 0) * (slope * data.y)[:, None]).T @ data.X
        move = rate / data.n_samples * before.v[:, None] * sums
        errors.append(float(np.abs(after.W - before.W - move).max()))
        sizes.append(float(np.abs(move).max()))
    W = instance.the_network().W
    apart = [float(np.abs(network.W - W).max()) / max(float(np.abs(W).max()), 1e-300) for network in instance.networks]
    return Findings(
        value("steps compared", len(errors)),
        value("largest entry of a step", max(sizes, default=0.0)),
        hypotheses=(below("records that follow each other: 0 against their number", 0.0, len(errors)),),
        claims=(
            at_most(
                "error of a step, relative to its largest entry",
                np.array(errors) / np.maximum(sizes, 1e-300) if errors else math.nan,
                1e-10,
                tolerance=0.0,
            ),
            *((at_most("ends by other engines differ by", max(apart), 1e-12, tolerance=0.0),) if apart else ()),
        ),
    )


@cache
def odd_network(silent: bool = True) -> Instance:
    """The trained network of the instance C = 16 with one more neuron, silent or not."""
    good = c16()
    network = good.the_network()
    m = network.width + 1
    rng = np.random.default_rng(0)
    W = np.vstack([network.W, rng.standard_normal(network.dimension) * np.abs(network.W).mean()])
    v = np.append(np.sign(network.v), 0.0 if silent else 1.0) / math.sqrt(m)
    name = f"{m} neurons, the last of them {'silent' if silent else 'with an output as well'}"
    return Instance(name=name, network=TwoLayer(W=W, v=v, outputs="frozen"), data=good.data)


@stated(
    id="FCB22/Setting.OddWidth",
    kind="remark",
    number="Section 2.1, odd m",
    meaning="For odd m one output is set to 0: the last neuron neither speaks nor moves, and the rest is an even "
    "network.",
    formula=r"a_m = 0: \quad f(x; W) = \sqrt{1 - \tfrac1m} \, f^{(m-1)}(x; W), \quad \nabla_{w_m} L = 0",
    example=odd_network,
    control=lambda: odd_network(silent=False),
    control_shows="an odd number of outputs that are all 1/sqrt(m) in size: one sign has a neuron more",
    control_outcome="violated",
    remark="Lemma 4.2 counts quarters of m; with m - 1 in its place nothing changes but constants.",
)
def odd_width(instance: Instance) -> Findings:
    """f, the gradient of the last neuron, and the balance of the outputs, which are 1/sqrt(m), not 1/sqrt(m - 1)."""
    network, data = instance.the_network(), instance.the_data()
    m = network.width
    hypotheses = (true("m is odd", m % 2 == 1), true("no bias", network.b is None))
    require(hypotheses, "an odd number of neurons is needed", given=not unmet(hypotheses) and m >= 3)
    even = TwoLayer(W=network.W[:-1], v=network.v[:-1] * math.sqrt(m / (m - 1)), outputs="frozen")
    f = network(data.X)
    gradient = network.gradient(data.X, data.y)
    scale = float(np.abs(f).max())
    return Findings(
        value("m", m),
        value("sqrt(1 - 1/m)", math.sqrt(1 - 1 / m)),
        hypotheses=hypotheses,
        claims=(
            equal("f against sqrt(1 - 1/m) f of m - 1 neurons", f, math.sqrt(1 - 1 / m) * even(data.X), scale=scale),
            equal("gradient of the last neuron", gradient.W[-1], 0.0, scale=float(np.abs(gradient.W).max())),
            equal("sum of the outputs", float(network.v.sum()), 0.0, scale=1.0),
        ),
    )
