r"""One vector for all samples of a classifier with K classes, bounded from both sides.

The same z is added to every sample, and a sample is changed where its own class is no longer the largest logit.

From above: multiples of given directions, of the ways from each class mean to every other one and of the mean gradients
away from the own class; what a multiple changes is evaluated again, for all samples at once. From below: z changes each
of the samples by itself, so that of the share s of n samples that must change, the ceil(s n)-th smallest radius is no
longer than z.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import BoolArray, FloatArray, IntArray, read_only, real_number, vector
from marginflow.display import Plotted, shortened, shortest_sentence
from marginflow.networks import Classifier
from marginflow.networks.classifier import class_numbers
from marginflow.networks.evaluation import checked_points
from marginflow.robustness.class_steps import class_steps

# Multiples of a direction that are looked at; how far beyond a first change; and bisections of the last interval.
_MULTIPLES, _BEYOND, _BISECTIONS = 60, 1e-9, 30
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False, kw_only=True)
class UniversalChange(Plotted):
    """One vector that changes the class of a share of the samples, with bounds on the shortest.

    Attributes
    ----------
    vector : array, shape (d,), or None
        The shortest that was found, zero where enough samples are wrong already; None if none was.
    upper, lower : float
        ||vector||, infinite without a vector; and a length below which no vector does it.
    share : float
        The share of the samples that must change.
    changed : boolean array, shape (n,)
        The samples that it changes, those that are wrong before included.
    sizes, shares : arrays
        Lengths of multiples of the vector, and the share of the samples that each changes.
    """

    vector: FloatArray | None
    upper: float
    lower: float
    share: float
    changed: BoolArray
    sizes: FloatArray
    shares: FloatArray

    def __repr__(self) -> str:
        return shortened(f"UniversalChange({self.sentence})")

    @property
    def sentence(self) -> str:
        """What was found, without the full stop."""
        samples, does, how = self.changed.size, "changes the class of", "added to each"
        return shortest_sentence(
            self.upper, self.lower, samples=samples, does=does, share=self.share, how=how, digits=6
        )


def universal_change(
    classifier: Classifier,
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    share: float = 1.0,
    radii: ArrayLike | None = None,
    directions: Sequence[ArrayLike] = (),
) -> UniversalChange:
    """A short vector that, added to every sample, changes the class of a share of them.

    Parameters
    ----------
    classifier : Classifier
    X : array, shape (n, d)
    y : array, shape (n,), or None
        Classes of the samples; None for the predicted ones.
    share : float
        Of the samples that must change.
    radii : array, shape (n,), or None
        Lower bounds on the radii of the samples, 0 where nothing is known, infinite where nothing changes the class;
        the lower bound rests on them.
    directions : sequence of arrays, shape (d,)
        To be tried beside those that are tried anyway.

    Examples
    --------
    >>> from marginflow.networks import Classifier
    >>> from marginflow.robustness.class_universal import universal_change
    >>> net = Classifier(W=[[1.0, 0.0], [0.0, 1.0]], V=[[1.0, 0.0], [0.0, 1.0]])
    >>> found = universal_change(net, [[3.0, 1.0], [2.0, 1.0]], [0, 0], directions=[[-1.0, 1.0]])
    >>> round(found.upper, 6)
    1.414214
    """
    points = checked_points(X, classifier.dimension)
    n = points.shape[0]
    own = classifier.predict(points) if y is None else class_numbers("y", y, classifier.n_classes, n)
    share = real_number("share", share, above=0.0, at_most=1.0)
    needed = ceil(share * n - 1e-9)
    radii = np.zeros(n) if radii is None else np.asarray(radii)
    endless = radii == np.inf  # no change of the sample alters its class
    known = np.where(endless, np.inf, vector("radii", np.where(endless, 0.0, radii), n))
    lower = float(np.sort(known)[needed - 1])
    best, length = None, np.inf
    if _changed(classifier, points, own).sum() >= needed:  # enough are wrong already
        best, length = np.zeros(points.shape[1]), 0.0
    for direction in [
        *(vector("directions", e, points.shape[1]) for e in directions),
        *_tried(classifier, points, own),
    ]:
        size = float(np.linalg.norm(direction))
        if size > 0:
            unit = direction / size
            t = _least_multiple(classifier, points, own, unit, needed, length)
            if t < length:
                best, length = t * unit, t  # to the last bit the vector that was looked at
    changed = _changed(classifier, points if best is None else points + best, own)
    if changed.sum() < needed:
        best, length = None, np.inf
    multiples = np.linspace(0.0, 1.0, 41)
    shares = [0.0 if best is None else float(_changed(classifier, points + t * best, own).mean()) for t in multiples]
    return UniversalChange(
        vector=None if best is None else read_only(best),
        upper=length,
        lower=min(lower, length),
        share=share,
        changed=read_only(changed),
        sizes=read_only(multiples * (length if best is not None else 0.0)),
        shares=read_only(np.array(shares)),
    )


def _changed(classifier: Classifier, points: FloatArray, own: IntArray) -> BoolArray:
    """Samples whose own logit is below another one by more than rounding can explain."""
    logits = classifier(points)
    changed: BoolArray = classifier.margins(points, own) < -_ROUNDING * np.abs(logits).max(axis=1)
    return changed


def _tried(classifier: Classifier, points: FloatArray, own: IntArray) -> list[FloatArray]:
    """From each class mean to the others, and against the mean gradient of the margins."""
    present = np.unique(own)
    means = {int(t): points[own == t].mean(axis=0) for t in present}
    found = [means[t] - points.mean(axis=0) for t in means]
    found += [-direction for direction in found]
    logits = classifier(points)
    logits[np.arange(own.size), own] = -np.inf
    rivals = logits.argmax(axis=1)
    on = classifier.preactivations(points) > 0
    for t in present:
        rows = own == t
        away = (on[rows] * (classifier.V[own[rows]] - classifier.V[rivals[rows]])) @ classifier.W
        found.append(-away.mean(axis=0))
    found.append(np.sum(found[-present.size :], axis=0))
    return found


def _least_multiple(
    classifier: Classifier, points: FloatArray, own: IntArray, unit: FloatArray, needed: int, most: float
) -> float:
    """The least multiple found below `most` at which enough samples are changed at once; infinite if none is."""
    first = np.sort(class_steps(classifier, points, own, unit).first)
    earliest = float(first[needed - 1])
    if not earliest < most:  # before its first change a sample is not changed
        return np.inf
    finite = first[np.isfinite(first)]
    end = min(most, 4.0 * float(finite[-1]) + 1e-12)
    low, high = earliest, np.inf
    for t in np.linspace(earliest * (1.0 + _BEYOND) + 1e-300, max(end, earliest * (1.0 + 2.0 * _BEYOND)), _MULTIPLES):
        if _changed(classifier, points + t * unit, own).sum() >= needed:
            high = float(t)
            break
        low = float(t)
    for _ in range(_BISECTIONS if np.isfinite(high) else 0):
        middle = 0.5 * (low + high)
        if _changed(classifier, points + middle * unit, own).sum() >= needed:
            high = middle
        else:
            low = middle
    return high
