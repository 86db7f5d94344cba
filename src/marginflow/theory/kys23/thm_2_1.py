r"""[KYS23, Theorem 2.1]: gradient flow converges in direction to a KKT point. Quoted there; here a trend."""

from marginflow.theory.convergence import backwards, judge_convergence, stated_convergence
from marginflow.theory.frame import Findings, Instance
from marginflow.theory.kys23.recorded import sphere_flow


@stated_convergence(
    id="KYS23/Thm2.1",
    meaning="Once the samples are fitted, gradient flow heads for a KKT point of the max-margin problem.",
    formula=r"y_i N_{\theta(t_0)}(x_i) > 0 \ \forall i \implies \frac{\theta(t)}{\|\theta(t)\|} \to "
    r"\text{a KKT direction of Problem (1)}",
    example=sphere_flow,
    control=lambda: backwards(sphere_flow()),
    printed=r"y_i N_{\theta(t_0)}(x_i) > 0 \quad \forall i",
    proved=r"\sum_{i=1}^m \ell(y_i N_{\theta(t_0)}(x_i)) < \ell(0)",
    remark="The cited works ask for a total loss below l(0), more than positive margins; the loss is written as a "
    "sum to n where m is meant. No rate: directions converge like 1 / ln t, so only a trend can be judged.",
)
def theorem_2_1(instance: Instance) -> Findings:
    """The trend of residuals, margins and direction along a recorded run."""
    return judge_convergence(instance)
