r"""[FVBS23, Lemma A.8]: with k ln(d)^2 samples every cluster is seen."""

import math

from marginflow.theory.frame import Findings, Instance, at_least, at_most, stated, value
from marginflow.theory.probability import log_coupon_missed_tail, union


@stated(
    id="FVBS23/LemA.8",
    meaning="With n >= k ln(d)^2 samples every cluster is seen.",
    formula=r"n \ge k \ln^2 d \implies \Pr[\exists q : I^{(q)} = \emptyset] \le k d^{-\ln d} \le d^{1 - \ln d}",
    needs=("parameters",),
    parameters={"dimension": "d", "n_clusters": "k", "n": "sample size; the least that is allowed by default"},
    example=lambda: Instance(name="d = 957, k = 10", parameters={"dimension": 957, "n_clusters": 10}),
    control=lambda: Instance(name="n = k", parameters={"dimension": 957, "n_clusters": 10, "n": 10}),
    control_shows="ten samples are not enough for ten clusters",
    printed=r"d^{1 - \ln d}",
    proved=r"k d^{-\ln d}",
    sharp=r"\sum_{j=1}^{k} (-1)^{j+1} \binom{k}{j} \left(1 - \tfrac{j}{k}\right)^n",
)
def lemma_a8(instance: Instance) -> Findings:
    """The chain k (1 - 1/k)^n <= k e^(-n/k) <= k d^(-ln d) <= d^(1 - ln d), and inclusion and exclusion below it."""
    d, k = instance.whole("dimension", at_least=1), instance.whole("n_clusters")
    L = math.log(d)
    n = instance.whole("n", math.ceil(k * L**2))
    exact = log_coupon_missed_tail(n, k)
    first = union(n * math.log1p(-1 / k) if k > 1 else -math.inf, k)
    links = (math.log(k) - n / k, math.log(k) - L**2, (1 - L) * L)
    return Findings(
        value("P(a cluster is missing)", math.exp(exact)),
        value("n used", n),
        hypotheses=(at_least("n", n, k * L**2, note="k ln(d)^2"), at_most("k", k, d)),
        claims=(at_most("ln P(a cluster is missing), exact", exact, links[2], vacuous=links[2] >= 0),),
        proof_steps=(
            at_most("ln P(a cluster is missing) against the union", exact, first, vacuous=first >= 0),
            at_most("union over clusters", first, links[0], vacuous=links[0] >= 0),
            at_most("1 - x <= e^-x", links[0], links[1], vacuous=links[1] >= 0),
            at_most("k <= d", links[1], links[2], vacuous=links[2] >= 0),
        ),
    )
