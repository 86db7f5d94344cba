r"""[KYS23, Section 4, after Theorem 4.1] The display of the proof intuition, which is false, and what replaces it."""

from fractions import Fraction

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.data import Dataset
from marginflow.networks import TwoLayer
from marginflow.theory.frame import Counterexample, Erratum, Findings, Instance, at_least, require, stated, true
from marginflow.theory.kys23.rational import fractions
from marginflow.theory.kys23.thm_4_1.lem_b2 import orthonormal_pair


def _exact_gap(network: TwoLayer, b: FloatArray, x: list[float]) -> Fraction:
    """N(x) - (sum v relu(b) - sum |v relu(w . x)|), in fractions."""
    v, biases, products = fractions(network.v), fractions(b), fractions(network.W) @ fractions(x)
    raised = np.maximum(products + biases, 0) - np.maximum(biases, 0)
    return Fraction(v @ raised + np.abs(v) @ np.maximum(products, 0))


@stated(
    id="KYS23/Sec4.Display",
    kind="remark",
    number="Section 4, display after Theorem 4.1",
    meaning="N is at least the share of the biases less the sum of |v relu(w . x)|: not always, as the modulus of "
    "w . x is needed.",
    formula=r"N_\theta(x) \ge \sum_j v_j \sigma(b_j) - \sum_j |v_j \sigma(w_j^\top x)|",
    example=orthonormal_pair,
    control=lambda: Instance(
        name="one neuron, v = b = 1, w . x = -1",
        network=TwoLayer(W=np.array([[1.0, 0.0]]), b=np.ones(1), v=np.ones(1)),
        data=Dataset(X=np.array([[-1.0, 0.0]]), y=np.ones(1)),
    ),
    control_shows="v = b = 1, w . x = -1: the left side is 0, the right side 1",
    control_outcome="refuted",
    printed=r"N_\theta(x) \ge \sum_j v_j \sigma(b_j) - \sum_j |v_j \sigma(w_j^\top x)|",
    proved=r"N_\theta(x) \ge \sum_j v_j \sigma(b_j) - \sum_j |v_j| |w_j^\top x|",
    errata=Erratum.slip(
        "The display of the intuition has |v_j sigma(w_j . x)| where |v_j| |w_j . x| is needed; the proof, "
        "equation (17), has it right.",
        evidence="v = b = 1, w . x = -1: 0 >= 1, in fractions",
        repair="equation (17), KYS23/B1.BiasDom",
    ),
)
def sec_4_display(instance: Instance) -> Findings:
    """Both sides at the samples; the repaired inequality beside them."""
    network, X = instance.the_network(), instance.the_data().X
    hypotheses = require((true("dimensions agree", network.dimension == X.shape[1]),), "no value of N to compare")
    b = network.b if network.b is not None else np.zeros(network.width)
    products = X @ network.W.T
    biases = float(network.v @ np.maximum(b, 0.0))
    size = float(np.abs(network.v).sum()) * max(1.0, float(np.abs(products).max()), float(np.abs(b).max()))
    printed = biases - np.maximum(products, 0.0) @ np.abs(network.v)
    repaired = biases - np.abs(products) @ np.abs(network.v)
    claim = at_least("N(x_i) against the display", network(X), printed, scale=size)
    found = None
    if claim.state == "failed":
        gaps = [(_exact_gap(network, b, row), row) for row in X.tolist()]
        gap, row = min(gaps)
        if gap < 0:
            found = Counterexample(summary=f"at x = {row} the left side is smaller by {-gap}", proof="fractions")
    return Findings(
        hypotheses=hypotheses,
        claims=(claim,),
        derived=(at_least("N(x_i) against the repaired form", network(X), repaired, scale=size),),
        counterexample=found,
    )
