r"""X.sharp: the shortest step along u that the lemmas of Theorem 4.1 prove, when only the sign must flip."""

import numpy as np

from marginflow.robustness.explicit_vectors import vys22_vector
from marginflow.theory.frame import Findings, Instance, at_most, is_kkt_point, require, stated, value
from marginflow.theory.instances import orthogonal_point
from marginflow.theory.vys22.presets import robust_control
from marginflow.theory.vys22.setting import Setting


@stated(
    id="VYS22/X.sharp",
    kind="theorem",
    number="from Lemmas C.2 and C.4",
    meaning="Half the length of the printed z is proved to flip every sample, and m - 1 takes the place of m.",
    formula=r"t = \frac{p+1}{D} + \frac{(n-1)(p+1) + d + 1}{nD}, \quad D = d - (m-1)p: \quad "
    r"y_i N_\theta(x_i - y_i t u) \le 0",
    example=lambda: orthogonal_point(1000, 332),
    control=robust_control,
    control_shows="the robust network keeps all its signs at x_i - y_i t u",
)
def sharp_step(instance: Instance) -> Findings:
    """t = (p + 1)/D + ((n - 1)(p + 1) + d + 1)/(n D), with D = d - (m - 1) p and n the smaller class."""
    setting = Setting.of(instance.the_data())
    network = instance.certificate.network
    hypotheses = (
        setting.equal_norms(),
        setting.balanced(),
        at_most("m - 1", setting.m - 1, setting.allowed, note=f"p = {setting.p:.6g}"),
        is_kkt_point(instance),
    )
    require(hypotheses, "no step for these data", given=setting.n_least > 0 and setting.D > 0)
    t = sum(setting.steps("sharp"))
    literal = vys22_vector(setting.X, setting.y, form="literal", ambient_dimension=setting.d)
    flip = vys22_vector(setting.X, setting.y, form="flip", ambient_dimension=setting.d)
    size = t * setting.u_norm
    truth = setting.shortest_flip(network)
    return Findings(
        value("t", t),
        value("||t u||", size),
        value("||t u|| / sqrt(d)", size / float(np.sqrt(setting.d))),
        value("||z||, literal", literal.size),
        value("||z||, exact", truth),
        hypotheses=hypotheses,
        claims=(
            at_most("y_i N(x_i - y_i t u)", setting.moved(network, t), 0.0, scale=1.0),
            at_most("||t u|| against flip-only", size, flip.size),
        ),
        arithmetic=(at_most("the exact step is no longer", truth, size),),
    )
