"""marginflow: exact, certified KKT points of ReLU networks, and the theory of implicit bias made executable."""

import importlib
from typing import TYPE_CHECKING

from marginflow.errors import InputError

if TYPE_CHECKING:
    from marginflow import (
        audits,
        certificates,
        data,
        experiments,
        flow,
        generalisation,
        influences,
        limit,
        losses,
        measurements,
        networks,
        plot,
        report,
        robustness,
        sweeps,
        theory,
    )
    from marginflow.certificates import certify
    from marginflow.flow import train
    from marginflow.influences import influence
    from marginflow.interop.auditing import audit
    from marginflow.limit import kkt_point
    from marginflow.progress import progress_bar

__all__ = [
    "InputError",
    "audit",
    "audits",
    "certificates",
    "certify",
    "data",
    "experiments",
    "flow",
    "generalisation",
    "influence",
    "influences",
    "kkt_point",
    "limit",
    "losses",
    "measurements",
    "networks",
    "plot",
    "progress_bar",
    "report",
    "robustness",
    "sweeps",
    "theory",
    "train",
]
__version__ = "0.2.0"

# Rooms are imported when they are first entered (PEP 562), so that `import marginflow` and the help of the command line
# do not wait for scipy.
_DOORS = {
    "audit": "marginflow.interop.auditing",
    "certify": "marginflow.certificates",
    "influence": "marginflow.influences",
    "kkt_point": "marginflow.limit",
    "progress_bar": "marginflow.progress",
    "train": "marginflow.flow",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'marginflow' has no attribute {name!r}")
    room = importlib.import_module(_DOORS.get(name, f"marginflow.{name}"))
    return getattr(room, name) if name in _DOORS else room


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
