"""When a round of ADMM ends and when Newton's method is tried.

Newton tries get no more than ADMM has had. Work is counted, not timed: same seed, same bits on a busy machine.
"""

import numpy as np

from marginflow.limit import settings
from marginflow.limit.problem import Problem
from marginflow.limit.solver.admm import Admm
from marginflow.limit.solver.newton import Structure, step_work


class Schedule:
    """The length of the next round, and the multiplications spent so far."""

    def __init__(self, problem: Problem, anchor_weight: float) -> None:
        self.length = settings.FIRST_ROUND
        self._problem = problem
        self._first_anchor = anchor_weight
        self._of_admm, self._of_newton = 0.0, 0.0
        self._tries, self._few = 0, settings.FEW_FLIPS
        self._tried_at = np.inf

    def admm_worked(self, iterations: int, neurons: int) -> None:
        """Count iterations of ADMM: two products of m x r x k each, forth and back."""
        self._of_admm += iterations * 4.0 * self._problem.X.size * neurons

    def newton_is_due(self, admm: Admm) -> bool:
        """Whether few enough pairs flip, the start no longer holds the neurons, and Newton's share is not used up."""
        return (
            admm.anchor_weight == 0.0
            and admm.share_flipped <= self._few
            and self._settled(admm)
            and self._of_newton <= settings.NEWTON_SHARE * self._of_admm
        )

    def round_is_over(self, admm: Admm) -> bool:
        """Whether Newton's method is due early: not tried yet, or residuals are far below those of the last try."""
        begun = admm.iterations >= settings.FIRST_ROUND
        return begun and admm.residual <= settings.SOONER * self._tried_at and self.newton_is_due(admm)

    def _settled(self, admm: Admm) -> bool:
        """Whether the residuals have come down, which ADMM does more cheaply; in the end Newton is tried anyway."""
        large = float(self._problem.X.size) * len(admm.s) >= settings.LARGE_STEP
        enough = settings.LARGE_RESIDUAL if large else settings.NEWTON_RESIDUAL
        return admm.residual <= enough or admm.iterations >= settings.NEWTON_ANYWAY or admm.a2 is not None

    def manner(self) -> tuple[float, float]:
        """Damping and inertia of the next try."""
        return settings.MANNERS[self._tries % len(settings.MANNERS)]

    def newton_worked(self, structure: Structure, steps: int, admm: Admm) -> None:
        """Count the multiplications of a try, and remember where it was made."""
        self._of_newton += steps * step_work(self._problem, structure)[0]
        self._tries += 1
        self._few = max(0.5 * admm.share_flipped, settings.VERY_FEW_FLIPS)
        self._tried_at = admm.residual

    def next_round(self, admm: Admm) -> None:
        """Release the start by half, then entirely; rounds grow once it is released."""
        held = admm.anchor_weight > settings.ANCHOR_GONE * self._first_anchor
        admm.anchor_weight = 0.5 * admm.anchor_weight if held else 0.0
        if admm.anchor_weight == 0.0:
            self.length = min(int(settings.ROUND_GROWTH * self.length), settings.LONGEST_ROUND)
