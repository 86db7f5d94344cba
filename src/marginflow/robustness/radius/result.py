"""What is known about the distance of one point to the decision boundary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.robustness.radius.certificate import Certificate

Status = Literal["proved", "bounded", "infinite", "misclassified"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Radius:
    r"""Bounds on min ||delta|| subject to label N(point + delta) <= level, with what proves them.

    Parameters
    ----------
    point : array, shape (d,)
        Where it was asked.
    label : float
        +1 or -1, as given or the sign of N(point).
    level : float
        N = 0 counts as the other side when the level is 0.
    lower, upper : float
        lower <= radius <= upper; upper is the distance of the witness, infinity without one.
    witness : array, shape (d,), or None
        A point on the other side at distance `upper`.
    status : str
        "proved": upper - lower <= rtol upper. "bounded": time or nodes ran out, the truth lies in [lower, upper].
        "infinite": no witness within `lower`, which is infinite or so large that float64 cannot tell.
        "misclassified": the point itself is on the other side, the radius is 0.
    nodes : int
        Regions that were looked at.
    seconds : float
        Wall time.
    trace : tuple of (seconds, lower, upper)
        How the bounds met.
    certificate : Certificate or None
        The proof, for `check_certificate`; None if it was not asked for.
    """

    point: FloatArray
    label: float
    level: float
    lower: float
    upper: float
    witness: FloatArray | None
    status: Status
    nodes: int
    seconds: float
    trace: tuple[tuple[float, float, float], ...]
    certificate: Certificate | None = None

    @property
    def proved(self) -> bool:
        """Whether the radius is known: to the tolerance asked for, to be 0, or to be infinite."""
        return self.status != "bounded"

    @property
    def perturbation(self) -> FloatArray | None:
        """witness - point."""
        return None if self.witness is None else self.witness - self.point

    def __repr__(self) -> str:
        if self.status == "proved":
            value = f"{self.upper:.9g}"
        elif self.status == "bounded":
            value = f"in [{self.lower:.6g}, {self.upper:.6g}]"
        else:
            value = f"{self.upper:g}"
        return f"Radius({value}, {self.status}, {self.nodes} node{'' if self.nodes == 1 else 's'})"

    def to_plain(self) -> dict[str, Any]:
        """Plain values for JSON; infinity is the string "inf"."""

        def number(value: float) -> float | str:
            return value if np.isfinite(value) else "inf"

        return {
            "label": self.label,
            "level": self.level,
            "lower": number(self.lower),
            "upper": number(self.upper),
            "status": self.status,
            "nodes": self.nodes,
            "seconds": self.seconds,
            "point": self.point.tolist(),
            "witness": None if self.witness is None else self.witness.tolist(),
            "trace": [[number(value) for value in entry] for entry in self.trace],
            "certificate": None if self.certificate is None else self.certificate.to_plain(),
        }
