r"""[FVBS23/X.ConvexPairKKT, X.ClosedFormKKT] KKT points from a convex program and in closed form."""

import math
from dataclasses import replace

import numpy as np

from marginflow.networks.evaluation import augmented_samples
from marginflow.robustness import minimal_step
from marginflow.theory.frame import Findings, Instance, at_least, at_most, equal, is_kkt_point, require, stated, value
from marginflow.theory.fvbs23.neurons import CertifiedNeurons
from marginflow.theory.fvbs23.presets import B, means_point, preset, specialist_point, stated_of_sample


@stated(
    id="FVBS23/X.ConvexPairKKT",
    kind="construction",
    number="Derived: a convex program whose optimality conditions are those of Problem (2)",
    meaning="On separable data one positive and one negative neuron from a convex program are an exact KKT point.",
    formula=r"\min \|U_+\| + \|U_-\| \text{ s.t. } U_{y_i}^\top \tilde x_i \ge 1, \quad (U_{y_i} - U_{-y_i})^\top "
    r"\tilde x_i \ge 1",
    example=lambda: preset(B),
    control=specialist_point,
    control_shows="one neuron per cluster is not a pair",
)
def x_pair(instance: Instance) -> Findings:
    """One direction per sign, active on its own class, and the residual of the certificate."""
    certificate = instance.certificate
    network, data = certificate.network, instance.the_data()
    b = np.zeros(network.width) if network.b is None else network.b
    U = network.v[:, None] * np.column_stack([network.W, b])
    parts = (U[network.v > 0], U[network.v < 0])
    sums = [part.sum(axis=0) for part in parts]
    norms = [float(np.linalg.norm(total)) for total in sums]
    spread = max(float(np.linalg.norm(part, axis=1).sum()) - norm for part, norm in zip(parts, norms, strict=True))
    Xt = augmented_samples(data.X, bias=True)
    plus, minus = Xt @ sums[0], -(Xt @ sums[1])
    own, other = np.where(data.y > 0, (plus, minus), (minus, plus))
    return Findings(
        value("support", float(certificate.support.sum()), f"of {data.n_samples}"),
        value("width", network.width),
        hypotheses=(at_most("sum of lengths - length of the sum, per sign", spread, 0.0, scale=sum(norms)),),
        claims=(
            is_kkt_point(instance),
            at_least("U_own . (x, 1)", own, 1.0),
            at_least("U_own . (x, 1) - U_other . (x, 1)", own - other, 1.0),
        ),
        arithmetic=(
            equal("||U+|| + ||U-||", sum(norms), certificate.norm_squared / 2),
            equal("sum of the multipliers", float(certificate.multipliers.sum()), sum(norms), tolerance=1e-8),
        ),
    )


@stated_of_sample(
    id="FVBS23/X.ClosedFormKKT",
    kind="construction",
    number="Derived, sigma = 0",
    meaning="Two KKT points in closed form: a pair with every opposite mean on a kink, and one neuron per cluster.",
    formula=r"U_+ = a \sum_{I_+} \tilde x - \beta \sum_{I_-} \tilde x, \ a = \frac{d + k_-}{d (d + k)}, \ "
    r"\beta = \frac{k_+}{d (d + k)}; \qquad \lambda_q = (d + 1)^{-1/2}, \ S_q = \frac{1}{d + 1}",
    parameters={"form": "pair or specialist"},
    example=lambda: replace(specialist_point(), parameters={"form": "specialist"}),
    control=lambda: replace(means_point(), parameters={"form": "specialist"}),
    control_shows="the pair is not the closed form with one neuron per cluster",
    control_outcome="violated",
    sharp=r"\eta_{flip} = \frac{d + 1 + k_- (\rho - 1)}{(d + \rho)(1 + k_-)}",
    remark="The specialists flip at eta of about 1/(1 + k_-), the pair at 1/k: both are KKT points of the same data.",
)
def x_closed(instance: Instance) -> Findings:
    """(i) the pair with kinks on orthogonal means; (ii) one neuron per mean with inner products -rho."""
    form = instance.word("form", "pair", ("pair", "specialist"))
    neurons = CertifiedNeurons.of(instance)
    s, data = neurons.sample.setting, instance.the_data()
    certificate = instance.certificate
    lam = certificate.multipliers
    n_plus, n_minus = int((s.y > 0).sum()), int((s.y < 0).sum())
    d, k = s.d, s.k
    hypotheses = (at_most("sigma", s.sigma, 0.0), equal("n", data.n_samples, k), s.two_labels())
    both = n_plus > 0 and n_minus > 0 and np.unique(data.y).size == 2
    require(hypotheses, "the closed forms are about samples of both labels", given=both)
    eta = float(minimal_step(certificate.network, data.X, data.y, neurons.sample.u).all_at_once)
    if form == "pair":
        a = np.where(data.y > 0, d + n_minus, d + n_plus) / (d * (d + k))
        norm = np.sqrt(a * np.where(data.y > 0, n_plus, n_minus))
        beta = n_plus / (d * (d + k))
        phi = beta / math.sqrt((d + n_minus) / (d * (d + k)) * n_plus) / float((a / norm)[data.y < 0][0])
        pre = neurons.preactivations(data.X)
        kinks = np.abs(pre)[neurons.v[None, :] * data.y[:, None] < 0]
        weights = certificate.clarke[data.y < 0][:, neurons.positive]
        conclusions = [
            equal("lambda", lam, a / norm),
            at_most("inputs of the other class", kinks, 0.0, scale=neurons.input_scale().max()),
            equal("Clarke weight at the kinks", weights, phi, tolerance=1e-8),
        ]
    else:
        rho = float(-s.gram[0, 1])
        flips = (d + 1 + n_minus * (rho - 1)) / ((d + rho) * (1 + n_minus))
        conclusions = [
            equal("lambda", lam, (d + 1) ** -0.5),
            equal("S_q", neurons.S_own, 1 / (d + 1)),
            equal("|v|", np.abs(neurons.v), (d + 1) ** -0.25),
            equal("smallest eta that flips all", eta, flips, note="(d+1+k_-(rho-1))/((d+rho)(1+k_-)), balanced labels"),
        ]
    return Findings(
        value("k times the smallest eta that flips all", k * eta),
        hypotheses=hypotheses,
        claims=(is_kkt_point(instance), *conclusions),
    )
