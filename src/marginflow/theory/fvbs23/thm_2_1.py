r"""[FVBS23, Theorem 2.1]: gradient flow converges in direction to a KKT point."""

from __future__ import annotations

from typing import Final

from marginflow.theory.convergence import judge_convergence
from marginflow.theory.frame import Forms, Statement
from marginflow.theory.fvbs23.recorded import flow_run, unfinished_run

THEOREM_2_1: Final = Statement(
    id="FVBS23/Thm2.1",
    kind="theorem",
    number="Theorem 2.1 (Lyu and Li; Ji and Telgarsky)",
    meaning="Once the loss is below 1/n, gradient flow heads for a KKT point of the max-margin problem.",
    formula=r"L(\theta(t_0)) < \frac{1}{n} \implies \frac{\theta(t)}{\|\theta(t)\|} \to \text{a KKT direction}, \quad "
    r"L(\theta(t)) \to 0, \quad \|\theta(t)\| \to \infty",
    needs=("run", "data"),
    judge=judge_convergence,
    example=flow_run,
    control=unfinished_run,
    control_shows="the run never fits the samples",
    forms=Forms(
        printed=r"L(\theta(t_0)) < \frac{1}{n}",
        remark="Asymptotic, with rates logarithmic in 1/L: at a finite time only the trend can be judged. The "
        "threshold "
        "is right for e^-q and for the logarithm with base 2; it is ln(2)/n for the natural one. A KKT point need not "
        "be an optimum.",
    ),
)
