"""What a statement says of an instance: hypotheses, constants, conclusions, and the outcome that follows from them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from marginflow.errors import InputError
from marginflow.theory.check import Check

Outcome = Literal["holds", "violated", "not applicable", "vacuous", "undecided", "measured"]
OUTCOMES: tuple[Outcome, ...] = ("holds", "violated", "not applicable", "vacuous", "undecided", "measured")


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What the function behind a statement returns; the verdict is made from it.

    Parameters
    ----------
    hypotheses : tuple of Check
        All must be met for the statement to apply.
    constants : tuple of Check
        Numbers on the way, reported ("is") or compared; they decide nothing. A probe puts its measurements here.
    conclusions : tuple of Check
        What the statement claims.
    """

    hypotheses: tuple[Check, ...] = ()
    constants: tuple[Check, ...] = ()
    conclusions: tuple[Check, ...] = ()


def undefined(hypotheses: tuple[Check, ...], note: str, constants: tuple[Check, ...] = ()) -> Findings:
    """What to return where the claim cannot even be written down, because a hypothesis fails.

    The one conclusion is not a number and counts as failed, so that a missing hypothesis cannot turn it into a pass.
    """
    nothing = Check(name="what is claimed", observed=math.nan, relation="==", bound=1.0, note=note)
    return Findings(hypotheses=hypotheses, constants=constants, conclusions=(nothing,))


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The outcome of checking one statement on one instance; nobody sets it, it follows from the checks.

    - "not applicable": a hypothesis is not met. Never a pass, whatever the conclusions say.
    - "violated": all hypotheses are met and a conclusion fails.
    - "vacuous": nothing fails, but every conclusion is marked as saying nothing.
    - "undecided": nothing fails, but a conclusion that says something is not decided (an interval contains its bound).
    - "holds": otherwise.
    - "measured": a probe, which has numbers and no conclusions.

    Parameters
    ----------
    id : str
    hypotheses, constants, conclusions : tuples of Check
        As in `Findings`.
    probe : bool
        Whether the statement is a probe.
    instance : str
        What it was checked on.

    Examples
    --------
    >>> from marginflow.theory.check import at_most
    >>> from marginflow.theory.verdict import Verdict
    >>> good, bad = at_most("a", 1.0, 2.0), at_most("b", 3.0, 2.0)
    >>> Verdict(id="X/1", conclusions=(good,)).outcome, Verdict(id="X/1", conclusions=(bad,)).outcome
    ('holds', 'violated')
    >>> Verdict(id="X/1", hypotheses=(bad,), conclusions=(good,)).outcome
    'not applicable'
    """

    id: str
    hypotheses: tuple[Check, ...] = ()
    constants: tuple[Check, ...] = ()
    conclusions: tuple[Check, ...] = ()
    probe: bool = False
    instance: str = ""

    def __post_init__(self) -> None:
        for check in (*self.hypotheses, *self.conclusions):
            if check.relation == "is":
                raise InputError(f"{self.id}: {check.name!r} only reports a value; it can be a constant, nothing else.")
        if self.probe and self.conclusions:
            raise InputError(f"{self.id} is a probe; it measures and concludes nothing.")
        if self.probe and not self.constants:
            raise InputError(f"{self.id} is a probe without a measurement.")
        if not self.probe and not self.conclusions:
            raise InputError(f"{self.id} has no conclusion; a check that cannot fail is a defect.")

    @property
    def outcome(self) -> Outcome:
        """See the class."""
        if any(check.state != "met" for check in self.hypotheses):
            return "not applicable"
        if self.probe:
            return "measured"
        if any(check.state == "failed" for check in self.conclusions):
            return "violated"
        telling = [check for check in self.conclusions if not check.vacuous]
        if not telling:
            return "vacuous"
        return "holds" if all(check.state == "met" for check in telling) else "undecided"

    @property
    def holds(self) -> bool:
        """Whether the outcome is "holds"."""
        return self.outcome == "holds"

    @property
    def failed_conclusions(self) -> tuple[Check, ...]:
        """Conclusions that fail, also where the statement does not apply and they need not hold."""
        return tuple(check for check in self.conclusions if check.state == "failed")

    @property
    def reason(self) -> str:
        """The check that decided, in a few words."""
        unmet = [check for check in self.hypotheses if check.state != "met"]
        if unmet:
            return f"hypothesis not met: {unmet[0]}"
        if self.failed_conclusions:
            return f"conclusion fails: {self.failed_conclusions[0]}"
        if self.probe:
            return "; ".join(f"{check.name} = {check.observed:.4g}" for check in self.constants[:3])
        if self.outcome == "undecided":
            open_ = next(check for check in self.conclusions if check.state == "undecided" and not check.vacuous)
            return f"not decided: {open_}"
        return str(self.tightest) if self.tightest is not None else ""

    @property
    def tightest(self) -> Check | None:
        """The failed conclusion, or else the one with the least slack relative to its bound; None for a probe."""
        if self.failed_conclusions:
            return self.failed_conclusions[0]
        telling = [check for check in self.conclusions if not check.vacuous] or list(self.conclusions)
        inequalities = [check for check in telling if check.relation != "=="] or telling
        return min(inequalities, key=_relative_slack, default=None)

    def __getitem__(self, name: str) -> Check:
        """The check of that name."""
        for check in (*self.conclusions, *self.constants, *self.hypotheses):
            if check.name == name:
                return check
        known = ", ".join(repr(check.name) for check in (*self.hypotheses, *self.constants, *self.conclusions))
        raise InputError(f"{self.id} has no check named {name!r}; there are {known}.")

    def to_dict(self) -> dict[str, object]:
        """Plain values."""
        return {
            "id": self.id,
            "outcome": self.outcome,
            "reason": self.reason,
            "instance": self.instance,
            "hypotheses": [check.to_dict() for check in self.hypotheses],
            "constants": [check.to_dict() for check in self.constants],
            "conclusions": [check.to_dict() for check in self.conclusions],
        }

    def __str__(self) -> str:
        lines = [f"{self.id}: {self.outcome}" + (f" on {self.instance}" if self.instance else "")]
        for title, checks in (
            ("hypothesis", self.hypotheses),
            ("constant", self.constants),
            ("conclusion", self.conclusions),
        ):
            lines += [f"  {title:<10}  {check}" for check in checks]
        return "\n".join(lines)


def _relative_slack(check: Check) -> float:
    slack, bound = check.slack, check.bound
    assert slack is not None
    assert bound is not None
    size = max(abs(check.observed), abs(bound))
    return slack / size if 0 < size < float("inf") else slack
