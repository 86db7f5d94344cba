r"""The global max-margin network of samples in the plane, with a proof that it is global, by column generation.

The linear program over the directions so far has multipliers lambda; the local maxima of :math:`|F_\lambda|` above 1,
all of them known from the survey of its dual function, are the directions that improve it. Once the bracket is narrow
Newton's method on the structure ends the tail, and the survey of its multipliers says whether that is the optimum.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from marginflow.arrays import FloatArray, read_only, real_number
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.limit.budget import OutOfTimeError
from marginflow.limit.plane import settings
from marginflow.limit.plane.arrangement import Survey, survey
from marginflow.limit.plane.finish import clarke_products, finish
from marginflow.limit.plane.multipliers import admissible
from marginflow.limit.plane.program import PlaneProgramError, Program
from marginflow.limit.plane.result import PlaneLimit, dual_bound, objective
from marginflow.limit.plane.samples import PlanarSamples
from marginflow.limit.separable import CANCELLED
from marginflow.networks import TwoLayer


def max_margin(
    data: Dataset,
    *,
    penalty: float | None = None,
    bias: bool = True,
    width: int | None = None,
    gap: float = 1e-9,
    time_limit: float | None = None,
) -> PlaneLimit:
    r"""The network of least norm among all two-layer networks with margin 1 in the plane, hard or soft.

    .. math:: \min_\theta \tfrac12 \|\theta\|^2 + C \sum_i (1 - y_i N(x_i))_+
              = \max_{0 \le \lambda \le C} \sum_i \lambda_i
              \quad\text{s.t.}\quad
              \sup_{\|u\| = 1} \Big|\sum_i \lambda_i y_i\, \mathrm{relu}(u \cdot (x_i, 1))\Big| \le 1

    A linear program over directions grows by the local maxima of the dual function, all of which are listed by sweeps
    along the great circles that the samples cut out of the sphere of directions; Newton's method on the structure gives
    the numbers; a last sweep over all circles proves that no other network is better. Any width of at least that of the
    result is optimal.

    Parameters
    ----------
    data : Dataset
        Samples in the plane, on a line or, without bias, in space: with the bias they span at most 3 dimensions.
    penalty : float, optional
        C of the soft margin; hard by default, and then coinciding samples must agree in their label.
    bias : bool
        Whether neurons have a bias.
    width : int or None
        Number of neurons, met by splitting; None for as few as were found.
    gap : float
        Relative width of the bracket that counts as closed.
    time_limit : float, optional
        Seconds after which the best bracket so far is returned.

    Returns
    -------
    PlaneLimit
        Its gap is the proof.

    Examples
    --------
    >>> from marginflow.data import Dataset
    >>> from marginflow.limit import plane
    >>> data = Dataset(X=[[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]], y=[1, 1, -1, -1])
    >>> best = plane.max_margin(data)
    >>> best.network.width, best.gap < 1e-9
    (4, True)
    """
    began = time.monotonic()
    data.require_two_classes()
    if penalty is None:
        data.require_no_contradiction()
    cost = inf if penalty is None else real_number("penalty", penalty, above=0.0)
    gap = real_number("gap", gap, above=0.0)
    deadline = inf if time_limit is None else began + real_number("time_limit", time_limit, at_least=0.0)
    samples = PlanarSamples.of(data, bias=bias)
    try:
        found = solve(samples, penalty=cost * samples.unit, gap=gap, deadline=deadline)
    except PlaneProgramError:
        raise InputError(
            f"The linear program over directions of these {data.n_samples} samples does not settle in floating point; "
            "samples further apart relative to their size, or a penalty, are expected."
        ) from None
    if found.s.size == 0 and not found.in_time:
        raise InputError(
            f"time_limit is {time_limit:g} seconds, too few for the first linear program over directions."
        ) from OutOfTimeError()
    if found.s.size == 0:
        # Zero is optimal as long as all multipliers at the penalty keep |F| below 1, and F is linear in them.
        supremum = dual_bound(data, np.ones(data.n_samples), bias=bias)[1]
        if supremum == 0.0:
            raise InputError(CANCELLED)
        raise InputError(
            f"penalty is {penalty:g}, so small that the best network is the zero function; others are better from "
            f"{1.0 / supremum:.4g} on."
        )
    lam = np.minimum(found.lam / samples.unit, cost)
    network = TwoLayer.from_directions(found.U @ samples.basis / samples.unit, found.s, bias=bias)
    left = None if time_limit is None else max(0.0, deadline - time.monotonic())
    lower, supremum = dual_bound(data, lam, penalty=penalty, bias=bias, time_limit=left)
    clarke = None
    if found.mu is not None:
        positive = found.lam > 0
        pattern = (samples.rows @ found.U.T > 0).astype(np.float64)
        ratio = found.mu / np.where(positive, found.lam, 1.0)[:, None]
        clarke = read_only(np.where(positive[:, None], ratio, pattern))
    limit = PlaneLimit(
        network=network,
        data=data,
        penalty=penalty,
        multipliers=read_only(lam),
        clarke=clarke,
        dual_supremum=supremum,
        lower=lower,
        upper=objective(network, data, penalty)[1],
        rounds=found.rounds,
    )
    return limit if width is None else limit.widened(width)


@dataclass(frozen=True, eq=False)
class Solution:
    """U (k, 3), signs, multipliers, Clarke products mu (n, k) or None where the structure did not settle.

    `in_time` is False for what there was when the time was over.
    """

    U: FloatArray
    s: FloatArray
    lam: FloatArray
    mu: FloatArray | None
    rounds: int
    in_time: bool = True


def solve(samples: PlanarSamples, *, penalty: float, gap: float, deadline: float = np.inf) -> Solution:
    """The optimum over all widths of min sum ||u_j|| + penalty sum (1 - margin)_+, in the units of `samples.rows`.

    Ends when Newton's method has found a point whose dual function stays below 1, or when the bracket of the linear
    program is narrower than `gap`, or with the best there is so long before the deadline that one more survey, which is
    the proof, can still be made.
    """
    generation = _Generation(samples, penalty, gap, deadline)
    try:
        return generation.run()
    except OutOfTimeError:
        return replace(generation.best(), in_time=False)


def _first_columns(rows: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Directions to begin with: some samples, and some at random, for both signs."""
    rng = np.random.default_rng(0)
    chosen = rng.permutation(len(rows))[: settings.FIRST_COLUMNS]
    random = rng.standard_normal((settings.FIRST_COLUMNS, rows.shape[1]))
    random[:, ~rows.any(axis=0)] = 0.0
    directions = np.vstack([rows[chosen], random, random])
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    return directions, np.concatenate([y[chosen], np.ones(settings.FIRST_COLUMNS), -np.ones(settings.FIRST_COLUMNS)])


