r"""Descent on a smoothed soft-margin objective: which samples matter, and roughly with what multipliers.

.. math:: \tfrac12 \|\theta\|^2 + C \sum_i \phi(1 - y_i N(x_i)) , \qquad
   \phi(h) = \begin{cases} h - \delta / 2 & h > \delta \\ h^2 / (2 \delta) & 0 < h \le \delta \\ 0 & h \le 0 \end{cases}

A few dozen steps of L-BFGS with all samples tell the few that come near the margin from the many that do not; the rest
is done with those few, and delta falls.
"""

import time
from dataclasses import replace
from math import prod

import numpy as np
from scipy.optimize import minimize

from marginflow.arrays import FloatArray
from marginflow.data import Dataset
from marginflow.limit.products import without_flags
from marginflow.limit.settings import ORDINARY
from marginflow.limit.support.settings import CORNERS, FIRST_CORNER, FIRST_STEPS, WORKING_MARGIN
from marginflow.networks import TwoLayer
from marginflow.networks.evaluation import augmented_samples


def descend(data: Dataset, start: TwoLayer, penalty: float, *, deadline: float = np.inf) -> tuple[TwoLayer, FloatArray]:
    """L-BFGS from a network, at first with all samples, then with those near the margin; each ends at the deadline.

    The network comes with C phi'(1 - margin), shape (n,), which the smoothed objective has for multipliers.
    """
    T = augmented_samples(data.X, bias=start.b is not None)
    y, shape = data.y, (start.width, T.shape[1])
    theta = np.concatenate([start.augmented.ravel(), start.v])
    theta = _minimised(T, y, theta, shape, penalty, FIRST_CORNER, FIRST_STEPS, deadline)
    for corner, steps in CORNERS:
        margins = y * _values(T, theta, shape)
        near = margins < WORKING_MARGIN * max(1.0, float(margins.min()))
        theta = _minimised(T[near], y[near], theta, shape, penalty, corner, steps, deadline)
    multipliers = penalty * np.clip((1.0 - y * _values(T, theta, shape)) / corner, 0.0, 1.0)
    U, v = theta[: prod(shape)].reshape(shape), theta[prod(shape) :]
    if not (U.any() and v.any()):
        return start, multipliers
    W, b = (U, None) if start.b is None else (np.ascontiguousarray(U[:, :-1]), U[:, -1].copy())
    return replace(start, W=W, b=b, v=v), multipliers


def _values(T: FloatArray, theta: FloatArray, shape: tuple[int, int]) -> FloatArray:
    size = prod(shape)
    return np.maximum(T @ theta[:size].reshape(shape).T, 0.0) @ theta[size:]


@without_flags
def _minimised(
    T: FloatArray,
    y: FloatArray,
    theta: FloatArray,
    shape: tuple[int, int],
    C: float,
    corner: float,
    steps: int,
    deadline: float,
) -> FloatArray:
    size = prod(shape)
    # Single precision tells which samples matter, in half of the time.
    real = np.float32 if 1.0 / ORDINARY < np.abs(T).max() < ORDINARY else np.float64
    samples: FloatArray = T.astype(real)
    labels: FloatArray = y.astype(real)

    def look(_: FloatArray) -> None:
        if time.monotonic() > deadline:
            raise StopIteration

    def objective(theta: FloatArray) -> tuple[float, FloatArray]:
        rounded: FloatArray = theta.astype(real)
        U, v = rounded[:size].reshape(shape), rounded[size:]
        H = np.maximum(samples @ U.T, 0.0)
        short = 1.0 - labels * (H @ v)
        paid = np.flatnonzero(short > 0.0)  # only these pull, and after a few steps they are few
        short, H = short[paid], H[paid]
        inside = np.minimum(short, corner)
        value = float(inside @ (short - 0.5 * inside)) / corner
        g = labels[paid] * inside * real(-C / corner)
        hidden = ((H > 0) * np.multiply.outer(g, v)).T @ samples[paid]
        return C * value + 0.5 * float(theta @ theta), np.concatenate([hidden.ravel(), g @ H]) + theta

    found: FloatArray = minimize(
        objective,
        theta,
        jac=True,
        method="L-BFGS-B",
        callback=look if deadline < np.inf else None,  # it would cost a copy of theta for each step
        options={"maxiter": steps},
    ).x
    return found
