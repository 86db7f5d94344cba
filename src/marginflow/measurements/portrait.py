"""A network on its data at a glance: certificate, what flips all samples, radii beside attacks and bounds."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from marginflow.certificates import DEFAULT_TOLERANCE, Certificate, certify
from marginflow.data import Dataset
from marginflow.display import Brief
from marginflow.measurements.directions import Flip, flip, named_directions
from marginflow.measurements.radii import CheckedRadius, checked_radii, summarise_radii
from marginflow.networks import TwoLayer
from marginflow.robustness.attacks import ddn, fgm
from marginflow.robustness.curves import RobustnessCurve, curves_of, curves_of_radii
from marginflow.robustness.lower_bounds import chord_bound, local_lipschitz_bound

# So many samples get an exact radius, attacks and lower bounds; seconds and tolerance are for each radius.
POINTS: Final = 10
TIME_LIMIT: Final = 2.0
TOLERANCE: Final = 1e-6


@dataclass(frozen=True, eq=False, kw_only=True)
class Portrait(Brief):
    """What was measured; `records` is the same as plain values, one record for each kind of result."""

    data: Dataset
    certificate: Certificate
    flips: tuple[Flip, ...]
    radii: tuple[CheckedRadius, ...]
    curves: tuple[RobustnessCurve, ...]

    def records(self) -> dict[str, dict[str, object]]:
        """As the commands `certify`, `flip` and `radius` write them, with whole curves."""
        d = self.data.full_dimension
        radii: dict[str, object] = {
            "radii": [radius.row() for radius in self.radii],
            "tolerance": TOLERANCE,
            "asked": len(self.radii),
            "curves": [row for curve in self.curves for row in curve.rows()],
        }
        return {
            "certificate": self.certificate.to_dict()
            | {"holds": self.certificate.holds(), "tolerance": DEFAULT_TOLERANCE},
            "flips": {
                "flips": all(math.isfinite(known.all) for known in self.flips),
                "share": 1.0,
                "samples": self.data.n_samples,
                "sqrt_dimension": math.sqrt(d),
                "directions": [known.summary(dimension=d) | {"curve": known.curve()} for known in self.flips],
            },
            "radii": summarise_radii(self.radii).record(d) | radii,
        }


def portrait(
    network: TwoLayer,
    data: Dataset,
    *,
    progress: Callable[[float, str], None] | None = None,
) -> Portrait:
    """Measure a network on its data: its certificate, two named directions, and the radii of the first samples.

    Parameters
    ----------
    network, data : TwoLayer, Dataset
    progress : callable or None
        Called with (share done, what is being done).
    """
    say = progress if progress is not None else lambda _share, _remark: None
    certificate = certify(network, data)
    say(0.3, "one vector for all samples")
    directions = named_directions(network, data, certificate, ("label-sum", "dual"))
    count = min(POINTS, data.n_samples)
    radii = checked_radii(
        network,
        data,
        range(count),
        tolerance=TOLERANCE,
        time_limit=TIME_LIMIT,
        progress=lambda done, total: say(0.4 + 0.6 * done / total, f"{done} of {total} radii"),
    )
    X, y = data.X[:count], data.y[:count]
    beside = [method(network, X, y) for method in (fgm, ddn, local_lipschitz_bound, chord_bound)]
    return Portrait(
        data=data,
        certificate=certificate,
        flips=tuple(flip(network, data, vector, name=name) for name, vector in directions.items()),
        radii=tuple(radii),
        curves=(*curves_of_radii([radius.radius for radius in radii]), *curves_of(beside, data.dimension)),
    )
