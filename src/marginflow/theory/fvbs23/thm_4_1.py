r"""[FVBS23, Theorem 4.1] A robust network exists, of any width from k on."""

import math

import numpy as np

from marginflow.robustness.constructions import one_neuron_per_cluster
from marginflow.theory.frame import Erratum, Findings, Instance, at_most, equal, stated, value
from marginflow.theory.fvbs23 import region
from marginflow.theory.fvbs23.con_robust import construction_checks
from marginflow.theory.fvbs23.fresh_points import FreshPoints
from marginflow.theory.fvbs23.presets import A, close_means, preset
from marginflow.theory.probability import log_two_sided_gaussian_tail


@stated(
    id="FVBS23/Thm4.1",
    meaning="Under Assumption 2.2 a network of any width from k on classifies well and is robust at distances of "
    "order sqrt(d).",
    formula=r"\Pr_x\left[y N(x) \ge 1, \ \|x' - x\| \le \tfrac{\sqrt{d}}{8} \Rightarrow \mathrm{sign}(N(x')) = "
    r"\mathrm{sign}(N(x)) = y\right] \ge 1 - 2 k q_d",
    needs=("law", "test"),
    parameters={"width": "width of the network, at least k"},
    example=lambda: preset(A),
    control=lambda: close_means(A, 0.9),
    control_shows="means at a cosine of 0.9: the neuron of the other cluster is active too",
    region=region.THEOREM_4_1,
    printed=r"\tfrac{1}{8} \sqrt{d} \text{ for } d \text{ sufficiently large } (d \ge 681)",
    sharp=r"0.45 \sqrt{d} \text{ for every } d \text{ under Assumption 2.2}",
    remark="The proof drops sigma in (18), which costs the condition d >= 681; with sigma kept the inputs are at "
    "least 41/21 and at most -9/5 under the assumption alone.",
    errata=Erratum.wrong_constant(
        "Step (18) drops sigma, which costs the condition that d be large enough (681).",
        repair="under Assumption 2.2 alone the radius is 0.45 sqrt(d); FVBS23/Thm4.1-sharp",
    ),
)
def theorem_4_1(instance: Instance) -> Findings:
    """The construction is made here from the means; the instance brings the law and test points."""
    test = FreshPoints.of(instance)
    s, fine = test.setting, test.in_event
    width = instance.whole("width", s.k + 3)
    made = one_neuron_per_cluster(test.means, s.y, width=width, ambient_dimension=s.d)
    exact = math.log(s.k) + log_two_sided_gaussian_tail(s.L)
    bound = math.log(2 * s.k) + s.log_q
    found = construction_checks(test, made.network)
    return Findings(
        value("test points in the event", float(fine.sum()), f"of {fine.size}"),
        value("printed step 2 - 4 ln(d)/sqrt(d)", 2 - 4 * s.L / math.sqrt(s.d), "at least 1 from d = 681 on"),
        value("step with sigma kept, 2 - Delta/d", 2 - s.Delta / s.d),
        hypotheses=s.assumption(),
        claims=(
            at_most("ln P(not in the event), exact", exact, bound, vacuous=bound >= 0, note="ln(2 k q_d)"),
            *found.claims,
        ),
        proof_steps=(
            equal("||w_j|| sqrt(d)", np.linalg.norm(made.network.W[: s.k], axis=1) * math.sqrt(s.d), 4.0),
            *found.proof_steps,
        ),
        derived=found.derived,
    )


@stated(
    id="FVBS23/Thm4.1-sharp",
    number="Theorem 4.1, sharp",
    meaning="Under Assumption 2.2 alone, for every d, the robust network keeps its sign within 0.45 sqrt(d).",
    formula=r"w_j^\top x + b_j \ge \tfrac{41}{21} \ (\text{own}), \quad \le -\tfrac{9}{5} \ (\text{others}), \quad "
    r"R = 0.45 \sqrt{d}",
    needs=("law", "test"),
    example=lambda: preset(A),
    control=lambda: close_means(A, 0.9),
    control_shows="means at a cosine of 0.9: the neuron of the other cluster is active too",
    known="The proof with sigma kept in (18); no condition on d is left.",
)
def theorem_4_1_sharp(instance: Instance) -> Findings:
    """Inputs and certified radii of the construction, with the constants that keep sigma."""
    test = FreshPoints.of(instance)
    s, fine = test.setting, test.in_event
    made = one_neuron_per_cluster(test.means, s.y, ambient_dimension=s.d)
    return Findings(
        value("test points in the event", float(fine.sum()), f"of {fine.size}"),
        hypotheses=s.assumption(),
        claims=construction_checks(test, made.network).derived,
    )
