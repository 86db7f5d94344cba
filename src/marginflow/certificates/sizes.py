"""Numbers of any size: margin 1 is a matter of rescaling, and a power of two rounds nothing."""

from typing import TypeVar

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.errors import InputError
from marginflow.networks import MLP, Classifier, TwoLayer

Homogeneous = TypeVar("Homogeneous", TwoLayer, MLP, Classifier)


def of_ordinary_size(network: Homogeneous, *, ordinary: int = 100) -> tuple[Homogeneous, float]:
    """A homogeneous network times a power of two that brings its largest trained parameter near 1, and that power.

    Margins of parameters near 1e-160 vanish, squares of parameters near 1e160 overflow. A network whose largest
    parameter lies within 2^-ordinary and 2^ordinary is left as it is.
    """
    frozen = not isinstance(network, Classifier) and network.outputs == "frozen"
    trained = network.layers[:-1] if frozen else network.layers
    largest = max(float(np.abs(part).max(initial=0.0)) for layer in trained for part in layer if part is not None)
    exponent = int(np.clip(np.frexp(largest)[1], -1000, 1000))
    if largest == 0.0 or abs(exponent) <= ordinary:
        return network, 1.0
    power = 2.0**-exponent
    return network.scaled(power), power


def check_sizes(network: TwoLayer | MLP | Classifier, X: FloatArray) -> FloatArray:
    """The values N(x_i), for a classifier one of each class; refuse numbers whose squares exceed float64."""
    with np.errstate(over="ignore", invalid="ignore"):
        values = network(X)
        sizes = (network.norm_squared(), float(np.vdot(X, X)), float((values**2).sum()))
    if not np.isfinite(sizes).all():
        raise InputError(
            "The numbers of the network or of the samples are so large that their squares exceed float64; rescale them."
        )
    return values
