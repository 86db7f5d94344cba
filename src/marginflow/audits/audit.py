"""`audit`: where a network stands, from its weights and its data alone."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from marginflow.arrays import FloatArray, real_number, whole_number
from marginflow.audits.findings import Audit, Flip, Judged, ProvedRadius
from marginflow.certificates import DEFAULT_TOLERANCE, Certificate, certify, training_floor
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.limit import Limit, kkt_point
from marginflow.networks import TwoLayer
from marginflow.robustness import (
    check_certificate,
    dual_sum,
    exact_radii,
    label_sum,
    margin_samples,
    mean_sum,
    minimal_step,
    universal_perturbation,
)
from marginflow.theory import Instance, statements

Report = Callable[[float, str], None]
_RADIUS_RTOL = 1e-6


def audit(
    network: TwoLayer,
    data: Dataset,
    *,
    initial: TwoLayer | None = None,
    points: int = 10,
    seconds_per_point: float = 5.0,
    point_seconds: float = 30.0,
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
    initial : TwoLayer or None
        The network that training started from; adds the residual that training cannot get below.
    points : int
        Number of samples, drawn by `seed`, whose exact radius is proved; 0 for none.
    seconds_per_point : float
        After which the bounds reached so far are reported instead.
    point_seconds : float
        Time for the search of an exact KKT point near the network.
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
    points = min(whole_number("points", points, minimum=0), data.n_samples)
    seconds_per_point = real_number("seconds_per_point", seconds_per_point, above=0.0)
    point_seconds = real_number("point_seconds", point_seconds, above=0.0)
    tolerance = real_number("tolerance", tolerance, above=0.0)
    rng = np.random.default_rng(whole_number("seed", seed, minimum=0))
    show = progress if progress is not None else _silent
    data.require_two_classes()
    show(0.0, "certificate")
    certificate = certify(network, data, initial=initial)
    show(0.1, "the KKT point nearby")
    point = _nearby(network, data, certificate, point_seconds)
    show(0.3, "directions")
    flips = _flips(network, data, certificate)
    universal = universal_perturbation(
        network, data.X, data.y, directions=[flip.vector for flip in flips], seed=seed, n_random=2
    )
    show(0.5, "radii")
    chosen = np.sort(rng.choice(data.n_samples, size=points, replace=False))
    radii = tuple(
        _radius(network, data, int(sample), seconds_per_point, _within(show, 0.5, 0.9, place / points))
        for place, sample in enumerate(chosen)
    )
    show(0.9, "statements")
    judged = _statements(network, data, initial, certificate, seed)
    return Audit(
        network=network,
        data=data,
        wrong=int((network.margins(data.X, data.y) <= 0).sum()),
        certificate=certificate,
        outside=training_floor(network, network, data),
        outside_changed=None if initial is None else _outside_changed(initial, network, data),
        point=point,
        flips=flips,
        universal=universal,
        radii=radii,
        statements=judged,
        tolerance=tolerance,
        seconds=time.monotonic() - began,
    )


def _silent(_share: float, _remark: str) -> None:
    pass


def _within(show: Report, low: float, high: float, share: float) -> Callable[[], None]:
    return lambda: show(low + (high - low) * share, "radii")


def _nearby(network: TwoLayer, data: Dataset, certificate: Certificate, seconds: float) -> Limit | None:
    """The exact KKT point that the polish reaches from the network itself, without any flow in between."""
    if certificate.status == "does not separate":
        return None
    try:
        return kkt_point(data, start=network, flow_steps=0, time_limit=seconds)
    except InputError:  # identical samples with opposite labels, neurons of one sign only: there is no way from here
        return None


def _outside_changed(initial: TwoLayer, network: TwoLayer, data: Dataset) -> float | None:
    """How far the part of W orthogonal to the samples moved, relative to what it was; see `training_floor`."""
    before = training_floor(initial, initial, data) * float(np.sqrt(initial.norm_squared()))
    difference = replace(network, W=network.W - initial.W)
    moved = training_floor(difference, network, data) * float(np.sqrt(network.norm_squared()))
    size = float(np.linalg.norm(initial.W))
    return moved / before if before > 1e-12 * size else None


def _flips(network: TwoLayer, data: Dataset, certificate: Certificate) -> tuple[Flip, ...]:
    """The directions of the papers, as far as these data have them."""
    X, y = data.X, data.y
    directions: dict[str, FloatArray] = {"sum of y x over all samples": label_sum(X, y)}
    if certificate.status != "does not separate":
        directions["sum of y x over the samples on the margin"] = label_sum(X, y, margin_samples(network, X, y))
        directions["sum of y x weighted by the multipliers"] = dual_sum(X, y, certificate.multipliers)
    if data.means is not None and data.mean_labels is not None:
        directions["sum of the cluster means by their labels"] = mean_sum(data.means, data.mean_labels)
    found = []
    for name, vector in directions.items():
        if not np.linalg.norm(vector) > 0:
            continue
        steps = minimal_step(network, X, y, vector)
        half, nine_tenths, every = (steps.size_for_share(share) for share in (0.5, 0.9, 1.0))
        found.append(Flip(name=name, vector=vector, half=half, nine_tenths=nine_tenths, all=every))
    return tuple(sorted(found, key=lambda flip: (flip.all, flip.nine_tenths, flip.half)))


def _radius(network: TwoLayer, data: Dataset, sample: int, seconds: float, tell: Callable[[], None]) -> ProvedRadius:
    """The radius of one sample; only what the checker of its certificate confirms is reported."""
    tell()
    (radius,) = exact_radii(
        network,
        data.X[[sample]],
        y=data.y[[sample]],
        rtol=_RADIUS_RTOL,
        time_limit=seconds,
        certificate=True,
    )
    assert radius.certificate is not None
    judgement = check_certificate(radius.certificate, network)
    status: str = radius.status
    if not judgement.holds:
        status = "unconfirmed"
    elif status == "proved" and judgement.upper - judgement.lower > _RADIUS_RTOL * judgement.upper:
        status = "bounded"
    return ProvedRadius(
        sample=sample,
        label=float(data.y[sample]),
        lower=judgement.lower,
        upper=judgement.upper,
        status=status,
        seconds=radius.seconds,
    )


def _statements(
    network: TwoLayer, data: Dataset, initial: TwoLayer | None, certificate: Certificate, seed: int
) -> tuple[Judged, ...]:
    """Every statement for which a network and its data (and its start, if given) are enough."""
    held = {"network", "data"} | ({"initial"} if initial is not None else set())
    instance = Instance(
        name="the audited network",
        network=network,
        data=data,
        initial=initial,
        multipliers=None if certificate.status == "does not separate" else (certificate.multipliers, certificate.mu),
        seed=seed,
    )
    judged = []
    for statement in statements():
        if not set(statement.needs) <= held:
            continue
        try:
            verdict = statement.judge_instance(instance)
            outcome, reason = str(verdict.outcome), verdict.reason
        except InputError as error:  # the statement speaks of other data, such as samples of one law only
            outcome, reason = "not applicable", str(error)
        judged.append(
            Judged(id=statement.id, kind=statement.kind, meaning=statement.meaning, outcome=outcome, reason=reason)
        )
    return tuple(judged)
