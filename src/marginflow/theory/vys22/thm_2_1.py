r"""[VYS22, Theorem 2.1]: gradient flow converges in direction to a KKT point. Quoted there; here a trend."""

from marginflow.theory.convergence import backwards, judge_convergence, stated_convergence
from marginflow.theory.frame import Erratum, Findings, Instance
from marginflow.theory.recorded import flow_run


@stated_convergence(
    id="VYS22/Thm2.1",
    meaning="Once all samples are fitted, gradient flow heads for a KKT point of the max-margin problem.",
    formula=r"L(\theta(t_0)) < 1 \implies \frac{\theta(t)}{\|\theta(t)\|} \to \text{a KKT direction}, \quad "
    r"L(\theta(t)) \to 0, \quad \|\theta(t)\| \to \infty",
    example=flow_run,
    control=lambda: backwards(flow_run()),
    printed=r"L(\theta(t_0)) < 1",
    proved=r"L(\theta(t_0)) < \ell(0)",
    remark="Asymptotic and with rates logarithmic in 1/L: at a finite time only the trend can be judged. A KKT "
    "point need not be a local minimum. For the logistic loss the threshold is ln 2, not 1.",
    errata=Erratum.wrong_constant(
        "For the logistic loss with the natural logarithm, L < 1 does not mean that every sample is "
        "classified correctly.",
        evidence="margins -0.2 and 3 give L = ln(1 + e^0.2) + ln(1 + e^-3) = 0.847",
        repair="L < ln 2, or the logarithm with base 2",
    ),
)
def theorem_2_1(instance: Instance) -> Findings:
    """The trends of a recorded run; the limit itself is out of reach in finite time."""
    return judge_convergence(instance)
