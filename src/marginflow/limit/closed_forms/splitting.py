"""Splitting the neurons of a certified point: the Clarke weights go with the neurons."""

import numpy as np

from marginflow.arrays import FloatArray, read_only
from marginflow.errors import InputError
from marginflow.networks import TwoLayer


def split_to_width(network: TwoLayer, clarke: FloatArray, width: int) -> tuple[TwoLayer, FloatArray]:
    """The network with `width` neurons, and the Clarke weights of its neurons.

    A copy has the direction and the sign of the neuron that it comes from, hence also its column of Clarke
    weights: stationarity of a copy is stationarity of the original times the root of its share.

    Parameters
    ----------
    network : TwoLayer of width k
        No two of its neurons may have the same direction and the same sign.
    clarke : array, shape (n, k)
        relu'(w_j . x_i + b_j), any value in [0, 1] on a kink.
    width : int, at least k

    Returns
    -------
    TwoLayer of the wanted width, and its Clarke weights, shape (n, width)
    """
    if width < network.width:
        raise InputError(
            f"width is {width}, but this point has {network.width} different neurons; at least as many are expected."
        )
    grown = network.widened(width)
    parent = np.argmax(_oriented(grown) @ _oriented(network).T, axis=1)
    return grown, read_only(clarke[:, parent])


def _oriented(network: TwoLayer) -> FloatArray:
    """Unit rows (w_j, b_j) with the sign of v_j appended, so that the closest row is the one with that sign too."""
    A = network.augmented
    size = np.linalg.norm(A, axis=1)
    units = A / np.where(size > 0, size, 1.0)[:, None]
    return np.column_stack([units, network.signs])
