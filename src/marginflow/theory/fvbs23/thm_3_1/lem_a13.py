r"""[FVBS23, Lemma A.13]: a fresh point is near its own cluster and nearly orthogonal to the others."""

import math
from functools import partial

from marginflow.theory.frame import Findings, Instance, at_most, value
from marginflow.theory.fvbs23.fresh_points import FreshPoints
from marginflow.theory.fvbs23.presets import A, preset, stated_of_draw
from marginflow.theory.fvbs23.setting import ClusterSample
from marginflow.theory.fvbs23.thm_3_1.p1_p6 import stretched
from marginflow.theory.probability import clopper_pearson


def event_tails(instance: Instance) -> Findings:
    """Exact tails of the Gaussian events that the proofs of both lemmas use, and a count."""
    sample = ClusterSample.of(instance)
    s = sample.setting
    bound, exact = s.log_test_failure(sample.n), sample.log_test_tail()
    fine = FreshPoints.of(instance).are_nice(sample)
    sharp = math.log(2 * sample.n + 2 * s.k) + s.log_q
    counted = clopper_pearson(int((~fine).sum()), fine.size).check(
        "share of points outside the event", "<=", math.exp(bound) if bound < 0 else 1.0
    )
    tells = counted.state != "undecided"  # points outside speak against the tails; a count cannot prove 1e-6
    return Findings(
        value("ln(4 n q_d)", bound),
        value("ln of the exact tails", exact),
        value("test points in the event", float(fine.sum()), f"of {fine.size}"),
        *(() if tells else (counted,)),
        hypotheses=(*s.assumption(), *sample.nice),
        claims=(
            at_most("ln P(not in the event)", exact, bound, vacuous=bound >= 0, note="sum of exact Gaussian tails"),
            *((counted,) if tells else ()),
        ),
        derived=(at_most("the same against (2n + 2k) q_d", exact, sharp, vacuous=sharp >= 0),),
    )


stated_event = partial(
    stated_of_draw,
    formula=r"\Pr_\xi\left[\forall i: |\langle \xi_i, \xi \rangle|, |\langle x_i, \xi \rangle| \le \Delta, \ "
    r"|\langle x_i, x \rangle - d| \le \Delta \ (i \in I^{(r)}), \ |\langle x_i, x \rangle| \le p + \Delta \ "
    r"(i \notin I^{(r)})\right] \ge 1 - 4 n q_d",
    control=lambda: stretched(20.0).but(name="a sample with one long noise", test=preset(A).test),
    control_shows="the noise of one sample is twenty times too long for fresh noise to be nearly orthogonal to it",
    printed=r"4 n q_d",
    sharp=r"\sum_i \mathrm{erfc}\left(\frac{2 g}{\sqrt{2} \sigma \|\xi_i\|}\right) + "
    r"k\ \mathrm{erfc}\left(\frac{\ln d}{\sqrt{2}}\right) \le (2n + 2k) q_d",
    remark="The proof drops an absolute value. The bound is far too small for counting; the tails are exact.",
)


@stated_event(
    id="FVBS23/LemA.13", meaning="A fresh point is near its own cluster and nearly orthogonal to the other ones."
)
def lemma_a13(instance: Instance) -> Findings:
    """Exact tails of the Gaussian events that the proof uses, and a count."""
    return event_tails(instance)
