"""How a certificate depends on the tolerance at which kinks are recognised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from marginflow.certificates.kkt import certify
from marginflow.data import Dataset
from marginflow.networks import TwoLayer

TOLERANCES = (0.0, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-3, 1e-2)


@dataclass(frozen=True, kw_only=True)
class KinkLevel:
    """The certificate at one tolerance, in a few numbers."""

    tolerance: float
    kinks: int
    stationarity: float
    complementarity: float
    total: float
    total_lower_bound: float
    relied_on: float


def kink_study(
    network: TwoLayer, data: Dataset, tolerances: Sequence[float] = TOLERANCES, *, penalty: float | None = None
) -> tuple[KinkLevel, ...]:
    """Certify at several kink tolerances.

    The total never rises with the tolerance, for more Clarke weights are free; a KKT point known to accuracy a drops
    from 0.2-0.5 to about a as soon as the tolerance exceeds a, and stays there until pairs that are not on a kink join.

    Parameters
    ----------
    network : TwoLayer
    data : Dataset
    tolerances : sequence of float
        Relative, as in `recognise`.
    penalty : float or None
        Of a soft margin.

    Returns
    -------
    tuple of KinkLevel
    """
    levels = []
    for tolerance in tolerances:
        certificate = certify(network, data, penalty=penalty, kink_tolerance=tolerance)
        levels.append(
            KinkLevel(
                tolerance=float(tolerance),
                kinks=certificate.kink_report.count,
                stationarity=certificate.stationarity,
                complementarity=certificate.complementarity,
                total=certificate.total,
                total_lower_bound=certificate.total_lower_bound,
                relied_on=certificate.kink_report.relied_on,
            )
        )
    return tuple(levels)
