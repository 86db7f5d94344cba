"""The weight rho of ADMM: how large it is to begin with, how it follows the residuals, and which neurons have more."""

from dataclasses import dataclass

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.limit.problem import Problem
from marginflow.limit.settings import (
    BALANCED_BY,
    BALANCED_FROM,
    BALANCED_LATER,
    FLIPPING_AIM,
    OFF_BALANCE,
    UNEVEN_EVERY,
    UNEVEN_FLIPS,
    UNEVEN_FROM,
    UNEVEN_MOST,
    VERY_FEW_FLIPS,
)


@dataclass(eq=False)
class Balance:
    """The natural weight, which follows the neurons that live, times a factor that balances the residuals.

    Attributes
    ----------
    factor : float
        On the natural weight.
    size : float
        sum_j ||u_j|| at the start (with frozen outputs sum_j v_j^2, which takes its place in the proximal step).
    due, gap : int
        The iteration at which residuals are compared next, and how long to wait after that.
    """

    factor: float
    size: float
    due: int
    gap: int = 20

    def rho(self, problem: Problem, t: FloatArray) -> float:
        """The weight for neurons of norms t; without the factor data and norm pull equally on an average live one.

        That is rho s^2 t = 1, with the average of the start shared by the neurons that are still alive: a weight that
        followed the present norms would fall when they grow, and let them grow further.
        """
        live = max(int((t > 0).sum()), 1)
        return self.factor * live / (float(problem.s2.mean()) * self.size)

    def follow(self, iterations: int, share_flipped: float, primal: float, dual: float) -> None:
        """Change the factor where the residuals are out of balance.

        As long as a few pairs flip back and forth the weight is larger: it holds the neurons where they are. Without
        that the natural weight falls with every neuron that dies, and where samples are many more die with it.
        """
        if iterations < self.due or share_flipped > BALANCED_FROM:
            return
        aim = FLIPPING_AIM if 0.0 < share_flipped <= VERY_FEW_FLIPS else 1.0
        ratio = np.sqrt(primal / max(aim * dual, 1e-300))
        self.due = iterations + self.gap
        if not 1.0 / OFF_BALANCE <= ratio <= OFF_BALANCE:
            self.gap = int(BALANCED_LATER * self.gap)
            self.factor *= float(np.clip(ratio, *BALANCED_BY))


def uneven(problem: Problem, t: FloatArray, iterations: int, share_flipped: float) -> FloatArray | None:
    """Where samples are many: a smaller weight for large neurons and a larger for small ones, every few iterations.

    rho s^2 t = 1 holds on average only. A neuron whose weight is far too large creeps: hundreds of its pairs stay just
    beside the kink that they belong on, and Newton's method takes them for what they are not. Factors on rho, shape
    (k,), or None where there is nothing to change.
    """
    m, r = problem.X.shape
    if m < UNEVEN_FROM * r or share_flipped > UNEVEN_FLIPS or iterations % UNEVEN_EVERY or not t.any():
        return None
    live = t > 0
    typical = float(np.exp(np.log(t[live]).mean()))
    return np.clip(np.sqrt(typical / np.where(live, t, typical)), 1.0 / UNEVEN_MOST, UNEVEN_MOST)
