r"""Derived on the line: proofs of global optimality, the sign of 1-nearest neighbour, and a sharper Prop. A.5.

When has the global max-margin network the sign of 1-nearest neighbour? If two neighbours have different labels and
1 + x_i x_k <= 0, the augmented samples (x_i, 1), (x_k, 1) are not active on each other's neurons. On two such samples
the optimum is one neuron along each,

.. math:: N(x) = \frac{y_1 \sigma(1 + x_1 x)}{1 + x_1^2} + \frac{y_2 \sigma(1 + x_2 x)}{1 + x_2^2},

with multipliers 1/||(x_i, 1)||: |F(u)| <= max_i lambda_i sigma(u . xt_i) <= 1 for every unit u, so it is global. For -1
(+) and 2 (-) its zero is 1/3, not the middle 1/2. No sample with all 1 + x_i x_k >= 0 has contradicted the claim.
"""

from fractions import Fraction
from typing import Final

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.certificates import DEFAULT_TOLERANCE
from marginflow.data import Dataset
from marginflow.generalisation import line_error, nearest_neighbour_line_error
from marginflow.limit import line
from marginflow.theory.frame import Check, Findings, Instance, at_least, at_most, equal, require, stated, value
from marginflow.theory.instances import at_point
from marginflow.theory.kys23.line import (
    STRUCTURE,
    dual_supremum,
    in_the_interval,
    kkt_point,
    line_samples,
    local_minimum,
    symmetric_difference,
)
from marginflow.theory.kys23.line_points import five_point_minimum, global_point, local_point
from marginflow.theory.kys23.thm_3_2.prop_a5 import between_positives

_PROVED_GAP: Final = 1e-7
"""Relative gap at which the catalogue calls an optimum global; the solver reaches about 1e-12."""


@stated(
    id="KYS23/X.GlobalLP",
    kind="construction",
    number="Problem (1), d = 1",
    meaning="On the line the global max-margin network has a proof: the dual function is at most 1 everywhere.",
    formula=r"\min \tfrac12 \|\theta\|^2 = \max_\lambda \Big\{ \sum_i \lambda_i : \sup_{\|u\| = 1} |F_\lambda(u)| \le "
    r"1 \Big\}, \qquad F_\lambda(u) = \sum_i \lambda_i y_i \sigma(u \cdot \tilde x_i)",
    example=lambda: global_point(20, 0.3, 5),
    control=five_point_minimum,
    control_shows="a local minimum that is not global: sup |F| = 2.009, and the norm is 1.338 times the least",
    control_outcome="violated",
)
def x_global_lp(instance: Instance) -> Findings:
    """sup |F_lambda| over all arcs, evaluated in integers, closes the gap between the network and its dual."""
    hypotheses = require(kkt_point(instance), "no multipliers at margin 1")
    certificate = instance.certificate
    supremum = dual_supremum(instance)
    upper = certificate.network.norm_squared() / 2 / float(certificate.margins.min())
    lower = float(certificate.multipliers.sum()) / supremum
    return Findings(
        value("||theta||^2 / ||theta*||^2, at most", upper / lower),
        value("||theta*||^2, from below", 2 * lower),
        value("neurons", certificate.network.compact().width, "m + 1 suffice"),
        hypotheses=hypotheses,
        claims=(
            at_most("sup |F_lambda|", supremum, 1.0, tolerance=_PROVED_GAP),
            at_most("relative gap", upper / lower - 1.0, _PROVED_GAP),
            at_least("y_i N(x_i)", certificate.margins, 1.0, tolerance=DEFAULT_TOLERANCE),
            at_most("neurons <= m + 1", certificate.network.compact().width, instance.the_data().n_samples + 1),
        ),
    )


def zero_of_two(first: Fraction, second: Fraction) -> Fraction:
    """Where the global optimum on `first` (+) and `second` (-) with 1 + first second <= 0 vanishes, exactly.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from marginflow.theory.kys23.derived.line import zero_of_two
    >>> zero_of_two(Fraction(-1), Fraction(2))
    Fraction(1, 3)
    """
    a, b = 1 + first**2, 1 + second**2
    return (a - b) / (first * b - second * a)  # (1 + x1 x) b = (1 + x2 x) a


def _two_points(first: float, second: float, label: float) -> Instance:
    """The global optimum on a sample labelled + and another one."""
    data = Dataset(X=np.array([[first], [second]]), y=np.array([1.0, label]))
    name = f"the global optimum on {first:g} (+) and {second:g} ({'+' if label > 0 else '-'})"
    return at_point(line.max_margin(data), name)


