"""`influence`: the exact KKT point without each sample, or without each group of samples."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import FloatArray, IntArray, one_of, read_only, real_number, whole_number
from marginflow.certificates import certify
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.influences.base import ROUNDING, Base, solved_again
from marginflow.influences.path import follow, with_sample
from marginflow.influences.result import Influence, Way
from marginflow.influences.store import Found, PointStore
from marginflow.limit import Limit, kkt_point
from marginflow.limit.budget import Budget, OutOfTimeError
from marginflow.networks import TwoLayer

# Steps of the continuation. Spheres d = m = 100: leave-one-out margins move by at most 0.013 from 16 to 48 steps.
_STEPS = 8


def influence(
    limit: Limit,
    data: Dataset,
    *,
    mode: Literal["continuation", "fast"] = "continuation",
    groups: Sequence[ArrayLike] | None = None,
    folds: int | None = None,
    add: Dataset | None = None,
    flip: Sequence[int] | None = None,
    store: str | Path | None = None,
    seed: int = 0,
    steps: int = _STEPS,
    tolerance: float = 1e-8,
    time_limit: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Influence:
    r"""The exact KKT point without each sample.

    The point without sample i is *defined by continuation*: the cap of its multiplier goes from lambda_i to 0 and the
    point is followed, active set and all. KKT points are many and a solution from scratch lands on another branch as a
    rule, so "the network without sample i" would mean nothing otherwise; where the branch cannot be followed, `jumped`
    says so.

    A sample with lambda_i = 0 changes nothing: the conditions without it are a subset of those with it, so the same
    network, multipliers and weights satisfy them. For these nothing is computed.

    Parameters
    ----------
    limit : Limit
        Exact, with trained outputs; hard or soft margin.
    data : Dataset
        Its data.
    mode : "continuation" or "fast"
        Fast leaves the samples out at once and lets Newton's method find the nearest consistent structure; where it
        finds none, the point is followed.
    groups : sequence of integer arrays, optional
        Samples to leave out together (a class within a cluster, a fold); by default every sample by itself.
    folds : int, optional
        Leave out this many random folds instead, drawn by `seed`.
    add : Dataset, optional
        The other way round: each of these samples is added, by itself. `margins` are then those of the limit, which
        has not seen them, `multipliers` those that the samples get, and `drops` and `expected` are negative.
    flip : sequence of int, optional
        Samples whose labels are flipped one at a time: each is left out and added again with the other label. `margins`
        are those of the other label under the network without the sample, `multipliers` what it gets with it.
    store : path, optional
        A file that keeps every finished point; with the same file an interrupted computation goes on.
    steps : int
        Of the continuation.
    tolerance : float
        A point whose residual is larger is solved again by `kkt_point` from there.
    time_limit : float, optional
        Seconds after which the groups that are finished are returned, in their order; `undone` counts the others.
    progress : callable, optional
        Receives the number of groups done and their total.

    Returns
    -------
    Influence

    Examples
    --------
    >>> import marginflow as mf
    >>> data = mf.data.Sphere(dimension=20).sample(20, seed=0)
    >>> limit = mf.kkt_point(data, width=50, seed=0)
    >>> found = mf.influence(limit, data)
    >>> found.margins.shape, bool(found.residuals.max() < 1e-8)
    ((20,), True)
    """
    budget = Budget(time_limit=None if time_limit is None else real_number("time_limit", time_limit, above=0.0))
    one_of("mode", mode, ("continuation", "fast"))
    steps = whole_number("steps", steps)
    asked = [
        name
        for name, value in (("groups", groups), ("folds", folds), ("add", add), ("flip", flip))
        if value is not None
    ]
    if len(asked) > 1:
        raise InputError(f"{' and '.join(asked)} are both given; one of groups, folds, add and flip is expected.")
    if store is not None and (add is not None or flip is not None):
        raise InputError("store keeps points without samples; it goes without add and flip.")
    if add is not None and add.dimension != data.dimension:
        raise InputError(f"The samples to add have dimension {add.dimension}; {data.dimension} is expected.")
    if flip is not None and not len(flip):
        raise InputError("flip is empty; the indices of samples are expected.")
    turned = [int(_group(number, i, data.n_samples)[0]) for number, i in enumerate(flip or ())]
    chosen = [] if add is not None or flip is not None else _groups(data, groups, folds, seed)
    question = _Question(Base.of(limit, data, budget), mode, steps, tolerance, budget, progress)
    if add is not None:
        return question.added(add)
    return question.flipped(turned) if flip is not None else question.left_out(chosen, store, limit.network.width)


@dataclass(frozen=True, eq=False)
class _Question:
    """What is asked about the samples of a limit: how points are found, how exact they are, how long it may take."""

    base: Base
    mode: str
    steps: int
    tolerance: float
    budget: Budget
    progress: Callable[[int, int], None] | None

    def left_out(self, chosen: list[IntArray], store: str | Path | None, width: int) -> Influence:
        """The points without each of the groups; solutions from scratch have the given width."""
        base, data, network = self.base, self.base.data, self.base.network
        margins = np.full(data.n_samples, np.nan)
        points: list[Found] = []
        expected = []
        asked = (data.X, data.y, network.W, network.b, network.v, base.penalty, self.mode, self.steps, self.tolerance)
        kept = None if store is None else PointStore(store, (*asked, chosen))

        def leave_out(number: int) -> None:
            group = chosen[number]
            found = None if kept is None else kept.get(number)
            if found is None:
                found = self._without(group)
                if kept is not None and found[1] != "unchanged":
                    kept.put(number, found)
            points.append(found)
            margins[group] = found[0].margins(data.X[group], data.y[group])
            expected.append(float(base.multipliers[group] @ np.maximum(1.0 - margins[group], 0.0)))

        self._one_by_one(len(chosen), leave_out)
        if kept is not None:
            kept.close()

        def again(number: int) -> TwoLayer:
            rest = _rest(data, chosen[number])
            return kkt_point(rest, width=width, bias=network.b is not None, penalty=base.soft_penalty).compact

        found = self._collected(points, chosen, margins, expected, base.multipliers)
        return replace(found, again=again)

    def added(self, add: Dataset) -> Influence:
        """The points with each of the samples in `add`."""
        points: list[Found] = []
        multipliers = np.zeros(add.n_samples)

        def join(i: int) -> None:
            found, multipliers[i] = self._with(self.base, add.X[i], float(add.y[i]))
            points.append(found)

        self._one_by_one(add.n_samples, join)
        margins = self.base.network.margins(add.X, add.y)
        groups = [np.array([i]) for i in range(add.n_samples)]
        expected = -(multipliers * np.maximum(1.0 - margins, 0.0))[: len(points)]
        return replace(self._collected(points, groups, margins, expected, multipliers), added=True)

    def flipped(self, rows: list[int]) -> Influence:
        """The points with the labels of samples turned, one by one."""
        base, data = self.base, self.base.data
        margins, multipliers = np.full(data.n_samples, np.nan), np.zeros(data.n_samples)
        points: list[Found] = []
        expected = []

        def turn(number: int) -> None:
            i = rows[number]
            group = np.array([i])
            rest = _rest(data, group)
            rest.require_two_classes()
            without, _, _, left = self._without(group)
            there = Base.at(without, rest, base.soft_penalty, self.budget)
            (network, way, residual, jumped), multiplier = self._with(there, data.X[i], -float(data.y[i]))
            margins[i], multipliers[i] = -float(without.margins(data.X[group], data.y[group])[0]), multiplier
            gained = float(base.multipliers[i]) * max(1.0 + margins[i], 0.0)
            expected.append(gained - multiplier * max(1.0 - margins[i], 0.0))
            points.append((network, way, residual, left or jumped))

        self._one_by_one(len(rows), turn)
        found = self._collected(points, [np.array([i]) for i in rows], margins, expected, multipliers)
        return replace(found, added=True, flipped=True)

    def _one_by_one(self, count: int, work: Callable[[int], None]) -> None:
        """Do the work number by number until time is over; what was begun and not finished is dropped."""
        for number in range(count):
            try:
                self.budget.check()
                work(number)
            except OutOfTimeError:
                if number == 0:
                    raise InputError(
                        f"Time was over after {self.budget.seconds:.2g} s, before the first of {count} points was "
                        "found; a larger time_limit is expected."
                    ) from None
                return
            if self.progress is not None:
                self.progress(number + 1, count)

    def _collected(
        self,
        points: list[Found],
        groups: list[IntArray],
        margins: FloatArray,
        expected: ArrayLike,
        multipliers: FloatArray,
    ) -> Influence:
        """The points that were found as one result."""
        networks, ways, residuals, jumped = zip(*points, strict=True)
        return Influence(
            groups=tuple(groups[: len(points)]),
            margins=read_only(margins),
            norms=read_only(np.array([network.norm_squared() for network in networks])),
            norm=self.base.network.norm_squared(),
            expected=read_only(np.array(expected)),
            multipliers=read_only(multipliers),
            residuals=read_only(np.array(residuals)),
            jumped=read_only(np.array(jumped)),
            ways=ways,
            neurons=read_only(np.array([network.width for network in networks])),
            base=self.base.network,
            clarke=self.base.certificate.clarke,
            seconds=self.budget.seconds,
            networks=networks,
            undone=len(groups) - len(points),
        )

    def _with(self, base: Base, x: FloatArray, y: float) -> tuple[Found, float]:
        """The point with a sample more, which may not contradict another one at a hard margin."""
        if np.isinf(base.penalty):
            Dataset(X=np.vstack([base.data.X, x]), y=np.append(base.data.y, y)).require_no_contradiction()
        return with_sample(base, x, y, self.tolerance, self.budget)

    def _without(self, group: IntArray) -> Found:
        """The network without a group, how it was found, its residual, and whether the branch was left."""
        base, penalty, budget = self.base, self.base.soft_penalty, self.budget
        if not (base.multipliers[group] > 0.0).any():
            return base.network, "unchanged", base.residual, False
        rest = _rest(base.data, group)
        if (base.multipliers[group] <= ROUNDING * base.multipliers.max()).all():
            # multipliers that are rounding: the same network is judged on the samples that are left
            judged = certify(base.network, rest, penalty=penalty, time_limit=budget.time_limit)
            if judged.holds(self.tolerance):
                return base.network, "unchanged", judged.residuals.largest, False
        rows = np.argsort(base.problem.order)[group]
        smaller, _ = base.without(rows)
        attempts: tuple[tuple[Way, int], ...] = (("Newton", 1), ("continuation", self.steps))
        for way, count in attempts if self.mode == "fast" else attempts[1:]:
            arrival = follow(base, rows, count, budget)
            if arrival is None:
                continue
            judged = base.judged(arrival.point, smaller, rest)
            if judged.holds(self.tolerance):
                return judged.network, way, judged.residuals.largest, arrival.jumped
        near = solved_again(base, rest, budget)
        return near.compact, "solved again", near.certificate.residuals.largest, True


def _rest(data: Dataset, group: IntArray) -> Dataset:
    return data.subset(np.setdiff1d(np.arange(data.n_samples), group))


def _groups(data: Dataset, groups: Sequence[ArrayLike] | None, folds: int | None, seed: int) -> list[IntArray]:
    """Sorted samples of every group."""
    n = data.n_samples
    if folds is not None:
        folds = whole_number("folds", folds, minimum=2)
        if folds > n:
            raise InputError(f"folds is {folds}, but there are {n} samples; at most as many folds are expected.")
        shuffled = np.random.default_rng(seed).permutation(n)
        chosen = [np.sort(part) for part in np.array_split(shuffled, folds)]
    elif groups is None:
        chosen = [np.array([i]) for i in range(n)]
    else:
        chosen = [_group(number, group, n) for number, group in enumerate(groups)]
        if not chosen:
            raise InputError("groups is empty; at least one group of samples is expected.")
        everyone = np.concatenate(chosen)
        if len(np.unique(everyone)) < len(everyone):
            raise InputError("A sample is in two groups; every sample belongs to one group at most.")
    for number, group in enumerate(chosen):
        rest = np.delete(data.y, group)
        if len(np.unique(rest)) < 2:
            raise InputError(f"Without group {number} the data have one label only; both are needed.")
    return chosen


def _group(number: int, group: ArrayLike, n: int) -> IntArray:
    index = np.atleast_1d(np.asarray(group))
    if index.ndim != 1 or index.size == 0 or not np.issubdtype(index.dtype, np.integer):
        raise InputError(f"Group {number} is not a list of whole numbers; the indices of its samples are expected.")
    if index.min() < 0 or index.max() >= n:
        raise InputError(f"Group {number} names sample {index.max()}; 0 to {n - 1} is expected.")
    return np.unique(index).astype(np.int64)
