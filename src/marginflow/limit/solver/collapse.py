"""ADMM that lets nearly all neurons die: how that shows, and the way back.

Neurons shrink until the multipliers hold them. Where these begin too small, or the weight rho does, all neurons die but
the last of each sign; those cannot satisfy the margins, and the multipliers grow for ever. By weak duality multipliers
never sum to more than the objective of a pattern that can be satisfied.
"""

import numpy as np

from marginflow.arrays import IntArray
from marginflow.limit.neurons import Neurons
from marginflow.limit.settings import COLLAPSED, MOST_UNDONE, UNDONE_WEIGHT, UNPAYABLE
from marginflow.limit.solver.admm import Admm


class Collapse:
    """Remembers the neurons of the last sound round, and begins again there."""

    def __init__(self, admm: Admm) -> None:
        self.undone = 0
        self._keep(admm)

    def remember(self, admm: Admm) -> None:
        """Keep the neurons of a round, if it is sound."""
        if _sound(admm):
            self._keep(admm)

    def _keep(self, admm: Admm) -> None:
        self._neurons = Neurons(admm.U.astype(np.float64), admm.s.copy())
        self._members: IntArray = admm.members.copy()
        self._live = int((admm.t > 0).sum())

    def noticed(self, admm: Admm) -> bool:
        """Whether a round has ended with multipliers beyond the objective and few of the neurons of a sound round."""
        few = int((admm.t > 0).sum()) <= COLLAPSED * self._live
        return not _sound(admm) and few and self.undone < MOST_UNDONE

    def undo(self, admm: Admm) -> Admm:
        """A run from the neurons of the last sound round, held more strongly, with multipliers that explain them."""
        self.undone += 1
        again = Admm(
            admm.problem,
            self._neurons,
            admm.problem.warm_multipliers(self._neurons.U, self._neurons.s),
            anchor_weight=admm.anchor_weight,
            precision=admm.precision,
            weight=UNDONE_WEIGHT**self.undone,
        )
        again.members = self._members.copy()
        again.go_on_from(admm.iterations)
        return again


def _sound(admm: Admm) -> bool:
    """Whether the multipliers sum to what the objective allows.

    A soft margin bounds them anyway, and frozen outputs leave every neuron alive.
    """
    safe = admm.a2 is not None or bool(np.isfinite(admm.problem.penalty))
    return safe or float(admm.multipliers.sum()) <= UNPAYABLE * admm.objective
