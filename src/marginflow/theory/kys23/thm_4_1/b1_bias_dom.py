r"""[KYS23, proof of Theorem 4.1]: once beta > 1/2, the biases decide the sign on almost every test point."""

import math

import numpy as np

from marginflow.data import Dataset
from marginflow.generalisation import BiasDominance, bias_dominance
from marginflow.networks import TwoLayer
from marginflow.theory.frame import (
    Check,
    Erratum,
    Findings,
    Instance,
    above,
    at_least,
    at_most,
    require,
    stated,
    unmet,
    value,
)
from marginflow.theory.kys23.clean_error import fresh_error
from marginflow.theory.kys23.region import C3_PROOF
from marginflow.theory.kys23.sphere_points import pair_point
from marginflow.theory.kys23.unit_sphere import SphereSample, beta_of, separates, size_of
from marginflow.theory.probability import log_beta_tail


def log_any_width_bound(network: TwoLayer, d: int) -> float:
    r"""ln of a bound on P(N(x) <= 0) that does not depend on the number of neurons.

    N(x) >= beta - ||v|| ||W||_op ||P x||, and the squared length of the part P x of x in the r-dimensional span of the
    weights has the law Beta(r/2, (d - r)/2).
    """
    beta, r = beta_of(network), min(network.dimension, network.width)
    reach = float(np.linalg.norm(network.v) * np.linalg.norm(network.W, 2))
    if beta <= 0 or d <= r:
        return 0.0
    return log_beta_tail(min(1.0, (beta / reach) ** 2), r / 2, (d - r) / 2) if reach > 0 else -math.inf


def certain_error(instance: Instance, network: TwoLayer, log_bound: float, epsilon: float) -> Check:
    """L_cl <= epsilon from what is certain: the counted interval, and the bound that is proved, where it is smaller."""
    counted = fresh_error(instance, network)
    upper = min(counted.upper, math.exp(min(log_bound, 0.0)))
    low = min(counted.lower, upper)
    note = f"{counted.errors} of {counted.trials} counted; proved: at most e^{log_bound:.4g}"
    return Check("clean error", counted.value, "<=", epsilon, interval=(low, upper), note=note)


def dominance(network: TwoLayer, data: Dataset) -> BiasDominance:
    """`bias_dominance` in the dimension that the data stand for."""
    return bias_dominance(network, dimension=max(2, data.full_dimension))


@stated(
    id="KYS23/B1.BiasDom",
    kind="lemma",
    number="Proof of Theorem 4.1, Equation (17)",
    meaning="If beta > 1/2 and d >= K^2 ln(2n/epsilon) / (2 beta^2), the clean error is at most epsilon.",
    formula=r"N(x) \ge \beta - \sum_j |v_j| |w_j^\top x| \ge \beta - \|v\| \|W x\|, \quad \beta = \sum_j v_j "
    r"\sigma(b_j), \quad d \ge \frac{K^2 \ln(2n/\epsilon)}{2 \beta^2} \implies L_{cl} \le \epsilon",
    needs=("network", "data", "law"),
    parameters={"epsilon": "0.01 by default"},
    example=lambda: pair_point(100, 2, 10**6),
    control=lambda: pair_point(40, 20, 10**6),
    control_shows="with as many negative as positive samples beta vanishes and half of the sphere is negative",
    printed=r"\frac12 - \frac{81 m c'' \sqrt{2 \ln(m/\epsilon)}}{\sqrt{d}}",
    proved=r"\frac12 - 9 m \sqrt{\frac{2 c'' \ln(2m/\epsilon)}{d}}",
    sharp=r"\frac{n}{2} \Pr\left[\mathrm{Beta}\left(\tfrac12, \tfrac{d-1}{2}\right) > \frac{\beta^2}{M^2}\right], "
    r"\quad M = \sum_j |v_j| \|w_j\|",
    remark="The form that is derived here needs no KKT point and no span.",
    errata=Erratum.proof_gap(
        "||X^T X - I|| = ||X X^T - I|| is false for d > m (the left side is at least 1); a factor sqrt(m) "
        "between ||alpha||_1 and ||alpha||_2 is missing, and 81 m should be 9 sqrt(m). The last two errors cancel. "
        "The test law is silently N(0, I/d).",
        evidence="X = e_1 in dimension 2: ||X^T X - I|| = 1, ||X X^T - I|| = 0",
        repair="the least eigenvalue of X X^T; or the bound here, from K, beta and n alone",
    ),
)
def b1_bias_dom(instance: Instance) -> Findings:
    """The chain of lower bounds on N at fresh points, and the error that it proves."""
    network, data = instance.the_network(), instance.the_data()
    epsilon = instance.number("epsilon", 0.01)
    fits, biased = separates(network, data), above("beta", beta_of(network), 0.0)
    fitted = not unmet(fits) and network.b is not None
    require((fits, biased), "a network with biases that separates is needed", given=fitted)
    network = network.at_margin_one(data.X, data.y)
    proof = dominance(network, data)
    n, d, K, beta = network.width, proof.dimension, proof.norm_squared, proof.beta
    least = K**2 * math.log(2 * n / epsilon) / (2 * beta**2) if beta > 0 else math.inf
    test = instance.the_law().fresh(200, train=data, seed=instance.seed).X
    size = float(np.abs(network.v) @ np.linalg.norm(network.W, axis=1))
    products = test @ network.W.T
    norms = np.linalg.norm(network.v) * np.linalg.norm(products, axis=1)
    any_width = log_any_width_bound(network, d)
    sample = SphereSample(data)
    return Findings(
        value("K", K),
        value("printed bound on K", 9 * math.sqrt(sample.m), "9 sqrt(m), from Lemma B.3"),
        value("least d, printed", C3_PROOF * sample.m**2 * math.log(2 * sample.m / epsilon), "with c'' = 1"),
        value("ln of the bound for any width", any_width),
        value("ln of the bound from K alone", proof.simple_log_bound),
        hypotheses=(fits, above("beta", beta, 0.5), at_least("d", d, least, note="K^2 ln(2n/epsilon) / (2 beta^2)")),
        claims=(
            at_least("N(x) - (beta - sum |v_j| |w_j . x|)", network(test) - beta + np.abs(products) @ np.abs(network.v),
                     0.0, scale=size),
            at_least("N(x) - (beta - ||v|| ||W x||)", network(test) - beta + norms, 0.0, scale=size),
            certain_error(instance, network, proof.log_bound, epsilon),
        ),
        derived=(at_most("ln of the proved error", proof.log_bound, math.log(epsilon)),),
        arithmetic=(at_most("sum |v_j| ||w_j||", proof.weight, size_of(network) / 2),),
    )  # fmt: skip
