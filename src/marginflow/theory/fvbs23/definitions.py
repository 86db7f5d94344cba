r"""[FVBS23, Section 2] The data, the network, the max-margin problem and its KKT conditions."""

import math
from dataclasses import replace
from typing import Final

import numpy as np

from marginflow.certificates import DEFAULT_TOLERANCE
from marginflow.networks import TwoLayer
from marginflow.robustness import minimal_step
from marginflow.theory.frame import Check, Findings, Instance, at_least, at_most, equal, stated, true, value
from marginflow.theory.fvbs23.neurons import CertifiedNeurons
from marginflow.theory.fvbs23.presets import A, flipped_label, preset, scaled_neurons, stated_of_sample
from marginflow.theory.fvbs23.setting import ClusterSample
from marginflow.theory.instances import opposite

FACTORS: Final = (0.5, 2.0, 7.0)


@stated(
    id="FVBS23/Def-Net",
    number="Section 2, Neural networks",
    meaning="Two layers, ReLU, hidden biases, no output bias; both layers trained: homogeneous of degree 2.",
    formula=r"N_\theta(x) = \sum_{j=1}^m v_j \phi(w_j^\top x + b_j), \quad N_{a\theta} = a^2 N_\theta, \quad "
    r"\mathrm{sign}(0) = -1",
    needs=("network", "test"),
    parameters={"exponent": "the claimed degree of homogeneity, 2"},
    example=lambda: preset(A),
    control=lambda: preset(A).only("network", "test", name="degree 1", parameters={"exponent": 1.0}),
    control_shows="degree 1 belongs to networks with frozen outputs",
    remark="sign(z) is 1 for z > 0 and -1 otherwise, so that flips are asymmetric in y at N = 0.",
)
def def_net(instance: Instance) -> Findings:
    """N added up term by term, its homogeneity, and the convention at zero."""
    network, X = instance.the_network(), instance.the_test().X
    exponent = instance.number("exponent", 2.0, at_least=-100.0, at_most=100.0)
    b = np.zeros(network.width) if network.b is None else network.b
    direct = sum(
        (v * np.maximum(X @ w + bias, 0.0) for w, bias, v in zip(network.W, b, network.v, strict=True)),
        start=np.zeros(X.shape[0]),
    )
    values = network(X)
    scale = float(np.abs(values).max())
    checks: list[Check] = [equal("N(x), term by term", values, direct, scale=scale, tolerance=1e-12)]
    for a in FACTORS:
        moved, factor = replace(network, outputs="trained").scaled(a)(X), a**exponent
        checks.append(equal(f"N at {a:g} theta", moved, factor * values, scale=factor * scale, tolerance=1e-12))
    # N(x) = relu(x) in one dimension vanishes, and stays zero, from x = 0 on.
    unit = np.ones(1)
    step = minimal_step(TwoLayer(W=unit[:, None], b=0 * unit, v=unit), unit[:, None], unit, unit, at_zero="negative")
    checks.append(true("sign(0) = -1: a positive point flips at N = 0", float(step.first[0]) == 1.0))
    return Findings(value("width", network.width), value("test points", float(X.shape[0])), claims=tuple(checks))


@stated(
    id="FVBS23/Prob2",
    kind="definition",
    number="Equation (2)",
    meaning="The max-margin problem in parameter space; at a KKT point the multipliers add up to its objective.",
    formula=r"\min_\theta \tfrac{1}{2} \|\theta\|^2 \text{ s.t. } y_i N_\theta(x_i) \ge 1, \qquad "
    r"\sum_i \lambda_i = \tfrac{1}{2} \|\theta\|^2",
    example=lambda: preset(A),
    control=lambda: opposite(preset(A)),
    control_shows="no multiple of the opposite network is feasible",
    remark="Constants are compared at margin 1 only; a trained network is rescaled first.",
)
def problem_2(instance: Instance) -> Findings:
    """Feasible after scaling, the objective equal to the sum of the multipliers, and not below the dual bound."""
    certificate = instance.certificate
    theta = certificate.norm_squared / 2
    return Findings(
        value("||theta||^2 / 2", theta),
        value("factor to margin 1", certificate.scale),
        claims=(at_least("y_i N(x_i)", certificate.margins, 1.0),),
        derived=(at_most("stationarity", certificate.stationarity, DEFAULT_TOLERANCE, tolerance=0.0),),
        arithmetic=(equal("sum of the multipliers", float(certificate.multipliers.sum()), theta, tolerance=1e-7),),
    )


