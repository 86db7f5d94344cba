r"""[VYS22, Lemma C.2]: the total weight S of the positive neurons, and of the negative ones, is bounded from below."""

from marginflow.theory.frame import Erratum, Findings, Instance, at_least, is_kkt_point, stated, value
from marginflow.theory.vys22.presets import orthogonal_preset, unbalanced_control
from marginflow.theory.vys22.setting import MarginNeurons, Setting


def printed_bound(setting: Setting) -> float:
    """m c / ((c c' + 1) (d + 1))."""
    return setting.n_least / ((setting.c * setting.c_prime + 1) * (setting.d + 1))


def sharp_bound(setting: Setting, n: int) -> float:
    """n / ((n - 1) (p + 1) + d + 1): the inequalities of the n samples of a class, averaged."""
    return n / ((n - 1) * (setting.p + 1) + setting.d + 1) if n else 0.0


@stated(
    id="VYS22/LemC.2",
    meaning="Margin 1 needs weight: the sums of v_j^2 lambda_i sigma'_ij over J+ and over J- are not small.",
    formula=r"\sum_{i \in I} \sum_{j \in J^\pm} v_j^2 \lambda_i \sigma'_{ij} \ge \frac{mc}{(cc' + 1)(d + 1)}",
    example=orthogonal_preset,
    control=unbalanced_control,
    control_shows="same function, but the multipliers that come closest to explaining it carry almost no weight",
    printed=r"S_\pm \ge \frac{mc}{(cc' + 1)(d + 1)}",
    sharp=r"S_\pm \ge \frac{|I^\pm|}{(|I^\pm| - 1)(p + 1) + d + 1}",
    remark="The last display of the printed proof begins with the sum over I+ twice; the first should run over I. "
    "Multipliers from hard 0/1 patterns can seem to violate the lemma: Clarke weights are needed at kinks.",
    errata=Erratum.slip("The last display sums over I+ twice; the first sum is over I."),
)
def lemma_c2(instance: Instance) -> Findings:
    """S+ and S- against the printed and the averaged bound."""
    setting = Setting.of(instance.the_data())
    neurons = MarginNeurons.of(instance, setting)
    S_plus, S_minus = neurons.S(neurons.positive), neurons.S(neurons.negative)
    printed = printed_bound(setting)
    return Findings(
        value("gamma", 1 / (setting.c * setting.c_prime + 1), "splits the two cases of the proof"),
        hypotheses=(*setting.hypotheses(), is_kkt_point(instance)),
        claims=(at_least("S+", S_plus, printed), at_least("S-", S_minus, printed)),
        derived=(
            at_least("S+, sharp", S_plus, sharp_bound(setting, setting.n_plus)),
            at_least("S-, sharp", S_minus, sharp_bound(setting, setting.n_minus)),
        ),
    )
