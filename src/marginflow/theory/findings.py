"""What the function behind a statement returns: checks, each under the part that it plays."""

from dataclasses import dataclass, replace

from marginflow.display import Brief
from marginflow.doors import brief
from marginflow.errors import InputError
from marginflow.theory.check import Check, Role


@dataclass(frozen=True, kw_only=True)
class Counterexample(Brief):
    """An instance that meets every hypothesis and breaks a claim, proved.

    Parameters
    ----------
    summary : str
        What it is, in one sentence that a reader can check.
    proof : str
        What decided it: "rational arithmetic", "ball arithmetic of 200 bits". Floating point is not a proof.
    """

    summary: str
    proof: str

    def __post_init__(self) -> None:
        if not all(isinstance(text, str) and text for text in (self.summary, self.proof)):
            raise InputError("A counterexample needs a summary and the arithmetic that proved it.")


@dataclass(frozen=True, init=False)
class Findings(Brief):
    """Everything that was found; the verdict is made from it, and from the claims alone once the hypotheses are met.

    Parameters
    ----------
    *values : Check
        The first of the constants: numbers that are only reported can be nothing else.
    hypotheses : tuple of Check
        All must be met for the statement to apply.
    constants : tuple of Check
        Numbers on the way, reported ("is") or compared; they decide nothing. The measurements of a probe are constants.
    claims : tuple of Check
        What the paper concludes, with its quantifiers and constants.
    derived : tuple of Check
        Sharper or measured forms of ours. They are shown and decide nothing.
    arithmetic : tuple of Check
        Identities and side checks. They are shown and decide nothing.
    proof_steps : tuple of Check
        Steps of the printed proof. One that fails while no claim does gives "proof step fails".
    unspecified : tuple of Check
        Constants that the paper leaves open ("C large enough"), with the values used. A claim that fails then gives
        "constants unspecified" and contradicts nothing.
    counterexample : Counterexample or None
        Turns a failing claim from "violated" into "refuted".
    undefined : str
        Why the claims cannot even be written down, because a hypothesis fails.
    """

    hypotheses: tuple[Check, ...]
    constants: tuple[Check, ...]
    claims: tuple[Check, ...]
    derived: tuple[Check, ...]
    arithmetic: tuple[Check, ...]
    proof_steps: tuple[Check, ...]
    unspecified: tuple[Check, ...]
    counterexample: Counterexample | None
    undefined: str

    def __init__(
        self,
        *values: Check,
        hypotheses: tuple[Check, ...] = (),
        constants: tuple[Check, ...] = (),
        claims: tuple[Check, ...] = (),
        derived: tuple[Check, ...] = (),
        arithmetic: tuple[Check, ...] = (),
        proof_steps: tuple[Check, ...] = (),
        unspecified: tuple[Check, ...] = (),
        counterexample: Counterexample | None = None,
        undefined: str = "",
    ) -> None:
        roles: tuple[tuple[str, Role, tuple[Check, ...]], ...] = (
            ("hypotheses", "hypothesis", hypotheses),
            ("constants", "constant", values),
            ("constants", "constant", constants),
            ("unspecified", "constant", unspecified),
            ("claims", "claim", claims),
            ("proof_steps", "proof step", proof_steps),
            ("derived", "derived", derived),
            ("arithmetic", "arithmetic", arithmetic),
        )
        for name, role, checks in roles:
            if not isinstance(checks, tuple | list) or not all(isinstance(check, Check) for check in checks):
                raise InputError(f"{name} is {brief(checks)}; a tuple of checks is expected.")
            before = vars(self).get(name, ())
            object.__setattr__(self, name, (*before, *(replace(check, role=role) for check in checks)))
        object.__setattr__(self, "counterexample", counterexample)
        object.__setattr__(self, "undefined", undefined)


class UndefinedError(Exception):
    """Ends a judge early: what it has found is all that can be found. `require` raises it, `Statement` answers it."""

    def __init__(self, findings: Findings) -> None:
        super().__init__(findings.undefined)
        self.findings = findings


def undefined(hypotheses: tuple[Check, ...], note: str, constants: tuple[Check, ...] = ()) -> Findings:
    """What to return where the claims cannot even be written down, because a hypothesis fails.

    Nothing is claimed then, and nothing passes: the verdict is "not applicable" if a hypothesis fails and "undecided"
    otherwise.
    """
    return Findings(hypotheses=hypotheses, constants=constants, undefined=note)
