r"""Derived: when has the global max-margin network on the line the sign of 1-nearest neighbour?

If two neighbours have different labels and 1 + x_i x_k <= 0, the augmented samples (x_i, 1), (x_k, 1) are not active on
each other's neurons. On two such samples the optimum is one neuron along each,

.. math:: N(x) = \frac{y_1 \sigma(1 + x_1 x)}{1 + x_1^2} + \frac{y_2 \sigma(1 + x_2 x)}{1 + x_2^2},

with multipliers 1/||(x_i, 1)||: |F(u)| <= max_i lambda_i sigma(u . xt_i) <= 1 for every unit u, so it is global. For -1
(+) and 2 (-) its zero is 1/3, not the middle 1/2. No sample with all 1 + x_i x_k >= 0 has contradicted the claim.
"""

from fractions import Fraction

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.data import Dataset
from marginflow.generalisation import line_error, nearest_neighbour_line_error
from marginflow.limit import line
from marginflow.theory.frame import Check, Findings, Instance, at_least, at_most, equal, require, stated, value
from marginflow.theory.instances import at_point
from marginflow.theory.kys23.line import dual_supremum, kkt_point, line_samples, symmetric_difference
from marginflow.theory.kys23.line_points import global_point


def zero_of_two(first: Fraction, second: Fraction) -> Fraction:
    """Where the global optimum on `first` (+) and `second` (-) with 1 + first second <= 0 vanishes, exactly.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from marginflow.theory.kys23.derived.x_1nn import zero_of_two
    >>> zero_of_two(Fraction(-1), Fraction(2))
    Fraction(1, 3)
    """
    a, b = 1 + first**2, 1 + second**2
    return (a - b) / (first * b - second * a)  # (1 + x1 x) b = (1 + x2 x) a


def _two_points() -> Instance:
    data = Dataset(X=np.array([[-1.0], [2.0]]), y=np.array([1.0, -1.0]))
    return at_point(line.max_margin(data), "the global optimum on -1 (+) and 2 (-)")


@stated(
    id="KYS23/X.1NN",
    kind="remark",
    number="Derived: conjecture on the global optimum on the line",
    meaning="Where all 1 + x_i x_k >= 0, the global max-margin network has the sign of 1-nearest neighbour.",
    formula=r"1 + x_i x_k \ge 0 \ \forall i, k \;\Rightarrow\; \mathrm{sign}\, N_{\theta^*}(x) = "
    r"\mathrm{sign}\, \mathrm{1NN}(x) \quad \forall x \in [\min x_i, \max x_i]",
    example=lambda: global_point(20, 0.3, 5),
    control=_two_points,
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
