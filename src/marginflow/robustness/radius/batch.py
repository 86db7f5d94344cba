r"""Radii of many points: the network is reduced once, points are shared among processes and returned one by one."""

from collections.abc import Callable, Generator, Sequence
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np
from numpy.typing import ArrayLike
from safetensors.numpy import load, save

from marginflow.arrays import FloatArray, matrix, whole_number
from marginflow.networks import Classifier, TwoLayer
from marginflow.networks.evaluation import checked_points
from marginflow.processes import work
from marginflow.robustness.radius.exact import radius_of
from marginflow.robustness.radius.options import RadiusOptions, checked_labels, checked_options
from marginflow.robustness.radius.result import Radius
from marginflow.threads import one_thread


def exact_radii(
    network: TwoLayer | Classifier,
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    level: float = 0.0,
    tolerance: float = 1e-6,
    time_limit: float = 60.0,
    max_nodes: int | None = None,
    certificate: bool = False,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> list[Radius]:
    """`exact_radius` for every row of X.

    Parameters
    ----------
    network : TwoLayer
        With or without biases.
    X : array, shape (n, d)
        Points as rows.
    y : array, shape (n,), or None
        Labels; None for the signs of N(x_i). Of a classifier the classes, None for the predicted ones.
    level, tolerance, max_nodes : float, float, int or None
        As in `exact_radius`.
    time_limit : float
        Seconds for each point.
    certificate : bool
        Whether to keep the proofs; the judge sees them in any case.
    workers : int
        Number of processes; each uses one BLAS thread and ends with the process that started it.
    progress : callable or None
        Called with (points done, points in all) after every point, in the calling process.

    Returns
    -------
    list of Radius
        In the order of the rows.

    Examples
    --------
    >>> from marginflow.networks import TwoLayer
    >>> from marginflow.robustness.radius import exact_radii
    >>> net = TwoLayer(W=[[1.0, 0.0], [0.0, 1.0]], v=[1.0, -1.0])
    >>> [round(radius.upper, 6) for radius in exact_radii(net, [[3.0, 1.0], [2.0, 2.5]])]
    [1.414214, 0.353553]
    """
    radii: dict[int, Radius] = {}
    n = matrix("X", X).shape[0]
    for index, radius in each_radius(
        network,
        X,
        y,
        level=level,
        tolerance=tolerance,
        time_limit=time_limit,
        max_nodes=max_nodes,
        certificate=certificate,
        workers=workers,
    ):
        radii[index] = radius
        if progress is not None:
            progress(len(radii), n)
    return [radii[index] for index in range(n)]


def each_radius(
    network: TwoLayer | Classifier,
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    level: float = 0.0,
    tolerance: float = 1e-6,
    time_limit: float = 60.0,
    max_nodes: int | None = None,
    certificate: bool = False,
    workers: int = 1,
) -> Generator[tuple[int, Radius], None, None]:
    """Pairs (row, radius) as soon as they are known, in any order: whoever stops early keeps what there is."""
    points = checked_points(X, network.dimension)
    n = points.shape[0]
    options = checked_options(
        level=level, tolerance=tolerance, time_limit=time_limit, max_nodes=max_nodes, certificate=certificate
    )
    signs = checked_labels(network, y, n, "y", options.level)
    workers = min(whole_number("workers", workers), n)
    if workers > 1:
        payloads = _Payloads(network, points, signs, options)
        for answer in work("marginflow.robustness.radius.batch:radius_of_payload", payloads, workers=workers):
            if answer.content is None:
                raise RuntimeError(f"The radius of row {answer.index} was lost. {answer.reason}")
            yield answer.index, Radius.from_plain(msgspec.msgpack.decode(answer.content))
        return
    for index, (x, label) in enumerate(zip(points, signs, strict=True)):
        with one_thread():
            radius = radius_of(network, x, label, options)
        yield index, radius


class _Payloads(Sequence[bytes]):
    """What a worker is handed, made when it is asked for: the network, one point and what is wanted."""

    def __init__(
        self, network: TwoLayer | Classifier, points: FloatArray, signs: list[float | None], options: RadiusOptions
    ) -> None:
        arrays = {name: getattr(network, name) for name in ("W", "b", "v", "V", "c") if hasattr(network, name)}
        self._network = save({name: array for name, array in arrays.items() if array is not None})
        self._points, self._signs, self._options = points, signs, options

    def __len__(self) -> int:
        return len(self._signs)

    def __getitem__(self, index: Any) -> Any:
        return msgspec.msgpack.encode((self._network, self._points[index].tobytes(), self._signs[index], self._options))


def radius_of_payload(payload: bytes) -> bytes:
    """One point in a worker process."""
    encoded, point, label, options = msgspec.msgpack.decode(payload)
    network = _decoded(encoded)
    with one_thread():
        radius = radius_of(network, np.frombuffer(point), label, RadiusOptions(**options))
    return msgspec.msgpack.encode(radius.to_dict())


@lru_cache(maxsize=1)
def _decoded(encoded: bytes) -> TwoLayer | Classifier:
    given: dict[str, Any] = load(encoded)
    return Classifier(**given) if "V" in given else TwoLayer(**given)
