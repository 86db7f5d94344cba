"""The search: draws, moves and restarts on the slack of one claim at a time, the hypotheses as hard constraints.

Solving an instance takes far longer than judging it, so every statement of the search is judged on each instance, and
every claim remembers the member on which it is nearest to failing. Claims take turns: in its turn a claim sends the
search on from the member that is its worst. Try number t uses the random numbers of (seed, t) and what the claims
remember, nothing else, so that a search that is stopped and continued is the search that was never stopped.
"""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

import numpy as np

from marginflow.errors import InputError
from marginflow.plain import Plain
from marginflow.theory.check import Check
from marginflow.theory.hunting.family import AbstractFamily, Candidate
from marginflow.theory.instance import Instance
from marginflow.theory.statement import Statement
from marginflow.theory.verdict import Verdict

FRESH: Final = 0.3
"""Share of fresh draws among the tries."""
FRESH_AT_FIRST: Final = 0.7
"""The same as long as no member has met the hypotheses."""
IDLE: Final = 50
"""Turns without an improvement after which a claim starts somewhere else. Claims take turns, so that 150 turns are
hours where instances are dear, and next to a bound that is nearly tight nothing improves for ever."""
NOISE: Final = 1e-9
"""Relative slacks that differ by less are equal; otherwise rounding would tell the search where to stay."""
TIGHT: Final = 1e-6
"""A claim whose sides never differ by a larger share is an identity, whatever its sign of relation is."""


def relative_slack(check: Check) -> float:
    """By how much a check is met, its tolerance included, over the size of its two sides; negative where it fails.

    Where the bound is 0 this would be 1 or -1 whatever is observed, so there the slack is not divided by anything.
    """
    slack, bound = check.slack, check.bound
    if slack is None or bound is None or math.isnan(slack):
        return math.inf
    size = max(abs(check.observed), abs(bound)) if bound else 1.0
    return (slack + check.tolerance) / size if 0 < size < math.inf else slack


def apart(check: Check) -> float:
    """By which share the two sides of an inequality differ; 0 for an equality."""
    slack = relative_slack(replace(check, tolerance=0.0))
    return 0.0 if check.relation == "==" else max(slack, 0.0)


def score(check: Check) -> float:
    """The relative slack; an interval that contains its bound decides nothing and is as good as tight."""
    slack = relative_slack(check)
    return slack if check.state == "failed" else max(slack, 0.0)


def least(checks: tuple[Check, ...]) -> Check | None:
    """The check with the least relative slack: among those that fail, else inequalities that say something, else any.

    An identity that holds is always tight and says nothing of how far the others are from failing.
    """
    telling = [check for check in checks if not check.vacuous]
    failed = [check for check in telling if check.state == "failed"]
    inequalities = [check for check in telling if check.relation != "=="]
    return min(failed or inequalities or telling, key=relative_slack, default=None)


def applies(verdict: Verdict) -> bool:
    """Whether all hypotheses are met."""
    return all(check.state == "met" for check in verdict.hypotheses)


def distance(verdict: Verdict) -> float:
    """How far the hypotheses are from being met: for each that is not, 1 and its relative violation up to 1."""
    return sum(1.0 + min(max(-relative_slack(check), 0.0), 1.0) for check in verdict.hypotheses if check.state != "met")


@dataclass(frozen=True, kw_only=True)
class Step(Plain):
    """One improvement in the history of a hunt: at which try, how small the slack, and on which member."""

    number: int
    slack: float
    candidate: Candidate


