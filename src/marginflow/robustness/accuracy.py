r"""Certified accuracy: the share of points that are right and at least epsilon from the boundary, at every epsilon.

.. math:: a(\epsilon) = \tfrac1n \, \#\{ i : x_i \text{ is right and its radius is at least } \epsilon \}

The curve is a step function whose steps are the radii themselves. Where a radius is known up to bounds only, the curve
lies between two: what is certified (by lower bounds) and what is possible (by witnesses).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import FloatArray, matrix, read_only
from marginflow.errors import InputError
from marginflow.networks import Classifier, TwoLayer
from marginflow.robustness.radius import Radius, exact_radii


@dataclass(frozen=True, eq=False, kw_only=True)
class CertifiedAccuracy:
    """The curve, with every breakpoint.

    Parameters
    ----------
    n_points : int
        How many points there are, right or wrong.
    lower, upper : arrays, shape (r,)
        Bounds on the radii of the points that are right, each in increasing order.
    exact : bool
        Whether every radius is proved: then the two curves agree up to the tolerance of the radii.
    """

    n_points: int
    lower: FloatArray
    upper: FloatArray
    exact: bool

    @property
    def accuracy(self) -> float:
        """a(0): the share of points that are right."""
        return self.lower.size / self.n_points

    def at(self, epsilon: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """The certified and the possible share at the given sizes.

        Examples
        --------
        >>> from marginflow.robustness.accuracy import CertifiedAccuracy
        >>> curve = CertifiedAccuracy(n_points=4, lower=[1.0, 2.0, 2.0], upper=[1.0, 2.0, 3.0], exact=False)
        >>> curve.at([0.0, 1.0, 1.5, 2.5])
        (array([0.75, 0.75, 0.5 , 0.  ]), array([0.75, 0.75, 0.5 , 0.25]))
        """
        sizes = np.asarray(epsilon, dtype=np.float64)
        if sizes.size and not (sizes >= 0).all():
            raise InputError("A size epsilon is negative or not a number; sizes are at least 0.")
        certified, possible = (
            (len(radii) - np.searchsorted(radii, sizes, side="left")) / self.n_points
            for radii in (self.lower, self.upper)
        )
        return certified, possible

    def reach(self, share: float) -> tuple[float, float] | None:
        """The largest epsilon at which at least this share of all points is certified, and at which it is possible."""
        needed = int(np.ceil(share * self.n_points - 1e-9))
        return (float(self.lower[-needed]), float(self.upper[-needed])) if needed <= self.lower.size else None

    def rows(self, epsilon: ArrayLike | None = None) -> list[dict[str, float]]:
        """The shares that hold up to and including each epsilon; where none is given, at every breakpoint from 0 on."""
        every = np.unique(np.concatenate([[0.0], self.lower, self.upper]))
        knots = every[np.isfinite(every)] if epsilon is None else np.asarray(epsilon, dtype=np.float64)
        certified, possible = self.at(knots)
        return [
            {"epsilon": float(e), "certified": float(a), "possible": float(p)}
            for e, a, p in zip(knots, certified, possible, strict=True)
        ]

    def to_csv(self) -> str:
        """The rows as text: epsilon, certified, possible."""
        lines = [",".join(repr(value) for value in row.values()) for row in self.rows()]
        return "\n".join(["epsilon,certified,possible", *lines]) + "\n"

    def __repr__(self) -> str:
        median = f", half of them {np.median(self.lower):.6g} away" if self.lower.size else ""
        kind = "exact" if self.exact else "between bounds"
        return f"CertifiedAccuracy({self.lower.size} of {self.n_points} points right{median}, {kind})"


def accuracy_of_radii(radii: Sequence[Radius]) -> CertifiedAccuracy:
    """The curve of given radii, whose labels are the true ones."""
    if not radii:
        raise InputError("There are no radii; at least one is expected.")
    right = [radius for radius in radii if radius.status != "misclassified"]
    return CertifiedAccuracy(
        n_points=len(radii),
        lower=read_only(np.sort(np.array([radius.lower for radius in right]))),
        upper=read_only(np.sort(np.array([radius.upper for radius in right]))),
        exact=all(radius.proved for radius in radii),
    )


def certified_accuracy(
    network: TwoLayer | Classifier,
    X: ArrayLike,
    y: ArrayLike,
    *,
    tolerance: float = 1e-6,
    time_limit: float = 60.0,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> CertifiedAccuracy:
    """The certified accuracy of a network on labelled points; parameters as in `exact_radii`.

    Examples
    --------
    >>> from marginflow.networks import Classifier
    >>> from marginflow.robustness.accuracy import certified_accuracy
    >>> net = Classifier(W=[[1.0, 0.0], [0.0, 1.0]], V=[[1.0, 0.0], [0.0, 1.0]])
    >>> certified_accuracy(net, [[3.0, 1.0], [1.0, 2.0], [0.0, 1.0]], [0, 1, 0])
    CertifiedAccuracy(2 of 3 points right, half of them 1.06066 away, exact)
    """
    if y is None:
        raise InputError("y is None; accuracy needs the true labels.")
    radii = exact_radii(
        network, matrix("X", X), y, tolerance=tolerance, time_limit=time_limit, workers=workers, progress=progress
    )
    return accuracy_of_radii(radii)
