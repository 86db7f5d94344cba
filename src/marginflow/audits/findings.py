"""What an audit found: numbers and the sentence that sums them up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.certificates import Certificate
from marginflow.data import Dataset
from marginflow.limit import Limit
from marginflow.networks import TwoLayer
from marginflow.robustness import Universal

# Kinds of statements that claim nothing about the network: definitions and assumptions say what data or a network may
# be like, and to lack that contradicts no theorem; constructions speak of networks that a paper builds on such data.
PROPERTIES: Final = ("assumption", "definition", "construction")
# Residual below which a network that is no KKT point is called near one: a hundredth of its parameters is unexplained.
NEAR: Final = 0.01


@dataclass(frozen=True, eq=False, kw_only=True)
class Flip:
    """One named direction and the norms of its multiples that flip a share of the samples at once.

    A multiple z acts as x_i - y_i z. Infinity: no multiple does it.
    """

    name: str
    vector: FloatArray
    half: float
    nine_tenths: float
    all: float


@dataclass(frozen=True, kw_only=True)
class ProvedRadius:
    """Distance of one sample to the decision boundary, in the bounds that the checker of its proof confirms."""

    sample: int
    label: float
    lower: float
    upper: float
    status: str
    seconds: float

    @property
    def settled(self) -> bool:
        """Whether the radius is known exactly (to the tolerance asked for, or to be 0 or infinite)."""
        return self.status in ("proved", "misclassified", "infinite")


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A statement of a paper and what it says of the network and its data.

    `property_only`: the statement says what data or a network may be like, or what a paper builds on such data, so that
    "violated" says nothing against a theorem about the network.
    """

    id: str
    kind: str
    meaning: str
    outcome: str
    reason: str

    @property
    def property_only(self) -> bool:
        """Whether it claims nothing about the network."""
        return self.kind in PROPERTIES


@dataclass(frozen=True, eq=False, kw_only=True)
class Audit:
    """Everything that was found about a network and its data.

    Attributes
    ----------
    network, data : TwoLayer, Dataset
        As given.
    wrong : int
        Samples with y_i N(x_i) <= 0.
    certificate : Certificate
        How far from a KKT point; `certificate.floor` if the initial network was given.
    outside : float
        ||W P_perp||_F / ||theta||: the share of the parameters orthogonal to all samples. Gradient training without
        weight decay never changes that part, and at a KKT point it is zero: no residual at this ||theta|| is smaller.
    outside_changed : float or None
        ||(W - W_0) P_perp||_F / ||W_0 P_perp||_F, given the initial network: about 0 for such training, as promised;
        None also where the initial network has no such part.
    point : Limit or None
        An exact KKT point polished from the network; None if the network does not separate the data.
    flips : tuple of Flip
        Named directions, the one that flips all samples by the least norm first.
    universal : Universal
        The shortest vector found that flips all samples at once, and a bound that none is shorter than.
    radii : tuple of ProvedRadius
        For the samples that were drawn.
    statements : tuple of Judged
        Every statement that needs no more than what was given.
    tolerance : float
        Of the residuals.
    seconds : float
    """

    network: TwoLayer
    data: Dataset
    wrong: int
    certificate: Certificate
    outside: float
    outside_changed: float | None
    point: Limit | None
    flips: tuple[Flip, ...]
    universal: Universal
    radii: tuple[ProvedRadius, ...]
    statements: tuple[Judged, ...]
    tolerance: float
    seconds: float

    @property
    def is_kkt_point(self) -> bool:
        """Whether every KKT condition holds at the tolerance."""
        return self.certificate.holds(self.tolerance)

    @property
    def applying(self) -> tuple[Judged, ...]:
        """Statements whose hypotheses the network and the data fulfil, properties left out."""
        return tuple(one for one in self.statements if not one.property_only and one.outcome != "not applicable")

    @property
    def contradicted(self) -> tuple[str, ...]:
        """Statements that apply and do not hold: a gap in a paper or a defect here."""
        return tuple(one.id for one in self.applying if one.outcome == "violated")

    @property
    def median_radius(self) -> tuple[float, float]:
        """Bounds on the median radius of the samples drawn; medians grow with every entry, so they enclose it."""
        if not self.radii:
            return math.nan, math.nan
        lower = float(np.median([one.lower for one in self.radii]))
        return lower, float(np.median([one.upper for one in self.radii]))

    @property
    def verdict(self) -> str:
        """The outcome in one sentence."""
        return f"{self._where()}; {self._flipped()}; {self._held()}."

    def _where(self) -> str:
        total, n = self.certificate.total, self.data.n_samples
        if self.certificate.status == "does not separate":
            return f"The network gets {self.wrong} of {n} samples wrong, so that it is no max-margin point of any kind"
        if self.is_kkt_point:
            return f"The network is a KKT point of the max-margin problem (residual {total:.1e})"
        word = "near" if total <= NEAR else "not at"
        return f"The network is {word} a KKT point of the max-margin problem (residual {total:.2g})"

    def _flipped(self) -> str:
        n = self.data.n_samples
        if math.isfinite(self.universal.upper):
            return f"one vector of norm {self.universal.upper:.3g} flips all {n} samples"
        return f"no vector was found that flips all {n} samples at once"

    def _held(self) -> str:
        lower, upper = self.median_radius
        between = f"{upper:.3g}" if f"{lower:.3g}" == f"{upper:.3g}" else f"between {lower:.3g} and {upper:.3g}"
        drawn = "the one sample drawn" if len(self.radii) == 1 else f"the median of {len(self.radii)} samples drawn"
        radii = f"{drawn} is {between} from the boundary, " if self.radii else ""
        if self.contradicted:
            return f"{radii}and these statements apply but do not hold: {', '.join(self.contradicted)}"
        return f"{radii}and {len(self.applying)} statements of the papers apply, of which none is violated"

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON; vectors as lists."""
        point = None
        if self.point is not None:
            point = {key: value for key, value in self.point.to_dict().items() if key != "history"}
        median = self.median_radius
        return {
            "verdict": self.verdict,
            "holds": self.is_kkt_point,
            "tolerance": self.tolerance,
            "samples": self.data.n_samples,
            "dimension": self.data.dimension,
            "width": self.network.width,
            "wrong": self.wrong,
            "certificate": self.certificate.to_dict(arrays=False),
            "margins": self.certificate.margins.tolist(),
            "training": {
                "floor": self.certificate.floor,
                "outside": self.outside,
                "outside_changed": self.outside_changed,
            },
            "point": point,
            "flips": [
                {
                    "direction": flip.name,
                    "half": flip.half,
                    "nine_tenths": flip.nine_tenths,
                    "all": flip.all,
                }
                for flip in self.flips
            ],
            "universal": {
                "lower": self.universal.lower,
                "upper": self.universal.upper,
                "vector": None if self.universal.vector is None else self.universal.vector.tolist(),
            },
            "radii": [{**vars(radius), "settled": radius.settled} for radius in self.radii],
            "median_radius": list(median) if self.radii else None,
            "statements": [vars(one) for one in self.statements],
            "contradicted": list(self.contradicted),
            "seconds": self.seconds,
        }
