r"""[VYS22, Appendix A and eqs. (3)-(4)] The Clarke subdifferential and the KKT conditions of the max-margin problem."""

from typing import Final

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.certificates import DEFAULT_TOLERANCE, KINK_TOLERANCE
from marginflow.certificates.pattern import recognise
from marginflow.networks import TwoLayer
from marginflow.networks.evaluation import augmented_samples
from marginflow.theory.frame import Erratum, Findings, Instance, above, at_least, at_most, equal, stated, value
from marginflow.theory.vys22.presets import orthogonal_preset, unbalanced_control

_STEP: Final = 1e-7
"""Length of the finite difference; the second-order term it leaves is below `_STEP_RTOL`."""
_STEP_RTOL: Final = 1e-5


def difference_quotient(network: TwoLayer, X: FloatArray, dA: FloatArray, dv: FloatArray) -> FloatArray:
    """(N_{theta + h delta}(x_i) - N_theta(x_i)) / h for a direction delta = (dW, db | dv), shape (n,)."""
    A, v = network.augmented + _STEP * dA, network.v + _STEP * dv
    moved = TwoLayer(W=A, v=v) if network.b is None else TwoLayer(W=A[:, :-1], b=A[:, -1], v=v)
    return (moved(X) - network(X)) / _STEP


@stated(
    id="VYS22/Def.Clarke",
    number="Appendix A",
    meaning="At a kink the derivative of the ReLU may be any number in [0, 1]; one hard pattern is not enough.",
    formula=r"\partial^\circ f(x) = \mathrm{conv} \left\{ \lim_{i \to \infty} \nabla f(x_i) : x_i \to x \right\}, "
    r"\qquad \partial^\circ \sigma(0) = [0, 1]",
    parameters={"weights": "interval (Clarke) or hard (one 0/1 pattern)"},
    example=orthogonal_preset,
    control=lambda: orthogonal_preset().only(
        "network", "data", name="hard 0/1 patterns at kinks", parameters={"weights": "hard"}
    ),
    control_shows="with one 0/1 pattern at the kinks, derivatives of the network lie outside the set",
    printed=r"\partial^\circ (f \circ z)(x) \subseteq \mathrm{conv} \left\{ \sum_i \alpha_i h_i \right\}",
    remark="The chain rule is an inclusion: independent weights sigma'_ij give a superset of the subdifferential.",
)
def def_clarke(instance: Instance) -> Findings:
    """Support functions: in every direction the derivative lies between the extremes of the set of sigma'_ij."""
    network, data = instance.the_network(), instance.the_data()
    hard = instance.word("weights", "interval", ("interval", "hard")) == "hard"
    rng = np.random.default_rng(instance.seed)
    Xt = augmented_samples(data.X, bias=network.b is not None)
    pattern, pre = recognise(network, data.X, KINK_TOLERANCE)
    kink = pattern.kink
    soft = np.zeros_like(kink) if hard else kink
    least, largest, seen = [], [], []
    for _ in range(20):
        dA, dv = rng.standard_normal((network.width, Xt.shape[1])), rng.standard_normal(network.width)
        g = (Xt @ dA.T) * network.v
        outputs = np.where(kink, 0.0, np.maximum(pre, 0.0)) @ dv
        fixed = np.where(pattern.positive & ~soft, g, 0.0)
        free = np.where(soft, g, 0.0)  # times s_ij in [0, 1]
        least.append(fixed.sum(axis=1) + np.minimum(free, 0.0).sum(axis=1) + outputs)
        largest.append(fixed.sum(axis=1) + np.maximum(free, 0.0).sum(axis=1) + outputs)
        seen.append(difference_quotient(network, data.X, dA, dv))
    scale = float(np.abs(largest).max() + np.abs(least).max())
    return Findings(
        value("share of pairs on a kink", float(kink.mean())),
        hypotheses=(above("pairs on a kink", float(kink.sum()), 0.0, note="away from kinks there is only a gradient"),),
        claims=(
            at_least(
                "slope in a direction, from below", np.array(seen), np.array(least), scale=scale, tolerance=_STEP_RTOL
            ),
            at_most(
                "slope in a direction, from above", np.array(seen), np.array(largest), scale=scale, tolerance=_STEP_RTOL
            ),
        ),
    )


