r"""[KYS23, Proposition 4.5]: is the error of a network without bias at least 2^-n? Counterexamples, and the repair."""

import math
from fractions import Fraction
from functools import cache

import numpy as np

from marginflow.data import Dataset
from marginflow.limit import specialist
from marginflow.limit.line.integers import integers
from marginflow.networks import TwoLayer
from marginflow.theory.frame import Counterexample, Erratum, Findings, Instance, at_least, stated, unmet, value
from marginflow.theory.kys23.clean_error import clean_error, enclosed_error
from marginflow.theory.kys23.thm_4_1.lem_b3 import orthonormal
from marginflow.theory.kys23.unit_sphere import without_bias


def absolute_value(dimension: int = 3) -> TwoLayer:
    """N(x) = relu(w . x) + relu(-w . x) = |w . x|: positive almost everywhere, so its error is 0."""
    w = np.eye(dimension)[0]
    return TwoLayer(W=np.array([w, -w]), v=np.ones(2))


def interpolating(e: float) -> tuple[TwoLayer, Dataset]:
    """N(x) = |x_1| - e relu(x_2), which fits a negative sample and has the error arctan(e)/pi; and three samples."""
    network = TwoLayer(W=np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]]), v=np.array([1.0, 1.0, -e]))
    X = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    return network, Dataset(X=X, y=np.array([1.0, 1.0, -1.0]))


@cache
def interpolating_counterexample() -> Instance:
    """The counterexample with e = 1/8."""
    network, data = interpolating(0.125)
    return Instance(name="|x_1| - relu(x_2)/8", network=network, data=data)


def positive_neurons(network: TwoLayer) -> tuple[int, float]:
    """|J_+|, and the smallest cosine between two neurons of J_+."""
    W = network.W[(network.v > 0) & network.W.any(axis=1)]
    W = W / np.linalg.norm(W, axis=1, keepdims=True)
    return len(W), float((W @ W.T).min(initial=1.0))


def small_error(network: TwoLayer) -> Counterexample | None:
    """A proof that the error is below 2^-n: weights in the plane as the fractions that they are, angles enclosed."""
    if network.dimension != 2:
        return None
    _, entries = integers(np.column_stack([network.W, network.v]))
    whole = zip(entries[::3], entries[1::3], entries[2::3], strict=True)
    live = [row for row in whole if any(row[:2]) and row[2]]
    _, high = enclosed_error([row[:2] for row in live], [row[2] for row in live]) if live else (1, Fraction(1))
    bound = Fraction(1, 2**network.width)
    if high >= bound:
        return None
    size = "0" if high == 0 else f"at most {float(high):.9g}"
    summary = f"a network of {network.width} neurons without bias has the clean error {size} < {bound}"
    return Counterexample(summary=summary, proof="whole numbers, angles enclosed in fractions")


@stated(
    id="KYS23/Prop4.5",
    number="Proposition 4.5, as printed",
    meaning="False as printed: every network of n neurons without bias has clean error at least 2^-n.",
    formula=r"L_{cl}(N_\theta) \ge 2^{-n}",
    needs=("network",),
    example=lambda: Instance(
        name="one neuron for each of 4 orthonormal samples", network=specialist(orthonormal(4, 1), bias=False).network
    ),
    control=lambda: Instance(name="|x_1| in the plane", network=absolute_value(2)),
    control_shows="relu(x_1) + relu(-x_1) = |x_1| has n = 2 and error 0",
    printed=r"L_{cl} \ge 2^{-n}",
    proved=r"w_j^\top w_l \ge 0 \ \forall j, l \in J_+ \implies L_{cl} \ge 2^{-|J_+|}",
    remark="A network that fits a negative sample contradicts it too: |x_1| - relu(x_2)/8 errs on arctan(1/8)/pi = "
    "0.04 < 1/8 of the circle.",
    errata=Erratum.false_statement(
        "The proof bounds Pr[w_j . x < 0 for all j in J_+] by 2^-|J_+|, which is true for non-negative "
        "correlations only.",
        headline="Kornowski, Yehudai and Shamir say that every network of n neurons without biases is wrong on at "
        "least a share 2⁻ⁿ of the sphere; |x₁| has two neurons and is wrong nowhere, and the bound is true "
        "where no two neurons with positive output point apart.",
        evidence="|x_1|: n = 2, error 0",
        repair="KYS23/Prop4.5-repaired",
    ),
)
def proposition_4_5(instance: Instance) -> Findings:
    """The clean error against 2^-n."""
    network = instance.the_network()
    found = clean_error(network, seed=instance.seed)
    claim = found.check("clean error", ">=", math.ldexp(1.0, -network.width))
    hypotheses = (without_bias(network), at_least("d", network.dimension, 2))
    broken = claim.state == "failed" and not unmet(hypotheses)
    return Findings(
        value("n", network.width),
        value("neurons with v > 0", int((network.v > 0).sum())),
        hypotheses=hypotheses,
        claims=(claim,),
        counterexample=small_error(network) if broken else None,
    )


@stated(
    id="KYS23/Prop4.5-repaired",
    number="Proposition 4.5, repaired",
    meaning="If no two neurons with positive output point apart, the clean error is at least 2^-|J_+|.",
    formula=r"w_j^\top w_l \ge 0 \ \forall j, l \in J_+ \implies L_{cl} \ge 2^{-|J_+|}",
    needs=("network",),
    example=lambda: Instance(
        name="one neuron for each of 4 orthonormal samples", network=specialist(orthonormal(4, 1), bias=False).network
    ),
    control=interpolating_counterexample,
    control_shows="two neurons point in opposite directions, and the error is 0.04 < 1/4",
    sharp=r"L_{cl} \ge \Pr[w_j^\top x \le 0 \ \forall j \in J_+]",
    remark="Holds at every KKT point on orthogonal samples: w_j . w_l = v_j v_l sum_i lambda_i^2 sigma'_ij "
    "sigma'_il ||x_i||^2 is not negative for two neurons of one sign.",
)
def proposition_4_5_repaired(instance: Instance) -> Findings:
    """The clean error against 2^-|J_+|, where no two positive neurons point apart."""
    network = instance.the_network()
    count, least = positive_neurons(network)
    found = clean_error(network, seed=instance.seed)
    return Findings(
        value("neurons with v > 0", count),
        value("clean error over the bound", math.ldexp(found.value, count)),
        hypotheses=(
            without_bias(network),
            at_least("d", network.dimension, 2),
            at_least("smallest cosine between two neurons with v > 0", least, 0.0, scale=1.0),
        ),
        claims=(found.check("clean error", ">=", math.ldexp(1.0, -count)),),
    )
