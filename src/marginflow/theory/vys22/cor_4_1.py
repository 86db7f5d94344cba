r"""[VYS22, Corollary 4.1] and its proof in Appendix D: only the samples on the margin matter."""

from typing import Final

import numpy as np

from marginflow.arrays import BoolArray
from marginflow.certificates import DEFAULT_TOLERANCE, certify
from marginflow.robustness.directions import margin_samples
from marginflow.theory.frame import (
    Check,
    Erratum,
    Findings,
    Instance,
    at_least,
    at_most,
    equal,
    is_kkt_point,
    require,
    stated,
    true,
    value,
)
from marginflow.theory.vys22 import region
from marginflow.theory.vys22.presets import robust_control, with_longer_samples
from marginflow.theory.vys22.setting import MarginNeurons, Setting
from marginflow.theory.vys22.thm_4_1.lem_c2 import printed_bound
from marginflow.theory.vys22.thm_4_1.theorem import flips

SETS: Final = ("exact margin", "10 % margin", "support")


def index_sets(instance: Instance) -> dict[str, BoolArray]:
    """Three different sets: q_i = 1 (Corollary 4.1), q_i <= 1.1 min q (Section 6), lambda_i > 0; masks, shape (n,)."""
    certificate, data = instance.certificate, instance.the_data()
    if certificate.status == "does not separate":
        return dict.fromkeys(SETS, np.zeros(data.n_samples, dtype=np.bool_))
    return {
        "exact margin": certificate.margin_set,
        "10 % margin": margin_samples(certificate.network, data.X, data.y),
        "support": certificate.support,
    }


@stated(
    id="VYS22/Cor4.1",
    meaning="Theorem 4.1 for any data: only the samples on the margin must be few, balanced and nearly orthogonal.",
    formula=r"I = \{i : y_i N_\theta(x_i) = 1\}, \quad z = \eta \sum_{i \in I} y_i x_i, \quad "
    r"y_i N_\theta(x_i - y_i z) \le -1 \text{ for } i \in I",
    parameters={"samples": f"which set is I: one of {', '.join(SETS)}"},
    example=lambda: with_longer_samples(1.1, 1.5, 3.0),
    control=robust_control,
    control_shows="the robust network has every sample on its margin and is not a KKT point; z does not flip it",
    region=region.THEOREM_4_1,
    printed=r"I = \{i : y_i N_\theta(x_i) = 1\}",
    proved=r"\{i : \lambda_i > 0\} \subseteq I \subseteq \{i : y_i N_\theta(x_i) = 1\}",
    remark="Any I between the support and the exact margin set will do, and the smallest helps the bound on m. The "
    "set of the experiments, within 10 % of the margin, is a third one.",
)
def corollary_4_1(instance: Instance) -> Findings:
    """Theorem 4.1 on the samples of I alone; the three sets that could be meant by I are counted side by side."""
    data = instance.the_data()
    sets = index_sets(instance)
    word = instance.word("samples", "exact margin", SETS)
    chosen = sets[word]
    constants: list[Check] = []
    for name, mask in sets.items():
        if mask.any():
            other = Setting.of(data, mask)
            note = f"c = {other.c:.4g}, p = {other.p:.4g}, allowed {other.allowed:.4g}"
            constants.append(value(f"samples in I, {name}", other.m, note))
    kkt = require(is_kkt_point(instance), "I is empty", *constants, given=bool(chosen.any()))
    setting = Setting.of(data, chosen)
    # I must lie between the support and the exact margin set, and then everything in (9), (10) comes from I.
    q = instance.certificate.margins
    if not chosen.all():
        constants.append(value("largest margin outside I", float(q[~chosen].max())))
    hypotheses = (
        equal("margins in I", q[chosen], 1.0, tolerance=DEFAULT_TOLERANCE),
        true("I contains the support", bool((chosen | ~sets["support"]).all())),
        *setting.hypotheses(),
        *kkt,
    )
    return flips(instance, setting, hypotheses, *constants)


@stated(
    id="VYS22/AppD",
    kind="corollary",
    number="Appendix D, proof of Corollary 4.1",
    meaning="Samples off the margin appear nowhere in the KKT equations: dropping them leaves the same KKT point.",
    formula=r"y_i N_\theta(x_i) \ne 1 \implies \lambda_i = 0",
    example=lambda: with_longer_samples(1.1, 1.5, 3.0),
    control=robust_control,
    control_shows="a network that is not a KKT point on all samples is none on those of its margin",
    printed=r"y_i N_\theta(x) = 1",
    proved=r"y_i N_\theta(x_i) = 1",
    remark="The index of x is missing in print. Lemma C.1 is dropped, since margin 1 on I is assumed.",
    errata=Erratum.slip("The index of x is missing in y_i N(x) = 1.", repair="y_i N(x_i) = 1"),
)
def appendix_d(instance: Instance) -> Findings:
    """Samples off the margin carry no multiplier, and without them the same network is still a KKT point."""
    data = instance.the_data()
    certificate = instance.certificate
    on = certificate.margin_set
    scale = float(certificate.multipliers.max(initial=0.0))
    off = certificate.multipliers[~on]
    some = on.any() and not on.all()
    restricted = certify(certificate.network, data.subset(on)) if some else certificate
    setting = Setting.of(data, on)
    neurons = MarginNeurons.of(instance, setting, on)
    S = min(neurons.S(neurons.positive), neurons.S(neurons.negative))
    return Findings(
        value("samples on the margin", float(on.sum())),
        value("samples off it", float((~on).sum())),
        hypotheses=(is_kkt_point(instance), *setting.hypotheses()),
        claims=(
            at_most("multipliers off the margin", off.max(initial=0.0), 0.0, scale=scale, tolerance=DEFAULT_TOLERANCE),
            is_kkt_point(restricted, "KKT residual on the margin samples alone"),
        ),
        proof_steps=(at_least("Lemma C.2 on I", S, printed_bound(setting)),),
    )
