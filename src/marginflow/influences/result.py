"""What each sample, or each group of samples, did: the points without them, with the evidence."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from marginflow.arrays import BoolArray, FloatArray, IntArray, matrix
from marginflow.data import Dataset
from marginflow.display import Brief, Plotted, shortened
from marginflow.errors import InputError
from marginflow.networks import TwoLayer
from marginflow.plain import Plain

# Rows that carry the values of their sample.
_WITH_VALUES = 12

Way = Literal["unchanged", "continuation", "Newton", "solved again"]


@dataclass(frozen=True, eq=False)
class Branches(Brief, Plain):
    """The continuation beside solutions from scratch, for some groups: how far the limit is from being unique.

    Attributes
    ----------
    groups : integer array, shape (k,)
        Which groups.
    margins, cold_margins : arrays, shape (k,)
        Least margin of a left-out sample: of the continuation, and of the solution from scratch.
    norms, cold_norms : arrays, shape (k,)
        ||theta||^2 of both.
    """

    plain_names = ("groups", "margins", "cold_margins", "norms", "cold_norms", "other", "spread", "disagree")

    groups: IntArray
    margins: FloatArray
    cold_margins: FloatArray
    norms: FloatArray
    cold_norms: FloatArray

    @property
    def other(self) -> float:
        """Share of groups whose solution from scratch is another point (||theta||^2 differs by more than 1e-6)."""
        return float((np.abs(self.cold_norms / self.norms - 1.0) > 1e-6).mean())

    @property
    def spread(self) -> float:
        """Root mean square difference of the margins."""
        return float(np.sqrt(((self.margins - self.cold_margins) ** 2).mean()))

    @property
    def disagree(self) -> float:
        """Share of groups on which the two say different things about the left-out sample."""
        return float(((self.margins > 0.0) != (self.cold_margins > 0.0)).mean())


@dataclass(frozen=True, eq=False)
class Influence(Plotted, Plain):
    """The exact KKT points without each group of samples; without groups every sample is its own.

    Attributes
    ----------
    groups : tuple of integer arrays
        The samples that were left out together.
    margins : array, shape (n,)
        y_i N(x_i) of the network that was trained without sample i's group; nan for samples in no group. Its sign is
        the exact leave-one-out (k-fold) verdict.
    norms : array, shape (g,)
        ||theta||^2 without the group.
    norm : float
        ||theta||^2 with all samples.
    expected : array, shape (g,)
        The drop of ||theta||^2 if the missing margins were linear in the multipliers: sum_i lambda_i (1 - m_i) over the
        group (hard margin), from the derivative d(||theta||^2 / 2)/d(margin_i) = lambda_i.
    multipliers : array, shape (n,)
        lambda of the point with all samples.
    residuals : array, shape (g,)
        The worst number of the certificate of each point, on the samples that it was trained on.
    jumped : boolean array, shape (g,)
        Whether the point is not the continuation of the limit: the drop of the objective is not the integral of the
        missing margin, or Newton's method lost the branch.
    ways : tuple of str, length g
        "unchanged" (a proof, nothing was computed), "continuation", "Newton" or "solved again".
    neurons : integer array, shape (g,)
        Neurons of each point; neurons that died or appeared are the difference to `base.width`.
    base : TwoLayer
        The network with all samples, with as few neurons as it has directions.
    clarke : array, shape (n, base.width)
        Its weights on the kinks.
    added : bool
        Whether samples were added (or their labels flipped) instead of left out.
    flipped : bool
        Whether labels were turned: each sample was left out and added with the other label.
    undone : int
        Groups that a time limit has left undone; they are not among `groups`.
    """

    plain_names = (
        "error", "margins", "norm", "norms", "expected", "multipliers", "residuals", "jumped", "ways", "neurons",
        "groups", "seconds",
    )  # fmt: skip

    groups: tuple[IntArray, ...]
    margins: FloatArray
    norms: FloatArray
    norm: float
    expected: FloatArray
    multipliers: FloatArray
    residuals: FloatArray
    jumped: BoolArray
    ways: tuple[Way, ...]
    neurons: IntArray
    base: TwoLayer
    clarke: FloatArray = field(repr=False)
    seconds: float
    networks: tuple[TwoLayer, ...] = field(repr=False)
    again: Callable[[int], TwoLayer] | None = field(default=None, repr=False)
    added: bool = False
    flipped: bool = False
    undone: int = 0

    @property
    def error(self) -> float:
        """Share of left-out samples that the network without them gets wrong (margin <= 0): exact, not estimated."""
        seen = self.margins[~np.isnan(self.margins)]
        return float((seen <= 0.0).mean())

    def rows(self, data: Dataset, groups: Sequence[int]) -> list[dict[str, object]]:
        """A row for each of these groups, the first with the values of their sample, so that images can be drawn."""
        rows: list[dict[str, object]] = []
        for number, g in enumerate(groups):
            index = self.groups[g]
            row: dict[str, object] = {
                "sample": " ".join(str(i) for i in index[:8]) + (" ..." if len(index) > 8 else ""),
                "label": " ".join(f"{label:+g}" for label in np.unique(data.y[index])),
                "margin": float(self.margins[index].min()),
                "multiplier": float(self.multipliers[index].sum()),
                "drop": float(self.drops[g]),
                "expected": float(self.expected[g]),
                "neurons": int(self.neurons[g]),
                "branch": "another" if self.jumped[g] else "unchanged" if self.ways[g] == "unchanged" else "the same",
                "residual": float(self.residuals[g]),
            }
            if len(index) == 1 and number < _WITH_VALUES:
                row["values"] = data.X[index[0]]
            rows.append(row)
        return rows

    @property
    def drops(self) -> FloatArray:
        """||theta||^2 with all samples minus without the group, shape (g,)."""
        return self.norm - self.norms

    def network(self, group: int) -> TwoLayer:
        """The network without group `group` (without sample i), at margin 1."""
        if not 0 <= group < len(self.networks):
            raise InputError(f"The index is {group}; 0 to {len(self.networks) - 1} is expected.")
        return self.networks[group]

    def cold(self, group: int) -> TwoLayer:
        """The network of a solution from scratch without group `group`: another branch, as a rule."""
        if self.again is None:
            raise InputError("Only points without samples can be solved from scratch; these samples were added.")
        self.network(group)
        return self.again(group)

    def branches(self, data: Dataset, groups: IntArray | None = None) -> Branches:
        """Solve some groups (all by default) from scratch as well, and compare."""
        chosen = np.arange(len(self.groups)) if groups is None else np.asarray(groups, dtype=np.int64)
        if chosen.size == 0:
            raise InputError("groups is empty; at least one group is expected.")
        colds = [self.cold(int(group)) for group in chosen]
        rows = [self.groups[int(group)] for group in chosen]
        return Branches(
            groups=chosen,
            margins=np.array([float(self.margins[index].min()) for index in rows]),
            cold_margins=np.array(
                [
                    float(network.margins(data.X[index], data.y[index]).min())
                    for network, index in zip(colds, rows, strict=True)
                ]
            ),
            norms=self.norms[chosen],
            cold_norms=np.array([network.norm_squared() for network in colds]),
        )

    def rank(self) -> IntArray:
        """Groups by what they did: the least margin of a left-out sample first, shape (g,)."""
        least = np.array([self.margins[group].min() for group in self.groups])
        return np.argsort(least, kind="stable")

    def changes(self, X: FloatArray) -> FloatArray:
        """Outputs at the rows of X without each group minus those with all samples, shape (g, len(X))."""
        points = matrix("X", X)
        before = self.base(points)
        return np.array([network(points) - before for network in self.networks])

    def __repr__(self) -> str:
        return shortened(f"Influence({self})")

    def __str__(self) -> str:
        return f"{self.sentence}; worst residual {self.residuals.max():.1e}; {self.seconds:.2f} s" + (
            f"; time was over before {self.undone} more" if self.undone else ""
        )

    @property
    def sentence(self) -> str:
        """What the samples did, in one sentence."""
        unchanged, count = self.ways.count("unchanged"), int(self.jumped.sum())
        jumped = f"{count} {'leads' if count == 1 else 'lead'} to a point elsewhere"
        what = "samples" if all(len(group) == 1 for group in self.groups) else "groups"
        if self.flipped:
            return (
                f"{len(self.groups)} labels flipped one at a time: {jumped}; ||theta||^2 grows "
                f"by {-float(np.median(self.drops)):.4g} (median)"
            )
        if self.added:
            return (
                f"{len(self.groups)} samples added one at a time: {unchanged} change nothing, {jumped}; "
                f"the limit gets {self.error:.4g} of them wrong"
            )
        return (
            f"Exact leave-out error {100 * self.error:.3g} %: this share of the samples is wrong for the network that "
            f"never saw them. Of {len(self.groups)} {what} {unchanged} change nothing when they are left out"
        ) + (f", {jumped}" if count else "")
