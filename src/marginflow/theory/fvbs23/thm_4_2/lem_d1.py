r"""[FVBS23, Lemma D.1]: Lemma A.13 again, for a point of a random cluster."""

from marginflow.theory.frame import Findings, Instance
from marginflow.theory.fvbs23.thm_3_1.lem_a13 import event_tails, stated_event


@stated_event(
    id="FVBS23/LemD.1",
    meaning="Lemma A.13 again, for a point of a random cluster, as the proof of Theorem 4.2 needs it.",
)
def lemma_d1(instance: Instance) -> Findings:
    """Exact tails of the Gaussian events that the proof uses, and a count."""
    return event_tails(instance)
