r"""[KYS23, Theorem 4.3, Lemma B.9 and the bound on lambda]: KKT points with frozen outputs overfit benignly."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from marginflow.theory.frame import Findings, Forms, Instance, Statement, above, at_least, at_most, value
from marginflow.theory.kys23.sphere_points import frozen_close, frozen_point
from marginflow.theory.kys23.sphere_setting import Sample
from marginflow.theory.kys23.thm_4_1.bias_dominance import dominance, fresh_error, sampled_check
from marginflow.theory.kys23.thm_4_3.orthonormal import closed_form_B
from marginflow.theory.kys23.thm_4_3.setting import enough_samples, frozen_setting, not_fitted
from marginflow.theory.probability import log_sphere_correlation_tail, union


def _biases_win(instance: Instance) -> Findings:
    frozen, shared = frozen_setting(instance)
    if frozen is None:
        return not_fitted(shared)
    sample, n, B = frozen.sample, frozen.n, frozen.B
    return Findings(
        hypotheses=(
            *shared,
            frozen.few_negative(),
            enough_samples(frozen),
            frozen.nearly_orthogonal(2 * frozen.mn**2, 0.5, "2 m^2 n^2 rho"),
        ),
        constants=(
            value("q/(4n) - 10 n k/4", sample.q / (4 * n) - 2.5 * n * sample.k, "what B would be at least if B <= 1/4"),
            value("B of every KKT point on orthonormal samples", closed_form_B(sample.q, sample.k)),
        ),
        conclusions=(above("B", B, 0.25),),
    )


LEMMA_B9: Final = Statement(
    id="KYS23/LemB.9",
    kind="lemma",
    number="Lemma B.9",
    meaning="With few negative samples and nearly orthogonal data the biases win: B > 1/4.",
    formula=r"|I_-| \le \frac{m}{22 n^2}, \ m \ge 2n, \ 2 m^2 n^2 \rho \le \tfrac12 \implies "
    r"\sum_{v_j = 1} b_j - \sum_{v_j = -1} b_j > \tfrac14",
    needs=("network", "data"),
    judge=_biases_win,
    example=lambda: frozen_point(88, 2, 1, 10**13),
    control=lambda: frozen_point(40, 2, 18, 10**12),
    control_shows="with 18 of 40 labels turned B = 4/41",
    forms=Forms(
        printed=r"\sum_{v_j = -1} b_j \ge -\frac{10 n |I_-|}{8}",
        proved=r"\sum_{v_j = -1} b_j \le \frac{10 n |I_-|}{8}",
        remark="The second display of the proof has the wrong sign and direction; the constants survive: "
        "(m/4n)(1 - 11c) >= 1/2 - 11c/2 > 1/4 for c < 1/22.",
    ),
)


def _multipliers(instance: Instance) -> Findings:
    frozen, shared = frozen_setting(instance)
    if frozen is None:
        return not_fitted(shared)
    sample, lam = frozen.sample, frozen.lam
    largest = float(lam.max())
    on_plus = float(lam[~sample.minus].max(initial=0.0))
    return Findings(
        hypotheses=(
            *shared,
            above("B", frozen.B, 0.25),
            frozen.nearly_orthogonal(frozen.mn**2, 0.5, "m^2 n^2 rho"),
        ),
        constants=(
            value("largest lambda / (3mn)", largest / (3 * frozen.mn)),
            value("largest lambda on I_+", on_plus),
        ),
        conclusions=(
            at_most("largest lambda", largest, 3 * frozen.mn),
            at_most("largest lambda, as the proof gives", largest, 1.5 * frozen.mn),
            at_most("largest lambda on I_+, as the proof gives", on_plus, 1.5),
            at_most("largest lambda against mn times the largest on I_+", largest, frozen.mn * on_plus),
        ),
    )


LAMBDA_MAX: Final = Statement(
    id="KYS23/B2.LamMax",
    kind="lemma",
    number="Proof of Theorem 4.3, both cases",
    meaning="Once B > 1/4, no multiplier exceeds 3mn (1.5 mn by the proof; 1.5 on positive samples).",
    formula=r"B > \tfrac14, \ m^2 n^2 \rho \le \tfrac12 \implies \max_i \lambda_i \le 3mn",
    needs=("network", "data"),
    judge=_multipliers,
    example=lambda: frozen_point(88, 2, 1, 10**13),
    control=frozen_close,
    control_shows="two opposite samples at an angle of 0.1 have multipliers of 100, and 3mn is 12",
    forms=Forms(
        printed=r"\max_i \lambda_i \le 3mn",
        sharp=r"\max_{I_+} \lambda_i \le \tfrac32, \quad \max_{I_-} \lambda_i \le \tfrac32 mn",
        remark="Case II cites Lemma B.5 where B.6 is meant. On the exact points measured the largest multiplier is "
        "below 1, a four-hundredth of the bound and less.",
    ),
)


def log_literal_error(sample: Sample, n: int) -> float:
    """ln of the union over the samples of P(|x . x_i| >= 1/(12 m^2 n^2)): else 1/4 - 3 m^2 n^2 max |x . x_i| > 0."""
    threshold = 1 / (12 * (sample.m * n) ** 2)
    return union(log_sphere_correlation_tail(threshold, sample.d), sample.m) if sample.d >= 2 else 0.0


def _theorem(instance: Instance) -> Findings:
    frozen, shared = frozen_setting(instance)
    if frozen is None:
        return not_fitted(shared)
    sample, n, network = frozen.sample, frozen.n, frozen.network
    data, epsilon, delta = instance.the_data(), instance.number("epsilon", 0.01), instance.number("delta", 0.1)
    literal = log_literal_error(sample, n)
    test = instance.the_law().fresh(200, train=data, seed=instance.seed).X
    reach = np.abs(test @ sample.X.T).max(axis=1)
    proof = dominance(network, data)
    needed = 288 * frozen.mn**4 * math.log(2 * sample.m / epsilon)
    return Findings(
        hypotheses=(
            *shared,
            frozen.few_negative(),
            enough_samples(frozen),
            frozen.nearly_orthogonal(2 * frozen.mn**2, 0.5, "2 m^2 n^2 rho"),
            at_most("ln P(max |x . x_i| >= 1/(12 m^2 n^2))", literal, math.log(epsilon), note="d is large enough"),
        ),
        constants=(
            value("B", frozen.B),
            value("B of every KKT point on orthonormal samples", closed_form_B(sample.q, sample.k)),
            value("smallest b_j", float(frozen.b.min())),
            value("largest lambda", float(frozen.lam.max())),
            value("least d for rho", math.exp(frozen.log_least_dimension(32, 4, delta))),
            value("least d for the test point", needed),
            value("ln of the error from B and the weights themselves", proof.log_bound),
        ),
        conclusions=(
            at_least("b_j", frozen.b, 0.0, scale=frozen.scale),
            above("B, at the end of Lemma B.9", frozen.B, 0.25),
            at_most("largest lambda against 3mn", float(frozen.lam.max()), 3 * frozen.mn),
            at_least("N(x) - (1/4 - 3 m^2 n^2 max |x . x_i|)", network(test) - 0.25 + 3 * frozen.mn**2 * reach, 0.0),
            at_most("ln of the proved clean error", proof.log_bound, math.log(epsilon)),
            sampled_check("clean error, sampled", fresh_error(instance, network), epsilon),
        ),
    )


THEOREM_4_3: Final = Statement(
    id="KYS23/Thm4.3",
    kind="theorem",
    number="Theorem 4.3",
    meaning="KKT points with n outputs frozen at +1, -1 have small clean error if p = O(1/n^2) and d is huge.",
    formula=r"|I_-| \le \frac{m}{22 n^2}, \ 2 m^2 n^2 \rho \le \tfrac12 \implies b_j \ge 0, \ B > \tfrac14, \ "
    r"\max_i \lambda_i \le 3mn, \ N(x) \ge \tfrac14 - 3 m^2 n^2 \max_i |x^\top x_i|",
    needs=("network", "data", "law"),
    parameters={"epsilon": "0.01 by default", "delta": "0.1; only for the printed dimension"},
    judge=_theorem,
    example=lambda: frozen_point(88, 2, 1, 10**13),
    control=lambda: frozen_point(40, 2, 20, 10**13),
    control_shows="with half of the labels turned B vanishes, and so does everything that follows",
    forms=Forms(
        printed=r"p \le \frac{c_1}{n^2}, \ m \ge c_2 n \ln\frac1\delta, \ d \ge c_3 m^4 n^4 \ln\frac{m}{\epsilon} "
        r"\ln\frac{m^2}{\delta}",
        proved=r"c_1 < \tfrac{1}{22}, \ m \ge 2n, \ d \ge 32 m^4 n^4 \ln\frac{2m^2}{\delta}, \ d > 288 m^4 n^4 "
        r"\ln\frac{2m}{\epsilon}",
        sharp=r"x_i^\top x_l = 0 \ (i \ne l) \implies B = \frac{|I_+| - |I_-|}{1 + m} \quad "
        r"\text{at every KKT point, for every } n",
        remark="The smallest case with a negative sample is n = 2, m = 88, d of order 10^12, reached by sampling Gram "
        "matrices. Interpolation is a hypothesis: from small weights the negative neurons fall asleep and gradient "
        "descent never fits. m >= c_2 n ln(1/delta) is too weak for |I_-| <= c_1 m/n^2 when m < n^2.",
    ),
)
