"""What an audit found: numbers and the sentence that sums them up."""

import math
from dataclasses import dataclass

from marginflow.audits.drawn import median_in_words, middle_samples, noticed
from marginflow.audits.statements import Judged
from marginflow.certificates import NEAR_TOLERANCE, Certificate
from marginflow.data import Dataset
from marginflow.display import Plotted, capitalised, shortened, shortest_sentence
from marginflow.limit import Limit
from marginflow.measurements import DIRECTIONS, CheckedRadius, Flip, summarise_radii
from marginflow.networks import TwoLayer
from marginflow.plain import Plain, named_values
from marginflow.robustness.universal import Universal
from marginflow.theory.outcomes import BROKEN


@dataclass(frozen=True, eq=False, kw_only=True)
class Audit(Plotted, Plain):
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
    shortest : Flip or None
        The walk along that vector; None if there is none.
    radii : tuple of CheckedRadius
        For the samples that were drawn.
    statements : tuple of Judged
        Every statement that needs no more than what was given.
    tolerance : float
        Of the residuals.
    seconds : float
    remarks : tuple of str
        What was folded or assumed when the network was read.
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
    shortest: Flip | None
    radii: tuple[CheckedRadius, ...]
    statements: tuple[Judged, ...]
    tolerance: float
    seconds: float
    remarks: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return shortened(f"Audit({self.headline})")

    @property
    def is_kkt_point(self) -> bool:
        """Whether every KKT condition holds at the tolerance."""
        return self.certificate.holds(self.tolerance)

    @property
    def applying(self) -> tuple[Judged, ...]:
        """Statements whose hypotheses the network and the data fulfil, properties left out."""
        return tuple(
            statement
            for statement in self.statements
            if not statement.property_only and statement.outcome != "not applicable"
        )

    @property
    def contradicted(self) -> tuple[str, ...]:
        """Statements that apply and do not hold: a gap in a paper or a defect here."""
        return tuple(statement.id for statement in self.statements if statement.contradicted)

    @property
    def median_radius(self) -> tuple[float, float]:
        """Bounds on the median radius of the samples drawn; medians grow with every entry, so they enclose it."""
        return summarise_radii(self.radii).median

    @property
    def verdict(self) -> str:
        """The outcome in one sentence."""
        return f"{self._where()}; {self.flipped}; {self._held()}."

    @property
    def headline(self) -> str:
        """The finding that one would forward, in one sentence."""
        sentence = capitalised(self.flipped)
        if 0.0 < self.universal.upper < math.inf and self.point is not None and self.point.exact:
            where = "this KKT point" if self.is_kkt_point else "the KKT point nearby"
            sentence += f"; at {where} {self.point.compact.width} of {self.network.width} neurons remain"
        return sentence + "."

    @property
    def flipped(self) -> str:
        """What is known of the shortest vector, without the full stop."""
        found = self.universal
        return shortest_sentence(found.upper, found.lower, samples=self.data.n_samples, how=self._beside_samples())

    def _beside_samples(self) -> str:
        """How long the vector is beside the samples, unless there is none or all of these are zero."""
        if self.mean_norm == 0.0 or not math.isfinite(self.universal.upper):
            return ""
        times = self.universal.upper / self.mean_norm
        if times > 1.0:
            return f"{times:.2g} times as long as a sample"
        return f"{100 * times:.0f} % of a sample's own length"

    @property
    def mean_norm(self) -> float:
        """Root mean square of the norms of the samples."""
        return self.data.mean_norm

    def _where(self) -> str:
        residual, n = self.certificate.residual, self.data.n_samples
        if self.certificate.status == "does not separate":
            return (
                f"The network gets {self.wrong} of {n} samples wrong, so that it is not a max-margin point of any kind"
            )
        if self.is_kkt_point:
            return f"The network is a KKT point of the max-margin problem (residual {residual:.1e})"
        word = "near" if self.certificate.holds(NEAR_TOLERANCE) else "not at"
        return f"The network is {word} a KKT point of the max-margin problem (residual {residual:.2g})"

    def _held(self) -> str:
        drawn = "the one sample drawn" if len(self.radii) == 1 else f"the median of {len(self.radii)} samples drawn"
        radii = f"{drawn} is {median_in_words(self.radii)} from the boundary, " if self.radii else ""
        if self.contradicted:
            return f"{radii}and these statements apply but do not hold: {', '.join(self.contradicted)}"
        known = [found.id for found in self.applying if found.known_false and found.outcome in BROKEN]
        but = f" except {', '.join(known)}, known to be false as printed" if known else ""
        if not self.applying:
            return f"{radii}and no statement of the papers applies"
        if len(self.applying) == 1:
            judged = "is violated and known to be false as printed" if known else "is not violated"
            return f"{radii}and one statement of the papers applies, {self.applying[0].id}, which {judged}"
        return f"{radii}and {len(self.applying)} statements of the papers apply, none of which is violated{but}"

    @property
    def training(self) -> str:
        """How near to a KKT point training could ever get."""
        floor, changed = self.certificate.floor, self.outside_changed
        if (self.outside if floor is None else floor) < 1e-12:
            return "No part of the weights is orthogonal to all samples: nothing keeps training away from KKT points."
        if floor is None:
            return (
                f"How near training could get is unknown without the network it started from (--start); if it was "
                f"gradient descent without weight decay, no residual below {self.outside:.2g} is possible at this norm."
            )
        sentence = f"From that start, training that ends at this norm cannot have a residual below {floor:.2g}"
        if changed is None:
            return sentence + "."
        kept = (
            "was not changed" if changed < 1e-6 else f"was changed by {100 * changed:.2g} % (weight decay, or not SGD)"
        )
        return f"{sentence}; the part of the weights orthogonal to the samples {kept}."

    @property
    def nearby(self) -> str:
        """What is known of an exact KKT point near the network."""
        point = self.point
        if point is None:
            return "No KKT point nearby was looked for: the network does not separate the data, or nothing can."
        if point.moved is None:
            return point.status
        moved = point.moved
        kind = "An exact KKT point" if point.exact else "A point that is not an exact KKT point"
        return (
            f"{kind} (residual {point.certificate.residual:.1e}) was reached from it: the outputs keep the cosine "
            f"{moved.cosine:.4f}, ||theta||^2 at margin 1 goes from {moved.norm_squared_before:.4g} to "
            f"{moved.norm_squared_after:.4g}, and {point.compact.width} of {self.network.width} neurons remain."
        )

    def plain_values(self) -> dict[str, object]:
        """The record of the audit, from which a page is made."""
        X, y, margins = self.data.X, self.data.y, self.certificate.margins
        point = None
        if self.point is not None:
            point = {key: value for key, value in self.point.to_dict(arrays=False).items() if key != "history"}
            point["neurons"] = self.point.compact.width
        return {
            "verdict": self.verdict,
            "remarks": self.remarks,
            "holds": self.is_kkt_point,
            "tolerance": self.tolerance,
            "samples": self.data.n_samples,
            "dimension": self.data.dimension,
            "width": self.network.width,
            "wrong": self.wrong,
            "headline": self.headline,
            "standing": f"{self._where()}; {self._held()}.",
            "mean_norm": self.mean_norm,
            "noticed": noticed(X, y, margins, self.radii),
            "examples": middle_samples(X, y, margins),
            "certificate": self.certificate.to_dict(arrays=False),
            "margins": margins,
            "labels": y,
            "classes": list(self.data.classes),
            "training": {
                "sentence": self.training,
                "floor": self.certificate.floor,
                "outside": self.outside,
                "outside_changed": self.outside_changed,
            },
            "point": point,
            "nearby": self.nearby,
            "flips": [
                {
                    "direction": DIRECTIONS.get(flip.name, flip.name),
                    "half": flip.norm_for(0.5),
                    "nine_tenths": flip.norm_for(0.9),
                    "all": flip.all,
                }
                for flip in self.flips
            ],
            "universal": named_values(self.universal, ("lower", "upper", "vector"))
            | {"curve": None if self.shortest is None else self.shortest.curve()},
            "radii": [radius.row() for radius in self.radii],
            "median_radius": self.median_radius if self.radii else None,
            "curve": summarise_radii(self.radii).curve,
            "statements": [statement.row() | {"property": statement.property_only} for statement in self.statements],
            "contradicted": self.contradicted,
            "seconds": self.seconds,
        }
