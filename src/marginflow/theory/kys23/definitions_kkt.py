r"""[KYS23, sec. 2] Problem (1), its KKT conditions (2)-(5), and local minima."""

from functools import partial

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.certificates import DEFAULT_TOLERANCE, minimality
from marginflow.data import Dataset
from marginflow.networks import TwoLayer
from marginflow.networks.evaluation import augmented_samples
from marginflow.theory.frame import Findings, Instance, at_least, at_most, equal, require, stated, true, value
from marginflow.theory.instances import changed, unbalanced, with_neuron
from marginflow.theory.kys23.line import dual_supremum, kkt_point, on_the_line
from marginflow.theory.kys23.line_points import five_point_minimum, global_point


def normalised_margin(network: TwoLayer, data: Dataset) -> float:
    """min_i y_i N(x_i) / ||theta||^2: its maximum is the optimum of problem (1), and it needs no rescaling."""
    return float(network.margins(data.X, data.y).min()) / network.norm_squared()


@stated(
    id="KYS23/Def.P1",
    number="Problem (1)",
    meaning="Least parameter norm with margin 1; by AM-GM the same as least total variation over unit neurons.",
    formula=r"\min \|\theta\|^2 \quad \text{s.t.} \quad y_i N_\theta(x_i) \ge 1 \qquad = \; "
    r"2 \min_\mu \mathrm{TV}(\mu)",
    example=lambda: global_point(20, 0.3, 5),
    control=lambda: changed(global_point(20, 0.3, 5), "half the size", lambda network: network.scaled(0.5)),
    control_shows="at half the size the margins are a quarter: not feasible",
)
def def_p1(instance: Instance) -> Findings:
    """Feasibility, the per-neuron inequality 2 |v| ||u|| <= v^2 + ||u||^2, and the dual bound from below."""
    network, data = instance.the_network(), instance.the_data()
    trained = network.outputs == "trained" and network.b is not None
    hypotheses = (*on_the_line(instance), true("hidden biases, trained outputs", trained))
    require(hypotheses, "the dual bound is computed on the line")
    margins = network.margins(data.X, data.y)
    norm = network.norm_squared()
    total_variation = float(np.linalg.norm(network.directions, axis=1).sum())
    lam = instance.certificate.multipliers
    supremum = dual_supremum(instance)
    lower = float(lam.sum()) / supremum if supremum > 0 else 0.0
    return Findings(
        value("||theta||^2", norm),
        value("2 TV = 2 sum_j |v_j| ||u_j||", 2 * total_variation),
        value("normalised margin", normalised_margin(network, data)),
        value("optimum of ||theta||^2, from below", 2 * lower),
        hypotheses=hypotheses,
        claims=(at_least("y_i N(x_i)", margins, 1.0, tolerance=DEFAULT_TOLERANCE),),
        arithmetic=(
            at_least("||theta||^2 >= 2 TV", norm, 2 * total_variation),
            equal("equality when balanced", network.balanced().norm_squared(), 2 * total_variation),
            at_least(
                "||theta||^2 / margin >= 2 sum lambda / sup |F|",
                norm / max(float(margins.min()), 1e-300),
                2 * lower,
                tolerance=DEFAULT_TOLERANCE,
            ),
        ),
    )


@stated(
    id="KYS23/Def.KKT",
    number="Equations (2)-(5)",
    meaning="Stationarity with Clarke weights, feasibility, signs, complementary slackness; identities that follow.",
    formula=r"\theta = \sum_i \lambda_i y_i \nabla_\theta N_\theta(x_i), \quad y_i N_\theta(x_i) \ge 1, \quad "
    r"\lambda_i \ge 0, \quad \lambda_i (y_i N_\theta(x_i) - 1) = 0",
    example=lambda: global_point(20, 0.3, 5),
    control=lambda: changed(
        global_point(20, 0.3, 5), "the same function, not balanced", lambda network: unbalanced(network, 0.5)
    ),
    control_shows="the same function from unbalanced neurons is not stationary",
    remark="The lambda are multipliers of ||theta||^2 / 2; of the printed ||theta||^2 they are twice as large.",
)
def def_kkt(instance: Instance) -> Findings:
    """(2)-(5) with Clarke weights, and the identities that follow when all of theta is trained, or all but v."""
    certificate, data = instance.certificate, instance.the_data()
    network, lam = certificate.network, certificate.multipliers
    hypotheses = (true("separates the samples", certificate.status != "does not separate"),)
    require(hypotheses, "no rescaling to margin 1")
    scale = float(np.sqrt(network.norm_squared()))
    Xt = augmented_samples(data.X, bias=network.b is not None)
    S = (certificate.mu * data.y[:, None]).T @ Xt  # sum_i lambda_i y_i relu'_ij xt_i, one row per neuron
    awake = np.linalg.norm(network.directions, axis=1) > DEFAULT_TOLERANCE * scale**2
    relu = np.maximum(network.preactivations(data.X), 0.0)
    off = np.where(certificate.kinks, 0.0, np.abs(certificate.clarke - (relu > 0)))
    share = 2.0 if network.outputs == "trained" else 1.0
    close = partial(equal, scale=scale, tolerance=DEFAULT_TOLERANCE)
    of_outputs = (
        close("(2): v_j", network.v, relu.T @ (lam * data.y)),
        close("balanced: |v_j| = ||u_j||", np.abs(network.v), np.linalg.norm(network.augmented, axis=1)),
        equal("||S_j|| = 1", np.linalg.norm(S[awake], axis=1), 1.0, tolerance=1e3 * DEFAULT_TOLERANCE),
    )
    return Findings(
        value("sum of lambda", float(lam.sum())),
        value("samples with lambda > 0", float(certificate.support.sum())),
        value("pairs on a kink", float(certificate.kinks.sum())),
        hypotheses=hypotheses,
        claims=(
            close("(2): (w_j, b_j)", network.augmented, network.v[:, None] * S),
            at_least("(3): y_i N(x_i)", certificate.margins, 1.0, tolerance=DEFAULT_TOLERANCE),
            at_least("(4): lambda_i", lam, 0.0),
            close("(5): lambda_i (y_i N(x_i) - 1)", lam * (certificate.margins - 1.0), 0.0, scale=scale**2),
            at_most("weights off the kinks are 0 or 1", off, 0.0),
            *(of_outputs[:1] if network.outputs == "trained" else ()),
        ),
        arithmetic=(
            equal(
                f"||theta||^2 = {share:.0f} sum lambda",
                scale**2,
                share * float(lam.sum()),
                tolerance=DEFAULT_TOLERANCE,
                note="twice with trained outputs, once with frozen ones, which ||theta|| then leaves out",
            ),
            *(of_outputs[1:] if network.outputs == "trained" else ()),
        ),
    )


