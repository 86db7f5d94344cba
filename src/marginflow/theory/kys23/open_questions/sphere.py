r"""[KYS23, Sections 4 to 6] Open questions in dimension two and more: measured, never decided."""

import math
from dataclasses import replace
from functools import cache

import numpy as np

from marginflow.certificates import certify, certify_deep
from marginflow.data import Dataset, NoisySphere
from marginflow.generalisation import Estimate, specialists_error
from marginflow.limit import catastrophic, kkt_point
from marginflow.networks import MLP
from marginflow.theory.frame import (
    Check,
    Findings,
    Instance,
    above,
    at_least,
    at_most,
    is_kkt_point,
    require,
    stated,
    true,
    value,
)
from marginflow.theory.instances import at_limit, changed
from marginflow.theory.kys23.clean_error import clean_error, fresh_error
from marginflow.theory.kys23.prop_4_5 import positive_neurons
from marginflow.theory.kys23.recorded import sphere_deep
from marginflow.theory.kys23.sphere_points import frozen_low, frozen_point, noisy_data, pair_point, trained_point
from marginflow.theory.kys23.thm_4_1.lem_b2 import least_norm
from marginflow.theory.kys23.thm_4_1.max_margin import linearly_separable, max_margin
from marginflow.theory.kys23.thm_4_3.orthonormal import closed_form_B
from marginflow.theory.kys23.unit_sphere import SphereSample, beta_of, size_of, without_bias


@cache
def error_at(m: int, k: int, d: int) -> Estimate:
    """The clean error of a KKT point with 3m neurons on m samples, k of them negative, in dimension d."""
    law = NoisySphere(dimension=d, p=k / m, count="exact")
    data = law.sample(m, seed=0)
    return fresh_error(Instance(law=law, data=data), kkt_point(data, width=3 * m, seed=0).network)


