r"""[KYS23, Theorem 4.3] KKT points with frozen outputs overfit benignly."""

import math

import numpy as np

from marginflow.theory.frame import Erratum, Findings, Instance, above, at_least, at_most, stated, value
from marginflow.theory.kys23.region import THEOREM_4_3
from marginflow.theory.kys23.sphere_points import frozen_point
from marginflow.theory.kys23.thm_4_1.b1_bias_dom import certain_error, dominance
from marginflow.theory.kys23.thm_4_3.orthonormal import closed_form_B
from marginflow.theory.kys23.thm_4_3.setting import frozen_setting
from marginflow.theory.kys23.unit_sphere import noisy_sphere
from marginflow.theory.probability import log_sphere_correlation_tail, union


@stated(
    id="KYS23/Thm4.3",
    meaning="KKT points with n outputs frozen at +1, -1 have small clean error if p = O(1/n^2) and d is huge.",
    formula=r"|I_-| \le \frac{m}{22 n^2}, \ 2 m^2 n^2 \rho \le \tfrac12 \implies b_j \ge 0, \ B > \tfrac14, \ "
    r"\max_i \lambda_i \le 3mn, \ N(x) \ge \tfrac14 - 3 m^2 n^2 \max_i |x^\top x_i|",
    needs=("network", "data", "law"),
    parameters={"epsilon": "0.01 by default", "delta": "0.1; only for the printed dimension"},
    example=lambda: frozen_point(88, 2, 1, 10**13),
    control=lambda: frozen_point(40, 2, 20, 10**13),
    control_shows="with half of the labels turned B vanishes, and so does everything that follows",
    region=THEOREM_4_3,
    printed=r"p \le \frac{c_1}{n^2}, \ m \ge c_2 n \ln\frac1\delta, \ d \ge c_3 m^4 n^4 \ln\frac{m}{\epsilon} "
    r"\ln\frac{m^2}{\delta}",
    proved=r"c_1 < \tfrac{1}{22}, \ m \ge 2n, \ d \ge 32 m^4 n^4 \ln\frac{2m^2}{\delta}, \ d > 288 m^4 n^4 "
    r"\ln\frac{2m}{\epsilon}",
    sharp=r"x_i^\top x_l = 0 \ (i \ne l) \implies B = \frac{|I_+| - |I_-|}{1 + m} \quad "
    r"\text{at every KKT point, for every } n",
    remark="The smallest case with a negative sample is n = 2, m = 88, d of order 10^12, reached by sampling Gram "
    "matrices. Interpolation is a hypothesis: from small weights the negative neurons fall asleep and gradient "
    "descent never fits.",
    errata=Erratum.wrong_constant(
        "m >= c_2 n ln(1/delta) is too weak for |I_-| <= c_1 m/n^2 when m < n^2 (KYS23/LemB.4).",
        repair="m of order n^2 ln(1/delta)",
    ),
    known="on orthonormal samples every KKT point with frozen outputs and biases has B = (|I_+| - |I_-|)/(1 + m), so "
    "that the condition p = O(1/n^2) is not needed there; with trained outputs the KKT point is unique up to splitting "
    "neurons and is the global optimum (theory/kys23/thm_4_3/orthonormal.py).",
)
def theorem_4_3(instance: Instance) -> Findings:
    """Biases, B, multipliers, the bound on N at fresh points, and the clean error."""
    frozen, shared = frozen_setting(instance)
    sample, network = frozen.sample, frozen.network
    data, epsilon, delta = instance.the_data(), instance.number("epsilon", 0.01), instance.number("delta", 0.1)
    # Below this threshold 1/4 - 3 m^2 n^2 max |x . x_i| > 0; the union is over the samples.
    threshold = 1 / (12 * frozen.mn**2)
    literal = union(log_sphere_correlation_tail(threshold, sample.d), sample.m) if sample.d >= 2 else 0.0
    noisy_sphere(instance.the_law())  # points of another law would show nothing
    test = instance.the_law().fresh(200, train=data, seed=instance.seed).X
    reach = np.abs(test @ data.X.T).max(axis=1)
    proof = dominance(network, data)
    needed = 288 * frozen.mn**4 * math.log(2 * sample.m / epsilon)
    return Findings(
        value("B", frozen.B),
        value("B of every KKT point on orthonormal samples", closed_form_B(sample.q, sample.k)),
        value("smallest b_j", float(frozen.b.min())),
        value("largest lambda", float(frozen.lam.max())),
        value("least d for rho", math.exp(frozen.log_least_dimension(32, 4, delta))),
        value("least d for the test point", needed),
        value("ln of the error from B and the weights themselves", proof.log_bound),
        hypotheses=(
            *shared,
            *frozen.regime(),
            at_most("ln P(max |x . x_i| >= 1/(12 m^2 n^2))", literal, math.log(epsilon), note="d is large enough"),
        ),
        claims=(certain_error(instance, network, proof.log_bound, epsilon),),
        proof_steps=(
            at_least("b_j", frozen.b, 0.0, scale=frozen.scale),
            above("B, at the end of Lemma B.9", frozen.B, 0.25),
            at_most("largest lambda against 3mn", float(frozen.lam.max()), 3 * frozen.mn),
            at_least("N(x) - (1/4 - 3 m^2 n^2 max |x . x_i|)", network(test) - 0.25 + 3 * frozen.mn**2 * reach, 0.0),
        ),
        derived=(at_most("ln of the proved clean error", proof.log_bound, math.log(epsilon)),),
    )
