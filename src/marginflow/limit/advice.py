"""What to try next where no exact point was found, with what it costs; tests follow every piece of advice."""

import numpy as np

from marginflow.limit.settings import FEW_ENOUGH, ILL_CONDITIONED, TOO_CLOSE
from marginflow.limit.task import Task

_SOFT = "a soft margin (penalty=10), in which margins may be missed at that price"


def advice(task: Task) -> str:
    """What to try next, in the order in which it helps."""
    closest = _closest_opposite(task)
    if closest is not None:
        i, j, distance, count = closest
        pairs = (
            f"Samples {i} and {j} have opposite labels"
            if count == 1
            else (f"{count} samples have one of the opposite label right beside them (the closest are {i} and {j})")
        )
        return (
            f"{pairs}, {distance:.0e} apart relative to the spread of all: between them the weights are larger than "
            f"double precision can hold. Leave one of each such pair out, or, if they are few, use {_SOFT}."
        )
    spread = _spread(task)
    if spread > ILL_CONDITIONED:
        return (
            f"The samples (x, 1) are {spread:.0e} times longer in one direction than in another, more than double "
            "precision can hold: standardise them (marginflow convert --standardise). That takes no time, but margins "
            "and norms are then those of the standardised samples."
        )
    if task.frozen:
        return f"Try a larger width, another seed or trained outputs, or {_SOFT}."
    return f"Try a larger width (time grows with it) or another seed, or {_SOFT}."


def _spread(task: Task) -> float:
    """How many times longer the rows (x, 1) are in one direction than in another, those below rounding included."""
    spread = float(np.sqrt(task.problem.s2[0] / task.problem.s2[-1]))
    centre = task.X.mean(axis=0)
    size = float(np.linalg.norm(task.X - centre, axis=1).max())
    return max(spread, float(np.hypot(np.linalg.norm(centre), 1.0)) / size) if task.bias and size > 0.0 else spread


def _closest_opposite(task: Task) -> tuple[int, int, float, int] | None:
    """The two closest samples of opposite labels if they are too close, their distance, and how many are as close.

    Distances are relative to the largest from the mean, and from label +1 to label -1; None for many samples.
    """
    if task.data.n_samples > FEW_ENOUGH:
        return None
    positive, negative = np.flatnonzero(task.data.y > 0), np.flatnonzero(task.data.y < 0)
    size = float(np.linalg.norm(task.X - task.X.mean(axis=0), axis=1).max()) or 1.0
    to_others = [np.linalg.norm(task.X[negative] - task.X[i], axis=1) / size for i in positive]
    nearest = np.array([distances.min() for distances in to_others])
    first = int(nearest.argmin())
    if nearest[first] >= TOO_CLOSE:
        return None
    i, j = sorted(int(task.first[one]) for one in (positive[first], negative[to_others[first].argmin()]))
    return i, j, float(nearest[first]), int((nearest < TOO_CLOSE).sum())
