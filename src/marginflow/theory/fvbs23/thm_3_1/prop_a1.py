r"""[FVBS23, Proposition A.1] How likely properties P1 to P6 of a sample are."""

import math
from dataclasses import replace

from marginflow.data import Clusters, GramReduction
from marginflow.theory.frame import Check, Findings, Instance, above, at_most, true, value
from marginflow.theory.fvbs23.presets import law_of, law_only, stated_of_law
from marginflow.theory.fvbs23.setting import ClusterSample, ClusterSetting, cluster_law
from marginflow.theory.fvbs23.thm_3_1.lem_a1_a4 import log_component_tail, log_inner_product_tail, log_noise_norm_tail
from marginflow.theory.probability import clopper_pearson, log_coupon_missed_tail, log_sum, union


def is_nice(law: Clusters | GramReduction, n: int, seed: int) -> bool:
    """Whether a sample with this seed satisfies P1 to P6."""
    data = law.sample(n, seed=seed)
    return all(check.state == "met" for check in ClusterSample.of(Instance(data=data, law=law)).nice)


def good_draw(instance: Instance) -> tuple[Check, ...]:
    """Assumption 2.2, and an independent sample of n >= k ln(d)^2 that satisfies P1 to P6."""
    sample = ClusterSample.of(instance)
    independent = true("clusters are drawn independently", cluster_law(instance.the_law()).allocation == "iid")
    return (*sample.setting.assumption(), independent, sample.setting.enough(sample.n), *sample.nice)


def log_exact_union(s: ClusterSetting, n: int) -> float:
    """ln of the union bound over P1, P2, P3 and P6 with exact tails for each event (P4, P5 follow)."""
    return min(
        0.0,
        log_sum(
            union(log_noise_norm_tail(s.d), n),
            union(log_inner_product_tail(s.d), n * (n - 1) / 2) if n > 1 else -math.inf,
            union(log_component_tail(s.d), n * s.k),
            log_coupon_missed_tail(n, s.k),
        ),
    )


@stated_of_law(
    id="FVBS23/PropA.1",
    meaning="A sample of at least k ln(d)^2 points satisfies P1 to P6 with overwhelming probability.",
    formula=r"\Pr[\neg (P1 \wedge \dots \wedge P6)] \le 3 n^2 d^{-\ln(d)/2} + n^2 e^{-d/16} + d^{1 - \ln d}",
    parameters={"n": "sample size, the least that is allowed by default", "draws": "samples drawn beside the bound"},
    control=lambda: replace(law_only(law_of(549, 2), "2 samples of 2 clusters"), parameters={"n": 2}),
    control_shows="two samples of two clusters: every other draw misses a cluster, so that P6 fails",
    printed=r"3 n^2 q_d + n^2 e^{-d/16} + d^{1 - \ln d}",
    sharp=r"(n(n-1) + 2nk) q_d + n e^{-d/16} + k d^{-\ln d}",
    remark="Failure probabilities are compared as logarithms: 1 - 1e-44 is 1 in floating point. In dimension "
    "38 the bound exceeds 1, although most draws satisfy P1 to P6.",
)
def proposition_a1(instance: Instance) -> Findings:
    """The union of exact tails against F, and draws beside both."""
    s = ClusterSetting.of(instance)
    n = instance.whole("n", math.ceil(s.k * s.L**2), at_least=1)
    draws = instance.whole("draws", 50)
    law = instance.the_law()
    assert isinstance(law, Clusters | GramReduction)
    reduced = GramReduction(law) if isinstance(law, Clusters) and n + s.k <= s.d else law
    printed, sharp, exact = s.log_failure(n), s.log_failure_sharp(n), log_exact_union(s, n)
    failed = sum(not is_nice(reduced, n, instance.seed + draw) for draw in range(draws))
    nothing = printed >= 0
    bound = min(1.0, math.exp(printed)) if printed > -700 else 0.0
    counted = clopper_pearson(failed, draws).check("share of samples without P1 to P6", "<=", bound, vacuous=nothing)
    tells = counted.state != "undecided"  # draws without P1 to P6 speak against the bound; so few cannot prove it
    return Findings(
        value("ln F", printed, "3 n^2 q_d + n^2 e^(-d/16) + d^(1 - ln d)"),
        value("ln F', counted without waste", sharp),
        value("ln of the union of exact tails", exact),
        value("samples without P1 to P6", failed, f"of {draws}"),
        *(() if tells else (counted,)),
        hypotheses=(*s.assumption(), s.enough(n), above("ln d", s.L, 1.0)),
        claims=(at_most("union of exact tails, ln", exact, printed, vacuous=nothing), *((counted,) if tells else ())),
        derived=(
            at_most("F', ln", sharp, printed, vacuous=nothing),
            at_most("union of exact tails against F', ln", exact, sharp, vacuous=sharp >= 0),
        ),
    )
