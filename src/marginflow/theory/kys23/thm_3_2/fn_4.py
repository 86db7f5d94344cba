r"""[KYS23, footnote 4] Theorem 3.2 in expectation; the global optimum and 1-nearest neighbour."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from marginflow.generalisation import line_error, nearest_neighbour_line_error
from marginflow.theory.frame import (
    Findings,
    Forms,
    Instance,
    Statement,
    at_most,
    equal,
    undefined,
    unmet,
    value,
)
from marginflow.theory.kys23.line import (
    dual_supremum,
    in_the_interval,
    line_samples,
    local_minimum,
)
from marginflow.theory.kys23.line_points import five_point_minimum, global_point


@partial(
    Statement,
    id="KYS23/FN4",
    kind="remark",
    number="Footnote 4",
    meaning="E L = Theta(p) for any m; of the global optimum even E L = p, because it has the sign of 1-NN.",
    formula=r"\mathbb{E}_S[L_{\mathrm{cl}}(N_\theta)] = \Theta(p), \qquad "
    r"\mathrm{sign}\, N_{\theta^*} = \mathrm{sign}\, \mathrm{1NN} \;\Rightarrow\; \mathbb{E} = p",
    needs=("network", "data"),
    example=lambda: global_point(20, 0.3, 5),
    control=five_point_minimum,
    control_shows="a local minimum that is not global errs on 0.25, 1-nearest neighbour on 0.4",
    forms=Forms(
        printed=r"\mathbb{E}_S[L_{\mathrm{cl}}] = \Theta(p)",
        sharp=r"L_{\mathrm{cl}}(N_{\theta^*}) = L_{\mathrm{cl}}(\mathrm{1NN})",
        remark="The sharp form is an observation, not a theorem: it is a conjecture that no sample has contradicted "
        "(KYS23/O4).",
    ),
)
def fn4(instance: Instance) -> Findings:
    """A global optimum has the sign of 1-nearest neighbour, so that E L = p exactly."""
    data, network = instance.the_data(), instance.the_network()
    hypotheses = (*local_minimum(instance), in_the_interval(instance))
    if unmet(hypotheses):
        return undefined(hypotheses, "no local minimum on [0, 1]")
    hypotheses = (*hypotheses, at_most("global: sup |F|", dual_supremum(instance), 1.0, rtol=1e-7))
    error = line_error(network).value
    neighbour = nearest_neighbour_line_error(data.X, data.y)
    x, _ = line_samples(data)
    alone = [nearest_neighbour_line_error(x, np.where(np.arange(x.size) == i, -1.0, 1.0)).value for i in range(x.size)]
    return Findings(
        hypotheses=hypotheses,
        constants=(value("L_cl", error), value("realised noise rate", float((data.y < 0).mean()))),
        claims=(
            equal("L_cl = L of 1-nearest neighbour", error, neighbour.value, scale=1.0, rtol=1e-9),
            equal("E_y L of 1-nearest neighbour / p: the cells fill [0, 1]", math.fsum(alone), 1.0),
        ),
    )
