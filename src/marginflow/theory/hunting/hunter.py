"""Hunt for a counterexample: search a family, shrink what was found, prove it or say that it is not proved."""

import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from marginflow.arrays import real_number, whole_number
from marginflow.errors import InputError
from marginflow.theory.hunting.catalogue import BY_CHANCE, CONJECTURES, FAMILIES, family_of
from marginflow.theory.hunting.family import AbstractFamily
from marginflow.theory.hunting.memory import HuntMemory
from marginflow.theory.hunting.pictures import picture_of
from marginflow.theory.hunting.result import Glimpse, Hunt, HuntOutcome
from marginflow.theory.hunting.search import FamilySearch, Trail, least
from marginflow.theory.registry import statement as statement_of
from marginflow.theory.statement import Statement
from marginflow.theory.verdict import Verdict

_SHRINK_SHARE = 0.5
_LEAST_SHRINK = 5.0


def hunt(
    id: str | Statement,
    seconds: float = 60.0,
    seed: int = 0,
    *,
    dimension: int | None = None,
    samples: int | None = None,
    interval: tuple[int, int] | None = None,
    tries: int | None = None,
    family: AbstractFamily | None = None,
    state: str | Path | None = None,
    progress: Callable[[Trail], None] | None = None,
) -> Hunt:
    """Search for the instance on which a statement has the least slack, and for a counterexample.

    Instances are drawn from a family that knows nothing of the statement, moved and drawn again; hypotheses are hard
    constraints, and every claim in its turn makes its relative slack smaller. The other statements of the family are
    judged on each instance as well (`Hunt.beside`). A violation is shrunk to few points and small numbers; the outcome
    is "refuted" only where the statement itself proves the counterexample in exact or enclosed arithmetic.

    Parameters
    ----------
    id : str or Statement
    seconds : float
        Time for the search; shrinking takes at most half as long again.
    seed : int
        The same seed and the same number of tries find the same.
    dimension, samples : int or None
        Restrict the family, where it has a dimension or a number of samples to restrict.
    interval : (int, int) or None
        Where the points of a family on the line are, [0, 1] by default.
    tries : int or None
        Stop after this many tries in all.
    family : AbstractFamily or None
        Where to search; by default the one that is named for the statement.
    state : path or None
        A file that remembers the search, so that it can be continued; made if it is not there.
    progress : function of a Trail or None
        Called after every try.

    Returns
    -------
    Hunt

    Examples
    --------
    >>> from marginflow import theory
    >>> found = theory.hunt("KYS23/Prop4.5", seconds=20, tries=500)
    >>> found.outcome
    'refuted'
    """
    hunted = id if isinstance(id, Statement) else statement_of(id)
    if hunted.is_probe:
        conjecture = CONJECTURES.get(hunted.id)
        instead = f"; {conjecture} is the conjecture about it" if conjecture else ""
        raise InputError(f"{hunted.id} is an open question and claims nothing; there is no number to hunt{instead}.")
    where = family or family_of(hunted, dimension=dimension, samples=samples, interval=interval)
    others = [statement_of(other) for other, its in FAMILIES.items() if its == where and other != hunted.id]
    neighbours = tuple(other for other in others if other.kind != "definition")
    (found,) = _hunted((hunted,), neighbours, where, seconds, seed, tries, state, progress)
    if found.outcome == "hypotheses not met":
        nearest = f"; the nearest one missed {found.nearest}" if found.nearest else ""
        raise InputError(f"None of {found.tries} instances ({where.title}) met the hypotheses of {hunted.id}{nearest}.")
    return found


def hunt_together(
    ids: Sequence[str],
    seconds: float = 60.0,
    seed: int = 0,
    *,
    tries: int | None = None,
    state: str | Path | None = None,
    progress: Callable[[Trail], None] | None = None,
) -> tuple[Hunt, ...]:
    """Hunt statements of one family at once: every claim takes its turn, all are judged on each instance.

    Parameters
    ----------
    ids : sequence of str
        Statements that are hunted in the same family.
    seconds, seed, tries, state, progress
        As for `hunt`, for all of them together.

    Returns
    -------
    tuple of Hunt
        In the order of `ids`. A statement whose hypotheses no instance met has the outcome "hypotheses not met".
    """
    statements = tuple(statement_of(id) for id in ids)
    families = [family_of(statement) for statement in statements]
    if not families or any(family != families[0] for family in families):
        raise InputError(f"The ids are {', '.join(ids)}; one and more statements of one family are expected.")
    return _hunted(statements, (), families[0], seconds, seed, tries, state, progress)


