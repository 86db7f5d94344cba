r"""[VYS22, BLANK number]: BLANK one sentence on what it says.

Copy this file to `src/marginflow/theory/<paper>/<what the paper calls it>.py`, replace every BLANK, and run
`pytest tests/theory -k BLANK`. docs/add_a_statement.md explains each part.
"""

from marginflow.theory.frame import Findings, Instance, at_least, at_most, require, stated, value
from marginflow.theory.instances import orthogonal_point


def _control() -> Instance:
    """BLANK the nearest thing on which it must fail; best is one that breaks the conclusion too."""
    point = orthogonal_point(4, 4)
    data = point.the_data()
    return Instance(name="BLANK in words", network=point.network, data=data.subset([0, 1, 2, 3, 3]))


@stated(
    id="VYS22/BLANK",
    kind="lemma",  # these two may go where the id says them: LemC.4 is a lemma, Lemma C.4
    number="Lemma BLANK",
    meaning="BLANK one line, at most 160 characters.",
    formula=r"y_i N_\theta(x_i) \ge 1",
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
    data = instance.the_data()
    network = instance.certificate.network  # at margin 1, with multipliers and Clarke weights
    hypotheses = (
        at_most("BLANK hypothesis", data.n_samples, data.dimension),
        # ... every hypothesis, each as one check
    )
    require(hypotheses, "BLANK what cannot be written down without them")
    return Findings(
        hypotheses=hypotheses,
        constants=(value("BLANK a number on the way", network.norm_squared()),),
        claims=(
            at_least("BLANK what is claimed", network.margins(data.X, data.y), 1.0),
            # ... all that the paper concludes and nothing else; a bound that says nothing here is marked vacuous=True
        ),
        derived=(),  # BLANK sharper or measured forms of ours; they decide nothing
    )
