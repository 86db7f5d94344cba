"""The double edge in the demo: KKT points against robust networks on the same points, for more and more clusters."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from marginflow.data import Clusters, Dataset, smallest_dimension
from marginflow.limit import kkt_point
from marginflow.measurements import CheckedRadius, checked_radii, summarise_radii
from marginflow.networks import TwoLayer
from marginflow.report import Chart, Section, Table, lines, text_of
from marginflow.robustness import RaySteps, mean_sum, minimal_step, one_neuron_per_cluster

# Clusters, samples of each, width of the network that is polished, fresh points, and those of them with exact radii.
CLUSTERS: tuple[int, ...] = (4, 9, 16, 25, 36)
PER_CLUSTER, WIDTH, N_FRESH, N_RADII = 4, 40, 300, 12
TOLERANCE = 1e-6
NAMES = ("KKT point", "Robust")

Row = dict[str, object]


@dataclass(frozen=True, eq=False, kw_only=True)
class Side:
    """One network: its errors and its flips on fresh points, and the exact radii of some of them."""

    name: str
    errors: int
    radii: tuple[CheckedRadius, ...]
    flips: RaySteps

    @property
    def median(self) -> float:
        """Median radius: the upper end of its bounds, which is a distance that was walked."""
        return summarise_radii(self.radii).median[1]


@dataclass(frozen=True, eq=False, kw_only=True)
class Edge:
    """Both networks on one draw of k clusters in dimension d; whether the first is a certified KKT point."""

    k: int
    dimension: int
    certified: bool
    sides: tuple[Side, Side]


def double_edge(seed: int, show: Callable[[float, str], None]) -> tuple[Edge, ...]:
    """For each number of clusters: draw, find the KKT point, construct the robust network, measure both."""
    found = []
    for place, k in enumerate(CLUSTERS):
        show(place / len(CLUSTERS), f"{k} clusters")
        found.append(_edge(k, seed))
    return tuple(found)


def _edge(k: int, seed: int) -> Edge:
    law = Clusters(dimension=smallest_dimension(k), n_clusters=k, allocation="stratified")
    data = law.sample(PER_CLUSTER * k, seed=seed)
    if data.means is None or data.mean_labels is None:
        raise TypeError("clusters know their means")
    limit = kkt_point(data, width=WIDTH, seed=seed)
    if limit.stopped_by == "interrupt":
        raise KeyboardInterrupt
    robust = one_neuron_per_cluster(data.means, data.mean_labels).network
    fresh = law.fresh(N_FRESH, train=data, seed=seed)
    direction = mean_sum(data.means, data.mean_labels)
    return Edge(
        k=k,
        dimension=law.dimension,
        certified=limit.certificate.holds(),
        sides=(_side(NAMES[0], limit.compact, fresh, direction), _side(NAMES[1], robust, fresh, direction)),
    )


def _side(name: str, network: TwoLayer, fresh: Dataset, direction: np.ndarray) -> Side:
    radii = checked_radii(network, fresh, range(N_RADII), tolerance=TOLERANCE, time_limit=2.0)
    return Side(
        name=name,
        errors=int((network.margins(fresh.X, fresh.y) <= 0).sum()),
        radii=tuple(radii),
        flips=minimal_step(network, fresh.X, fresh.y, direction),
    )


def edge_section(edges: Sequence[Edge]) -> Section:
    """What the page says about it."""
    last = edges[-1]
    root = math.sqrt(last.dimension)
    thin, robust = last.sides
    settled = sum(one.settled for edge in edges for side in edge.sides for one in side.radii)
    asked = sum(len(side.radii) for edge in edges for side in edge.sides)
    certified = sum(edge.certified for edge in edges)
    off = max(abs(relative(edge, 0) * math.sqrt(edge.k) - 1.0) for edge in edges)
    return Section(
        heading="The double edge: more clusters, less room",
        paragraphs=(
            f"A robust network for the same data exists: one neuron per cluster. With {last.k} clusters in dimension "
            f"{last.dimension} the median distance of fresh points to its decision boundary is "
            f"{text_of(robust.median / root)} √d, and to that of the KKT point {text_of(thin.median / root)} √d, "
            f"although they get {N_FRESH - robust.errors} and {N_FRESH - thin.errors} of {N_FRESH} fresh points right. "
            f"With {edges[0].k} clusters the two distances are {text_of(relative(edges[0], 1))} √d and "
            f"{text_of(relative(edges[0], 0))} √d: the theorem bites when there are many clusters. For "
            f"the KKT points the distance is √(d/k) up to {100 * off:.2g} % throughout.",
            f"{settled} of {asked} distances are proved from both sides to a relative {TOLERANCE:.0e}, and every proof "
            f"was checked; {certified} of {len(edges)} KKT points are certified.",
        ),
        content=(_radius_chart(edges), _flip_chart(last), _table(edges)),
    )


def relative(edge: Edge, side: int) -> float:
    """The median radius of one of the two networks, in units of sqrt(d)."""
    return edge.sides[side].median / math.sqrt(edge.dimension)


def _radius_chart(edges: Sequence[Edge]) -> Chart:
    rows: list[Row] = [
        {"k": edge.k, "radius": value, "network": name}
        for edge in edges
        for name, value in ((NAMES[0], relative(edge, 0)), (NAMES[1], relative(edge, 1)))
    ]
    return lines(
        rows,
        x="k",
        y="radius",
        series="network",
        titles={"k": "Clusters k", "radius": "Median exact radius / √d", "network": "Network"},
        title="Exact distance to the decision boundary",
        description=(
            "Median distance of fresh points to the decision boundary, in units of √d, against the number of clusters."
        ),
    )


def _flip_chart(edge: Edge) -> Chart:
    root = math.sqrt(edge.dimension)
    norm = float(edge.sides[0].flips.norms[0])
    ends = [side.flips.step_for_share(1.0) for side in edge.sides]
    longest = 1.1 * max([end for end in ends if math.isfinite(end)], default=root / norm)
    steps = np.linspace(0.0, longest, 121)
    rows: list[Row] = [
        {"size": float(t) * norm / root, "share": float(share), "network": side.name}
        for side in edge.sides
        for t, share in zip(steps, side.flips.flipped_share(steps), strict=True)
    ]
    return lines(
        rows,
        x="size",
        y="share",
        series="network",
        titles={"size": "Norm of the one vector / √d", "share": "Share of fresh points flipped", "network": "Network"},
        title=f"One vector for all points, {edge.k} clusters",
        description=(
            "Share of fresh points flipped by one multiple of z = Σ yᵠμᵠ, subtracted from the positive and added to "
            "the negative points, against its norm in units of √d."
        ),
    )


def _table(edges: Sequence[Edge]) -> Table:
    def values(edge: Edge, place: int) -> tuple[object, ...]:
        side, root = edge.sides[place], math.sqrt(edge.dimension)
        sizes = summarise_radii(side.radii)
        least, most = sizes.smallest[0], sizes.largest[1]
        return (
            edge.k,
            edge.dimension,
            side.name,
            least / root,
            side.median / root,
            most / root,
            side.flips.size_for_share(1.0) / root,
            side.errors,
        )

    return Table(
        columns=(
            "Clusters",
            "d",
            "Network",
            "Smallest",
            "Median",
            "Largest",
            "Flips all",
            f"Wrong of {N_FRESH}",
        ),
        rows=tuple(values(edge, place) for edge in edges for place in (0, 1)),
        caption="The same fresh points: exact radii, and the norm of the multiple of z that flips all, in units of √d",
    )
