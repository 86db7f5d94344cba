r"""From neurons to the solution of (C) at its own pattern: separation, the soft pattern, the hard rounds.

*Separation.* Where the given neurons do not separate the samples, (C) at their pattern may have no feasible point. With
a price C for missed margins it always has, and once no margin is missed any more the price plays no role: so a soft
margin is solved roughly, patterns are read again, and the price rises while they stay.

*Hard rounds* solve (C), set the pattern to the signs of its solution and repeat: the convex-concave procedure, whose
objective never rises. Where samples are many to a dimension it needs many rounds.

*The soft pattern* moves with every iteration: as A z <= relu(z) for all A in [0, 1], it may follow the central path,

.. math:: A_{ij} = \tfrac12 \Big(1 + z_{ij} / \sqrt{z_{ij}^2 + 4 c_i^2}\Big), \qquad c_i = 5\, \nu / \lambda_i,

and be hard only in the end. It takes the place of most rounds and ends with fewer neurons.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from marginflow.arrays import BoolArray, FloatArray, IntArray
from marginflow.limit.budget import Budget, Progress
from marginflow.limit.interior import settings
from marginflow.limit.interior.iterate import Iterate
from marginflow.limit.interior.program import InteriorProgram
from marginflow.limit.interior.structure import Snapshot
from marginflow.limit.neurons import Neurons, equal_pattern_groups, follow


@dataclass(eq=False)
class Effort:
    """What has been spent of a budget."""

    budget: Budget
    iterations: int = 0
    rounds: int = 0
    history: list[Progress] = field(default_factory=list)

    def report(self, at: Iterate, flips: int) -> None:
        """Tell who watches, and remember."""
        cost, gap = at.cost / at.program.units.price, at.products / at.program.units.price
        self.budget.report(self.history, "interior point", self.iterations, flips, len(at.s), cost, gap)


def started(
    program: InteriorProgram,
    neurons: Neurons,
    lam: FloatArray,
    gap: float,
    *,
    members: IntArray | None = None,
    support: bool | None = None,
) -> Iterate:
    """The centred point of the given neurons and multipliers at the pattern of the neurons, with a relative gap.

    `members` are those of the neurons, by default each is its own. `support` gives every sample an active neuron; by
    default with a hard margin, where each needs one.
    """
    least = settings.LEAST_MULTIPLIER * float(lam.mean())
    inside = np.maximum(lam, least if least > 0.0 else 1.0)
    if program.soft:
        inside = np.clip(inside, settings.FROM_ENDS * program.penalty, (1.0 - settings.FROM_ENDS) * program.penalty)
    U, s = neurons.U, neurons.s
    A = program.pattern(U, s)
    if not program.soft if support is None else support:
        A = _with_support(program, U, s, A)
    at = Iterate(program, neurons, inside, A, 1.0, members)
    at.centre(gap * total_multiplier(neurons) / at.degree)
    return at


def total_multiplier(neurons: Neurons) -> float:
    """What the multipliers of neurons at margin 1 add up to: the sum of u_j . g_j."""
    squared = (neurons.U**2).sum(axis=1)
    if neurons.outputs_squared is not None:
        return float((squared / neurons.outputs_squared).sum())
    return float(np.sqrt(squared).sum())


def _with_support(program: InteriorProgram, U: FloatArray, s: FloatArray, A: FloatArray) -> FloatArray:
    """Every sample gets an active same neuron, if there is one: without it its margin cannot be positive."""
    Z = np.where(program.opposite(s), -np.inf, program.X @ U.T)
    nearest = Z.argmax(axis=1)
    alone = np.flatnonzero((A.sum(axis=1) <= 0) & np.isfinite(Z[np.arange(len(Z)), nearest]))
    A = A.copy()
    A[alone, nearest[alone]] = 1.0
    return A


def separate(at: Iterate, effort: Effort) -> Iterate | None:
    """A point near the given one with positive margins; None if none was found."""
    program = at.program
    price = settings.PRICE * total_multiplier(at.neurons) / len(at.lam)
    gap = 1.0
    for _ in range(settings.SEPARATION_ROUNDS):
        at = again(at, gap, program=replace(program, penalty=price), support=True)
        if not converge(at, settings.SEPARATION_GAP, effort, shortfall=settings.SEPARATION_GAP):
            return None
        effort.report(at, flips := n_flips(at))
        if program.margins(at.U, at.s).min() > settings.SEPARATED:
            return again(at, settings.WARM, program=program)
        drop_idle(at, settings.IDLE_HARD)
        if flips < settings.FEW_FLIPS * at.A.size:
            price *= settings.DEARER
        gap = 0.1
    return None


def soft_pattern(at: Iterate, effort: Effort) -> bool:
    """Let the pattern follow the central path until the gap is small; False if the objective ran away."""
    stuck, cost = 0, at.cost
    for iteration in range(1, settings.SOFT_ITERATIONS + 1):
        if effort.budget.over:
            break
        nu = at.products / at.degree
        z = at.program.X @ at.U.T
        c = (settings.SOFTNESS * nu / at.lam)[:, None]
        at.A = np.where(at.opposite, 0.0, 0.5 * (1.0 + z / np.sqrt(z**2 + 4.0 * c**2)))
        length = at.newton()
        effort.iterations += 1
        if length == 0.0:
            break
        stuck = stuck + 1 if length < settings.STUCK else 0
        if stuck == settings.STUCK_STEPS:
            at.centre(settings.CENTRED_AT * nu)
            stuck = 0
        if iteration % settings.IDLE_EVERY == 0 and float(np.abs(at.shortfall).max()) < settings.IDLE_SHORTFALL:
            drop_idle(at, settings.IDLE_SOFT)
        if iteration % 10 == 0:
            effort.report(at, n_flips(at))
        if not at.cost < settings.COLLAPSED * cost:
            return False
        if at.products <= settings.SOFT_GAP * at.cost:
            break
    return True


def hard_rounds(
    at: Iterate, effort: Effort, *, cold: bool = False, most: int = settings.MOST_ROUNDS
) -> tuple[Iterate, list[Snapshot] | None]:
    """The convex-concave procedure; the last iterate, and what it came by if no pair flips any more."""
    gap = settings.COLD if cold else settings.WARM
    for _ in range(most):
        at = again(at, gap)
        gap = settings.WARM
        trail: list[Snapshot] = []
        if not converge(at, settings.ROUND_GAP, effort, trail=trail):
            return at, None
        effort.rounds += 1
        live = drop_idle(at, settings.IDLE_HARD)
        effort.report(at, flips := n_flips(at))
        if flips == 0:
            return at, [snapshot.take(live) for snapshot in trail]
    return at, None


def converge(
    at: Iterate,
    gap: float,
    effort: Effort,
    *,
    most: int = settings.ROUND_ITERATIONS,
    shortfall: float = settings.SHORTFALL,
    trail: list[Snapshot] | None = None,
) -> bool:
    """Solve (C) at the present pattern to a relative gap; False if that was not reached. `trail` gets all iterates."""
    stuck = 0
    for _ in range(most):
        if effort.budget.over:
            return False
        if trail is not None:
            trail.append(Snapshot.of(at))
        length = at.newton()
        effort.iterations += 1
        short = float(np.abs(at.shortfall).max())
        if length == 0.0:
            return at.products <= gap * at.cost and short <= settings.AT_ROUNDING
        if at.products <= gap * at.cost and short <= shortfall:
            return True
        stuck = stuck + 1 if length < settings.STUCK_HARD else 0
        if stuck == settings.STUCK_STEPS_HARD:
            at.centre(settings.CENTRED_AT * at.products / at.degree)
            stuck = 0
    return False


def n_flips(at: Iterate) -> int:
    """Same pairs whose sign contradicts the pattern, soft ones by more than half."""
    flips = (at.program.pattern(at.U, at.s) > 0.5) != (at.A > 0.5)
    return int((flips & ~at.opposite).sum())


def drop_idle(at: Iterate, share: float) -> BoolArray:
    """Leave out neurons whose pre-activations are small beside what they lack to pay for themselves; who stays.

    With frozen outputs none lacks anything; there neurons are left out that no sample feels. That is always allowed, as
    zero neurons satisfy their own condition.
    """
    size = np.abs(at.program.X @ at.U.T).max(axis=0)
    live: BoolArray = size >= (share * at.cones.idle() if at.outputs_squared is None else settings.UNFELT)
    if len(np.unique(at.s[live])) < len(np.unique(at.s)):
        live[:] = True
    if not live.all():
        at.take(live)
    return live


def again(at: Iterate, gap: float, *, program: InteriorProgram | None = None, support: bool | None = None) -> Iterate:
    """A start from the present neurons, those of one sign whose patterns on same samples agree added up."""
    groups = equal_pattern_groups(at.program.X @ at.U.T > 0, at.s, at.program.y)
    s = at.s[np.unique(groups, return_index=True)[1]]
    U = np.zeros((len(s), at.U.shape[1]))
    np.add.at(U, groups, at.U)
    a2 = None if at.outputs_squared is None else np.bincount(groups, at.outputs_squared).astype(np.float64)
    members = follow(at.members, groups)
    return started(program or at.program, Neurons(U, s, a2), at.lam, gap, members=members, support=support)