@stated_of_sample(
    id="FVBS23/KKT",
    kind="definition",
    number="Equations (3)-(4), repeated as (6)-(7)",
    meaning="First-order stationarity of Problem (2) with Clarke subgradients at kinks.",
    formula=r"w_j = v_j \sum_i \lambda_i y_i \phi'_{ij} x_i, \quad b_j = v_j \sum_i \lambda_i y_i \phi'_{ij}, \quad "
    r"\lambda_i \ge 0, \quad \lambda_i (y_i N_\theta(x_i) - 1) = 0, \quad y_i N_\theta(x_i) \ge 1",
    parameters={"scale": "'margin one' rescales theta first; 'as given' takes the conditions literally"},
    control=scaled_neurons,
    control_shows="v times 1.1 and (w, b) over 1.1: the same function, not stationary",
    printed=r"\phi'_{ij} = 1[w_j^\top x_i + b_j \ge 0] \text{ off the kink, any value in } [0, 1] \text{ on it}",
    sharp=r"v_j = \sum_i \lambda_i y_i \phi(w_j^\top x_i + b_j) \implies \|w_j\|^2 + b_j^2 = v_j^2, \quad "
    r"\sum_i \lambda_i = \tfrac{1}{2} \|\theta\|^2",
    remark="The condition for v_j is not printed and never used; it belongs to the definition and is checked too. "
    "One vector lambda serves all neurons.",
)
def kkt(instance: Instance) -> Findings:
    """The printed conditions one by one, the missing one for v, and what follows from all."""
    certificate = instance.certificate
    neurons = CertifiedNeurons.of(instance)
    network, data = certificate.network, instance.the_data()
    lam, mu, v = certificate.multipliers, certificate.mu, network.v
    norm = float(np.sqrt(certificate.norm_squared))
    weights = v[:, None] * ((mu * data.y[:, None]).T @ data.X)
    biases = v * (mu.T @ data.y)
    # relu(w_j . x_i + b_j) = phi'_ij (w_j . x_i + b_j), also on the kink, where both vanish.
    outputs = (lam * data.y) @ np.maximum(neurons.preactivations(data.X), 0.0)
    balance = (network.W**2).sum(axis=1) + neurons.b**2 - v**2
    scale = float(lam.max(initial=0.0))
    given = instance.word("scale", "margin one", ("margin one", "as given")) == "as given"
    least = certificate.scale**-2  # of the network that was handed in, which has degree 2
    return Findings(
        value("margin samples", float(certificate.margin_set.sum())),
        value("support", float(certificate.support.sum())),
        value("kinks", certificate.kink_report.count),
        claims=(
            at_most("||w - v sum lambda y phi' x|| / ||theta||", np.linalg.norm(network.W - weights) / norm, 1e-9),
            at_most("||b - v sum lambda y phi'|| / ||theta||", np.linalg.norm(neurons.b - biases) / norm, 1e-9),
            at_most("||v - sum lambda y relu|| / ||theta||", np.linalg.norm(v - outputs) / norm, 1e-9),
            at_least("lambda", lam, 0.0),
            at_least("y_i N(x_i)", certificate.margins, 1.0),
            at_most("lambda_i (y_i N(x_i) - 1)", lam * (certificate.margins - 1.0), 0.0, scale=scale),
            at_most("kinks relied on", certificate.kink_report.relied_on, 1e-9),
            *((equal("least margin of theta as given", least, 1.0, tolerance=1e-9),) if given else ()),
        ),
        arithmetic=(
            at_most("||w_j||^2 + b_j^2 - v_j^2", np.abs(balance).max(), 0.0, scale=norm**2),
            equal("sum lambda against ||theta||^2 / 2", float(lam.sum()), norm**2 / 2, tolerance=1e-8),
        ),
    )


# p-values of goodness-of-fit tests below this (or above one minus this) speak against the law.
SIGNIFICANT: Final = 1e-4


@stated(
    id="FVBS23/Def-Dclusters",
    number="Section 2, Clustered data",
    meaning="A cluster at random, Gaussian noise around its mean, and the label of the cluster.",
    formula=r"j \sim \mathcal{U}([k]), \quad x \sim \mathcal{N}(\mu^{(j)}, \sigma^2 I_d), \quad y = y^{(j)}",
    needs=("data", "law"),
    example=lambda: preset(A),
    control=flipped_label,
    control_shows="one label is not that of its cluster",
    remark="Both labels must occur, so k >= 2; Lemma A.9 uses it.",
)
def def_dclusters(instance: Instance) -> Findings:
    """Labels by definition; noise and cluster sizes by goodness of fit."""
    from scipy import stats  # slow to import, and needed by few

    sample = ClusterSample.of(instance)
    s = sample.setting
    sizes = np.bincount(sample.clusters, minlength=s.k)
    norms = gaussian = math.nan
    if s.sigma > 0 and s.u_norm > 0:
        norms = float(stats.chi2.cdf(float((sample.noise_norms**2).sum()) / s.sigma**2, sample.n * s.d))
        gaussian = float(stats.kstest(sample.noise @ sample.u / (s.sigma * s.u_norm), "norm").pvalue)
    return Findings(
        value("smallest cluster", float(sizes.min())),
        value("largest cluster", float(sizes.max())),
        hypotheses=(s.two_labels(),),
        claims=(
            sample.own_labels(),
            at_least("p-value of equally likely clusters", stats.chisquare(sizes).pvalue, SIGNIFICANT, tolerance=0.0),
            at_least("P(chi^2 below the sum of the squared noise)", norms, SIGNIFICANT, tolerance=0.0),
            at_most("the same, from above", norms, 1 - SIGNIFICANT, tolerance=0.0),
            at_least("p-value of Gaussian noise along u", gaussian, SIGNIFICANT, tolerance=0.0),
        ),
    )
