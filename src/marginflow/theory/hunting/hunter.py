"""Hunt for a counterexample: search a family, shrink what was found, prove it or say that it is not proved."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from pathlib import Path

from marginflow.arrays import real_number, whole_number
from marginflow.errors import InputError
from marginflow.plain import to_plain
from marginflow.storage import write_text
from marginflow.theory.hunting.catalogue import family_of
from marginflow.theory.hunting.family import AbstractFamily
from marginflow.theory.hunting.result import Hunt, HuntOutcome
from marginflow.theory.hunting.search import Search, Step, Trail
from marginflow.theory.registry import statement as statement_of
from marginflow.theory.statement import Statement
from marginflow.theory.verdict import Verdict

_SHRINK_SHARE = 0.5
_LEAST_SHRINK = 5.0
_SAVED_EVERY = 5.0


def hunt(
    id: str | Statement,
    seconds: float = 60.0,
    seed: int = 0,
    *,
    dimension: int | None = None,
    samples: int | None = None,
    tries: int | None = None,
    family: AbstractFamily | None = None,
    state: str | Path | None = None,
    progress: Callable[[Trail], None] | None = None,
) -> Hunt:
    """Search for the instance on which a statement has the least slack, and for a counterexample.

    Instances are drawn from a family that knows nothing of the statement, moved and drawn again; hypotheses are hard
    constraints, and the least relative slack over all claims is what gets smaller. A violation is shrunk to few points
    and small numbers; the outcome is "refuted" only where the statement itself proves the counterexample in exact or
    enclosed arithmetic.

    Parameters
    ----------
    id : str or Statement
    seconds : float
        Time for the search; shrinking takes at most half as long again.
    seed : int
        The same seed and the same number of tries find the same.
    dimension, samples : int or None
        Restrict the family, where it has a dimension or a number of samples to restrict.
    tries : int or None
        Stop after so many tries in all.
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
    one = id if isinstance(id, Statement) else statement_of(id)
    seconds = real_number("seconds", seconds, above=0.0)
    seed = whole_number("seed", seed, minimum=0)
    if tries is not None:
        tries = whole_number("tries", tries)
    if one.is_probe:
        raise InputError(f"{one.id} is an open question and claims nothing; there is no number to hunt.")
    where = family or family_of(one, dimension=dimension, samples=samples)
    search = Search(statement=one, family=where, seed=seed)
    memory = _Memory(None if state is None else Path(state), one.id, where.title, seed)
    trail = memory.load()
    began = time.monotonic()
    search.run(trail, seconds=seconds, tries=tries, progress=memory.keeper(trail, progress))
    memory.save(trail)
    return _brought_home(search, trail, began, seconds)


def _brought_home(search: Search, trail: Trail, began: float, seconds: float) -> Hunt:
    one, worst = search.statement, trail.worst
    outcome: HuntOutcome
    if trail.applied == 0:
        nearest = f"; the last one missed {trail.nearest}" if trail.nearest else ""
        raise InputError(
            f"None of {trail.tries} instances ({search.family.title}) met the hypotheses of {one.id}{nearest}."
        )
    limit = max(_LEAST_SHRINK, _SHRINK_SHARE * seconds)
    proof = ""
    if worst is not None and worst.slack < 0:
        worst = search.shrink(worst, seconds=limit)
    elif trail.step is not None:
        worst = search.shrink(trail.step, seconds=limit, of_proof=True)
    judged = None if worst is None else search.judge(worst.candidate)
    if judged is not None and judged[1].failed_claims:
        outcome = "refuted" if judged[1].outcome == "refuted" else "candidate"
        proof = _proof_of(judged[1])
    elif trail.step is not None:
        outcome = "proof step fails"
    else:
        outcome = "not refuted" if trail.telling else "does not bite"
    return Hunt(
        id=one.id,
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
    )


def _proof_of(verdict: Verdict) -> str:
    """What the statement itself proved of the instance in exact arithmetic, or why that is not a proof."""
    found = verdict.counterexample
    if found is not None:
        return f"{found.summary} ({found.proof})"
    if all(check.interval is not None for check in verdict.failed_claims):
        return "counted or enclosed only: a hunt is multiple testing, and an interval proves nothing"
    return "in floating point only"


class _Memory:
    """The file that remembers a search."""

    def __init__(self, path: Path | None, id: str, family: str, seed: int) -> None:
        self.path, self.key = path, {"id": id, "family": family, "seed": seed}
        self.saved = time.monotonic()

    def load(self) -> Trail:
        """What the file remembers, or a new trail; an `InputError` for a file of another search."""
        if self.path is None or not self.path.exists():
            return Trail()
        try:
            content = json.loads(self.path.read_text(encoding="utf-8"))
            steps = [Step(**step) for step in content["history"]]
            step = None if content["step"] is None else Step(**content["step"])
            counts = {name: int(content[name]) for name in ("tries", "built", "applied", "telling")}
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{self.path} does not hold the state of a hunt: {error}.") from None
        if {name: content.get(name) for name in self.key} != self.key:
            found = ", ".join(f"{name} {content.get(name)!r}" for name in self.key)
            raise InputError(f"{self.path} remembers another hunt ({found}); {self.key} is expected.")
        return Trail(**counts, history=steps, step=step, nearest=str(content.get("nearest", "")))

    def save(self, trail: Trail) -> None:
        """Write what a later hunt needs."""
        if self.path is None:
            return
        plain = {
            **self.key,
            "tries": trail.tries,
            "built": trail.built,
            "applied": trail.applied,
            "telling": trail.telling,
            "nearest": trail.nearest,
            "history": trail.history,
            "step": trail.step,
        }
        write_text(self.path, json.dumps(to_plain(plain), allow_nan=False) + "\n")
        self.saved = time.monotonic()

    def keeper(self, trail: Trail, progress: Callable[[Trail], None] | None) -> Callable[[Trail], None]:
        """Call `progress`, and save from time to time."""

        def after(now: Trail) -> None:
            if progress is not None:
                progress(now)
            if self.path is not None and time.monotonic() - self.saved > _SAVED_EVERY:
                self.save(trail)

        return after
