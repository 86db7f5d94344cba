"""Exact radii whose proofs were judged, and the numbers that sum them up."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from marginflow.arrays import FloatArray, IntArray
from marginflow.data import Dataset
from marginflow.display import Brief
from marginflow.networks import Classifier, TwoLayer
from marginflow.plain import named_values
from marginflow.robustness import Radius, each_radius
from marginflow.robustness.accuracy import CertifiedAccuracy, accuracy_of_radii


@dataclass(frozen=True, kw_only=True)
class CheckedRadius(Brief):
    """The radius of one sample; its bounds and its status are what the judge of its proof has confirmed."""

    sample: int
    radius: Radius

    @property
    def lower(self) -> float:
        """The lower bound."""
        return self.radius.lower

    @property
    def upper(self) -> float:
        """The upper bound."""
        return self.radius.upper

    @property
    def status(self) -> str:
        """What the radius is called with these bounds."""
        return self.radius.status

    @property
    def settled(self) -> bool:
        """Whether the radius is known: to the tolerance asked for, to be infinite, or to be 0."""
        return self.radius.proved

    def row(self) -> dict[str, object]:
        """What is said of the sample, without arrays; of several classes also which is nearest."""
        rival = () if self.radius.rival is None else ("radius.rival",)
        said = ("lower", "upper", "status", "settled", "radius.reason", "radius.nodes", "radius.seconds")
        return named_values(self, ("sample", "radius.label", *rival, *said))

    def proof(self) -> dict[str, object]:
        """The nearest point known on the other side, and the proof that there is no nearer one."""
        whole = self.radius.to_dict()
        return {key: whole[key] for key in ("witness", "certificate")}


def checked_radii(
    network: TwoLayer | Classifier,
    data: Dataset,
    samples: Sequence[int] | IntArray,
    *,
    labels: FloatArray | IntArray | None = None,
    level: float = 0.0,
    tolerance: float = 1e-6,
    time_limit: float = 60.0,
    max_nodes: int | None = None,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
    keep: Callable[[CheckedRadius], None] | None = None,
) -> list[CheckedRadius]:
    """Prove the radii of the chosen samples; the judge sees each proof once, where it is made.

    Parameters
    ----------
    network, data : TwoLayer or Classifier, Dataset
    samples : sequence of int
        Which rows of the data.
    labels : array, shape (n,), or None
        Of a classifier: the logit of every row; None for the labels of the data.
    level, tolerance, time_limit : float
        As in `exact_radii`; the time is for each sample.
    max_nodes : int or None
        Of each sample.
    workers : int
        Processes that share the samples.
    progress : callable or None
        Called with (samples done, samples in all).
    keep : callable or None
        Called with every radius as soon as it is checked, so that an interrupt loses little.

    Returns
    -------
    list of CheckedRadius
        In the order of `samples`.
    """
    chosen = np.asarray(samples, dtype=np.int64)
    found: dict[int, CheckedRadius] = {}
    if chosen.size == 0:
        return []
    for index, radius in each_radius(
        network,
        data.X[chosen],
        (data.y if labels is None else labels)[chosen],
        level=level,
        tolerance=tolerance,
        time_limit=time_limit,
        max_nodes=max_nodes,
        certificate=True,
        workers=workers,
    ):
        found[index] = CheckedRadius(sample=int(chosen[index]), radius=radius)
        if keep is not None:
            keep(found[index])
        if progress is not None:
            progress(len(found), chosen.size)
    return [found[index] for index in range(chosen.size)]


@dataclass(frozen=True, kw_only=True)
class RadiusSummary(Brief):
    """Bounds on the smallest, the median and the largest of several radii, how many are settled, certified accuracy.

    Order statistics grow with every entry, so those of the lower and of the upper bounds enclose those of the radii.
    """

    smallest: tuple[float, float]
    median: tuple[float, float]
    largest: tuple[float, float]
    statuses: dict[str, int]
    count: int
    settled: int
    seconds: float
    accuracy: CertifiedAccuracy | None

    @property
    def curve(self) -> list[dict[str, float]] | None:
        """Certified accuracy at every breakpoint; None without any radius."""
        return None if self.accuracy is None else self.accuracy.rows()

    @property
    def extremes(self) -> dict[str, tuple[float, float]]:
        """The three pairs of bounds by name."""
        return {"smallest": self.smallest, "median": self.median, "largest": self.largest}

    def record(self, dimension: int) -> dict[str, object]:
        """Plain values, also relative to sqrt(d)."""
        root = math.sqrt(dimension)
        return {
            "all_proved": self.settled == self.count,
            "points": self.count,
            "statuses": self.statuses,
            "sqrt_dimension": root,
            **self.extremes,
            "relative": {name: (low / root, high / root) for name, (low, high) in self.extremes.items()},
            "seconds": self.seconds,
            "curve": self.curve,
        }


def summarise_radii(found: Sequence[CheckedRadius]) -> RadiusSummary:
    """How many are proved and how large they are; without any radius the bounds are not a number."""
    lower, upper = ([getattr(checked, side) for checked in found] or [math.nan] for side in ("lower", "upper"))
    statuses = [checked.status for checked in found]
    return RadiusSummary(
        smallest=(float(np.min(lower)), float(np.min(upper))),
        median=(float(np.median(lower)), float(np.median(upper))),
        largest=(float(np.max(lower)), float(np.max(upper))),
        statuses={status: statuses.count(status) for status in sorted(set(statuses))},
        count=len(found),
        settled=sum(checked.settled for checked in found),
        seconds=sum(checked.radius.seconds for checked in found),
        accuracy=accuracy_of_radii([checked.radius for checked in found]) if found else None,
    )
