r"""[FVBS23, Theorem 2.1]: gradient flow converges in direction to a KKT point."""

from marginflow.theory.convergence import backwards, judge_convergence, stated_convergence
from marginflow.theory.frame import Findings, Instance
from marginflow.theory.fvbs23.recorded import flow_run


@stated_convergence(
    id="FVBS23/Thm2.1",
    meaning="Once the loss is below 1/n, gradient flow heads for a KKT point of the max-margin problem.",
    formula=r"L(\theta(t_0)) < \frac{1}{n} \implies \frac{\theta(t)}{\|\theta(t)\|} \to \text{a KKT direction}, \quad "
    r"L(\theta(t)) \to 0, \quad \|\theta(t)\| \to \infty",
    example=flow_run,
    control=lambda: backwards(flow_run()),
    printed=r"L(\theta(t_0)) < \frac{1}{n}",
    remark="Asymptotic, with rates logarithmic in 1/L: at a finite time only the trend can be judged. The threshold is "
    "right for e^-q and for the logarithm with base 2; it is ln(2)/n for the natural one. A KKT point need not be an "
    "optimum.",
)
def theorem_2_1(instance: Instance) -> Findings:
    """The trends of a recorded run; the limit itself is out of reach in finite time."""
    return judge_convergence(instance)
