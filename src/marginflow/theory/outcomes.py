"""The words at the end of a verdict, each with the one sentence that says what it means."""

from typing import Final, Literal, get_args

Outcome = Literal[
    "holds",
    "vacuous",
    "not applicable",
    "undecided",
    "constants unspecified",
    "proof step fails",
    "violated",
    "refuted",
    "measured",
]
OUTCOMES: Final[tuple[Outcome, ...]] = get_args(Outcome)

BROKEN: Final[tuple[Outcome, ...]] = ("violated", "refuted")
"""Those in which a printed claim is not met."""

MEANING: Final[dict[Outcome, str]] = {
    "holds": "the hypotheses are met, and every claim that says something here is met",
    "vacuous": "the hypotheses are met, but no claim says anything here: every bound is trivially true",
    "not applicable": "a hypothesis is not met, so nothing is claimed here",
    "undecided": "a hypothesis or a claim could not be decided by what is known",
    "constants unspecified": "a claim fails for the constants used here, but the paper leaves them open "
    "('large enough'), so nothing is contradicted",
    "proof step fails": "no claim is contradicted here, but a step of the printed proof fails",
    "violated": "the hypotheses are met and a claim fails in floating point; this is not a certified counterexample",
    "refuted": "the hypotheses are met and a claim fails, with a certified counterexample",
    "measured": "an open question: the numbers are measured and nothing is claimed",
}
"""What each outcome says, once for the terminal, the page and `--json`."""

OPENING: Final[dict[Outcome, str]] = {
    "holds": "holds here",
    "vacuous": "says nothing here",
    "not applicable": "does not apply here",
    "undecided": "is undecided here",
    "constants unspecified": "is not decided by its print",
    "proof step fails": "is not contradicted, but its proof is",
    "violated": "is violated here",
    "refuted": "is refuted",
    "measured": "was measured",
}
"""How the sentence about one statement on one instance begins."""
