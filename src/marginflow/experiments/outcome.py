"""Whether numbers bear out a claim: single findings, each with an interval over the seeds, and all of them together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, final

import numpy as np
from scipy import special

from marginflow.display import Brief
from marginflow.errors import InputError
from marginflow.plain import Plain

Row = Mapping[str, object]
Rows = Sequence[Row]
CONFIDENCE = 0.95
# Whose bound a finding has: the paper's own number or words, or ours, with the reason for the number.
PAPER = "the paper's bound"


def ours(reason: str) -> str:
    """A bound that no paper states, and why it is this one."""
    return f"our bound: {reason}"


ROUNDING = ours("zero up to rounding errors")


@final
@dataclass(frozen=True, kw_only=True)
class Mean:
    """A mean over seeds with the interval of Student's t for it, and their standard deviation.

    Of a single seed the interval is infinite and the deviation not a number.
    """

    value: float
    low: float
    high: float
    count: int
    deviation: float = math.nan

    @classmethod
    def of(cls, values: Iterable[float], *, confidence: float = CONFIDENCE) -> Mean:
        """The mean of the values.

        Examples
        --------
        >>> from marginflow.experiments import Mean
        >>> found = Mean.of([1.0, 2.0, 3.0])
        >>> found.value, round(found.low, 3), round(found.high, 3)
        (2.0, -0.484, 4.484)
        """
        numbers = np.array([float(value) for value in values])
        if numbers.size == 0:
            raise InputError("There are no values to take the mean of.")
        mean = float(numbers.mean())
        if numbers.size == 1:
            return cls(value=mean, low=-math.inf, high=math.inf, count=1)
        deviation = float(numbers.std(ddof=1))
        half = float(special.stdtrit(numbers.size - 1, 0.5 + confidence / 2)) * deviation / math.sqrt(numbers.size)
        return cls(value=mean, low=mean - half, high=mean + half, count=int(numbers.size), deviation=deviation)


Relation = Literal["<=", ">=", "=="]
Status = Literal["borne out", "undecided", "not borne out"]


@final
@dataclass(frozen=True, kw_only=True)
class Finding(Brief, Plain):
    """One measured number beside what the claim makes of it.

    Parameters
    ----------
    name : str
        What was measured.
    value : float
    low, high : float or None
        Interval over the seeds; None where there is nothing random, where the finding is about the worst case, or where
        there is one seed.
    relation, bound
        The claim: value `relation` bound.
    basis : str
        Whose bound it is: the paper's, or ours and why this number.
    draws : int or None
        How many seeds the value is a mean over; None where it is not a mean. Of one draw nobody knows how far the next
        would be from it, so it speaks neither for a claim nor against it.
    """

    plain_names = ("name", "value", "relation", "bound", "low", "high", "draws", "basis", "holds", "sure")

    name: str
    value: float
    relation: Relation
    bound: float
    low: float | None = None
    high: float | None = None
    basis: str = ""
    draws: int | None = None

    @classmethod
    def about(
        cls,
        name: str,
        found: Mean | float,
        relation: Relation,
        bound: float,
        *,
        basis: str = "",
        draws: int | None = None,
        least: float = -math.inf,
        most: float = math.inf,
    ) -> Finding:
        """A finding about a mean over seeds, or about a number that has no interval.

        `draws` counts the seeds where the mean is also over something else, or where a number rests on several means.
        The interval is cut at `least` and `most`: no length is negative, though an interval of its mean may be.
        """
        if not isinstance(found, Mean):
            return cls(name=name, value=found, relation=relation, bound=bound, basis=basis, draws=draws)
        count = found.count if draws is None else draws
        low, high = (max(found.low, least), min(found.high, most)) if count > 1 < found.count else (None, None)
        return cls(
            name=name, value=found.value, relation=relation, bound=bound, low=low, high=high, basis=basis, draws=count
        )

    @classmethod
    def within(
        cls, name: str, mean: Mean, bound: float, *, basis: str = "", draws: int | None = None
    ) -> tuple[Finding, Finding]:
        """Two findings: the mean over seeds is at most the bound, whatever its sign."""
        above = cls.about(name, mean, "<=", bound, basis=basis, draws=draws)
        return above, replace(above, relation=">=", bound=-bound)

    @property
    def holds(self) -> bool:
        """Whether the value itself is on the right side; never true of a number that is not one."""
        if self.relation == "<=":
            return self.value <= self.bound
        return self.value >= self.bound if self.relation == ">=" else self.value == self.bound

    @property
    def sure(self) -> bool:
        """Whether the whole interval is on the side of the value; so where there is none, unless it is one draw."""
        if math.isnan(self.value) or self.draws == 1:
            return False
        if self.low is None or self.high is None or self.relation == "==":
            return True
        return not self.low < self.bound < self.high

    def __str__(self) -> str:
        between = "" if self.low is None or self.high is None else f" [{self.low:.4g}, {self.high:.4g}]"
        mark = "yes" if self.holds else "NO "
        doubt = "" if self.sure else " (within the spread of the seeds)"
        if self.draws == 1:
            mark, doubt = "?  ", " (one draw)"
        if math.isnan(self.value):
            mark, between, doubt = "?  ", "", " (not measured)"
        whose = f"; {self.basis}" if self.basis else ""
        return (
            f"  {mark} {self.name}: {self.value:.4g}{between}, claimed {self.relation} {self.bound:.4g}{doubt}{whose}"
        )


@final
@dataclass(frozen=True, kw_only=True)
class Outcome(Brief, Plain):
    """The findings behind a claim, the sentence that sums them up, and remarks that decide nothing.

    Parameters
    ----------
    findings : tuple of Finding
    remarks : tuple of str
    lost : str
        How many runs were lost and how, as a sentence; empty if none was.
    gaps : bool
        Whether at some point of the grid no run is left, so that the claim was judged without it.
    """

    plain_names = ("status", "sentence", "findings", "remarks", "lost", "gaps")

    findings: tuple[Finding, ...]
    remarks: tuple[str, ...] = ()
    lost: str = ""
    gaps: bool = False

    def __post_init__(self) -> None:
        if not self.findings and not self.gaps:
            raise InputError("An outcome needs at least one finding.")

    @property
    def status(self) -> Status:
        """Not borne out if a finding is surely against it, undecided if one is against it within the spread.

        Runs that we lost are not held against a claim, and do not speak for it: with a gap it is undecided at best. So
        it is where a finding rests on one draw.
        """
        against = [finding for finding in self.findings if not finding.holds]
        if not against:
            return "undecided" if self.gaps or self._single else "borne out"
        return "not borne out" if any(finding.sure for finding in against) else "undecided"

    @property
    def borne_out(self) -> bool:
        """Whether every finding is as claimed."""
        return self.status == "borne out"

    @property
    def sentence(self) -> str:
        """The outcome in one sentence, with a second one about lost runs if there are any."""
        return f"{self._verdict} {self.lost}".rstrip()

    @property
    def _single(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.draws == 1]

    @property
    def _verdict(self) -> str:
        against = "; ".join(finding.name for finding in self.findings if not finding.holds)
        if self.status == "not borne out":
            return f"Our numbers do not bear out the claim: {against}."
        if against:
            return f"Our numbers leave the claim open; against it, within the spread or by one draw: {against}."
        if self.gaps:
            return "Our numbers leave the claim open, as runs are missing."
        if count := len(self._single):
            rest = "rests" if count == 1 else "rest"
            return f"Our numbers leave the claim open, as {count} of {len(self.findings)} findings {rest} on one draw."
        count = sum(not finding.sure for finding in self.findings)
        doubt = f", {count} of {len(self.findings)} findings only within the spread of the seeds" if count else ""
        return f"Our numbers bear out the claim{doubt}."

    def __str__(self) -> str:
        return "\n".join([self.sentence, *map(str, self.findings), *(f"  Note: {remark}" for remark in self.remarks)])


Judge = Callable[[Rows], Outcome]


def number(row: Row, column: str) -> float:
    """A number in a row; nan where there is none."""
    entry = row.get(column)
    return float(entry) if isinstance(entry, int | float) else math.nan


def column(rows: Iterable[Row], name: str, **wanted: object) -> list[float]:
    """A column as numbers, of the rows with these values of others."""
    return [number(row, name) for row in where(rows, **wanted)]


def where(rows: Iterable[Row], **wanted: object) -> list[Row]:
    """The rows with these values."""
    return [row for row in rows if all(row.get(name) == value for name, value in wanted.items())]


def least(values: Iterable[float]) -> float:
    """The smallest; nan if any of them is, in whatever order they come."""
    return float(np.min(np.fromiter(values, dtype=np.float64)))


def most(values: Iterable[float]) -> float:
    """The largest; nan if any of them is, in whatever order they come."""
    return float(np.max(np.fromiter(values, dtype=np.float64)))


def pairs(first: Iterable[Row], second: Iterable[Row], name: str, on: Sequence[str]) -> list[tuple[float, float]]:
    """A column of two groups of rows side by side, where they agree in the columns `on`."""
    others = {tuple(row.get(key) for key in on): number(row, name) for row in second}
    keyed = [(tuple(row.get(key) for key in on), number(row, name)) for row in first]
    return [(value, others[key]) for key, value in keyed if key in others]


def draws(rows: Iterable[Row]) -> int:
    """The number of different seeds."""
    return len({row["seed"] for row in rows})


def values(rows: Iterable[Row], name: str) -> list[object]:
    """The different values of a column in order of first appearance."""
    return list(dict.fromkeys(row[name] for row in rows))


def grouped(rows: Rows, name: str, **wanted: object) -> list[tuple[object, list[Row]]]:
    """The rows with each value of a column and with these values of others, where there are any."""
    found = [(value, where(rows, **{name: value}, **wanted)) for value in values(rows, name)]
    return [(value, own) for value, own in found if own]


def means(rows: Rows, by: Sequence[str], value: str) -> list[dict[str, object]]:
    """One row for each combination of `by`: the mean of a column over the seeds, its interval, deviation and count.

    The interval of a mean of two seeds is wider than anything that was seen (12.7 standard errors each way) and that of
    one is infinite: of two the range is given, and of one the value itself, so that both can be drawn. What is not a
    finite number is left out and counted as `missing`.
    """
    groups: dict[tuple[object, ...], list[float]] = {}
    missing: dict[tuple[object, ...], int] = {}
    for row in rows:
        entry, point = number(row, value), tuple(row[name] for name in by)
        if math.isfinite(entry):
            groups.setdefault(point, []).append(entry)
        else:
            missing[point] = missing.get(point, 0) + 1
    out: list[dict[str, object]] = []
    for key, entries in groups.items():
        mean = Mean.of(entries)
        low, high = (mean.low, mean.high) if mean.count > 2 else (min(entries), max(entries))
        named = dict(zip(by, key, strict=True))
        spread = {"low": low, "high": high, "deviation": mean.deviation}
        out.append({**named, value: mean.value, **spread, "seeds": mean.count, "missing": missing.get(key, 0)})
    return out
