r"""[FVBS23, Theorem 4.2]: not a KKT point is robust."""

import numpy as np

from marginflow.theory.frame import Check, Findings, Instance, undefined
from marginflow.theory.fvbs23 import region
from marginflow.theory.fvbs23.presets import stated_of_z
from marginflow.theory.fvbs23.setting import ClusterSample
from marginflow.theory.fvbs23.thm_3_1.theorem import packaging
from marginflow.theory.fvbs23.thm_3_1.thm_a1 import networks_of, theorem_hypotheses
from marginflow.theory.fvbs23.thm_4_2.lem_d9 import size_checks
from marginflow.theory.fvbs23.thm_4_2.thm_d1 import explicit_vectors, vector_constants
from marginflow.theory.probability import clopper_pearson
from marginflow.theory.vacuity import says_nothing


@stated_of_z(
    id="FVBS23/Thm4.2",
    meaning="With probability 1 - delta, one z of length O(sqrt(d/(c^2 k))) flips all but a share epsilon of the "
    "points.",
    formula=r"\|z\| = O\left(\sqrt{\frac{d}{c^2 k}}\right), \quad \Pr_{(x, y)}[\mathrm{sign}(N_\theta(x)) \ne "
    r"\mathrm{sign}(N_\theta(x - y z))] \ge 1 - \epsilon",
    parameters={"epsilon": "share of points not flipped, 0.05", "delta": "failure probability, 0.05"},
    region=region.THEOREM_4_2,
    printed=r"\|z\| = O\left(\sqrt{\frac{d}{c^2 k}}\right)",
    remark="The window for n is that of Theorem 3.1. sign(0) = -1, so a positive point flips at N = 0 already. The "
    "printed z is shorter than the data only from k = 396 clusters on, which needs d >= 6961 even without noise and n "
    ">= k ln(d)^2 = 31,003 samples; with sigma = 1/sqrt(d) it needs d of about 200,000 and 59,000 samples. The example "
    "is the limit of small noise: sigma = 1e-30 is allowed by the assumption and rounds every sample to its mean, so "
    "that a KKT point is known in closed form. With noise that a float resolves the 31,003 samples span all 6961 "
    "dimensions (1.7 GB) and no KKT point of theirs is known without training on them.",
)
def theorem_4_2(instance: Instance) -> Findings:
    """The share of fresh points that change their sign, with its confidence interval, against 1 - epsilon."""
    sample = ClusterSample.of(instance)
    s = sample.setting
    epsilon, delta = instance.number("epsilon", 0.05), instance.number("delta", 0.05)
    hypotheses = (*theorem_hypotheses(instance), *s.window(sample.n, epsilon, delta))
    vectors = explicit_vectors(instance)
    constants = vector_constants(instance, vectors)
    test = instance.the_test()
    before = np.array([network(test.X) > 0 for network in networks_of(instance)])
    shares: dict[str, Check] = {}
    for form, vector in vectors.items():
        X = test.X - test.y[:, None] * vector.vector
        after = np.array([network(X) > 0 for network in networks_of(instance)])
        flipped = np.all(before != after, axis=0)
        counted = clopper_pearson(int(flipped.sum()), flipped.size)
        shares[form] = counted.check(
            f"share of flipped points, {form} z",
            ">=",
            1 - epsilon,
            f"||z|| = {vector.relative_size:.4g} sqrt(d)",
            vacuous=says_nothing(vector.size, s.d),
        )
    if "literal" not in shares:
        return undefined(hypotheses, "z is not defined here", constants)
    size, steps = size_checks(s, vacuous=shares["literal"].vacuous)
    return Findings(
        hypotheses=hypotheses,
        constants=constants,
        claims=(shares["literal"], size),
        proof_steps=(*packaging(s, sample.n, epsilon, delta), *steps),
        derived=tuple(share for form, share in shares.items() if form != "literal"),
    )
