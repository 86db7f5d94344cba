"""`audit_classes`: where a classifier with K classes stands, from its weights and its data alone."""

import math
import time
from dataclasses import dataclass

import numpy as np

from marginflow.arrays import FloatArray, IntArray, real_number
from marginflow.audits.audit import Report, silent
from marginflow.audits.drawn import drawn_samples, median_in_words, middle_samples, noticed
from marginflow.certificates import DEFAULT_TOLERANCE, NEAR_TOLERANCE, certify_classifier
from marginflow.certificates.classes import ClassifierKKT
from marginflow.data import Dataset
from marginflow.display import Plotted, capitalised, shortened, shortest_sentence
from marginflow.errors import InputError
from marginflow.measurements import CheckedRadius, checked_radii, summarise_radii
from marginflow.networks import Classifier
from marginflow.networks.evaluation import count_wrong
from marginflow.plain import Plain, named_values
from marginflow.robustness.accuracy import CertifiedAccuracy
from marginflow.robustness.class_universal import UniversalChange, universal_change

# Pairs of samples and classes times neurons up to which the KKT conditions are asked about: the certificate is a dense
# quadratic program in the pairs near the margin and the kinks.
_CERTIFIED = 2e7


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassesAudit(Plotted, Plain):
    """Everything that was found about a classifier and its data.

    Attributes
    ----------
    network, data : Classifier, Dataset
        As given.
    own : array, shape (n,)
        The logit that belongs to each sample.
    wrong : int
        Samples whose own logit is not the largest.
    certificate : ClassifierKKT or None
        How far from a KKT point of the multi-class max-margin problem; None where it says nothing, for the `reason`.
    universal : UniversalChange
        One vector, added to all samples, that changes all of them, with bounds.
    radii : tuple of CheckedRadius
        For the samples that were drawn.
    accuracy : CertifiedAccuracy or None
        Their share that is right and at least epsilon from the boundary, with every breakpoint; None without radii.
    tolerance, seconds : float
    remarks : tuple of str
        What was folded or assumed when the network was read.
    """

    network: Classifier
    data: Dataset
    own: IntArray
    wrong: int
    certificate: ClassifierKKT | None
    reason: str
    universal: UniversalChange
    radii: tuple[CheckedRadius, ...]
    accuracy: CertifiedAccuracy | None
    tolerance: float
    seconds: float
    remarks: tuple[str, ...] = ()

    contradicted = ()  # no statement of the papers speaks of more than two classes

    def __repr__(self) -> str:
        return shortened(f"ClassesAudit({self.headline})")

    @property
    def is_kkt_point(self) -> bool:
        """Whether every KKT condition holds at the tolerance."""
        return self.certificate is not None and self.certificate.holds(self.tolerance)

    @property
    def verdict(self) -> str:
        """The outcome in one sentence."""
        return f"{self._where()}; {self._changed()}{self._held()}."

    @property
    def _tells_distances(self) -> bool:
        """Whether the headline is about single samples: no one vector was found, and half of the samples have one."""
        no_vector = not math.isfinite(self.universal.upper)
        return no_vector and bool(self.radii) and math.isfinite(summarise_radii(self.radii).median[1])

    @property
    def headline(self) -> str:
        """The finding that one would forward, in one sentence."""
        if not self._tells_distances:
            return f"{capitalised(self._changed())}."
        sizes = summarise_radii(self.radii)
        least, half = f"{sizes.smallest[0]:.3g}", f"{sizes.median[1]:.3g}"
        if len(self.radii) == 1:
            return f"The one sample drawn keeps its class under any change shorter than {least}, and not under {half}."
        keeps = f"All {len(self.radii)} samples drawn keep their class under any change shorter than {least}"
        if sizes.smallest[0] == 0.0:  # one of them is wrong already
            keeps = f"Of {len(self.radii)} samples drawn some have another class already"
        return f"{keeps}; half of them lose it within {half}."

    @property
    def standing(self) -> str:
        """What else is to be said, in two sentences."""
        n, said = self.own.size, self._held().removeprefix("; ")
        if self._tells_distances:
            said = self._changed()
        right = f"The network gets {n - self.wrong} of {n} samples right"
        return f"{right}{'; ' if said else ''}{said}. {self._where()}."

    def _examples(self) -> list[dict[str, object]]:
        """Of the first two classes the sample of median margin, and which class the one vector gives it."""
        if self.universal.vector is None:
            return []
        found = middle_samples(self.data.X, self.own, self._margins())
        after = self.network.predict(np.array([row["values"] for row in found]) + self.universal.vector)
        return [row | {"after": int(label)} for row, label in zip(found, after, strict=True)]

    def _margins(self) -> FloatArray:
        return self.network.margins(self.data.X, self.own)

    def _where(self) -> str:
        if self.certificate is None:
            return self.reason
        if self.certificate.status == "does not separate":
            n = self.own.size
            return f"The network gets {self.wrong} of {n} samples wrong, so that it is not a max-margin point"
        residual = self.certificate.residual
        if self.is_kkt_point:
            return f"The network is a KKT point of the multi-class max-margin problem (residual {residual:.1e})"
        word = "near" if self.certificate.holds(NEAR_TOLERANCE) else "not at"
        return f"The network is {word} a KKT point of the multi-class max-margin problem (residual {residual:.2g})"

    def _changed(self) -> str:
        n, found = self.own.size, self.universal
        return shortest_sentence(found.upper, found.lower, samples=n, does="changes the class of")

    def _held(self) -> str:
        if not self.radii:
            return ""
        return f"; the median of {len(self.radii)} samples drawn is {median_in_words(self.radii)} from the boundary"

    def plain_values(self) -> dict[str, object]:
        """The record of the audit, from which a page is made."""
        c, accuracy = self.certificate, self.accuracy
        return {
            "verdict": self.verdict,
            "headline": self.headline,
            "standing": self.standing,
            "noticed": noticed(self.data.X, self.own, self._margins(), self.radii),
            "examples": self._examples(),
            "remarks": self.remarks,
            "holds": self.is_kkt_point,
            "tolerance": self.tolerance,
            "samples": self.own.size,
            "dimension": self.data.dimension,
            "width": self.network.width,
            "classes": self.network.n_classes,
            "wrong": self.wrong,
            "kkt": None if c is None else _kkt(c),
            "reason": self.reason,
            "margins": self._margins(),
            "labels": self.own,
            "universal": named_values(self.universal, ("lower", "upper", "vector", "sizes", "shares")),
            "radii": [checked.row() for checked in self.radii],
            "median_radius": summarise_radii(self.radii).median if self.radii else None,
            "curve": None if accuracy is None else accuracy.rows(),
            "contradicted": self.contradicted,
            "seconds": self.seconds,
        }


