r"""[KYS23, Theorem 4.1]: near-max-margin KKT points overfit benignly, in the form that can be tested.

The literal constants have c_4 = a/2 with a < C sqrt(2) / (18 sqrt(3)), C = (12 C_op)^(-1/2). The deterministic form
below has the same two implications with what the sample at hand gives in place of the universal constants.
"""

import math
from dataclasses import replace
from typing import Final

from marginflow.data import Dataset
from marginflow.networks import TwoLayer
from marginflow.theory.check import Relation
from marginflow.theory.frame import (
    Check,
    Erratum,
    Findings,
    Instance,
    above,
    at_least,
    at_most,
    is_kkt_point,
    require,
    stated,
    true,
    unmet,
    value,
)
from marginflow.theory.kys23.region import C2_PROOF, C3_PROOF, THEOREM_4_1
from marginflow.theory.kys23.sphere_points import pair_point
from marginflow.theory.kys23.thm_4_1.b1_bias_dom import certain_error, dominance, log_any_width_bound
from marginflow.theory.kys23.thm_4_1.lem_b2 import least_norm
from marginflow.theory.kys23.thm_4_1.max_margin import MaxMargin, linearly_separable, max_margin
from marginflow.theory.kys23.unit_sphere import SphereSample, beta_of, noisy_sphere, separates, size_of
from marginflow.theory.probability import log_beta_tail


def literal_c4(C_op: float) -> float:
    """The c_4 that the proof gives: half of C sqrt(2) / (18 sqrt(3)), C = (12 C_op)^(-1/2)."""
    return math.sqrt(2) / (18 * math.sqrt(3)) / math.sqrt(12 * C_op) / 2


def _near_max_margin(K: float, best: MaxMargin, relation: Relation, bound: float) -> Check:
    """||theta||^2 / ||theta*||^2, up to a bracket, against a bound."""
    return Check(
        "||theta||^2 / ||theta*||^2",
        K / best.lower,
        relation,
        bound,
        interval=(K / best.upper, max(K / best.lower, K / best.upper)),
        note="||theta*||^2 is bracketed by the exact pair and the dual function",
    )


def _fitted(instance: Instance) -> tuple[SphereSample, TwoLayer, MaxMargin, tuple[Check, ...]]:
    """The sample, the network at margin 1, the least norm, and what is asked of them; a judge ends here without."""
    network, data = instance.the_network(), instance.the_data()
    sample, fits = SphereSample(data), separates(network, data)
    asked = (fits, sample.unit_norms(), sample.some_negative())
    usable = not unmet(fits) and network.b is not None and sample.k not in (0, sample.m)
    require((*asked, sample.some_positive()), "a fitted network with biases is needed", given=usable)
    separable = true("linearly separable", linearly_separable(data))
    require((fits, separable), "nothing is known of the least norm", given=not unmet(separable))
    return sample, network.at_margin_one(data.X, data.y), max_margin(data), (*asked, is_kkt_point(instance))


def _proved_error(network: TwoLayer, data: Dataset, d: int) -> float:
    return min(dominance(network, data).log_bound, log_any_width_bound(network, d))


def log_far_from_span(sample: SphereSample) -> float:
    """ln P(||P x||^2 >= C_op / q), P the projection on the span of the samples: how large d must be for Implication B.

    beta > 1/2 and ||theta||^2 < sqrt(q / C_op) give N(x) > 1/2 - ||P x|| sqrt(q / C_op) / 2.
    """
    r = min(sample.m, sample.d)
    if sample.d <= r or sample.q == 0:
        return 0.0
    return log_beta_tail(min(1.0, sample.C_op / sample.q), r / 2, (sample.d - r) / 2)


def literal_constants(C_op: float) -> dict[str, float]:
    """c_1 to c_4 as the proof gives them: p <= 1/4 by Lemma B.3, and p <= c_4^2 as the ratio of the norms is >= 1."""
    c4 = literal_c4(C_op)
    return {"c1": min(0.25, c4**2), "c2": C2_PROOF, "c3": C3_PROOF, "c4": c4}


EXAMPLE_CONSTANTS: Final = {"c1": 0.05, "c2": 2.5, "c3": C3_PROOF, "c4": 0.155}