@dataclass(kw_only=True)
class Pursuit(Plain):
    """Where one claim, one step of a proof or the hypotheses of a statement would search on, and for how long idle.

    `tightest` is the member with the least slack ever, `loosest` the largest share by which the two sides differed.
    """

    current: Step | None = None
    idle: int = 0
    tightest: Step | None = None
    loosest: float = 0.0

    def meet(self, step: Step, apart: float = 0.0) -> None:
        """Go to a member that is no better than the current one but for rounding."""
        self.loosest = max(self.loosest, apart)
        if self.tightest is None or step.slack < self.tightest.slack:
            self.tightest = step
        if self.current is None or step.slack < self.current.slack - NOISE:
            self.current, self.idle = step, 0
        elif step.slack <= self.current.slack + NOISE:
            self.current = step

    def turn(self) -> None:
        """One more turn; after too many idle ones the claim forgets where it is."""
        self.idle += 1
        if self.idle > IDLE:
            self.current, self.idle = None, 0


@dataclass(kw_only=True)
class Trail:
    """What a search has seen of one statement; grows while the search goes on.

    Parameters
    ----------
    tries, built, applied, telling : int
        Members tried; those that could be built; those that met the hypotheses; those on which a claim said something.
    history : list of Step
        Every improvement of the least slack of a claim.
    step : Step or None
        The worst slack of a step of the proof.
    nearest : str
        The hypothesis that failed on the member that came closest, where none met them all.
    pursuits : dict of str to Pursuit
        By claim.
    """

    tries: int = 0
    built: int = 0
    applied: int = 0
    telling: int = 0
    history: list[Step] = field(default_factory=list)
    step: Step | None = None
    nearest: str = ""
    pursuits: dict[str, Pursuit] = field(default_factory=dict)

    @property
    def worst(self) -> Step | None:
        """The member with the least slack so far."""
        return self.history[-1] if self.history else None

    @property
    def broken(self) -> bool:
        """Whether a claim failed."""
        return self.worst is not None and self.worst.slack < 0

    def meet(self, verdict: Verdict, number: int, candidate: Candidate) -> None:
        """Write down what one verdict adds."""
        self.built += 1
        here = partial(Step, number=number, candidate=candidate)
        if not applies(verdict):
            if not self.applied:
                self._miss(verdict, here(slack=distance(verdict)))
            return
        self.applied += 1
        self.pursuits.pop(_HYPOTHESES, None)
        for check in verdict.findings.proof_steps:
            if check.vacuous:
                continue
            step = here(slack=score(check))
            self._pursue(f"step: {check.name}", step)
            if check.state == "failed" and (self.step is None or step.slack < self.step.slack):
                self.step = step
        for check in verdict.claims:
            if not check.vacuous:
                self._pursue(f"{_CLAIM}{check.name}", here(slack=score(check)), apart(check))
        worst = least(verdict.claims)
        if worst is None:
            return
        self.telling += 1
        step = here(slack=score(worst))
        if self.worst is None or step.slack < self.worst.slack:
            self.history.append(step)

    def _miss(self, verdict: Verdict, step: Step) -> None:
        """Remember the member that is nearest to meeting the hypotheses."""
        before = self.pursuits.get(_HYPOTHESES)
        if before is None or before.current is None or step.slack < before.current.slack - NOISE:
            self.nearest = str(next(check for check in verdict.hypotheses if check.state != "met"))
        self._pursue(_HYPOTHESES, step)

    def _pursue(self, name: str, step: Step, apart: float = 0.0) -> None:
        self.pursuits.setdefault(name, Pursuit()).meet(step, apart)

    @property
    def tightest(self) -> tuple[str, Step] | None:
        """The claim that came nearest to failing, identities aside, and where; None where all claims are identities."""
        claims = [
            (name.removeprefix(_CLAIM), pursuit.tightest)
            for name, pursuit in self.pursuits.items()
            if name.startswith(_CLAIM) and pursuit.loosest > TIGHT and pursuit.tightest is not None
        ]
        return min(claims, key=lambda claim: claim[1].slack, default=None)


_HYPOTHESES, _CLAIM = "hypotheses", "claim: "


