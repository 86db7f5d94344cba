r"""Exact steps along rays for K classes: the least t at which x + t e has another class.

On a ray every difference f_y - f_t is piecewise linear in t with the same breakpoints, so that its first zero is exact;
the class changes at the least of them over all rivals.
"""

from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import BoolArray, FloatArray, IntArray, read_only, real_number, vector
from marginflow.networks import Classifier
from marginflow.networks.classifier import class_numbers
from marginflow.networks.evaluation import checked_points
from marginflow.robustness.piecewise import first_steps, without_noise


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassSteps:
    """Where the class of each point first changes along a direction.

    Parameters
    ----------
    first : array, shape (n,)
        Least t >= 0 with f_y <= f_t for some rival t; 0 for a point that is wrong already, infinity if there is none.
    rival : integer array, shape (n,)
        That rival; -1 if the class never changes.
    already : boolean array, shape (n,)
        Points whose class is another before any step.
    norm : float
        Length of the direction.
    """

    first: FloatArray
    rival: IntArray
    already: BoolArray
    norm: float

    @property
    def sizes(self) -> FloatArray:
        """Size ||t e|| of each point's first change; infinite where there is none, along no direction too."""
        finite = np.isfinite(self.first)
        return np.where(finite, self.norm * np.where(finite, self.first, 0.0), np.inf)

    def size_for_share(self, share: float) -> float:
        """The least size up to which the class of this share of the points has changed at least once.

        Examples
        --------
        >>> import numpy as np
        >>> from marginflow.robustness.class_steps import ClassSteps
        >>> first = np.array([3.0, 0.0, np.inf, 1.0])
        >>> steps = ClassSteps(first=first, rival=np.array([1, 1, -1, 0]), already=first == 0, norm=2.0)
        >>> steps.size_for_share(0.5), steps.size_for_share(1.0)
        (2.0, inf)
        """
        needed = ceil(real_number("share", share, above=0.0, at_most=1.0) * self.first.size - 1e-9)
        return float(np.sort(self.sizes)[needed - 1])

    def rows(self) -> list[dict[str, float]]:
        """The share of points whose class has changed at least once up to a size, at every breakpoint."""
        reached = np.sort(self.sizes[np.isfinite(self.sizes)])
        knots = np.unique(np.append(0.0, reached))
        shares = np.searchsorted(reached, knots, side="right") / self.first.size
        return [{"size": float(size), "share": float(share)} for size, share in zip(knots, shares, strict=True)]

    def __repr__(self) -> str:
        changing = int(np.isfinite(self.first).sum())
        median = float(np.median(self.sizes))
        return f"ClassSteps({changing} of {self.first.size} points change, median size {median:.6g})"


def class_steps(
    classifier: Classifier, X: ArrayLike, y: ArrayLike | None, direction: ArrayLike, *, towards: int | None = None
) -> ClassSteps:
    """The least multiple of a direction, added to every point, that changes each prediction.

    Parameters
    ----------
    classifier : Classifier
    X : array, shape (n, d)
        Points.
    y : array, shape (n,), or None
        Their classes; None for the predicted ones.
    direction : array, shape (d,)
        e; the same for every point.
    towards : int or None
        Only changes to this class; None for any.

    Examples
    --------
    >>> from marginflow.networks import Classifier
    >>> from marginflow.robustness.class_steps import class_steps
    >>> net = Classifier(W=[[1.0, 0.0], [0.0, 1.0]], V=[[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], c=[0.0, 0.0, 0.5])
    >>> steps = class_steps(net, [[3.0, 1.0]], [0], [-1.0, 0.0])
    >>> steps.first, steps.rival
    (array([2.]), array([1]))
    """
    points = checked_points(X, classifier.dimension)
    n, K = points.shape[0], classifier.n_classes
    own = classifier.predict(points) if y is None else class_numbers("y", y, K, n)
    e = vector("direction", direction, classifier.dimension)
    rivals = range(K) if towards is None else class_numbers("towards", [towards], K).tolist()
    along = without_noise(classifier.W @ e, np.abs(classifier.W) @ np.abs(e))
    # One more neuron that is always 1 carries the output biases.
    A = np.column_stack([classifier.preactivations(points), np.ones(n)])
    c = np.zeros(K) if classifier.c is None else classifier.c
    V = np.column_stack([classifier.V, c])
    first, rival = np.full(n, np.inf), np.full(n, -1, dtype=np.int64)
    for t in rivals:
        rows = np.flatnonzero(own != t)
        if rows.size == 0:
            continue
        G = np.broadcast_to(np.append(along, 0.0), (rows.size, along.size + 1))
        steps = first_steps(A[rows], G, V[own[rows]] - V[t], 0.0)
        nearer = steps < first[rows]
        first[rows[nearer]], rival[rows[nearer]] = steps[nearer], t
    return ClassSteps(
        first=read_only(first), rival=read_only(rival), already=read_only(first == 0), norm=float(np.linalg.norm(e))
    )
