r"""Clusters, four classifiers: their test error, and the multiple of z = sum_q y^(q) mu^(q) that flips fresh points."""

import math
from typing import Annotated, Literal

import msgspec
import numpy as np

from marginflow.arrays import FloatArray
from marginflow.data import Clusters, Dataset
from marginflow.generalisation import test_error
from marginflow.limit import kkt_point
from marginflow.measurements import flip
from marginflow.measurements.directions import mean_direction
from marginflow.networks import TwoLayer
from marginflow.robustness.constructions import one_neuron_per_cluster
from marginflow.robustness.linear import max_margin_classifier
from marginflow.sweeps import task
from marginflow.sweeps.status import status_of

Classifier = Literal["KKT network", "robust network", "linear", "1-NN"]
CLASSIFIERS: tuple[Classifier, ...] = ("KKT network", "robust network", "linear", "1-NN")
# The flip is the size that flips this share of the fresh points.
SHARE = 0.95


class ClusterRun(msgspec.Struct, frozen=True, kw_only=True):
    """k clusters, orthogonal means of norm sqrt(d), noise sigma per coordinate (None: 1/sqrt(d)), one classifier."""

    classifier: Classifier
    dimension: Annotated[int, msgspec.Meta(ge=2)] = 400
    clusters: Annotated[int, msgspec.Meta(ge=2)] = 10
    sigma: float | None = None
    per_cluster: Annotated[int, msgspec.Meta(ge=1)] = 4
    width: Annotated[int, msgspec.Meta(ge=2)] = 50
    test_points: Annotated[int, msgspec.Meta(ge=1)] = 500

    @property
    def operations(self) -> float:
        """Distances or outputs of the test points, and n^2 k for a KKT point."""
        n = self.per_cluster * self.clusters
        solve = float(n) ** 2 * self.width * 1000.0 if self.classifier == "KKT network" else 1e7
        return solve + 40.0 * self.test_points * self.dimension * n

    @property
    def cost_kind(self) -> str:
        """Which cells have the same cost for an operation."""
        return self.classifier


@task("fvbs23-clusters")
def cluster_run(parameters: ClusterRun, seed: int) -> dict[str, object]:
    """Make the classifier, count its errors on fresh points, and flip them along z, exactly."""
    law = Clusters(
        dimension=parameters.dimension,
        n_clusters=parameters.clusters,
        sigma="1/sqrt(d)" if parameters.sigma is None else parameters.sigma,
        allocation="stratified",
    )
    data = law.sample(parameters.per_cluster * parameters.clusters, seed=seed)
    fresh = law.fresh(parameters.test_points, train=data, seed=seed)
    z = mean_direction(data)
    exact, status = None, "closed form"
    if parameters.classifier == "linear":
        line = max_margin_classifier(data.X, data.y)
        error = test_error(line, fresh.X, fresh.y)
        steps = np.maximum(fresh.y * line(fresh.X), 0.0) / float(line.w @ z)
    elif parameters.classifier == "1-NN":
        steps = nearest_neighbour_steps(data, fresh, z)
        error = test_error(lambda X: _nearest_label(data, np.asarray(X)), fresh.X, fresh.y)
    else:
        network: TwoLayer
        if parameters.classifier == "KKT network":
            limit = kkt_point(data, width=parameters.width, seed=seed)
            network, exact, status = limit.compact, limit.exact, status_of(limit)
        else:
            assert data.means is not None
            assert data.mean_labels is not None
            network = one_neuron_per_cluster(data.means, data.mean_labels).network
        error = test_error(network, fresh.X, fresh.y)
        steps = flip(network, fresh, z).steps.first
    size = float(np.quantile(steps, SHARE, method="higher")) * float(np.linalg.norm(z))
    return {
        "run_status": status,
        "error": error.value,
        "error_upper": error.upper,
        "flip": size,
        "flip_over_root_d": size / math.sqrt(parameters.dimension),
        "exact": exact,
    }


def _nearest_label(data: Dataset, X: FloatArray) -> FloatArray:
    """The label of the nearest sample, shape (n,)."""
    closeness = X @ data.X.T - 0.5 * (data.X**2).sum(axis=1)
    label: FloatArray = data.y[np.argmax(closeness, axis=1)]
    return label


def nearest_neighbour_steps(data: Dataset, points: Dataset, z: FloatArray) -> FloatArray:
    r"""The first t >= 0 at which the nearest sample of x_i - y_i t z has the other label; infinity if there is none.

    A sample o of the other label is nearest when <x(t), o - s> >= (||o||^2 - ||s||^2) / 2 for every sample s of the
    own label. Each condition is linear in t, so o is nearer on an interval, and the first flip is the least left end.

    Examples
    --------
    >>> from marginflow.data import Dataset
    >>> from marginflow.experiments.fvbs23.classifiers import nearest_neighbour_steps
    >>> pair = Dataset(X=[[1.0], [-1.0]], y=[1, -1])
    >>> nearest_neighbour_steps(pair, pair, [1.0]).tolist()
    [1.0, 1.0]
    """
    direction = np.asarray(z, dtype=np.float64)
    half = 0.5 * (data.X**2).sum(axis=1)
    along = data.X @ direction
    first = np.full(points.n_samples, np.inf)
    for index, (x, y) in enumerate(zip(points.X, points.y, strict=True)):
        own, other = data.y == y, data.y != y
        here = data.X @ x - half
        level = here[other][:, None] - here[own][None, :]  # o is nearer than s where level + t slope >= 0
        slope = -y * (along[other][:, None] - along[own][None, :])
        with np.errstate(divide="ignore", invalid="ignore"):
            crossing = -level / slope
        low = np.where(slope > 0, crossing, np.where((slope == 0) & (level < 0), np.inf, 0.0)).max(axis=1)
        high = np.where(slope < 0, crossing, np.inf).min(axis=1)
        low = np.maximum(low, 0.0)
        possible = low <= high
        if possible.any():
            first[index] = low[possible].min()
    return first
