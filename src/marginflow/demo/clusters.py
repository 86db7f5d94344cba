"""Picture 3: KKT points against robust networks on the same points, for more and more clusters."""

import math
from typing import Final

from marginflow.data import Clusters, Dataset, smallest_dimension
from marginflow.demo.chapter import Chapter, Report
from marginflow.limit import kkt_point
from marginflow.measurements import checked_radii, flip, named_direction, summarise_radii
from marginflow.networks import TwoLayer
from marginflow.networks.evaluation import count_wrong
from marginflow.plain import to_plain
from marginflow.robustness.constructions import one_neuron_per_cluster

# Clusters; then samples of each, width of the network that is polished, fresh points, and those with exact radii.
CLUSTERS: Final = (4, 9, 16, 25, 36)
PER_CLUSTER, WIDTH, N_FRESH, N_RADII, TIME_LIMIT = 4, 40, 300, 12, 2.0


def clusters(seed: int, show: Report) -> Chapter:
    """For each number of clusters: draw, find the KKT point, construct the robust network, measure both."""
    rows: list[dict[str, object]] = []
    for index, k in enumerate(CLUSTERS):
        show(index / len(CLUSTERS), f"{k} clusters")
        rows.append(_compare(k, seed))
    first, last = rows[0], rows[-1]
    record = {"rows": rows, "fresh": N_FRESH, "with_radius": N_RADII, "per_cluster": PER_CLUSTER}
    return Chapter(
        name="clusters",
        record=to_plain(record),
        sentence=(
            f"Clusters: with {first['k']} of them the KKT point leaves {first['kkt']:.3g} sqrt(d) of room, with "
            f"{last['k']} only {last['kkt']:.3g} sqrt(d), where a robust network leaves {last['robust']:.3g}."
        ),
        holds=all(bool(row["certified"]) for row in rows),
    )


def _compare(k: int, seed: int) -> dict[str, object]:
    law = Clusters(dimension=smallest_dimension(k), n_clusters=k, allocation="stratified")
    data = law.sample(PER_CLUSTER * k, seed=seed)
    assert data.means is not None
    assert data.mean_labels is not None
    limit = kkt_point(data, width=WIDTH, seed=seed)
    if limit.stopped_by == "interrupt":
        raise KeyboardInterrupt
    fresh = law.fresh(N_FRESH, train=data, seed=seed)
    robust = one_neuron_per_cluster(data.means, data.mean_labels).network
    z = named_direction(limit.compact, data, "means", limit.certificate)
    row: dict[str, object] = {"k": k, "d": law.dimension, "certified": limit.certificate.holds()}
    for name, network in (("kkt", limit.compact), ("robust", robust)):
        row |= _side(name, network, fresh, math.sqrt(law.dimension))
        row[f"{name}_flips_all"] = flip(network, fresh, z).all / math.sqrt(law.dimension)
    return row


def _side(name: str, network: TwoLayer, fresh: Dataset, root: float) -> dict[str, object]:
    """Median exact radius by sqrt(d), how many are proved, and how many fresh points are wrong."""
    summary = summarise_radii(checked_radii(network, fresh, range(N_RADII), time_limit=TIME_LIMIT))
    return {
        name: summary.median[1] / root,
        f"{name}_smallest": summary.smallest[0] / root,
        f"{name}_largest": summary.largest[1] / root,
        f"{name}_settled": summary.settled,
        f"{name}_wrong": count_wrong(network.margins(fresh.X, fresh.y)),
    }
