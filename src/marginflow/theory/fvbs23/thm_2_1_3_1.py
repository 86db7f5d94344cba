r"""[FVBS23, Theorems 2.1 and 3.1 together]: gradient flow itself, from its start to its test error."""

import numpy as np

from marginflow.theory.convergence import backwards
from marginflow.theory.frame import Findings, Instance, at_most, below, stated, value
from marginflow.theory.fvbs23.fresh_points import FreshPoints
from marginflow.theory.fvbs23.recorded import clusters_run
from marginflow.theory.fvbs23.setting import ClusterSample
from marginflow.theory.fvbs23.thm_3_1.prop_a1 import good_draw
from marginflow.theory.probability import clopper_pearson


@stated(
    id="FVBS23/Thm2.1+3.1",
    kind="corollary",
    number="Theorems 2.1 and 3.1",
    meaning="Gradient flow that gets below the loss 1/n on samples of the clusters ends with a test error of epsilon.",
    formula=r"L(\theta(t_0)) < \frac{1}{n} \implies \limsup_{t \to \infty} \Pr[y N_{\theta(t)}(x) \le 0] \le \epsilon",
    needs=("run", "data", "law", "test"),
    parameters={"epsilon": "test error, 0.05 by default", "delta": "failure probability, 0.05 by default"},
    example=clusters_run,
    control=lambda: backwards(clusters_run()),
    control_shows="read backwards the record is not a gradient flow, and it ends where the network guesses",
    known="The limit is a KKT point by Theorem 2.1; judged is the network at the end of the recorded flow.",
)
def end_to_end(instance: Instance) -> Findings:
    """The hypotheses of both theorems on the run and its data; the test error of the network at its end."""
    run, sample = instance.the_run(), ClusterSample.of(instance)
    epsilon, delta = instance.number("epsilon", 0.05), instance.number("delta", 0.05)
    test = FreshPoints.of(instance)
    wrong = int((test.y * run.network(test.X) <= 0).sum())
    path = run.trajectory
    threshold = run.plan.loss.log_threshold(sample.n)
    return Findings(
        value("ln L at the end", float(path.log_loss[-1])),
        value("test points", test.y.size),
        value("test errors", wrong),
        hypotheses=(
            *good_draw(instance),
            *sample.setting.window(sample.n, epsilon, delta),
            below("smallest ln L on the way", float(path.log_loss.min()), threshold, tolerance=0.0, note="ln(1/n)"),
            at_most("ln L never rises between records", np.diff(path.log_loss), 0.0),
        ),
        claims=(clopper_pearson(wrong, test.y.size).check("test error at the end", "<=", epsilon),),
    )
