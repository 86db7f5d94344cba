"""The search: draws, moves and restarts on the least slack of the claims, with the hypotheses as hard constraints.

Try number t uses the random numbers of (seed, t) and nothing else, so that a search can be stopped and continued: what
it has to remember is the number of tries and the best member so far.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
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
IDLE: Final = 150
"""Tries without an improvement after which the search starts somewhere else."""


def relative_slack(check: Check) -> float:
    """By how much a check is met, its tolerance included, over the size of its two sides; negative where it fails."""
    slack, bound = check.slack, check.bound
    if slack is None or bound is None or math.isnan(slack):
        return math.inf
    size = max(abs(check.observed), abs(bound))
    return (slack + check.tolerance) / size if 0 < size < math.inf else slack


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


@dataclass(frozen=True, kw_only=True)
class Step(Plain):
    """One improvement in the history of a hunt: at which try, how small the slack, and on which member."""

    number: int
    slack: float
    candidate: Candidate


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
    """

    tries: int = 0
    built: int = 0
    applied: int = 0
    telling: int = 0
    history: list[Step] = field(default_factory=list)
    step: Step | None = None
    nearest: str = ""

    @property
    def worst(self) -> Step | None:
        """The member with the least slack so far."""
        return self.history[-1] if self.history else None


@dataclass(frozen=True, eq=False, kw_only=True)
class Search:
    """A search for the worst member of a family under one statement.

    Parameters
    ----------
    statement : Statement
    family : AbstractFamily
    seed : int
    """

    statement: Statement
    family: AbstractFamily
    seed: int = 0

    def judge(self, candidate: Candidate) -> tuple[Instance, Verdict] | None:
        """The instance and its verdict; None where the candidate has no instance."""
        try:
            instance = self.family.build(candidate)
            return instance, self.statement.judge_instance(instance)
        except (InputError, ArithmeticError, np.linalg.LinAlgError):
            return None

    def run(
        self,
        trail: Trail,
        *,
        seconds: float,
        tries: int | None = None,
        progress: Callable[[Trail], None] | None = None,
    ) -> None:
        """Go on until a claim fails, the time is over, or so many tries have been made in all."""
        end = time.monotonic() + seconds
        current, idle = trail.worst, 0
        while time.monotonic() < end and (tries is None or trail.tries < tries):
            rng = np.random.default_rng([self.seed, trail.tries])
            trail.tries += 1
            fresh = current is None or rng.random() < FRESH
            candidate = self.family.draw(rng) if fresh or current is None else self.family.move(current.candidate, rng)
            idle += 1
            slack = self._try(trail, candidate)
            if slack is not None and (current is None or slack <= current.slack):
                idle = 0 if current is None or slack < current.slack else idle
                current = Step(number=trail.tries, slack=slack, candidate=candidate)
            if idle > IDLE:
                current, idle = None, 0
            if progress is not None:
                progress(trail)
            if trail.worst is not None and trail.worst.slack < 0:
                return

    def _try(self, trail: Trail, candidate: Candidate) -> float | None:
        """Judge one member and write down what is worth remembering; its slack, where it counts."""
        judged = self.judge(candidate)
        if judged is None:
            return None
        trail.built += 1
        verdict = judged[1]
        if not applies(verdict):
            if not trail.applied:
                failed = next(check for check in verdict.hypotheses if check.state != "met")
                trail.nearest = str(failed)
            return None
        trail.applied += 1
        broken = least(verdict.findings.proof_steps)
        if broken is not None and broken.state == "failed":
            slack = relative_slack(broken)
            if trail.step is None or slack < trail.step.slack:
                trail.step = Step(number=trail.tries, slack=slack, candidate=candidate)
        worst = least(verdict.claims)
        if worst is None:
            return None
        trail.telling += 1
        slack = relative_slack(worst)
        # an interval that contains its bound decides nothing: such a member is as good as tight
        slack = max(slack, 0.0) if worst.state != "failed" else slack
        if trail.worst is None or slack < trail.worst.slack:
            trail.history.append(Step(number=trail.tries, slack=slack, candidate=candidate))
        return slack

    def shrink(self, step: Step, *, seconds: float, of_proof: bool = False) -> Step:
        """The simplest member found from a violation on which the violation is still there."""
        end = time.monotonic() + seconds
        found = True
        while found and time.monotonic() < end:
            found = False
            for candidate in self.family.simpler(step.candidate):
                if time.monotonic() > end:
                    break
                judged = self.judge(candidate)
                if judged is None or not applies(judged[1]):
                    continue
                checks = judged[1].findings.proof_steps if of_proof else judged[1].claims
                worst = least(checks)
                if worst is not None and worst.state == "failed":
                    step = Step(number=step.number, slack=relative_slack(worst), candidate=candidate)
                    found = True
                    break
        return step