def _perturbed(network: TwoLayer, size: float, sparse: bool, rng: np.random.Generator) -> TwoLayer:
    """theta + D with |D| = size |theta|; a sparse D moves one neuron."""
    A, v = network.augmented, network.v
    D: FloatArray = rng.standard_normal((network.width, A.shape[1] + 1))
    if sparse:
        D[np.arange(network.width) != rng.integers(network.width)] = 0.0
    D *= size * np.sqrt(network.norm_squared()) / np.linalg.norm(D)
    moved = A + D[:, :-1]
    return TwoLayer(W=moved[:, :-1], b=moved[:, -1], v=v + D[:, -1])


def _with_zero_neuron() -> Instance:
    point = five_point_minimum()
    assert point.multipliers is not None
    lam, mu = (np.asarray(part) for part in point.multipliers)
    return Instance(
        name="the five-point minimum with a zero neuron",
        network=with_neuron(point.the_network(), [[0.0]], 0.0, 0.0),
        data=point.data,
        multipliers=(lam, np.column_stack([mu, np.zeros(lam.size)])),
    )


@stated(
    id="KYS23/Def.LocMin",
    number="Section 3",
    meaning="No feasible point close by has a smaller norm; decided by the dual function at the neurons.",
    formula=r"\exists r > 0: \; \|\theta' - \theta\| < r, \; y_i N_{\theta'}(x_i) \ge 1 \;\Rightarrow\; "
    r"\|\theta'\|^2 \ge \|\theta\|^2",
    example=five_point_minimum,
    control=_with_zero_neuron,
    control_shows="with a zero neuron the local minimum is none: the dual function reaches 2.009, and the neuron grows",
    sharp=r"\mathrm{sign}(v_j) F_\lambda \text{ has a local maximum of value 1 at } u_j / \|u_j\| \text{ for every "
    r"} j, \text{ and no neuron is zero}",
    remark="A KKT point with no sample on a kink and no zero neuron is a local minimum; kinks of a neuron may sit "
    "on samples of the other label (they attract), and on samples of its own label they repel.",
)
def def_locmin(instance: Instance) -> Findings:
    """The decision procedure, and the necessary test: no small perturbation has a larger normalised margin."""
    hypotheses = require(kkt_point(instance), "only a KKT point can be a local minimum")
    data, network = instance.the_data(), instance.certificate.network
    decision = minimality(network, data, certificate=instance.certificate)
    rng = np.random.default_rng(instance.seed)
    base = normalised_margin(network, data)
    gains = [
        normalised_margin(_perturbed(network, size, sparse, rng), data) / base - 1.0
        for size in (1e-2, 1e-3, 1e-4)
        for sparse in (False, True)
        for _ in range(20)
    ]
    if decision.descent is not None:
        gains.append(normalised_margin(decision.descent.network, data) / base - 1.0)
    supremum = decision.supremum
    return Findings(
        value("sup |F|", float("nan") if supremum is None else supremum.upper, "1 is a global minimum"),
        value("zero neurons", decision.zero_neurons),
        value("kinks that repel", float(decision.repelling.sum())),
        hypotheses=hypotheses,
        claims=(
            true("the decision procedure says local minimum", decision.verdict == "local minimum", decision.reason),
            at_most(
                "largest gain in normalised margin nearby", max(gains), 0.0, scale=1.0, tolerance=DEFAULT_TOLERANCE
            ),
        ),
    )