@stated(
    id="KYS23/Thm4.1",
    meaning="In high dimension, KKT points whose norm is near the least one have almost no clean error.",
    formula=r"p \le c_1, \ m \ge \frac{c_2 \ln(1/\delta)}{p}, \ d \ge c_3 m^2 \ln\frac{m}{\epsilon} "
    r"\ln\frac{m}{\delta}, \ \|\theta\|^2 \le \frac{c_4}{\sqrt{p}} \|\theta^*\|^2 \implies L_{cl} \le \epsilon",
    needs=("network", "data", "law"),
    parameters={
        "epsilon": "0.01 by default",
        "delta": "0.1 by default",
        **{
            name: f"{name[0]}_{name[1]}, which the paper leaves open; that of its proof by default"
            for name in EXAMPLE_CONSTANTS
        },
    },
    example=lambda: replace(pair_point(300, 6, 10**12), parameters=dict(EXAMPLE_CONSTANTS)),
    control=lambda: pair_point(60, 30, 10**9),
    control_shows="with half of the labels turned even the max-margin network is too large, and the error is a half",
    region=THEOREM_4_1,
    proved=r"c_2 = 5, \quad c_3 = 648, \quad c_4 < \frac{1}{36 \sqrt{18\, C_{op}}} \approx 0.0065 \implies p \le 4.3 "
    r"\cdot 10^{-5}, \ m \ge 268{,}583, \ d \ge 2 \cdot 10^{14}",
    sharp=r"\text{KYS23/Thm4.1-sharp}",
    remark="The example uses constants that its sample meets and names them; with those of the proof no network that "
    "can be stored qualifies.",
    errata=(
        Erratum.wrong_constant(
            "The constants of the proof need p <= 4.3e-5, m >= 268,583 and d >= 2e14 at delta = 0.1: the ratio of "
            "the norms is at least 1, so that p <= c_4^2.",
            repair="KYS23/Thm4.1-sharp, where p of about 0.06 qualifies",
        ),
        Erratum.slip(
            "||theta*|| is written where ||theta*||^2 is meant, 'K <= c_4/sqrt(p) S' has an undefined S, and the "
            "intuition says Omega(|I_+|) and O(|I_-|) where the lemmas have square roots."
        ),
    ),
)
def theorem_4_1(instance: Instance) -> Findings:
    """The four conditions with the constants given, or those of the proof; the clean error, proved and counted."""
    epsilon, delta = instance.number("epsilon", 0.01), instance.number("delta", 0.1)
    p = noisy_sphere(instance.the_law()).p
    sample, network, best, asked = _fitted(instance)
    proof = literal_constants(sample.C_op)
    c = {name: instance.number(name, default) for name, default in proof.items()}
    m, d, K = sample.m, sample.d, size_of(network)
    proved = _proved_error(network, instance.the_data(), d)
    least_d = c["c3"] * m**2 * math.log(m / epsilon) * math.log(m / delta)
    return Findings(
        value("||theta||^2", K),
        *(value(f"{name[0]}_{name[1]} of the proof", number) for name, number in proof.items()),
        hypotheses=(
            *asked,
            at_most("p against c_1", p, c["c1"]),
            at_least("m", m, c["c2"] * math.log(1 / delta) / p if p > 0 else math.inf, note="c_2 ln(1/delta) / p"),
            at_least("d", d, least_d, note="c_3 m^2 ln(m/epsilon) ln(m/delta)"),
            _near_max_margin(K, best, "<=", c["c4"] / math.sqrt(p) if p > 0 else math.inf),
        ),
        claims=(certain_error(instance, network, proved, epsilon),),
        proof_steps=(above("beta", beta_of(network), 0.5),),
        unspecified=tuple(value(f"{name[0]}_{name[1]}", number) for name, number in c.items()),
    )


@stated(
    id="KYS23/Thm4.1-sharp",
    number="Theorem 4.1, in the numbers of the sample",
    meaning="In high dimension, KKT points whose norm is near the least one have beta > 1/2 and almost no clean error.",
    formula=r"\|\theta\|^2 \le \frac{c_4}{\sqrt{p}} \|\theta^*\|^2 \implies \|\theta\|^2 < \sqrt{\frac{|I_+|}{\|X "
    r"X^\top\|}} \implies \sum_j v_j \sigma(b_j) > \tfrac12 \implies L_{cl} \le \epsilon",
    needs=("network", "data", "law"),
    parameters={"epsilon": "0.01 by default"},
    example=lambda: pair_point(300, 6, 10**12),
    control=lambda: pair_point(60, 30, 10**9),
    control_shows="with half of the labels turned even the max-margin network is too large, and the error is a half",
    sharp=r"\|\theta\|^2 < \sqrt{\frac{|I_+|}{\|X X^\top\|}}, \quad \Pr\left[\|P x\|^2 \ge \frac{\|X X^\top\|}"
    r"{|I_+|}\right] \le \epsilon",
    remark="In this form the max-margin network itself qualifies up to k/q of about 1/16, p of about 0.06.",
)
def theorem_4_1_sharp(instance: Instance) -> Findings:
    """The norm against its least value, beta, and the clean error, proved and counted."""
    epsilon = instance.number("epsilon", 0.01)
    noisy_sphere(instance.the_law())  # points of another law would show nothing
    sample, network, best, asked = _fitted(instance)
    K = size_of(network)
    proved = _proved_error(network, instance.the_data(), sample.d)
    allowed = least_norm(sample) / best.upper  # then ||theta||^2 < sqrt(q / C_op), which c_4 / sqrt(p) stands for
    large = at_most(
        "ln P(||P x||^2 >= C_op / q)", log_far_from_span(sample), math.log(epsilon), note="d is large enough"
    )
    c4 = literal_c4(sample.C_op)
    return Findings(
        value("p, realised", sample.k / sample.m),
        value("C_op", sample.C_op),
        value("rho |I_-|", sample.rho * sample.k),
        value("||theta||^2", K),
        value("||theta*||^2, lower", best.lower),
        value("||theta*||^2, upper", best.upper),
        value("c_4 that this sample allows", allowed * math.sqrt(sample.k / sample.m)),
        value("c_4 of the proof", c4),
        value("p that c_4 of the proof allows", c4**2, "the ratio is at least 1"),
        value("m that this p needs, delta = 0.1", 5 * math.log(10) / c4**2),
        hypotheses=(*asked, _near_max_margin(K, best, "<", allowed), large),
        claims=(above("beta", beta_of(network), 0.5), certain_error(instance, network, proved, epsilon)),
    )
