"""What is wrong in print, as the statements carry it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypedDict, Unpack, get_args

from marginflow.errors import InputError

Severity = Literal["statement false", "proof gap", "constant", "slip"]


class Shown(TypedDict, total=False):
    """What may stand beside what is wrong; see `Erratum`."""

    evidence: str
    repair: str
    headline: str


@dataclass(frozen=True, kw_only=True)
class Erratum:
    """One thing that is wrong in print.

    Parameters
    ----------
    severity : "statement false", "proof gap", "constant" or "slip"
    what : str
        What is wrong, in a sentence or two.
    evidence : str
        The counterexample or computation that shows it; empty where reading suffices.
    repair : str
        What is true instead, an id where there is one; "open" where nobody knows.
    headline : str
        One plain sentence that can be forwarded by itself: who says what, and what is true instead; empty where nobody
        in a hurry should care.
    """

    severity: Severity
    what: str
    evidence: str = ""
    repair: str = ""
    headline: str = ""

    def __post_init__(self) -> None:
        if self.severity not in get_args(Severity):
            raise InputError(f"severity is {self.severity!r}; one of {get_args(Severity)} is expected.")
        if not self.what:
            raise InputError("An erratum needs what is wrong.")

    @classmethod
    def false_statement(cls, what: str, **shown: Unpack[Shown]) -> Erratum:
        """The printed statement has a counterexample."""
        return cls(severity="statement false", what=what, **shown)

    @classmethod
    def proof_gap(cls, what: str, **shown: Unpack[Shown]) -> Erratum:
        """A step of the printed proof fails or is missing, and the conclusion is not contradicted."""
        return cls(severity="proof gap", what=what, **shown)

    @classmethod
    def wrong_constant(cls, what: str, **shown: Unpack[Shown]) -> Erratum:
        """True with other constants, or with conditions that the printed ones do not meet."""
        return cls(severity="constant", what=what, **shown)

    @classmethod
    def slip(cls, what: str, **shown: Unpack[Shown]) -> Erratum:
        """A misprint, or a small step that a reader repairs at once."""
        return cls(severity="slip", what=what, **shown)
