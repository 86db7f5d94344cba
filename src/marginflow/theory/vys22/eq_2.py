r"""[VYS22, Equation (2)]: the max-margin problem in parameter space."""

import numpy as np

from marginflow.theory.frame import Findings, Instance, above, at_least, equal, stated, value
from marginflow.theory.instances import changed
from marginflow.theory.vys22.presets import one_signed, robust_control


@stated(
    id="VYS22/Eq.2",
    kind="definition",
    number="Equation (2)",
    meaning="The max-margin problem in parameter space; every separating network, rescaled, is feasible for it.",
    formula=r"\min_\theta \tfrac12 \|\theta\|^2 \quad \text{s.t.} \quad y_i N_\theta(x_i) \ge 1 \text{ for all } i",
    example=lambda: changed(
        robust_control(), "the robust network of Theorem 3.1, scaled", lambda network: network.scaled(0.3)
    ),
    control=one_signed,
    control_shows="a network that misclassifies cannot be rescaled to margin 1",
    control_outcome="not applicable",
)
def eq_2(instance: Instance) -> Findings:
    """After division by the square root of the smallest margin the network is feasible, and tight on one sample."""
    network, data = instance.the_network(), instance.the_data()
    margins = network.margins(data.X, data.y)
    least = float(margins.min())
    rescaled = network.at_margin_one(data.X, data.y).margins(data.X, data.y) if least > 0 else margins
    half = network.norm_squared() / 2 / least ** (2 / network.degree) if least > 0 else np.inf
    return Findings(
        value("objective ||theta||^2 / 2 after rescaling", half),
        hypotheses=(above("smallest margin before", least, 0.0),),
        claims=(
            at_least("margins after rescaling by (min q)^(-1/2)", rescaled, 1.0),
            equal("smallest margin after", float(rescaled.min()), 1.0),
        ),
    )
