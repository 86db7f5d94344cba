"""One comparison of an observed number with a bound: the atom of every verdict."""

import math
import re
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Final, Literal, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import FloatArray, IntArray
from marginflow.display import Brief
from marginflow.errors import InputError
from marginflow.plain import Plain

TOLERANCE: Final = 1e-9
"""Rounding allowed in a comparison, relative to the largest of the two sides and `scale`."""

MANY: Final = 10_000
"""Entries from which only those that may be the worst are compared one by one."""

Relation = Literal["<=", ">=", "<", ">", "==", "is"]
State = Literal["met", "failed", "undecided"]
Role = Literal["hypothesis", "constant", "claim", "proof step", "derived", "arithmetic"]


@dataclass(frozen=True)
class Check(Brief, Plain):
    """An observed number beside the bound that a statement puts on it.

    Parameters
    ----------
    name : str
        What is compared, in a few words.
    observed : float
        What was measured; not a number decides nothing.
    relation : "<=", ">=", "<", ">", "==" or "is"
        How observed and bound should compare; "is" only reports a value and is never a hypothesis or a conclusion.
    bound : float or None
        None only with "is".
    tolerance : float
        Absolute. "<=", ">=", "==" are met within it; "<" and ">" must hold by more than it.
    note : str
        Anything a reader should know: where the worst case is, which formula was used.
    interval : (float, float) or None
        When the observed number is an estimate or bracketed, what is known for certain (Clopper-Pearson limits, bounds
        from two sides). The comparison is then decided only if the whole interval agrees.
    vacuous : bool
        The bound says nothing (a probability of at most 1.7): it is met, but no evidence.
    role : str
        The part that it plays: hypothesis, constant, claim, proof step, derived or arithmetic. `Findings` sets it.

    Examples
    --------
    >>> from marginflow.theory.check import Check
    >>> Check(name="margin", observed=0.5, relation=">=", bound=1.0).state
    'failed'
    >>> Check(name="risk", observed=0.0, relation="<=", bound=0.01, interval=(0.0, 0.03)).state
    'undecided'
    """

    plain_names: ClassVar = (
        "role",
        "name",
        "observed",
        "relation",
        "bound",
        "slack",
        "tolerance",
        "interval",
        "state",
        "vacuous",
        "note",
    )

    name: str
    observed: float
    relation: Relation
    bound: float | None = None
    _: KW_ONLY
    tolerance: float = 0.0
    note: str = ""
    interval: tuple[float, float] | None = None
    vacuous: bool = False
    role: Role = "constant"

    def __post_init__(self) -> None:
        if (self.bound is None) != (self.relation == "is"):
            raise InputError(f"Check {self.name!r} has relation {self.relation!r} and bound {self.bound!r}.")
        if self.interval is not None and not self.interval[0] <= self.interval[1]:
            raise InputError(f"Check {self.name!r} has the interval {self.interval}; low <= high is expected.")

    @property
    def slack(self) -> float | None:
        """By how much the relation holds: negative when it does not (minus the distance for "=="); None for "is"."""
        return None if self.bound is None else self._slack_of(self.observed)

    @property
    def relative_slack(self) -> float:
        """The slack over the larger of the two sides, and as it is where that is 0 or infinite; infinite for "is"."""
        slack = self.slack
        if slack is None or self.bound is None:
            return math.inf
        size = max(abs(self.observed), abs(self.bound))
        return slack / size if 0 < size < math.inf else slack

    @property
    def used(self) -> float | None:
        """Where the observed number stands on a scale on which 0 is far inside, 1 the bound and 2 far beyond it.

        1 - slack / (|observed| + |bound|), for a small bar beside the numbers; None for "is" and where undefined.
        """
        slack = self.slack
        if slack is None or self.bound is None or math.isnan(slack):
            return None
        size = abs(self.observed) + abs(self.bound)
        if math.isinf(size):
            return 0.0 if slack > 0 else (1.0 if slack == 0 else 2.0)
        return 1.0 - slack / size if size > 0 else 1.0

    def _slack_of(self, observed: float) -> float:
        assert self.bound is not None
        if observed == self.bound:  # also where both are infinite
            return 0.0
        if self.relation == "==":
            return -abs(observed - self.bound)
        return self.bound - observed if self.relation in ("<=", "<") else observed - self.bound

    def _met_by(self, observed: float) -> bool:
        slack = self._slack_of(observed)
        return slack > self.tolerance if self.relation in ("<", ">") else slack >= -self.tolerance

    @property
    def state(self) -> State:
        """Whether the relation is met, failed, or not decided by what is known."""
        if self.relation == "is":
            return "met"
        if math.isnan(self.observed) or (self.bound is not None and math.isnan(self.bound)):
            return "undecided"
        if self.interval is None:
            return "met" if self._met_by(self.observed) else "failed"
        low, high = self.interval
        if self.relation == "==":
            assert self.bound is not None
            inside = low <= self.bound <= high or self._met_by(low) or self._met_by(high)
            return "undecided" if inside else "failed"
        agree = {self._met_by(low), self._met_by(high)}
        return "undecided" if len(agree) == 2 else ("met" if agree.pop() else "failed")

    def __str__(self) -> str:
        rendered = f"{self.observed:.6g}"
        if self.interval is not None:
            rendered += f" in [{self.interval[0]:.4g}, {self.interval[1]:.4g}]"
        if self.relation == "is":
            line = f"{self.name} = {rendered}"
        else:
            line = f"{self.name}: {rendered} {self.relation} {self.bound:.6g}, {self.state}"
        if math.isnan(self.observed):
            line = f"{self.name}: not judged"
        return line + (" (the bound says nothing)" if self.vacuous else "") + (f" [{self.note}]" if self.note else "")

    @property
    def phrase(self) -> str:
        """The comparison in words, for a sentence.

        Examples
        --------
        >>> from marginflow.theory.check import at_most
        >>> at_most("the norm", [1.0, 3.0], 4.0).phrase
        'the norm is 3, which is at most 4 (the worst of 2)'
        """
        if math.isnan(self.observed):
            words = f"{self.name} could not be judged"
        elif self.relation == "is":
            words = f"{self.name} is {self.observed:.4g}"
        elif self.relation == "==" and self.bound == 1.0 and self.tolerance == 0.0 and self.observed in (0.0, 1.0):
            words = f"{self.name} is {'true' if self.observed else 'not true'}"
        else:
            compared = f"{_WORDS[self.relation]} {self.bound:.4g}"
            words = f"{self.name} is {self.observed:.4g}"
            if self.interval is not None:
                words += f" (between {self.interval[0]:.4g} and {self.interval[1]:.4g})"
            words += {
                "met": f", which is {compared}",
                "failed": f", which is not {compared}",
                "undecided": f", which does not decide whether it is {compared}",
            }[self.state]
        notes = [in_words(self.note)] if self.note else []
        if self.vacuous:
            notes.append("the bound says nothing")
        return words + (f" ({'; '.join(notes)})" if notes else "")