@stated(
    id="KYS23/X.1NN",
    kind="remark",
    number="Derived: conjecture on the global optimum on the line",
    meaning="Where all 1 + x_i x_k >= 0, the global max-margin network has the sign of 1-nearest neighbour.",
    formula=r"1 + x_i x_k \ge 0 \ \forall i, k \;\Rightarrow\; \mathrm{sign}\, N_{\theta^*}(x) = "
    r"\mathrm{sign}\, \mathrm{1NN}(x) \quad \forall x \in [\min x_i, \max x_i]",
    example=lambda: global_point(20, 0.3, 5),
    control=lambda: _two_points(-1.0, 2.0, -1.0),
    control_shows="-1 (+) and 2 (-): the zero of the global optimum is 1/3, that of 1-nearest neighbour 1/2",
    remark="A conjecture: no counterexample among 7,303 instances on [0, 1] and 2,912 on x >= 0; on [-1.5, 1.5], "
    "where the condition fails, 8 of 628 contradict the sign. On [0, 1] it makes the expected error exactly p.",
    known="the global max-margin network on the line does not have the sign of 1-nearest neighbour in general: on "
    "-1 (+) and 2 (-) its zero is 1/3 instead of 1/2 (in fractions). Where all 1 + x_i x_k >= 0, which holds "
    "on [0, 1], no sample has contradicted it; then the expected clean error is exactly p.",
)
def x_1nn(instance: Instance) -> Findings:
    """The length between the first and the last sample on which the two signs differ."""
    hypotheses = require(kkt_point(instance), "no KKT point on the line")
    x, y = line_samples(instance.the_data())
    ends = (float(x[0]), float(x[-1]))
    span = max(ends[1] - ends[0], 1e-300)
    products = 1.0 + np.outer(x, x)
    apart = 0.0
    if x.size > 1:
        ours = line_error(instance.the_network(), interval=ends).intervals
        theirs = nearest_neighbour_line_error((x - ends[0]) / span, y).intervals * span + ends[0]
        apart = symmetric_difference(ours, theirs)
    return Findings(
        value("samples", x.size),
        value("least 1 + x_i x_k", float(products.min())),
        hypotheses=(
            *hypotheses,
            at_most("global: sup |F|", dual_supremum(instance), 1.0, tolerance=1e-7),
            at_least("1 + x_i x_k", float(products.min()), 0.0),
        ),
        claims=(at_most("length on which the signs differ / span", apart / span, 0.0, scale=1.0),),
        arithmetic=_zero(instance, x, y),
    )


def _zero(instance: Instance, x: FloatArray, y: FloatArray) -> tuple[Check, ...]:
    """On two samples of different labels with 1 + x_1 x_2 <= 0: N vanishes where the fractions say."""
    if x.size != 2 or y[0] == y[1] or 1 + x[0] * x[1] > 0:
        return ()
    plus, minus = (Fraction(float(x[y == sign][0])) for sign in (1.0, -1.0))
    zero = zero_of_two(plus, minus)
    return (equal(f"N({zero})", float(instance.the_network()([[float(zero)]])[0]), 0.0, scale=1.0),)


@stated(
    id="KYS23/X.A5",
    kind="proposition",
    number="Derived: conjecture on Proposition A.5",
    meaning="On [0, 1] a local minimum is at least 1 between two neighbouring samples labelled +.",
    formula=r"x_i \in [0, 1], \; y_i = y_{i+1} = 1 \;\Rightarrow\; N_\theta(x) \ge 1 \quad \forall x \in "
    r"[x_i, x_{i+1}]",
    example=lambda: local_point(12, 0.3, 1),
    control=lambda: _two_points(-2.0, 2.0, 1.0),
    control_shows="-2 and 2, both +: N(0) = 2/5 at the global optimum",
    remark="A conjecture: 1,343 local minima on [0, 1], 229 of them not global, never dip below 1.",
    known="on [0, 1] no local minimum was seen below N = 1 between neighbours labelled + (Prop. A.5 says N >= 0); "
    "on the real line there are: N(0) = 2/5 at the global optimum on -2 (+) and 2 (+).",
)
def x_a5(instance: Instance) -> Findings:
    """The least value of N at margin 1 between neighbours labelled +."""
    hypotheses = require(local_minimum(instance), "no local minimum on the line")
    asked = (*hypotheses, in_the_interval(instance))
    hypotheses, least = between_positives(instance, instance.certificate.network, asked)
    return Findings(
        value("least N between them", min(least)),
        hypotheses=hypotheses,
        claims=(at_least("N on [x_i, x_{i+1}]", least, 1.0, tolerance=STRUCTURE),),
    )
