r"""[KYS23, Lemma B.2]: a network with small biases that fits the positive samples has a norm of order sqrt(|I_+|)."""

import math
from functools import cache

import numpy as np

from marginflow.limit import orthogonal
from marginflow.theory.frame import Erratum, Findings, Instance, at_least, at_most, require, stated, value
from marginflow.theory.kys23.thm_4_1.lem_b3 import biased_pair, orthonormal, orthonormal_samples
from marginflow.theory.kys23.unit_sphere import SphereSample, beta_of, separates, size_of


def least_norm(sample: SphereSample) -> float:
    """sqrt(q / C_op): below it, no feasible network has beta <= 1/2."""
    return math.sqrt(sample.q / sample.C_op)


@cache
def orthonormal_pair(m: int = 100, k: int = 1) -> Instance:
    """The bias-less closed form on m orthonormal samples, k negative: ||theta||^2 = 2 (sqrt(m - k) + sqrt(k))."""
    point = orthogonal(orthonormal(m, k), bias=False)
    return Instance(name=f"{m} orthonormal samples without bias", network=point.network, data=point.data)


@stated(
    id="KYS23/LemB.2",
    meaning="Every network with margin 1 and beta <= 1/2 has ||theta||^2 >= sqrt(p / ||X X^T||), p positive samples.",
    formula=r"\sum_j v_j \sigma(b_j) \le \tfrac12 \implies \|\theta\|^2 \ge \sqrt{\frac{|I_+|}{\|X X^\top\|}}",
    example=orthonormal_pair,
    control=lambda: orthonormal_samples(400, 1).but(
        name="the construction of Lemma B.3", network=biased_pair(orthonormal(400, 1), 2)
    ),
    control_shows="large biases fit 399 positive samples with ||theta||^2 = 5 < sqrt(399/12)",
    printed=r"\|\theta\|^2 \ge C \sqrt{|I_+|}",
    proved=r"\|\theta\|^2 \ge \sqrt{\frac{|I_+|}{12 \|X X^\top\|}}",
    sharp=r"\|\theta\|^2 \ge \sqrt{\frac{|I_+|}{\|X X^\top\|}}",
    remark="Feasible is enough, no max-margin solution is needed. The sharp constant comes from ||theta||^2 >= 2 "
    "||v|| ||W||_F.",
    errata=(
        Erratum.slip("'Take i in [m]' must be i in I_+."),
        Erratum.wrong_constant(
            "The constant 1/sqrt(12 ||X X^T||) can be 1/sqrt(||X X^T||).",
            repair="sharp form of KYS23/LemB.2; it takes c_4 of Theorem 4.1 from 0.0065 to 0.155",
        ),
    ),
)
def lemma_b2(instance: Instance) -> Findings:
    """At margin 1: 1/2 <= |v| |W x_i| on I_+, summed and bounded by ||X X^T||."""
    network, data = instance.the_network(), instance.the_data()
    sample = SphereSample(data)
    fits = require(separates(network, data), "only a network that separates can be brought to margin 1")
    network = network.at_margin_one(data.X, data.y)
    beta, K = beta_of(network), size_of(network)
    products = float(np.linalg.norm(network.v)) * np.linalg.norm(data.X @ network.W.T, axis=1)
    plus = ~sample.minus
    return Findings(
        value("C_op", sample.C_op),
        value("|I_+|", sample.q),
        value("||theta||^2", K),
        hypotheses=(*fits, at_most("beta", beta, 0.5), sample.some_positive()),
        claims=(at_least("||theta||^2, as printed", K, math.sqrt(sample.q / (12 * sample.C_op))),),
        proof_steps=(at_least("||v|| ||W x_i|| on I_+", products[plus], 1 - beta),),
        derived=(at_least("||theta||^2, sharp", K, least_norm(sample)),),
    )