@dataclass(frozen=True, eq=False, kw_only=True)
class FamilySearch:
    """A search for the worst members of a family under statements whose claims take turns.

    Those of `beside` are judged on each instance as well.
    """

    statements: tuple[Statement, ...]
    family: AbstractFamily
    beside: tuple[Statement, ...] = ()
    seed: int = 0

    def build(self, candidate: Candidate) -> Instance | None:
        """The instance; None where the candidate has none."""
        try:
            return self.family.build(candidate)
        except (InputError, ArithmeticError, np.linalg.LinAlgError):
            return None

    def judge(self, statement: Statement, candidate: Candidate) -> tuple[Instance, Verdict] | None:
        """The instance and its verdict; None where the candidate has no instance or cannot be judged."""
        instance = self.build(candidate)
        verdict = None if instance is None else judged(statement, instance)
        return (instance, verdict) if instance is not None and isinstance(verdict, Verdict) else None

    def run(
        self,
        trails: dict[str, Trail],
        *,
        seconds: float,
        tries: int | None = None,
        progress: Callable[[Trail], None] | None = None,
    ) -> None:
        """Go on until a claim of every statement fails, the time is over, or this many tries have been made in all."""
        end = time.monotonic() + seconds
        number = max(trails[statement.id].tries for statement in self.statements)
        while time.monotonic() < end and (tries is None or number < tries):
            hunted = [statement for statement in self.statements if not trails[statement.id].broken]
            if not hunted:
                return
            rng = np.random.default_rng([self.seed, number])
            first = trails[hunted[number % len(hunted)].id]
            candidate = self._next(first, number // len(hunted), rng)
            number += 1
            instance = self.build(candidate)
            for statement in (*hunted, *self.beside):
                trail = trails[statement.id]
                trail.tries = number
                if instance is None or trail.broken:
                    continue
                verdict = judged(statement, instance)
                if isinstance(verdict, Verdict):
                    trail.meet(verdict, number, candidate)
                elif not trail.built and not trail.nearest:
                    trail.nearest = f"what the statement needs: {verdict.rstrip('.')}"
            if progress is not None:
                progress(first)

    def _next(self, trail: Trail, turn: int, rng: np.random.Generator) -> Candidate:
        """The next member: fresh, or next to the worst one of the claim whose turn it is."""
        names = list(trail.pursuits)
        if not names or (trail.applied and not trail.telling):
            return self.family.draw(rng)
        pursuit = trail.pursuits[names[turn % len(names)]]
        pursuit.turn()
        fresh = FRESH if trail.applied else FRESH_AT_FIRST
        if pursuit.current is None or rng.random() < fresh:
            return self.family.draw(rng)
        return self.family.move(pursuit.current.candidate, rng)

    def shrink(self, statement: Statement, step: Step, *, seconds: float, of_proof: bool = False) -> Step:
        """The simplest member found from a violation on which the violation is still there."""
        end = time.monotonic() + seconds
        found: Step | None = step
        while found is not None and time.monotonic() < end:
            step = found
            smaller = self._smaller(statement, step, of_proof)
            found = next((instance for instance in smaller if instance is not None or time.monotonic() > end), None)
        return step

    def _smaller(self, statement: Statement, step: Step, of_proof: bool) -> Iterator[Step | None]:
        """For every simpler member the step there, or None where the violation is gone."""
        for candidate in self.family.simpler(step.candidate):
            found = self.judge(statement, candidate)
            worst = None
            if found is not None and applies(found[1]):
                worst = least(found[1].findings.proof_steps if of_proof else found[1].claims)
            if worst is None or worst.state != "failed":
                yield None
            else:
                yield Step(number=step.number, slack=relative_slack(worst), candidate=candidate)


def judged(statement: Statement, instance: Instance) -> Verdict | str:
    """The verdict, or why the instance is nothing that the statement can be asked about."""
    try:
        return statement.judge_instance(instance)
    except (InputError, ArithmeticError, np.linalg.LinAlgError) as error:
        return str(error)
