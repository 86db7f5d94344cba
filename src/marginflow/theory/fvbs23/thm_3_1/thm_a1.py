r"""[FVBS23, Theorem A.1]: with probability 1 - F every KKT point errs on at most 4 n q_d of the fresh points."""

import numpy as np

from marginflow.arrays import BoolArray, FloatArray
from marginflow.certificates import certify
from marginflow.networks import TwoLayer
from marginflow.theory.frame import Check, Erratum, Findings, Instance, above, at_least, at_most, is_kkt_point, value
from marginflow.theory.fvbs23 import region
from marginflow.theory.fvbs23.fresh_points import FreshPoints
from marginflow.theory.fvbs23.presets import blind_network, stated_of_clusters
from marginflow.theory.fvbs23.setting import ClusterSample, ClusterSetting
from marginflow.theory.fvbs23.thm_3_1.prop_a1 import good_draw


def theorem_hypotheses(instance: Instance) -> tuple[Check, ...]:
    """Theorem A.1: a good draw, and KKT points."""
    data = instance.the_data()
    others = (
        is_kkt_point(certify(network, data, hard_patterns=False), f"KKT residual of network {number}")
        for number, network in enumerate(instance.networks, start=2)
    )
    return (*good_draw(instance), is_kkt_point(instance), *others)


def networks_of(instance: Instance) -> list[TwoLayer]:
    """All networks of an instance, at margin 1."""
    data = instance.the_data()
    return [instance.certificate.network, *(network.at_margin_one(data.X, data.y) for network in instance.networks)]


def least_outputs(instance: Instance) -> tuple[FloatArray, BoolArray]:
    """The least y N(x) over all networks (at margin 1) for every test point, and whether the point is nice."""
    test = FreshPoints.of(instance)
    outputs = np.min([test.y * network(test.X) for network in networks_of(instance)], axis=0)
    return outputs, test.are_nice(ClusterSample.of(instance))


def without_waste(s: ClusterSetting, n: int) -> Check:
    """The union of Proposition A.1 counted without waste, below F."""
    printed = s.log_failure(n)
    return at_most("ln F', counted without waste", s.log_failure_sharp(n), printed, vacuous=printed >= 0)


@stated_of_clusters(
    id="FVBS23/ThmA.1",
    meaning="With probability 1 - F over the sample, every KKT point errs with probability at most 4 n q_d.",
    formula=r"F = 3 n^2 q_d + n^2 e^{-d/16} + d^{1 - \ln d}, \quad \Pr_{(x, y)}[y N_\theta(x) \le 0] \le 4 n q_d, "
    r"\quad q_d = d^{-\ln(d)/2}",
    control=blind_network,
    control_shows="a network without neurons for two of ten clusters is not a KKT point and errs there",
    region=region.THEOREM_A1,
    printed=r"\text{let } \theta \text{ be a KKT point; then with probability } 1 - F \text{ over } S",
    proved=r"\text{with probability } 1 - F \text{ over } S \text{, for every KKT point } \theta",
    sharp=r"\Pr[y N_\theta(x) < \tfrac{3}{128}] \le (2n + 2k) q_d",
    remark="One event of the sample serves all KKT points. That the draw is in that event counts as a hypothesis "
    "here; how likely it is, is Proposition A.1.",
    errata=Erratum.slip(
        "The KKT point is fixed before the sample is drawn.",
        repair="with probability 1 - F over S, for every KKT point",
    ),
)
def theorem_a1(instance: Instance) -> Findings:
    """On a good draw: exact tails against 4 n q_d, and every good test point is right for every KKT point."""
    sample = ClusterSample.of(instance)
    s = sample.setting
    outputs, fine = least_outputs(instance)
    bound, exact = s.log_test_failure(sample.n), sample.log_test_tail()
    nothing = s.log_failure(sample.n) >= 0  # "with probability at least 1 - F" says nothing
    return Findings(
        value("ln F", s.log_failure(sample.n), "F < 1 or the theorem says nothing"),
        value("ln(4 n q_d)", bound),
        value("test points", float(outputs.size)),
        value("test errors", float((outputs <= 0).sum())),
        value("KKT points", float(1 + len(instance.networks))),
        hypotheses=theorem_hypotheses(instance),
        claims=(
            at_most("ln P(y N(x) <= 0), from exact tails", exact, bound, vacuous=nothing or bound >= 0),
            above("y N(x) on good test points", outputs[fine], 0.0, tolerance=0.0, vacuous=nothing),
        ),
        proof_steps=(at_least("y N(x) on good test points, Lemma A.12", outputs[fine], 3 / 128, note="3/128"),),
        derived=(without_waste(s, sample.n),),
    )