class _Generation:
    """The program, the network of its last round, and the best multipliers of all rounds."""

    def __init__(self, samples: PlanarSamples, penalty: float, gap: float, deadline: float) -> None:
        self.samples, self.gap, self.deadline, self.hard = samples, gap, deadline, bool(np.isinf(penalty))
        rows, y = samples.rows, samples.y
        self.program = Program(rows, y, np.full(len(y), settings.FIRST_CAP if self.hard else penalty))
        self.program.add(*_first_columns(rows, y))
        self.lower, self.lam, self.rounds = 0.0, np.zeros(len(y)), 0

    def run(self) -> Solution:
        """Rounds of columns, until Newton's method ends them or the bracket is closed."""
        program, tried = self.program, settings.FINISH_BELOW * 10
        for count in range(1, settings.MAX_ROUNDS + 1):
            program.solve(self.deadline)
            self.rounds, began = count, time.monotonic()
            found = self._look(program.multipliers, 1.0 + settings.EXCESS)
            if count == 1:
                self.deadline -= 1.5 * (time.monotonic() - began)  # what the proof will take, on a busy machine
            width = self._offer(found)
            if (
                self.hard
                and program.slack.sum() > settings.SLACK
                and (found.supremum <= settings.CAP_SUPREMUM or width < settings.CAP_WIDTH)
            ):
                program.raise_caps(settings.CAP_GROWTH)
                continue
            settled = found.supremum <= 1.0 + max(settings.EXCESS, program.tolerance)
            if program.slack.sum() <= settings.SLACK or not self.hard:
                if width < min(settings.FINISH_BELOW, settings.AGAIN * tried) or settled or width <= self.gap:
                    tried = width
                    done = self._finished(found, width)
                    if done is not None:
                        return done
                if width <= self.gap or settled:
                    break
            if time.monotonic() > self.deadline:
                raise OutOfTimeError
            for part in found.peaks:
                many = slice(0, settings.COLUMNS_A_ROUND)
                program.add(part.directions[many], np.full(len(part.values[many]), part.sign))
        return self.best()

    def _look(self, lam: FloatArray, level: float) -> Survey:
        return survey(self.samples.rows, lam * self.samples.y, level=level, deadline=self.deadline)

    def _finished(self, found: Survey, width: float) -> Solution | None:
        """The end by Newton's method, if its dual function nowhere exceeds 1 by more than the gap."""
        program, look = self.program, self._look
        near = look(program.multipliers, 1.0 - settings.READ_BELOW * max(width, found.supremum - 1.0, 1e-9))
        end = finish(program, near, soft=not self.hard)
        if end is None:
            return None
        end = admissible(
            program.rows, program.y, program.caps, end, look, excess=settings.PROVED, deadline=self.deadline
        )
        if end is None or look(end.lam, np.inf).supremum > 1.0 + max(settings.PROVED, 0.5 * self.gap):
            return None
        mu = clarke_products(program.rows, program.y, end)
        return None if mu is None else Solution(end.U, end.s, end.lam, mu, self.rounds)

    def _offer(self, found: Survey) -> float:
        """Keep the multipliers of the last round if they prove more; the relative width of the bracket."""
        lam = self.program.multipliers / max(1.0, found.supremum)
        if lam.sum() > self.lower:
            self.lower, self.lam = float(lam.sum()), lam
        return self.program.objective / self.lower - 1.0 if self.lower > 0 else np.inf

    def best(self) -> Solution:
        """The columns in use, as they are."""
        live = self.program.sizes > 0
        count = len(self.program.sizes)
        U = (self.program.sizes[:, None] * self.program.directions[:count])[live]
        return Solution(U, self.program.signs[:count][live], self.lam, None, self.rounds)
