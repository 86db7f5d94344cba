"""Every statement of the papers for which what is given is enough, judged; and what its outcome means for a network."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from marginflow import theory
from marginflow.display import Brief
from marginflow.errors import InputError
from marginflow.plain import named_values
from marginflow.theory import Instance, Verdict, statements
from marginflow.theory.outcomes import BROKEN

# Kinds of statements that claim nothing about the network: definitions and assumptions say what data or a network may
# be like, and to lack that contradicts no theorem; constructions speak of networks that a paper builds on such data.
PROPERTIES: Final = ("assumption", "definition", "construction")
GIVEN: Final = ("network", "data", "test", "start")


@dataclass(frozen=True, kw_only=True)
class Judged(Brief):
    """A statement of a paper and what it says of the network and its data.

    `verdict` is None where the statement speaks of other data, such as samples of one law only.
    """

    id: str
    kind: str
    meaning: str
    outcome: str
    reason: str
    verdict: Verdict | None

    @property
    def property_only(self) -> bool:
        """Whether it claims nothing about the network, so that "violated" says nothing against a theorem."""
        return self.kind in PROPERTIES

    @property
    def not_met(self) -> bool:
        """Whether the network or the data lack such a property, which contradicts no theorem."""
        return self.property_only and self.outcome == "violated"

    @property
    def contradicted(self) -> bool:
        """Whether it applies and does not hold, which is news: a statement that is known to be false is none."""
        return self.outcome in BROKEN and not self.property_only and not self.known_false

    @property
    def known_false(self) -> bool:
        """Whether the printed statement is known to be false: its own control refutes it."""
        return theory.statement(self.id).control_outcome == "refuted"

    def row(self) -> dict[str, object]:
        """Plain values."""
        return named_values(self, ("id", "kind", "meaning", "outcome", "reason"))


def judge_statements(
    given: Instance, *, paper: str | None = None, progress: Callable[[float, str], None] | None = None
) -> tuple[Judged, ...]:
    """Judge every statement that needs no more than the network, data, fresh points and start that are given."""
    held = {name for name in GIVEN if getattr(given, name) is not None}
    chosen = [statement for statement in statements(paper) if set(statement.needs) <= held]
    judged = []
    for index, statement in enumerate(chosen):
        if progress is not None:
            progress(index / len(chosen), statement.id)
        verdict, outcome = None, "not applicable"
        try:
            verdict = statement.judge_instance(given)
            outcome, reason = str(verdict.outcome), verdict.reason
        except InputError as error:
            reason = str(error)
        judged.append(
            Judged(
                id=statement.id,
                kind=statement.kind,
                meaning=statement.meaning,
                outcome=outcome,
                reason=reason,
                verdict=verdict,
            )
        )
    return tuple(judged)