def _kkt(certificate: ClassifierKKT) -> dict[str, object]:
    names = ("status", "residual", "stationarity", "feasibility", "dual_feasibility", "complementarity")
    return named_values(certificate, names) | {
        "active_pairs": int((certificate.multipliers > 0).sum()),
        "kinks": int(certificate.kinks.sum()),
        "shared_weights": certificate.shared_weights,
    }


def audit_classes(
    network: Classifier,
    data: Dataset,
    *,
    points: int | None = None,
    time_limit: float = 5.0,
    tolerance: float = DEFAULT_TOLERANCE,
    seed: int = 0,
    progress: Report | None = None,
) -> ClassesAudit:
    """Say of a classifier whether it is near a KKT point, what changes its classes, and how far the boundary is.

    Parameters
    ----------
    network : Classifier
    data : Dataset
        What it was trained on: as many classes as the network has logits, in their order, or labels that are numbers of
        logits.
    points : int or None
        Number of samples, drawn by `seed`, whose exact radius is proved; 0 for none. By default 100, or 10 where the
        first layer has more than 20,000 weights, or all if they are fewer.
    time_limit : float
        Seconds for each of them.
    tolerance : float
        Of the residuals of a KKT point.
    seed : int
    progress : callable or None
        Called with (share done, what is being done).

    Examples
    --------
    >>> import numpy as np
    >>> from marginflow.audits import audit_classes
    >>> from marginflow.data import Dataset
    >>> from marginflow.networks import Classifier
    >>> V = np.array([[2.0, -1.0, -1.0], [-1.0, 2.0, -1.0], [-1.0, -1.0, 2.0]])
    >>> found = audit_classes(Classifier(W=np.sqrt(6.0) * np.eye(3), V=V), Dataset(np.eye(3), [0, 1, 2]))
    >>> found.is_kkt_point, found.wrong
    (True, 0)
    """
    began = time.monotonic()
    time_limit = real_number("time_limit", time_limit, above=0.0)
    tolerance = real_number("tolerance", tolerance, above=0.0)
    chosen = drawn_samples(points, n_weights=network.W.size, n_samples=data.n_samples, seed=seed)
    show = progress if progress is not None else silent
    own = logit_numbers(data, network.n_classes)
    show(0.0, "certificate")
    certificate, reason = _certificate(network, data.X, own)
    show(0.2, "radii")
    found = checked_radii(
        network,
        data,
        chosen,
        labels=own,
        time_limit=time_limit,
        progress=lambda done, total: show(0.2 + 0.6 * done / total, f"{done} of {total} radii"),
    )
    show(0.8, "one vector for all")
    known = np.zeros(data.n_samples)
    known[chosen] = [checked.lower for checked in found]
    universal = universal_change(network, data.X, own, radii=known)
    return ClassesAudit(
        network=network,
        data=data,
        own=own,
        wrong=count_wrong(network.margins(data.X, own)),
        certificate=certificate,
        reason=reason,
        universal=universal,
        radii=tuple(found),
        accuracy=summarise_radii(found).accuracy,
        tolerance=tolerance,
        seconds=time.monotonic() - began,
    )


def logit_numbers(data: Dataset, n_classes: int) -> IntArray:
    """Which logit belongs to each sample: by the order of the classes, or by labels that are numbers of logits."""
    classes = data.classes
    index = ((data.y + 1.0) / 2.0 if len(classes) == 2 else data.y).astype(np.int64)
    if len(classes) == n_classes:
        return index
    numbers = [label for label in classes if isinstance(label, int | float) and 0 <= label < n_classes]
    if len(numbers) < len(classes) or any(label != int(label) for label in numbers):
        raise InputError(
            f"The data have the {len(classes)} classes {', '.join(map(str, classes))}, but the network has {n_classes} "
            f"logits; as many classes are expected, or labels from 0 to {n_classes - 1}."
        )
    return np.array([int(label) for label in numbers], dtype=np.int64)[index]


def _certificate(network: Classifier, X: FloatArray, own: IntArray) -> tuple[ClassifierKKT | None, str]:
    """The certificate, or why there is none."""
    if not network.homogeneous:
        return None, (
            "The network has output biases, so that it is not homogeneous and there are no KKT conditions to ask about"
        )
    if own.size * network.n_classes * network.width > _CERTIFIED:
        return None, (
            f"With {own.size} samples, {network.n_classes} classes and {network.width} neurons the KKT conditions were "
            "not asked about: the quadratic program is too large"
        )
    return certify_classifier(network, X, own), ""
