r"""Derived: a proof that a network on the line is the global optimum of problem (1)."""

from typing import Final

from marginflow.certificates import DEFAULT_TOLERANCE
from marginflow.theory.frame import Findings, Instance, at_least, at_most, require, stated, value
from marginflow.theory.kys23.line import dual_supremum, kkt_point
from marginflow.theory.kys23.line_points import five_point_minimum, global_point

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
