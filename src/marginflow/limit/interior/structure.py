r"""What is discrete about a solution of (C), read off an interior point by complementarity.

On the central path the product of a slack and its multiplier falls to zero with nu, and it is one of the two that takes
the fall: between two iterates the one that is zero in the limit shrinks like nu and the other stays. So the two
*ratios* are compared, and no threshold and no unit is needed. [El-Bakry, Tapia and Zhang 1994]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from marginflow.arrays import BoolArray, FloatArray, IntArray
from marginflow.limit.interior.iterate import Iterate, Variables
from marginflow.limit.interior.settings import APART
from marginflow.limit.solver.pairs import ACTIVE, INACTIVE, KINK, released


@dataclass(frozen=True, eq=False)
class Guess:
    """Neurons U (k, r) with signs s, multipliers lam (m,), the state of every pair (m, k), and who is on the margin.

    `free` samples have margin 1; `capped` ones carry the whole penalty; the others have no multiplier. `kept` holds the
    rows of the iterate that U has; `outputs_squared` the v_j^2 of frozen outputs.
    """

    U: FloatArray
    s: FloatArray
    lam: FloatArray
    state: IntArray
    free: BoolArray
    capped: BoolArray
    kept: IntArray
    outputs_squared: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The variables of an iterate, to be compared with those of a later one, and what its cones had to say."""

    variables: Variables
    t: FloatArray
    idle: FloatArray
    products: float

    @classmethod
    def of(cls, at: Iterate) -> Snapshot:
        """Of an iterate, whose arrays are replaced and never written to."""
        variables = Variables(at.U, at.e, at.f, at.alpha, at.mu, at.w, at.lam, at.xi, at.beta)
        return cls(variables, at.cones.t, at.cones.idle(), at.products)

    def take(self, live: BoolArray) -> Snapshot:
        """Of the selected neurons."""
        pairs = {name: getattr(self.variables, name)[:, live] for name in ("e", "alpha", "f", "mu")}
        return replace(self, t=self.t[live], idle=self.idle[live], variables=replace(self.variables, **pairs))


def read_structures(at: Iterate, trail: list[Snapshot]) -> Iterator[Guess]:
    """Structures of the solution that the iterates approach, the most trustworthy first."""
    for apart in APART:
        earlier = [snapshot for snapshot in trail if snapshot.products > apart * at.products]
        if earlier:
            yield _by_ratios(at, earlier[-1])
    yield _by_ratios(at, _sizes(at))


def _by_ratios(at: Iterate, earlier: Snapshot) -> Guess:
    """Of a slack and its multiplier the one that fell more since the earlier iterate is zero.

    What nothing holds follows from the sign.
    """
    was = earlier.variables
    carries = at.lam / was.lam > at.w / was.w
    with np.errstate(invalid="ignore"):  # same pairs have no multipliers, hard margins no slack
        mu, alpha, xi = at.mu / was.mu, at.alpha / was.alpha, at.xi / was.xi
    capped = carries & (xi > at.beta / was.beta)
    held = np.where(mu < at.f / was.f, INACTIVE, np.where(alpha < at.e / was.e, ACTIVE, KINK))
    Z = at.program.X @ at.U.T
    state = np.where(at.opposite & carries[:, None], held, np.where(Z > 0, ACTIVE, INACTIVE))
    state = released(state, at.mu / at.lam[:, None], at.U.shape[1] - 1)
    kept = np.flatnonzero(at.cones.alive(earlier.t, earlier.idle))
    a2 = None if at.outputs_squared is None else at.outputs_squared[kept]
    return Guess(at.U[kept], at.s[kept], at.lam, state[:, kept], carries & ~capped, capped, kept, a2)


def _sizes(at: Iterate) -> Snapshot:
    """What an iterate is compared with by itself: margins with 1, multipliers with their mean, pre-activations with the
    largest of their neuron."""
    lam, largest, one = at.lam[:, None], np.abs(at.program.X @ at.U.T).max(axis=0), np.ones(1)
    sizes = Variables(at.U, largest, largest, lam, lam, one, at.lam.mean() * one, one, at.program.penalty * one)
    return Snapshot(sizes, at.cones.t.sum() * one, one, at.products)
