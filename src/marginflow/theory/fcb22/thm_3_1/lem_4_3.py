r"""[FCB22, Lemma 4.3] The geometry of a sample."""

import math

from scipy import special

from marginflow.theory.fcb22.constants import C1_PAPER, HOEFFDING
from marginflow.theory.fcb22.good_run import GoodRun
from marginflow.theory.fcb22.path import RUN, path_of
from marginflow.theory.fcb22.recorded import c16, figure
from marginflow.theory.frame import Erratum, Findings, Instance, at_least, stated, value


@stated(
    id="FCB22/Lem4.3",
    meaning="Samples are close to their means, and noise and clusters have about the sizes that are expected.",
    formula=r"\langle x_i, \mu \rangle \ge 1 - C_1 \sigma \sqrt{d}, \; |\langle x_i, \mu^\perp \rangle| \le "
    r"C_1 \sigma \sqrt{d}, \; \|x_i - \mu\|^2 \le C_1 \sigma^2 d, \; \tfrac{|\mathcal{N}|}{n} \le \eta + C_1 u, \; "
    r"\left|\tfrac{|I_\mu|}{n} - \tfrac14\right| \le C_1 u, \quad u = \sqrt{\tfrac{\log(1/\delta)}{n}}",
    needs=("data", "run", "start"),
    parameters={**RUN, "C1": "the constant, 2 by default"},
    example=c16,
    control=figure,
    control_shows="in the plane the squared distance of a sample is not a constant times sigma^2 d for all of 5000",
    printed=r"\|x_i - \mu\|^2 \le C_1 \sigma^2 d",
    proved=r"\|x_i - \mu\| \le C_1 \sigma \sqrt{d}, \quad C_1 = \max(c, c^2)",
    errata=Erratum.slip(
        "Part (b) is printed for the square and used without it everywhere (C1 = max(c, c^2) serves both); "
        "the constant c of Paouris' inequality is not explicit, and one c stands for two; part (d) has a stray '0 "
        "<= t <= T - 1', part (c) cites (A5) for (A4)."
    ),
)
def lemma_4_3(instance: Instance) -> Findings:
    """With C1 = 2, or as given; the constants that each part really needs are reported."""
    path = path_of(instance)
    s, run = path.numbers, GoodRun(path)
    C1 = instance.number("C1", C1_PAPER)
    far = float(special.gammaincc(s.d / 2, C1 * s.d / 2))
    return Findings(
        *(value(f"C1* of part ({name})", number) for name, number in run.C1_parts.items()),
        value("P(|x_i - mu|^2 > C1 sd^2 for some i) for Gaussian clusters, at most", min(1.0, s.n * far)),
        value("C1 that part (c) needs with probability 1 - delta", HOEFFDING),
        value("C1 that part (d) needs with probability 1 - delta", math.sqrt(3)),
        hypotheses=(*s.confidence(), s.feasible(), at_least("C1", C1, C1_PAPER)),
        claims=run.geometry(C1),
    )