def in_words(note: str) -> str:
    """A note without the index at which the worst of several numbers was found.

    Examples
    --------
    >>> from marginflow.theory.check import in_words
    >>> in_words("worst of 50, at 7; exact")
    'the worst of 50; exact'
    """
    return re.sub(r"^worst of (\d+), at \d+(?:, \d+)*", r"the worst of \1", note)


_WORDS: Final = {"<=": "at most", ">=": "at least", "<": "less than", ">": "more than", "==": "equal to"}


class Options(TypedDict, total=False):
    """Keywords of `compare`."""

    tolerance: float
    scale: ArrayLike
    note: str
    vacuous: bool


def at_most(name: str, observed: ArrayLike, bound: ArrayLike, **options: Unpack[Options]) -> Check:
    """observed <= bound; see `compare`."""
    return compare(name, observed, "<=", bound, **options)


def at_least(name: str, observed: ArrayLike, bound: ArrayLike, **options: Unpack[Options]) -> Check:
    """observed >= bound; see `compare`."""
    return compare(name, observed, ">=", bound, **options)


def below(name: str, observed: ArrayLike, bound: ArrayLike, **options: Unpack[Options]) -> Check:
    """observed < bound by more than rounding; see `compare`."""
    return compare(name, observed, "<", bound, **options)


def above(name: str, observed: ArrayLike, bound: ArrayLike, **options: Unpack[Options]) -> Check:
    """observed > bound by more than rounding; see `compare`."""
    return compare(name, observed, ">", bound, **options)


def equal(name: str, observed: ArrayLike, bound: ArrayLike, **options: Unpack[Options]) -> Check:
    """observed == bound up to rounding; see `compare`."""
    return compare(name, observed, "==", bound, **options)


def value(name: str, observed: float, note: str = "") -> Check:
    """A number that is only reported."""
    return Check(name, float(observed), "is", note=note)


