r"""Robustness curves: the share of points flipped against ||delta|| / sqrt(d), as data; charts are drawn elsewhere.

Three kinds, and a curve says which it is. "exact": the share itself. "attack": what was flipped, so at least this
share. "bound": what is not certified, so at most this share. For one set of points attack <= exact <= bound
everywhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import FloatArray, one_of, read_only, whole_number
from marginflow.errors import InputError
from marginflow.robustness.attacks import AttackResult
from marginflow.robustness.lower_bounds import LowerBounds
from marginflow.robustness.radius import Radius

Kind = Literal["exact", "attack", "bound"]


@dataclass(frozen=True, eq=False, kw_only=True)
class RobustnessCurve:
    """A step function: `shares[l]` of the points have a radius of at most `sizes[l]`.

    Parameters
    ----------
    name : str
        What gave the radii.
    kind : "exact", "attack" or "bound"
        Whether the share is equal to, at least or at most this.
    sizes : array, shape (s,)
        ||delta||, increasing, beginning with 0.
    shares : array, shape (s,)
        Share of points flipped at a budget of exactly this size.
    dimension : int
        The d of the axis ||delta|| / sqrt(d).
    """

    name: str
    kind: Kind
    sizes: FloatArray
    shares: FloatArray
    dimension: int

    @property
    def relative_sizes(self) -> FloatArray:
        """||delta|| / sqrt(d), shape (s,)."""
        relative: FloatArray = self.sizes / np.sqrt(self.dimension)
        return relative

    def share_at(self, sizes: ArrayLike) -> FloatArray:
        """Share of points flipped at the given budgets."""
        index = np.searchsorted(self.sizes, np.asarray(sizes, dtype=np.float64), side="right") - 1
        if (index < 0).any():
            raise InputError("A budget is negative; sizes of perturbations are at least 0.")
        return self.shares[index]

    def rows(self) -> list[dict[str, object]]:
        """One plain row per step."""
        return [
            {"curve": self.name, "kind": self.kind, "size": float(s), "relative_size": float(r), "share": float(p)}
            for s, r, p in zip(self.sizes, self.relative_sizes, self.shares, strict=True)
        ]


def robustness_curve(radii: ArrayLike, dimension: int, *, name: str, kind: Kind) -> RobustnessCurve:
    """The curve of given radii (infinity for points that are not flipped), with a step at each of them.

    Parameters
    ----------
    radii : array, shape (n,)
        Exact radii, sizes of an attack, or lower bounds.
    dimension : int
    name, kind : str
        What the radii are.

    Examples
    --------
    >>> from marginflow.robustness.curves import robustness_curve
    >>> curve = robustness_curve([1.0, 3.0, 1.0, float("inf")], 4, name="sample", kind="exact")
    >>> curve.relative_sizes, curve.shares
    (array([0. , 0.5, 1.5]), array([0.  , 0.5 , 0.75]))
    """
    one_of("kind", kind, ("exact", "attack", "bound"))
    r = np.asarray(radii, dtype=np.float64)
    if r.ndim != 1 or r.size == 0 or np.isnan(r).any() or (r < 0).any():
        raise InputError(
            f"radii has shape {r.shape}; a vector of numbers of at least 0 (infinity allowed) is expected."
        )
    d = whole_number("dimension", dimension)
    sizes = np.unique(np.append(r[np.isfinite(r)], 0.0))
    shares = np.searchsorted(np.sort(r), sizes, side="right") / r.size
    return RobustnessCurve(name=name, kind=kind, sizes=read_only(sizes), shares=read_only(shares), dimension=d)


def curves_of(results: Sequence[AttackResult | LowerBounds], dimension: int) -> list[RobustnessCurve]:
    """One curve per result, in the same order: attacks as "attack", lower bounds as "bound"."""
    return [
        robustness_curve(result.radii, dimension, name=result.name, kind="bound")
        if isinstance(result, LowerBounds)
        else robustness_curve(result.sizes, dimension, name=result.name, kind="attack")
        for result in results
    ]


def curves_of_radii(radii: Sequence[Radius]) -> list[RobustnessCurve]:
    """One exact curve if every radius is proved; otherwise two, what witnesses flip and what is not certified."""
    if not radii:
        raise InputError("There are no radii; at least one is expected.")
    d = radii[0].point.size
    upper, lower = [radius.upper for radius in radii], [radius.lower for radius in radii]
    if all(radius.proved for radius in radii):
        return [robustness_curve(upper, d, name="exact", kind="exact")]
    return [
        robustness_curve(upper, d, name="exact (witnesses)", kind="attack"),
        robustness_curve(lower, d, name="exact (certified)", kind="bound"),
    ]