@stated(
    id="VYS22/Def.KKT",
    number="Appendix A, equations (3)-(4) and (9)-(10)",
    meaning="Multipliers lambda and Clarke weights sigma' explain every parameter, and only margin samples carry them.",
    formula=r"w_j = v_j \sum_i \lambda_i y_i \sigma'_{ij} x_i, \quad b_j = v_j \sum_i \lambda_i y_i \sigma'_{ij}, "
    r"\quad v_j = \sum_i \lambda_i y_i \sigma(w_j^\top x_i + b_j), \quad \lambda_i (y_i N(x_i) - 1) = 0",
    example=orthogonal_preset,
    control=unbalanced_control,
    control_shows="same function, same margins, but v_j^2 differs from ||(w_j, b_j)||^2",
    printed=r"\sigma'_{ij} = 1(w_j^\top x_i + b_j)",
    proved=r"\sigma'_{ij} = 1(w_j^\top x_i + b_j > 0) \text{ off the kink}, \quad "
    r"\sigma'_{ij} \in [0, 1] \text{ on it}",
    remark="The indicator is printed without '> 0', and Appendix A writes g_1, ..., g_n for g_1, ..., g_N. The "
    "proofs C.2 to C.9 use only mu_ij = lambda_i sigma'_ij >= 0, mu_ij = 0 where the pre-activation is negative, "
    "and q_i = 1: neither sigma' <= 1, nor a shared lambda, nor the equation for v.",
    errata=Erratum.slip("The indicator is printed as 1(w . x + b), without > 0.", repair="1(w . x + b > 0)"),
)
def def_kkt(instance: Instance) -> Findings:
    """Equations (3), (4), the one for v that the paper does not print, feasibility, complementarity, two identities."""
    certificate, data = instance.certificate, instance.the_data()
    network, lam, s, y = certificate.network, certificate.multipliers, certificate.clarke, data.y
    mu = certificate.mu
    scale = float(np.sqrt(network.norm_squared()))
    pattern, pre = recognise(network, data.X, certificate.kink_report.tolerance)
    b = np.zeros(network.width) if network.b is None else network.b
    w_right = network.v[:, None] * ((y[:, None] * mu).T @ data.X)
    b_right = network.v * (y @ mu)
    v_right = np.maximum(pre, 0.0).T @ (lam * y)
    sizes = np.linalg.norm(network.augmented, axis=1)
    tolerance = DEFAULT_TOLERANCE
    wrong = np.where(pattern.kink, 0.0, np.abs(s - pattern.positive))
    return Findings(
        value("sum of lambda", float(lam.sum())),
        value("||theta||^2", network.norm_squared()),
        value("pairs on a kink", float(pattern.kink.sum())),
        value("kinks with a weight inside (0, 1)", float(((s > 1e-6) & (s < 1 - 1e-6)).sum())),
        claims=(
            equal("(3): w_j", network.W, w_right, scale=scale, tolerance=tolerance),
            equal("(4): b_j", b, b_right, scale=scale, tolerance=tolerance),
            equal("v_j, implied and not printed", network.v, v_right, scale=scale, tolerance=tolerance),
            at_least("feasible: q_i", certificate.margins, 1.0, tolerance=tolerance),
            at_least("lambda_i", lam, 0.0),
            equal("lambda_i (q_i - 1)", lam * (certificate.margins - 1.0), 0.0, scale=scale**2, tolerance=tolerance),
            at_least("Clarke weights, from below", s, 0.0),
            at_most("Clarke weights, from above", s, 1.0),
            equal("weights are 1(pre > 0) off the kinks", wrong, 0.0),
        ),
        arithmetic=(
            equal("identity v_j^2 = ||(w_j, b_j)||^2", network.v**2, sizes**2, scale=scale**2, tolerance=tolerance),
            equal(
                "identity ||theta||^2 = 2 sum lambda", network.norm_squared(), 2 * float(lam.sum()), tolerance=tolerance
            ),
        ),
    )