def true(name: str, condition: bool, note: str = "") -> Check:
    """A condition: observed is 1 where it is true, 0 where not, and the bound is 1."""
    return Check(name, float(bool(condition)), "==", 1.0, note=note)


def compare(
    name: str,
    observed: ArrayLike,
    relation: Relation,
    bound: ArrayLike,
    *,
    tolerance: float = TOLERANCE,
    scale: ArrayLike = 0.0,
    note: str = "",
    vacuous: bool = False,
) -> Check:
    """Compare numbers, or arrays entry by entry: the check is then about the worst entry and says where it is.

    Parameters
    ----------
    observed, bound : numbers or arrays that broadcast together
        An empty comparison decides nothing: it is neither evidence nor a violation.
    tolerance : float
        Relative to max(|observed|, |bound|, scale), entry by entry.
    scale : number or array
        Size of the terms whose difference is compared, where that is larger than both sides.
    vacuous : bool
        Mark the bound as one that says nothing.

    Examples
    --------
    >>> from marginflow.theory.check import compare
    >>> compare("entries", [1.0, 3.0, 2.0], "<=", 2.5).note
    'worst of 3, at 1'
    """
    if isinstance(observed, float | int) and isinstance(bound, float | int) and isinstance(scale, float | int):
        size = max(abs(observed), abs(bound), scale)  # two numbers: a map compares them by the hundred thousand
        known = math.isfinite(observed) and math.isfinite(bound) and math.isfinite(size)
        return Check(
            name,
            float(observed),
            relation,
            float(bound),
            tolerance=tolerance * float(size) if known else 0.0,
            note=note,
            vacuous=vacuous,
        )
    one, other, unit = (np.asarray(numbers, dtype=np.float64) for numbers in (observed, bound, scale))
    whole = np.broadcast_shapes(one.shape, other.shape, unit.shape)
    count = math.prod(whole)
    if count == 0:
        return Check(name, math.nan, relation, math.nan, note="nothing to compare")
    chosen = _may_be_worst(one, other, unit, relation, tolerance) if count >= MANY else None
    if chosen is not None:
        one = one.ravel()[chosen]
    seen, limits, sizes = np.broadcast_arrays(one, other, unit)
    with np.errstate(invalid="ignore"):
        largest = np.maximum(np.maximum(np.abs(seen), np.abs(limits)), sizes)
        allowed = tolerance * np.where(np.isfinite(largest), largest, 0.0)
        slack = np.where(seen == limits, 0.0, limits - seen if relation in ("<=", "<") else seen - limits)
        if relation == "==":
            slack = -np.abs(slack)
        excess = slack - allowed if relation in ("<", ">") else slack + allowed
    excess = np.where(np.isnan(seen) | np.isnan(limits), -math.inf, excess)
    worst = int(np.argmin(excess))
    if count > 1:
        index = np.unravel_index(worst if chosen is None else int(chosen[worst]), whole)
        where = ", ".join(str(int(entry)) for entry in index)
        note = f"worst of {count}, at {where}" + (f"; {note}" if note else "")
    return Check(
        name,
        float(seen.flat[worst]),
        relation,
        float(limits.flat[worst]),
        tolerance=float(allowed.flat[worst]),
        note=note,
        vacuous=vacuous,
    )


def _may_be_worst(
    seen: FloatArray, bound: FloatArray, scale: FloatArray, relation: Relation, tolerance: float
) -> IntArray | None:
    """Entries that may be the worst where one number bounds all; None where every entry has to be looked at.

    The excess then falls (or grows) with the observed number, by 1 - tolerance at least, so that the worst entry is the
    largest (or least) one, or one that differs from it by rounding.
    """
    if bound.ndim or scale.ndim or relation == "==" or not 0.0 <= tolerance < 0.5:
        return None
    upwards = relation in ("<=", "<")
    end = float(seen.max() if upwards else seen.min())
    size = abs(end) + abs(float(bound)) + abs(float(scale))
    if not math.isfinite(size):  # not a number, or infinite
        return None
    rounding = 32.0 * float(np.finfo(np.float64).eps) * size
    numbers = seen.ravel()
    near = np.flatnonzero(numbers >= end - rounding if upwards else numbers <= end + rounding)
    ends = numbers[near] == end  # the first of them stands for all: often there are many, as zeros are
    ends[np.argmax(ends)] = False
    chosen: IntArray = near[~ends]
    return chosen
