r"""What several lemmas of [FCB22] say of every step of the descent: weights, slopes, growth, the length of the run."""

import numpy as np

from marginflow.theory.fcb22.constants import E2, GROWTH, WEIGHT_GROWTH
from marginflow.theory.fcb22.path import Path
from marginflow.theory.frame import Check, at_least, at_most, equal


def complete(path: Path) -> Check:
    """The run reached T = 1 + 1/(4 alpha)."""
    return equal("last recorded step against T = 1 + 1/(4 alpha)", float(path.times[-1]), path.numbers.steps)


def weight_growth(path: Path) -> tuple[Check, Check]:
    """Lemma A.1 at every recorded time t >= 1."""
    later = path.times >= 1
    t = path.times[later]
    a = np.where(path.a > 0, path.a, 1.0)
    single = path.norms[later] / (a * path.alpha * t[:, None])
    whole = np.sqrt((path.norms[later] ** 2).sum(axis=1)) / (path.alpha * t)
    return (
        at_most("|w_j| / (|a_j| alpha t)", single, WEIGHT_GROWTH),
        at_most("||W||_F / (alpha t)", whole, WEIGHT_GROWTH),
    )


def slopes(path: Path) -> Check:
    """Eqs. (17), (35): every -l' is at least e^-2 / 2 up to the end."""
    least = 1.0 / (1.0 + np.exp(np.abs(path.values).max()))
    return at_least("smallest -l'(y_i f(x_i))", float(least), E2 / 2)


def growth(path: Path) -> Check:
    """Eqs. (18), (21), (37): <w_j, mu> grows in every step from t = 1 on, in units of alpha |a_j|."""
    return at_least("growth of <w_j, mu> per step / (alpha |a_j|), t >= 1", path.later_growth, GROWTH)


def small_start(path: Path) -> Check:
    """omd <= alpha / 3."""
    return at_most("omega sqrt(md) / alpha", path.numbers.omd / path.alpha, 1 / 3)
