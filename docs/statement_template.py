r"""[VYS22, BLANK number]: BLANK one sentence on what it says.

Copy this file to `src/marginflow/theory/<paper>/<what the paper calls it>.py`, replace every BLANK, and run
`pytest tests/theory -k BLANK`. docs/add_a_statement.md explains each part.
"""

from dataclasses import replace

from marginflow.theory.frame import Findings, Instance, equal, is_kkt_point, stated, undefined, value
from marginflow.theory.instances import orthogonal_point


def _control() -> Instance:
    """BLANK the nearest thing on which it must fail; it must break the conclusion, not a hypothesis alone."""
    point = orthogonal_point(100, 32)
    network = point.the_network()
    return Instance(name="BLANK in words", network=replace(network, W=1.5 * network.W), data=point.data)


@stated(
    id="VYS22/BLANK",
    kind="lemma",  # these two may go where the id says them: LemC.4 is a lemma, Lemma C.4
    number="Lemma BLANK",
    meaning="BLANK one line, at most 160 characters.",
    formula=r"\sum_i \lambda_i = \tfrac12 \|\theta\|^2",
    needs=("network", "data"),  # may go where it is these two
    example=lambda: orthogonal_point(100, 32),
    control=_control,
    control_shows="BLANK what is wrong with the control",
    control_outcome="not applicable",  # may go where it is this, or "violated" for a definition or an assumption
    printed=r"\text{BLANK as printed}",
    proved=r"\text{BLANK as the proof gives it, if that differs}",
    sharp=r"\text{BLANK the best that is known}",
    remark="BLANK what is wrong, missing or loose in print; leave out these four if nothing is.",
)
def BLANK_NAME(instance: Instance) -> Findings:
    """BLANK the claim in the paper's letters, and where its constants come from."""
    hypotheses = (
        is_kkt_point(instance),
        # ... every hypothesis, each as one check: at_most("BLANK", observed, bound)
    )
    certificate = instance.certificate  # the network at margin 1, with multipliers and Clarke weights
    if certificate.multipliers is None:
        return undefined(hypotheses, "BLANK what cannot be written down without them")
    norm = certificate.network.norm_squared()
    return Findings(
        value("BLANK a number on the way", norm),
        hypotheses=hypotheses,
        claims=(
            equal("BLANK what is claimed", certificate.multipliers.sum(), norm / 2, scale=norm),
            # ... all that the paper concludes and nothing else; a bound that says nothing here is marked vacuous=True
        ),
        derived=(),  # BLANK sharper or measured forms of ours; they decide nothing
    )
