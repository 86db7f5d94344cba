"""What a statement says of an instance: hypotheses, constants, conclusions, and the outcome that follows from them."""

import math
from dataclasses import dataclass
from typing import ClassVar, NoReturn

from marginflow.display import Plotted, shortened
from marginflow.errors import InputError
from marginflow.plain import Plain
from marginflow.theory.check import Check
from marginflow.theory.findings import Counterexample, Findings
from marginflow.theory.outcomes import MEANING, OPENING, OUTCOMES, Outcome

__all__ = ["MEANING", "OUTCOMES", "Outcome", "Verdict"]


@dataclass(frozen=True, kw_only=True)
class Verdict(Plotted, Plain):
    """The outcome of checking one statement on one instance; nobody sets it, it follows from the checks.

    - "not applicable": a hypothesis fails. Never a pass, whatever the claims say.
    - "undecided": no hypothesis fails, but one is not decided; or no claim fails, but one that says something is not
      decided (an interval contains its bound, nothing to compare, not a number).
    - "violated": all hypotheses are met and a claim fails, in floating point. With a certified counterexample it is
      "refuted"; where the paper leaves its constants open it is "constants unspecified".
    - "proof step fails": no claim fails, but a step of the printed proof does.
    - "vacuous": nothing fails, but every claim is marked as saying nothing.
    - "holds": otherwise.
    - "measured": a probe, which has numbers and no claims.

    Derived and arithmetic lines decide nothing.

    Parameters
    ----------
    id : str
    findings : Findings
    kind : str
        Of the statement: a probe claims nothing, and an assumption or a definition may fail to be met.
    instance : str
        What it was checked on.
    unused : tuple of str
        Inputs that were given and that the statement did not look at.

    Examples
    --------
    >>> from marginflow.theory.check import at_most
    >>> from marginflow.theory.findings import Findings
    >>> from marginflow.theory.verdict import Verdict
    >>> good, bad = at_most("a", 1.0, 2.0), at_most("b", 3.0, 2.0)
    >>> Verdict(id="X/1", findings=Findings(claims=(good,), derived=(bad,))).outcome
    'holds'
    >>> Verdict(id="X/1", findings=Findings(claims=(bad,), derived=(good,))).outcome
    'violated'
    >>> Verdict(id="X/1", findings=Findings(hypotheses=(bad,), claims=(good,))).outcome
    'not applicable'
    """

    plain_names: ClassVar = (
        "id",
        "outcome",
        "sentence",
        "reason",
        "instance",
        "unused",
        "hypotheses",
        "constants",
        "conclusions",
        "counterexample",
    )

    id: str
    findings: Findings
    kind: str = "theorem"
    instance: str = ""
    unused: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        found = self.findings
        for check in (*self.hypotheses, *self.conclusions):
            if check.relation == "is":
                raise InputError(f"{self.id}: {check.name!r} only reports a value; it can be a constant, nothing else.")
        if self.probe and self.conclusions:
            raise InputError(f"{self.id} is a probe; it measures and concludes nothing.")
        if self.probe and not self.constants:
            raise InputError(f"{self.id} is a probe without a measurement.")
        if not self.probe and not found.claims and not found.undefined:
            raise InputError(f"{self.id} has no claim; a check that cannot fail is a defect.")
        if found.counterexample is not None and not self.failed_claims:
            raise InputError(f"{self.id} has a counterexample, but no claim fails.")

    @property
    def probe(self) -> bool:
        """Whether an open question was measured."""
        return self.kind == "probe"

    @property
    def hypotheses(self) -> tuple[Check, ...]:
        """What the statement asks for."""
        return self.findings.hypotheses

    @property
    def constants(self) -> tuple[Check, ...]:
        """Numbers on the way, those that the paper leaves open among them."""
        return (*self.findings.constants, *self.findings.unspecified)

    @property
    def claims(self) -> tuple[Check, ...]:
        """What the paper concludes: the only lines that decide."""
        return self.findings.claims

    @property
    def conclusions(self) -> tuple[Check, ...]:
        """Claims, proof steps, derived and arithmetic lines, in this order."""
        found = self.findings
        return (*found.claims, *found.proof_steps, *found.derived, *found.arithmetic)

    @property
    def counterexample(self) -> Counterexample | None:
        """What refutes the statement, if anything does."""
        return self.findings.counterexample

    @property
    def outcome(self) -> Outcome:
        """See the class."""
        states = {check.state for check in self.hypotheses}
        if "failed" in states:
            return "not applicable"
        if "undecided" in states:
            return "undecided"
        if self.probe:
            return "measured"
        if self.failed_claims:
            if self.counterexample is not None:
                return "refuted"
            return "constants unspecified" if self.findings.unspecified else "violated"
        if any(check.state == "failed" for check in self.findings.proof_steps):
            return "proof step fails"
        if not self.claims:
            return "undecided"
        telling = [check for check in self.claims if not check.vacuous]
        if not telling:
            return "vacuous"
        return "holds" if all(check.state == "met" for check in telling) else "undecided"

    @property
    def holds(self) -> bool:
        """Whether the outcome is "holds"."""
        return self.outcome == "holds"

    def __bool__(self) -> NoReturn:
        raise TypeError(f"A verdict is neither true nor false: ask .holds or .outcome ({self.id}: {self.outcome}).")

    @property
    def failed_claims(self) -> tuple[Check, ...]:
        """Claims that fail, also where the statement does not apply and they need not hold."""
        return tuple(check for check in self.claims if check.state == "failed")

    @property
    def deciding(self) -> Check | None:
        """The check that decided; None for a probe, and where the claims could not be written down."""
        for state in ("failed", "undecided"):
            for check in self.hypotheses:
                if check.state == state:
                    return check
        if self.outcome == "proof step fails":
            return next(check for check in self.findings.proof_steps if check.state == "failed")
        if self.outcome == "undecided":
            return next((check for check in self.claims if check.state == "undecided" and not check.vacuous), None)
        return self.tightest

    @property
    def reason(self) -> str:
        """The check that decided, in a few words."""
        if self.outcome == "measured":
            known = [check for check in self.constants if not math.isnan(check.observed)]
            return "; ".join(f"{check.name} = {check.observed:.4g}" for check in known[:3])
        check = self.deciding
        if check is None:
            return f"not judged: {self.findings.undefined}" if self.findings.undefined else ""
        opening = {
            "not applicable": "hypothesis not met: ",
            "undecided": "not decided: ",
            "violated": "claim fails: ",
            "refuted": "claim fails: ",
            "constants unspecified": "claim fails: ",
            "proof step fails": "proof step fails: ",
        }
        return opening.get(self.outcome, "") + check.phrase

    @property
    def sentence(self) -> str:
        """The outcome on this instance in one sentence, with the number that decided."""
        outcome = self.outcome
        opening, meaning = OPENING[outcome], MEANING[outcome]
        if self.kind in ("assumption", "definition") and outcome == "violated":
            opening, meaning = "is not met here", "this case does not have the property, which contradicts no theorem"
        empty = sum(check.vacuous for check in self.claims)
        if outcome == "holds" and empty:
            meaning += f" ({empty} of {len(self.claims)} claims say nothing)"
        used = ", ".join(f"{check.name} = {check.observed:.4g}" for check in self.findings.unspecified)
        if used and outcome in ("holds", "constants unspecified"):
            meaning += f" (for {used})"
        reason = f"; {self.reason}" if self.reason else ""
        if outcome != "measured" and self.deciding is not None:
            reason = f"{'; the tightest: ' if outcome in ('holds', 'vacuous') else '; '}{self.deciding.phrase}"
        if self.counterexample is not None and outcome == "refuted":
            reason = f"; {self.counterexample.summary} (proved in {self.counterexample.proof})"
        unused = f" Not used: {', '.join(self.unused)}." if self.unused else ""
        return f"{self.id} {opening}: {meaning}{reason}.{unused}"

    @property
    def tightest(self) -> Check | None:
        """The failed claim, or else the one with the least slack relative to its bound; None for a probe."""
        if self.failed_claims:
            return self.failed_claims[0]
        telling = [check for check in self.claims if not check.vacuous] or list(self.claims)
        inequalities = [check for check in telling if check.relation != "=="] or telling
        return min(inequalities, key=lambda check: check.relative_slack, default=None)

    def __getitem__(self, name: str) -> Check:
        """The check of that name."""
        every = (*self.conclusions, *self.constants, *self.hypotheses)
        for check in every:
            if check.name == name:
                return check
        known = ", ".join(repr(check.name) for check in every)
        raise InputError(f"{self.id} has no check named {name!r}; there are {known}.")

    def __repr__(self) -> str:
        return shortened(f"Verdict({self.id}, {self.outcome}: {self.reason})")

    def __str__(self) -> str:
        lines = [f"{self.id}: {self.outcome}" + (f" on {self.instance}" if self.instance else "")]
        lines += [f"  {check.role:<10}  {check}" for check in (*self.hypotheses, *self.constants, *self.conclusions)]
        if self.findings.undefined:
            lines.append(f"  {'claim':<10}  not judged: {self.findings.undefined}")
        return "\n".join([*lines, self.sentence])
