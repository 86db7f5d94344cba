"""What is known about the distance of one point to the decision boundary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

import numpy as np

from marginflow.arrays import FloatArray, read_only, vector
from marginflow.display import Plotted
from marginflow.plain import Plain
from marginflow.robustness.radius.certificate import ClassifierCertificate, RadiusCertificate, certificate_from_plain

Status = Literal["proved", "bounded", "infinite", "misclassified"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Radius(Plotted, Plain):
    r"""Bounds on min ||delta|| subject to label N(point + delta) <= level, confirmed by the judge of certificates.

    Parameters
    ----------
    point : array, shape (d,)
        Where it was asked.
    label : float
        +1 or -1, as given or the sign of N(point); for a classifier the class, as given or predicted.
    level : float
        N = 0 counts as the other side when the level is 0.
    lower, upper : float
        lower <= radius <= upper; upper is the distance of the witness, infinity without a witness.
    witness : array, shape (d,), or None
        A point on the other side at distance `upper`.
    status : str
        "proved": upper - lower <= tolerance upper. "bounded": the truth lies in [lower, upper], because time or nodes
        ran out, because there is no witness within `lower` and nothing is said beyond, or because the judge confirms
        no more. "infinite": there is no witness at all. "misclassified": the point itself is on the other side, the
        radius is 0.
    nodes : int
        Regions that were looked at.
    seconds : float
        Wall time.
    trace : tuple of (seconds, lower, upper)
        How the bounds met.
    certificate : RadiusCertificate, ClassifierCertificate or None
        The proof of the bounds, for `check_certificate`; None if it was not asked for.
    reason : str
        Why the judge refused what the search had found; empty if it did not.
    rival : int or None
        Of a classifier: the class that is as large at the witness.
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
    certificate: RadiusCertificate | ClassifierCertificate | None = None
    reason: str = ""
    rival: int | None = None

    @property
    def proved(self) -> bool:
        """Whether the radius is known: to the tolerance asked for, to be 0, or to be infinite."""
        return self.status != "bounded"

    @property
    def perturbation(self) -> FloatArray | None:
        """witness - point."""
        return None if self.witness is None else self.witness - self.point

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "A Radius is neither true nor false: ask radius.proved whether it is known, radius.lower and radius.upper "
            "how large it is, radius.status whether the point is on the wrong side already."
        )

    def __repr__(self) -> str:
        if self.status == "proved":
            value = f"{self.upper:.9g}"
        elif self.status == "bounded":
            within = f"in [{self.lower:.6g}, {self.upper:.6g}]"
            value = within if np.isfinite(self.upper) else f"none within {self.lower:.6g}"
        else:
            value = f"{self.upper:g}"
        rival = "" if self.rival is None else f", rival {self.rival}"
        return f"Radius({value}{rival}, {self.status}, {self.nodes} node{'' if self.nodes == 1 else 's'})"

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Radius:
        """The inverse of `to_dict`."""

        def number(value: float | None) -> float:
            return float("inf") if value is None else float(value)

        witness, proof = plain["witness"], plain["certificate"]
        return cls(
            point=read_only(vector("point", plain["point"])),
            label=plain["label"],
            level=plain["level"],
            lower=number(plain["lower"]),
            upper=number(plain["upper"]),
            witness=None if witness is None else read_only(vector("witness", witness)),
            status=plain["status"],
            nodes=plain["nodes"],
            seconds=plain["seconds"],
            trace=tuple((number(t), number(low), number(high)) for t, low, high in plain["trace"]),
            certificate=None if proof is None else certificate_from_plain(proof),
            reason=plain["reason"],
            rival=plain["rival"],
        )