@stated(
    id="KYS23/O1",
    number="Section 6: between one dimension and d of order m^2",
    meaning="How does the error grow with p when the dimension is constant, or of the order of m?",
    formula=r"2 \le d \lesssim m: \quad \frac{\partial L_{cl}}{\partial p}",
    needs=("parameters",),
    parameters={"m": "samples", "dimension": "d; 4d is measured beside it"},
    example=lambda: Instance(name="m = 12, d = 6 and 24", parameters={"m": 12, "dimension": 6}),
    control=lambda: Instance(name="m = 12, d = 10^6", parameters={"m": 12, "dimension": 10**6}),
    control_shows="d beyond m^2 is the regime of Theorem 4.1",
)
def o1(instance: Instance) -> Findings:
    """Clean errors at two noise rates, in dimension d and 4d."""
    m, d = instance.whole("m"), instance.whole("dimension")
    rows = [value("d/m", d / m)]
    hypotheses = require((at_least("d", d, 2), at_most("d against m^2", d, m**2), at_least("m", m, 6)), "", *rows)
    low, high = max(1, m // 8), 3 * m // 8
    for dimension in (d, 4 * d):
        errors = [error_at(m, k, dimension) for k in (low, high)]
        slope = (errors[1].value - errors[0].value) * m / (high - low)
        rows += [
            value(f"d/m = {dimension / m:g}: clean error at p = {k / m:.3g}", error.value, str(error))
            for k, error in zip((low, high), errors, strict=True)
        ]
        rows.append(value(f"d/m = {dimension / m:g}: slope of the error against p", slope, "1 for 1-NN"))
    return Findings(*rows, hypotheses=hypotheses)


@cache
def _widths() -> Instance:
    points = [frozen_point(60, n, 6, 10**10) for n in (2, 8)]
    return Instance(
        name="2 and 8 frozen outputs, 60 samples, 6 negative",
        data=points[0].data,
        networks=tuple(point.the_network() for point in points),
    )


@stated(
    id="KYS23/O5",
    number="After Theorem 4.3: the dependence on n",
    meaning="Is p = O(1/n^2) needed? B on exact KKT points with frozen outputs, against n at fixed p.",
    formula=r"B(n) = \sum_{v_j = 1} b_j - \sum_{v_j = -1} b_j",
    needs=("networks", "data"),
    example=_widths,
    control=lambda: Instance(name="in dimension 3", data=frozen_low().data, networks=(frozen_low().the_network(),)),
    control_shows="the samples are far from orthogonal",
    sharp=r"x_i^\top x_l = 0 \ (i \ne l) \implies B = \frac{q - k}{1 + m}",
    remark="Not in the orthonormal limit: there every KKT point has this B, whatever n and the frozen outputs are "
    "(proved in thm_4_3/orthonormal.py), so any p below 3/8 gives B > 1/4 for large m.",
)
def o5(instance: Instance) -> Findings:
    """B of every given network, beside the value on orthonormal samples."""
    data = instance.the_data()
    sample = SphereSample(data)
    judged = [certify(network, data, hard_patterns=False) for network in instance.networks]
    rows: list[Check] = []
    for certificate in judged:
        network = certificate.network
        if network.b is None or certificate.status == "does not separate":
            continue
        n = network.width
        rows += [
            value(f"n = {n}: B", float(network.v @ network.b)),
            value(f"n = {n}: |I_-| n^2 / m", sample.k * n**2 / sample.m, "the theorem asks for at most 1/22"),
        ]
    return Findings(
        value("(q - k)/(1 + m)", closed_form_B(sample.q, sample.k), "B of every KKT point on orthonormal samples"),
        *rows,
        hypotheses=(is_kkt_point(judged, "KKT residuals"), at_most("m^2 rho", sample.m**2 * sample.rho, 0.5)),
    )


@stated(
    id="KYS23/O6",
    number="Section 6: Theorem 4.1 without its condition on the norm",
    meaning="KKT points with trained outputs in high dimension: how far from max-margin, and how large is beta?",
    formula=r"\frac{\|\theta\|^2}{\|\theta^*\|^2}, \quad \beta = \sum_j v_j \sigma(b_j)",
    needs=("network", "data", "law"),
    example=lambda: trained_point(40, 4, 10**6, 40),
    control=lambda: changed(
        pair_point(40, 4, 10**6),
        "the pair with its biases doubled",
        lambda network: replace(network, b=2 * network.augmented[:, -1]),
        "law",
    ),
    control_shows="not a KKT point",
    sharp=r"x_i^\top x_l = 0 \ (i \ne l) \implies \|\theta\| = \|\theta^*\|, \ \beta = \frac{q - k}{1 + m}",
    remark="On orthonormal samples the KKT point with biases is unique up to splitting neurons: the pair, which is "
    "max-margin (proved in thm_4_3/orthonormal.py). The condition of Theorem 4.1 on the norm is then no condition.",
)
def o6(instance: Instance) -> Findings:
    """The norm against its least value, beta, and the clean error of one KKT point."""
    data = instance.the_data()
    sample = SphereSample(data)
    network = instance.certificate.network
    kkt, K = is_kkt_point(instance), size_of(network)
    separable = kkt.state == "met" and linearly_separable(data)
    hypotheses = (kkt, above("d against m", sample.d, sample.m), true("linearly separable", separable))
    sizes = (value("beta", beta_of(network)), value("||theta||^2", K))
    require(hypotheses, "", *sizes, given=separable)
    best, error = max_margin(data), fresh_error(instance, network)
    return Findings(
        *sizes,
        value("||theta||^2 / ||theta*||^2, at least", K / best.upper),
        value("||theta||^2 / ||theta*||^2, at most", K / best.lower),
        value("ratio that Theorem 4.1 allows", least_norm(sample) / best.upper),
        value("clean error", error.value, str(error)),
        hypotheses=hypotheses,
    )


@cache
def continued(m: int, k: int, d: int, seed: int) -> Instance:
    """The KKT point that is reached from the construction of Proposition 4.6 on the nearest orthonormal samples."""
    _, data = noisy_data(m, k, d, seed)
    left, _, right = np.linalg.svd(data.X)
    start = catastrophic(Dataset(X=left @ right, y=data.y)).network
    limit = kkt_point(data, start=start, flow_steps=0)
    return at_limit(limit, data, f"from the construction, {m} random samples, {k} negative, d = {d}")


@stated(
    id="KYS23/O7",
    number="After Proposition 4.6: random samples",
    meaning="Does the KKT point of Proposition 4.6 survive on random samples in high dimension?",
    formula=r"X X^\top = I + E: \quad \theta(E), \quad L_{cl}(N_{\theta(E)})",
    example=lambda: continued(12, 3, 10**4, 2),
    control=lambda: pair_point(40, 4, 10**6),
    control_shows="a network with biases",
    remark="It does where all inner products of negative samples are negative. A positive one makes the specialist "
    "of one sample active on the other, and no Clarke weight undoes that, for both have the neuron's own label: "
    "the two merge.",
)
def o7(instance: Instance) -> Findings:
    """What is left of the specialists, and the clean error."""
    data = instance.the_data()
    sample = SphereSample(data)
    network = instance.certificate.network
    found = clean_error(network.compact(tolerance=1e-6), seed=instance.seed)
    minus = sample.gram[np.ix_(sample.minus, sample.minus)]
    closest = float(np.where(np.eye(sample.k, dtype=bool), -math.inf, minus).max(initial=-math.inf))
    return Findings(
        value("rho", sample.rho),
        value("largest inner product of two negative samples", closest, "specialists merge where it is positive"),
        value("neurons left", network.compact(tolerance=1e-6).width, f"{sample.k + 1} in the construction"),
        value("clean error", found.value, found.how),
        value("clean error of the construction on orthonormal samples", specialists_error(sample.q, sample.k)),
        hypotheses=(without_bias(network), is_kkt_point(instance), sample.some_negative(), sample.some_positive()),
    )


@stated(
    id="KYS23/O9",
    number="Section 6: deeper networks",
    meaning="Do deeper networks overfit in the same way? The error of a trained network of depth three.",
    formula=r"N(x) = W_3 \sigma(W_2 \sigma(W_1 x + b_1))",
    needs=("run", "data", "law"),
    example=sphere_deep,
    control=lambda: sphere_deep(steps=1),
    control_shows="the run has not fitted the samples",
    remark="Other activations than the ReLU are not measured: this library knows no other.",
)
def o9(instance: Instance) -> Findings:
    """The clean error and the KKT residual at the end of a deep run."""
    run, data = instance.the_run(), instance.the_data()
    network = run.network
    margins = network.margins(data.X, data.y)
    depth = len(network.weights) if isinstance(network, MLP) else 2
    residual = certify_deep(network, data).total if isinstance(network, MLP) else certify(network, data).total
    error = fresh_error(instance, network)
    return Findings(
        value("layers", depth),
        value("KKT residual, relu'(0) = 0", residual),
        value("clean error", error.value, str(error)),
        value("noise rate, realised", float((data.y < 0).mean())),
        hypotheses=(above("smallest margin", float(margins.min()), 0.0), at_least("depth", depth, 3)),
    )


@cache
def _bias_less() -> Instance:
    point = trained_point(10, 3, 30, 12, 1, bias=False)
    data = point.the_data()
    second = kkt_point(data, width=12, bias=False, seed=2).network
    return Instance(
        name="two KKT points without bias on 10 samples in dimension 30",
        data=data,
        networks=(point.the_network(), second),
    )


@stated(
    id="KYS23/O10",
    number="Derived: Proposition 4.5 after its repair",
    meaning="What is the least clean error of a KKT point without bias?",
    formula=r"\inf_{\theta\ \mathrm{KKT}} L_{cl}(N_\theta) \ \text{against} \ 2^{-|J_+|}",
    needs=("networks", "data"),
    example=_bias_less,
    control=lambda: pair_point(40, 4, 10**6).only(
        "data", name="a network with biases", networks=(pair_point(40, 4, 10**6).the_network(),)
    ),
    control_shows="biases",
)
def o10(instance: Instance) -> Findings:
    """The clean error of every given network without bias against 2^-|J_+|."""
    data = instance.the_data()
    rows: list[Check] = []
    certificates = [certify(given, data) for given in instance.networks]
    least = 1.0
    for number, judged in enumerate(certificates, start=1):
        network = judged.network.compact(tolerance=1e-6)
        count, cosine = positive_neurons(network)
        found = clean_error(network, seed=instance.seed)
        least = min(least, found.value)
        rows += [
            value(f"network {number}: clean error", found.value, found.how),
            value(f"network {number}: 2^-|J_+|", math.ldexp(1.0, -count), "parallel neurons counted once"),
            value(f"network {number}: smallest cosine in J_+", cosine),
        ]
    none = all(network.b is None for network in instance.networks)
    return Findings(
        value("least clean error found", least),
        *rows,
        hypotheses=(at_least("networks without bias", float(none), 1.0), is_kkt_point(certificates, "KKT residuals")),
    )
