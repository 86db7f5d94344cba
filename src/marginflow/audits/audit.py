"""`audit`: where a network stands, from its weights and its data alone."""

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from marginflow.arrays import real_number
from marginflow.audits.drawn import drawn_samples
from marginflow.audits.findings import Audit
from marginflow.audits.statements import judge_statements
from marginflow.certificates import DEFAULT_TOLERANCE, Certificate, certify, training_floor
from marginflow.certificates.sizes import check_sizes
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.limit import Limit, kkt_point
from marginflow.measurements import Flip, checked_radii, flip, named_directions
from marginflow.networks import TwoLayer
from marginflow.networks.evaluation import count_wrong
from marginflow.robustness import universal_perturbation
from marginflow.theory import Instance

Report = Callable[[float, str], None]


def audit(
    network: TwoLayer,
    data: Dataset,
    *,
    start: TwoLayer | None = None,
    points: int | None = None,
    time_limit: float = 5.0,
    point_time_limit: float = 30.0,
    tolerance: float = DEFAULT_TOLERANCE,
    seed: int = 0,
    progress: Report | None = None,
) -> Audit:
    r"""Say of a trained network whether it is near a KKT point, what flips it, and which theorems speak of it.

    Parameters
    ----------
    network : TwoLayer
        From anywhere; `marginflow.interop.files.load_network` reads torch and ONNX files.
    data : Dataset
        What it was trained on, both labels.
    start : TwoLayer or None
        The network that training started from; adds the residual that training cannot get below.
    points : int or None
        Number of samples, drawn by `seed`, whose exact radius is proved; 0 for none. By default 100, or 10 where the
        first layer has more than 20,000 weights, or all if they are fewer.
    time_limit : float
        Seconds for each of them, after which the bounds reached so far are reported instead.
    point_time_limit : float
        Seconds for the search of an exact KKT point near the network, and as many for the shortest vector that flips
        all samples; then the best so far is reported.
    tolerance : float
        Of the residuals of a KKT point.
    seed : int
        Of the draw of the samples and of the random starts of the universal perturbation.
    progress : callable or None
        Called with (share done, what is being done).

    Returns
    -------
    Audit

    Examples
    --------
    >>> import numpy as np
    >>> from marginflow.audits import audit
    >>> from marginflow.data import Dataset
    >>> from marginflow.networks import TwoLayer
    >>> data = Dataset(X=[[1.0, 0.0], [0.0, 1.0]], y=[1, -1])
    >>> found = audit(TwoLayer(W=np.eye(2), v=[1.0, -1.0]), data)
    >>> found.is_kkt_point, round(found.universal.upper, 6)
    (True, 0.707107)
    """
    began = time.monotonic()
    time_limit = real_number("time_limit", time_limit, above=0.0)
    point_time_limit = real_number("point_time_limit", point_time_limit, above=0.0)
    tolerance = real_number("tolerance", tolerance, above=0.0)
    chosen = drawn_samples(points, n_weights=network.W.size, n_samples=data.n_samples, seed=seed)
    show = progress if progress is not None else silent
    data.require_two_classes()
    check_sizes(network, data.X)
    show(0.0, "certificate")
    certificate = certify(network, data, start=start)
    show(0.1, "the KKT point nearby")
    point = _nearby(network, data, certificate, point_time_limit)
    show(0.3, "directions")
    flips = _flips(network, data, certificate)
    universal = universal_perturbation(
        network,
        data.X,
        data.y,
        directions=[known.vector for known in flips],
        seed=seed,
        n_random=2,
        time_limit=point_time_limit,
    )
    shortest = None
    if universal.vector is not None and universal.vector.any():  # it is zero where all samples are wrong already
        shortest = flip(network, data, universal.vector, name="shortest vector found")
    show(0.5, "radii")
    radii = checked_radii(
        network,
        data,
        chosen,
        time_limit=time_limit,
        progress=lambda done, total: show(0.5 + 0.4 * done / total, f"{done} of {total} radii"),
    )
    show(0.9, "statements")
    instance = Instance(
        name="the audited network",
        network=network,
        data=data,
        start=start,
        seed=seed,
    ).certified(certificate)
    judged = judge_statements(instance, progress=lambda share, remark: show(0.9 + 0.1 * share, remark))
    return Audit(
        network=network,
        data=data,
        wrong=count_wrong(network.margins(data.X, data.y)),
        certificate=certificate,
        outside=training_floor(network, network, data),
        outside_changed=None if start is None else _outside_changed(start, network, data),
        point=point,
        flips=flips,
        universal=universal,
        shortest=shortest,
        radii=tuple(radii),
        statements=judged,
        tolerance=tolerance,
        seconds=time.monotonic() - began,
    )


def silent(_share: float, _remark: str) -> None:
    """Progress that nobody watches."""


def _nearby(network: TwoLayer, data: Dataset, certificate: Certificate, seconds: float) -> Limit | None:
    """The exact KKT point that the polish reaches from the network itself, without any flow in between."""
    if certificate.status == "does not separate":
        return None
    try:
        return kkt_point(data, start=network, flow_steps=0, time_limit=seconds)
    except InputError:  # identical samples with opposite labels, neurons of one sign only: there is no way from here
        return None


def _outside_changed(start: TwoLayer, network: TwoLayer, data: Dataset) -> float | None:
    """How far the part of W orthogonal to the samples moved, relative to what it was; see `training_floor`."""
    before = training_floor(start, start, data) * float(np.sqrt(start.norm_squared()))
    difference = replace(network, W=network.W - start.W)
    moved = training_floor(difference, network, data) * float(np.sqrt(network.norm_squared()))
    size = float(np.linalg.norm(start.W))
    return moved / before if before > 1e-12 * size else None


def _flips(network: TwoLayer, data: Dataset, certificate: Certificate) -> tuple[Flip, ...]:
    """The directions of the papers, as far as these data have them, the one that flips all by the least norm first."""
    names: tuple[str, ...] = ("label-sum", "means")
    if certificate.status != "does not separate":
        names = ("label-sum", "margin", "dual", "means")
    directions = named_directions(network, data, certificate, names)
    found = [flip(network, data, vector, name=name) for name, vector in directions.items()]
    return tuple(sorted(found, key=lambda known: (known.all, known.norm_for(0.9), known.norm_for(0.5))))
