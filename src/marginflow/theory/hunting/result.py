"""What a hunt brings home, and the files from which it is judged again."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final, Literal, NoReturn

from marginflow.data import Dataset
from marginflow.display import Plotted
from marginflow.networks import TwoLayer
from marginflow.plain import Plain
from marginflow.storage import write_text
from marginflow.theory.hunting.family import Candidate
from marginflow.theory.hunting.pictures import Picture
from marginflow.theory.hunting.search import Step
from marginflow.theory.instance import Instance
from marginflow.theory.verdict import Verdict

HuntOutcome = Literal["refuted", "candidate", "proof step fails", "not refuted", "does not bite", "hypotheses not met"]

HUNT_MEANING: Final[dict[HuntOutcome, str]] = {
    "refuted": "an instance meets every hypothesis and breaks a claim, proved",
    "candidate": "an instance breaks a claim in floating point or by counting; nothing is proved",
    "proof step fails": "no claim was broken, but a step of the printed proof was",
    "not refuted": "no instance that was tried breaks a claim",
    "does not bite": "the hypotheses were met, but no claim said anything",
    "hypotheses not met": "no instance that was tried met the hypotheses",
}
"""What each outcome of a hunt says."""


@dataclass(frozen=True, kw_only=True)
class Glimpse(Plain):
    """What a hunt saw of another statement of its family: its least slack, on which member, and how often it applied.

    Nothing is shrunk and nothing is proved; a negative slack is worth a hunt of its own.
    """

    id: str
    slack: float
    applied: int
    candidate: Candidate


@dataclass(frozen=True, eq=False, kw_only=True)
class Hunt(Plotted, Plain):
    """The worst instance of a statement that was found, and how hard it was looked for.

    Parameters
    ----------
    id : str
    outcome : "refuted", "candidate", "proof step fails", "not refuted", "does not bite" or "hypotheses not met"
    slack : float or None
        The least relative slack of a claim that said something; negative where it is broken. None where none did.
    claim : str
        The claim that has it. Empty where every claim is an identity: an equality, or tight on every instance.
    instance : Instance or None
        Where it was found, after shrinking.
    verdict : Verdict or None
        Of the statement on this instance.
    candidate : mapping or None
        The whole numbers that name the instance within its family.
    family : str
        What was searched.
    proof : str
        What was proved of it and in which arithmetic, or why nothing was.
    history : tuple of Step
        Every improvement, in order.
    tries, applied, telling : int
        Instances tried; those that met the hypotheses; those on which a claim said something.
    seconds : float
    seed : int
    picture : mapping or None
        What can be drawn of the worst instance, as plain values.
    nearest : str
        The hypothesis that the nearest instance missed, where none met them all.
    beside : tuple of Glimpse
        What was seen of the other statements of the family on the same instances.
    """

    plain_names: ClassVar = (
        "id",
        "outcome",
        "meaning",
        "slack",
        "claim",
        "worst",
        "parameters",
        "candidate",
        "reason",
        "family",
        "proof",
        "tries",
        "applied",
        "telling",
        "seconds",
        "seed",
        "history",
        "picture",
        "beside",
    )

    id: str
    outcome: HuntOutcome
    slack: float | None
    instance: Instance | None
    verdict: Verdict | None
    candidate: Candidate | None
    family: str
    proof: str
    history: tuple[Step, ...]
    tries: int
    applied: int
    telling: int
    seconds: float
    seed: int
    picture: Picture | None = None
    nearest: str = ""
    beside: tuple[Glimpse, ...] = ()
    claim: str = ""

    @property
    def data(self) -> Dataset | None:
        """The samples of the worst instance."""
        return None if self.instance is None else self.instance.data

    @property
    def network(self) -> TwoLayer | None:
        """The network of the worst instance."""
        return None if self.instance is None else self.instance.network

    @property
    def meaning(self) -> str:
        """The outcome in one sentence."""
        return HUNT_MEANING[self.outcome]

    @property
    def worst(self) -> str:
        """The worst instance in words; empty where there is none."""
        return "" if self.instance is None else self.instance.name

    @property
    def parameters(self) -> dict[str, object]:
        """The parameters of the worst instance."""
        return {} if self.instance is None else dict(self.instance.parameters)

    @property
    def reason(self) -> str:
        """The check that decides on the worst instance."""
        return "" if self.verdict is None else self.verdict.reason

    def __bool__(self) -> NoReturn:
        raise TypeError(f"A hunt is neither true nor false: ask .outcome ({self.id}: {self.outcome}).")

    def __str__(self) -> str:
        lines = [f"{self.id}: {self.outcome} - {self.meaning}."]
        lines.append(
            f"  searched  {self.family}; {self.tries} tries, {self.applied} met the hypotheses, on {self.telling} a "
            f"claim said something ({self.seconds:.1f} s, seed {self.seed})"
        )
        if self.slack is not None and self.instance is not None:
            of = f" of '{self.claim}'" if self.claim else ""
            lines.append(f"  slack     {self.slack:.4g} (relative){of} on {self.instance.name}")
        if self.reason:
            lines.append(f"  decides   {self.reason}")
        if self.proof:
            lines.append(f"  proof     {self.proof}")
        failed = [f"{glimpse.id} ({glimpse.slack:.3g})" for glimpse in self.beside if glimpse.slack < 0]
        if failed:
            lines.append(f"  beside    claims of these failed on the same instances: {', '.join(failed)}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        slack = "" if self.slack is None else f", slack {self.slack:.4g}"
        return f"Hunt({self.id}: {self.outcome}{slack}, {self.tries} tries)"

    def save(self, folder: str | Path) -> tuple[Path, ...]:
        """Write hunt.json, and data.npz and network.safetensors where the instance has them; the files written.

        `marginflow check ID --data data.npz --network network.safetensors` judges the instance again from scratch.
        """
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        files = [target / "hunt.json"]
        write_text(files[0], json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n")
        if self.data is not None:
            files.append(target / "data.npz")
            self.data.save(files[-1])
        if self.network is not None:
            files.append(target / "network.safetensors")
            self.network.save(files[-1])
        return tuple(files)
