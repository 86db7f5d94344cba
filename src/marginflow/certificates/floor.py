r"""What training can never remove: the part of the initial weights outside the span of the data."""

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.data import Dataset
from marginflow.errors import InputError
from marginflow.networks import TwoLayer
from marginflow.networks.neurons import row_norms


def training_floor(start: TwoLayer, trained: TwoLayer, data: Dataset) -> float:
    r"""A lower bound of the stationarity of a trained network, known before any multiplier is computed.

    .. math:: \text{stationarity} \;\ge\; \frac{\|W_0 P_\perp\|_F}{\|\theta_T\|}

    Every gradient of the loss by w_j is a combination of the samples, so gradient methods never change the part of w_j
    orthogonal to them, whereas at a KKT point w_j lies in their span. P_perp projects on the orthogonal complement of
    span{x_i}; the quotient does not depend on the scale of theta_T. [VYS22, Sec. 6; eqs. (3)-(4)]

    Parameters
    ----------
    start, trained : TwoLayer
        Before and after; same width and dimension.
    data : Dataset

    Returns
    -------
    float
        0 when the samples span the whole space.
    """
    if (start.width, start.dimension) != (trained.width, trained.dimension):
        raise InputError(
            f"The initial network has width {start.width} and dimension {start.dimension}, the trained one "
            f"{trained.width} and {trained.dimension}; they must agree."
        )
    if data.dimension != trained.dimension:
        raise InputError(
            f"The network has dimension {trained.dimension}, but the samples have {data.dimension} columns."
        )
    with np.errstate(over="ignore"):
        size = float(np.sqrt(trained.norm_squared()))
    if not 1e-100 < size < np.inf:  # its squares under- or overflow
        v = trained.v if trained.outputs == "trained" else np.zeros(1)
        size = float(row_norms(np.concatenate([trained.augmented.ravel(), v])[None])[0])
    if size == 0.0:
        raise InputError("Every trained parameter of the network is zero; there is no relative residual.")
    return float(np.linalg.norm(outside_span(start.W, data.X))) / size


def outside_span(W: FloatArray, X: FloatArray) -> FloatArray:
    """The part of every row of W that is orthogonal to all rows of X."""
    _, singular, right = np.linalg.svd(X, full_matrices=False)
    basis = right[singular > singular[0] * max(X.shape) * np.finfo(float).eps]
    outside: FloatArray = W - (W @ basis.T) @ basis
    return outside
