"""What is asked of a radius: the label, the level, when to stop, and whether to keep the proof."""

from dataclasses import dataclass

from numpy.typing import ArrayLike

from marginflow.arrays import labels, real_number, whole_number
from marginflow.errors import InputError
from marginflow.networks import Classifier, TwoLayer
from marginflow.networks.classifier import class_numbers


@dataclass(frozen=True, kw_only=True)
class RadiusOptions:
    """The options of `exact_radius`; no limit on the number of regions is infinity."""

    level: float
    tolerance: float
    time_limit: float
    max_nodes: float
    certificate: bool


def checked_options(
    *, level: float, tolerance: float, time_limit: float, max_nodes: int | None, certificate: bool
) -> RadiusOptions:
    """The options, or an `InputError` for what cannot be asked."""
    return RadiusOptions(
        level=real_number("level", level),
        tolerance=real_number("tolerance", tolerance, at_least=1e-8, below=1.0),
        time_limit=real_number("time_limit", time_limit, above=0.0),
        max_nodes=float("inf") if max_nodes is None else float(whole_number("max_nodes", max_nodes)),
        certificate=certificate,
    )


def checked_labels(
    network: TwoLayer | Classifier, y: ArrayLike | None, n: int, name: str, level: float
) -> list[float | None]:
    """Labels -1 and +1, or classes; None for what the network says."""
    if isinstance(network, Classifier) and level != 0:
        raise InputError(f"level is {level:g}; for a classifier it must be 0.")
    if y is None:
        return [None] * n
    given = class_numbers(name, y, network.n_classes, n) if isinstance(network, Classifier) else labels(name, y, n)
    return [float(label) for label in given]