def _hunted(
    statements: tuple[Statement, ...],
    beside: tuple[Statement, ...],
    family: AbstractFamily,
    seconds: float,
    seed: int,
    tries: int | None,
    state: str | Path | None,
    progress: Callable[[Trail], None] | None,
) -> tuple[Hunt, ...]:
    seconds = real_number("seconds", seconds, above=0.0)
    seed = whole_number("seed", seed, minimum=0)
    if tries is not None:
        tries = whole_number("tries", tries)
    search = FamilySearch(statements=statements, beside=beside, family=family, seed=seed)
    memory = HuntMemory(state, search)
    trails = memory.load()
    began = time.monotonic()
    search.run(trails, seconds=seconds, tries=tries, progress=memory.keeper(trails, progress))
    memory.save(trails)
    glimpses = tuple(
        Glimpse(id=other.id, slack=worst.slack, applied=trails[other.id].applied, candidate=worst.candidate)
        for other in beside
        if (worst := trails[other.id].worst) is not None
    )
    limit = max(_LEAST_SHRINK, _SHRINK_SHARE * seconds) / len(statements)
    return tuple(
        _brought_home(search, statement, trails[statement.id], glimpses, began, limit) for statement in statements
    )


def _brought_home(
    search: FamilySearch, statement: Statement, trail: Trail, glimpses: tuple[Glimpse, ...], began: float, limit: float
) -> Hunt:
    worst, outcome, proof, claim = trail.worst, _outcome_without_failure(trail), "", ""
    if worst is not None and worst.slack < 0:
        worst = search.shrink(statement, worst, seconds=limit)
    elif trail.step is not None:
        worst = search.shrink(statement, trail.step, seconds=limit, of_proof=True)
    elif trail.tightest is not None:
        claim, worst = trail.tightest
    judged = None if worst is None else search.judge(statement, worst.candidate)
    if judged is not None and judged[1].failed_claims:
        outcome = "refuted" if judged[1].outcome == "refuted" else "candidate"
        proof = _proof_of(judged[1])
        failed = least(judged[1].failed_claims)
        claim = "" if failed is None else failed.name
    return Hunt(
        id=statement.id,
        outcome=outcome,
        slack=None if worst is None or not math.isfinite(worst.slack) else worst.slack,
        instance=None if judged is None else judged[0],
        verdict=None if judged is None else judged[1],
        candidate=None if worst is None else worst.candidate,
        family=search.family.title,
        proof=proof,
        history=tuple(trail.history),
        tries=trail.tries,
        applied=trail.applied,
        telling=trail.telling,
        seconds=time.monotonic() - began,
        seed=search.seed,
        picture=None
        if judged is None or worst is None
        else picture_of(*judged, statement, search.family, worst.candidate),
        nearest=trail.nearest if trail.applied == 0 else "",
        beside=glimpses,
        claim=claim,
    )


def _outcome_without_failure(trail: Trail) -> HuntOutcome:
    """What a hunt says on which no claim failed."""
    if trail.applied == 0:
        return "hypotheses not met"
    if trail.step is not None:
        return "proof step fails"
    return "not refuted" if trail.telling else "does not bite"


def _proof_of(verdict: Verdict) -> str:
    """What the statement itself proved of the instance in exact arithmetic, or why that is not a proof."""
    found = verdict.counterexample
    if found is not None:
        return f"{found.summary} ({found.proof})"
    if verdict.id in BY_CHANCE:
        return (
            "one draw: the statement lets a share delta of the draws fail, and a hunt picks draws, so nothing is shown"
        )
    if all(check.interval is not None for check in verdict.failed_claims):
        return "counted or enclosed only: a hunt is multiple testing, and an interval proves nothing"
    return "in floating point only"
