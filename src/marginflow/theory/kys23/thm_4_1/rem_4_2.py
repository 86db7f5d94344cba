r"""[KYS23, Remark 4.2] Theorem 4.1 for other isotropic laws."""

import math
from functools import cache

from marginflow.data import AbstractDistribution, Ball, Dataset, Gaussian, GramReduction, NoisySphere
from marginflow.limit import convex_pair
from marginflow.theory.frame import Erratum, Findings, Instance, above, at_most, below, require, stated, unmet, value
from marginflow.theory.instances import at_point
from marginflow.theory.kys23.clean_error import fresh_error
from marginflow.theory.kys23.thm_4_1.lem_b2 import least_norm
from marginflow.theory.kys23.thm_4_1.theorem import log_far_from_span
from marginflow.theory.kys23.unit_sphere import SphereSample, beta_of, separates, size_of
from marginflow.theory.probability import clopper_pearson


@cache
def other_law_point(name: str, m: int = 80, k: int = 2, d: int = 10**6) -> Instance:
    """The exact pair on a sample of another isotropic law, k labels turned."""
    laws: dict[str, AbstractDistribution] = {
        "sphere": GramReduction(NoisySphere(dimension=d, p=0.0)),
        "gaussian": GramReduction(Gaussian(dimension=d, variance="1/d", labels="positive")),
        "ball": GramReduction(Ball(dimension=d, radius=1.0, labels="positive")),
        "standard gaussian": GramReduction(Gaussian(dimension=d, variance=1.0, labels="positive")),
    }
    clean = laws[name].sample(m)
    y = clean.y.copy()
    y[:k] = -1.0
    data = Dataset(X=clean.X, y=y, ambient_dimension=d, clean_labels=clean.y)
    return at_point(convex_pair(data), f"the exact pair, law: {name}, d = {d}", law=laws[name])


@stated(
    id="KYS23/Rem4.2",
    meaning="Any law with nearly orthogonal samples and ||X X^T|| = O(1) will do: N(0, I/d), the ball; not N(0, I).",
    formula=r"|x_i^\top x_l| = o(1), \quad \|X X^\top\| = O(1) \implies \text{Theorem 4.1}",
    needs=("network", "data", "law"),
    parameters={"epsilon": "0.01 by default", "C": "the bound on ||X X^T||, 2 by default"},
    example=lambda: other_law_point("gaussian"),
    control=lambda: other_law_point("standard gaussian"),
    control_shows="N(0, I) has inner products of order sqrt(d); the biases are then negligible",
    printed=r"\text{standard Gaussian}",
    proved=r"\mathcal{N}(0, I/d)",
    errata=Erratum.slip("The standard Gaussian N(0, I) has neither property; N(0, I/d) is meant."),
)
def remark_4_2(instance: Instance) -> Findings:
    """Only small inner products and ||X X^T|| = O(1) are used; norms need not be 1."""
    network, data = instance.the_network(), instance.the_data()
    sample = SphereSample(data)
    epsilon, C = instance.number("epsilon", 0.01), instance.number("C", 2.0)
    fits = separates(network, data)
    require(fits, "a fitted network with biases is needed", given=not unmet(fits) and network.b is not None)
    network = network.at_margin_one(data.X, data.y)
    K, counted = size_of(network), fresh_error(instance, network)
    return Findings(
        value("largest deviation of a squared norm from 1", float(abs(sample.gram.diagonal() - 1).max())),
        hypotheses=(
            fits,
            at_most("rho |I_-|", sample.rho * sample.k, 0.1),
            at_most("C_op", sample.C_op, C),
            below("||theta||^2", K, least_norm(sample)),
            at_most(
                "ln P(||P x||^2 >= C_op / q) on the sphere",
                log_far_from_span(sample),
                math.log(epsilon),
                note="d is large enough",
            ),
        ),
        claims=(clopper_pearson(counted.errors, counted.trials).check("clean error, sampled", "<=", epsilon),),
        proof_steps=(above("beta", beta_of(network), 0.5),),
    )
