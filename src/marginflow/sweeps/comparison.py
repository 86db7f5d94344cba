"""Two stores side by side: which cells both have, and how far their rows lie apart."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

from marginflow.arrays import real_number
from marginflow.plain import is_number
from marginflow.sweeps.line import StoredLine
from marginflow.sweeps.store import Store


@final
@dataclass(frozen=True, kw_only=True)
class Difference:
    """A column of one cell that is not the same in both stores."""

    task: str
    parameters: Mapping[str, Any]
    seed: int
    column: str
    first: object
    second: object

    @property
    def relative(self) -> float | None:
        """abs(a - b) / max(abs(a), abs(b)) of finite numbers; None for anything else."""
        return _relative(self.first, self.second)


@final
@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What two stores have in common.

    Parameters
    ----------
    both, equal : int
        Cells that are done in both, and those of them whose rows agree within the tolerance.
    only_first, only_second : int
        Cells that are done in one of them alone.
    other_code : int
        Cells of both that were computed by different code.
    differences : tuple of Difference
        Every column that does not agree, in the order of the first store.
    """

    both: int
    equal: int
    only_first: int
    only_second: int
    other_code: int
    differences: tuple[Difference, ...]

    @property
    def same(self) -> bool:
        """Whether both have the same cells with the same rows."""
        return self.equal == self.both and not self.only_first and not self.only_second

    @property
    def columns(self) -> dict[str, tuple[int, float | None]]:
        """For each column that differs somewhere: in how many cells, and the largest relative difference of numbers."""
        found: dict[str, tuple[int, float | None]] = {}
        for difference in self.differences:
            count, largest = found.get(difference.column, (0, None))
            gap = difference.relative
            found[difference.column] = (count + 1, gap if largest is None else max(largest, gap or 0.0))
        return found


def compare(first: Store, second: Store, *, tolerance: float = 0.0) -> Comparison:
    """Compare two stores cell by cell: same task, version, parameters and seed, whatever code computed them.

    Parameters
    ----------
    first, second : Store
    tolerance : float
        Relative difference up to which two numbers count as equal; 0 asks for equal values. Where a store has rows of
        several codes, the last one counts.
    """
    allowed = real_number("tolerance", tolerance, at_least=0.0)
    mine, theirs = _done(first), _done(second)
    shared = [identity for identity in mine if identity in theirs]
    differences = tuple(
        difference for identity in shared for difference in _differences(mine[identity], theirs[identity], allowed)
    )
    unequal = {(d.task, json.dumps(d.parameters, sort_keys=True, allow_nan=True), d.seed) for d in differences}
    return Comparison(
        both=len(shared),
        equal=len(shared) - len(unequal),
        only_first=len(mine) - len(shared),
        only_second=len(theirs) - len(shared),
        other_code=sum(mine[identity].code != theirs[identity].code for identity in shared),
        differences=differences,
    )


def _done(store: Store) -> dict[str, StoredLine]:
    """The last finished row of each cell, by identity."""
    return {line.identity: line for line in store.lines() if line.status == "done"}


def _differences(mine: StoredLine, theirs: StoredLine, allowed: float) -> list[Difference]:
    a, b = json.loads(mine.row), json.loads(theirs.row)
    if allowed == 0.0:  # files of arrays are equal or not
        a, b = {**a, "arrays": mine.arrays_sha256}, {**b, "arrays": theirs.arrays_sha256}
    return [
        Difference(
            task=mine.task,
            parameters=json.loads(mine.parameters),
            seed=mine.seed,
            column=column,
            first=a.get(column),
            second=b.get(column),
        )
        for column in dict.fromkeys((*a, *b))
        if not _agree(a.get(column), b.get(column), allowed)
    ]


def _agree(first: object, second: object, allowed: float) -> bool:
    gap = _relative(first, second)
    return first == second if gap is None else gap <= allowed


def _relative(first: object, second: object) -> float | None:
    if not (is_number(first) and is_number(second)):
        return None
    a, b = float(first), float(second)  # type: ignore[arg-type]  # both are numbers
    return 0.0 if a == b else abs(a - b) / max(abs(a), abs(b))
