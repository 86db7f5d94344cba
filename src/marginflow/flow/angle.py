r"""Normalised gradient steps of bounded angle on raw arrays: the lean flow that goes before a polish."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import FloatArray, labels, matrix, one_of, real_number, vector, whole_number
from marginflow.display import Brief
from marginflow.errors import InputError
from marginflow.flow.kernel import TwoLayerKernel, with_ones
from marginflow.flow.parameters import ParameterVector
from marginflow.losses import AbstractLoss, Exponential
from marginflow.networks.layers import Outputs


@dataclass(frozen=True, eq=False, kw_only=True)
class AngleFlow(Brief):
    """Where the steps ended: parameters, margins (n,), ln L there, and whether every margin is positive."""

    W: FloatArray
    b: FloatArray | None
    v: FloatArray
    margins: FloatArray
    log_loss: float
    separated: bool
    steps: int


def angle_flow(
    W: ArrayLike,
    b: ArrayLike | None,
    v: ArrayLike,
    X: ArrayLike,
    y: ArrayLike,
    *,
    steps: int,
    angle: float,
    outputs: Outputs = "trained",
    loss: AbstractLoss | None = None,
    decrease: float | None = None,
    precision: Literal["double", "single"] = "double",
) -> AngleFlow:
    r"""Steps along -grad ln L whose length is a fixed fraction of the length of theta.

    .. math:: \theta \leftarrow \theta - \eta \nabla \ln L(\theta), \qquad
              \eta = \min\Bigl(\text{angle} \frac{\|\theta\|}{\|\nabla \ln L\|},
              \frac{\text{decrease}}{\|\nabla \ln L\|^2}\Bigr)

    The direction of theta turns by at most arcsin(angle) in a step. All arithmetic is on ln L and softmax-like weights,
    so margins may grow without bound. No reduction is made here: where d > n pass coordinates in the span of the data.

    Parameters
    ----------
    W, b, v : arrays, shapes (k, d), (k,) or None, (k,)
        Where to begin; they are not changed.
    X, y : arrays, shapes (n, d) and (n,)
        Samples and labels -1, +1.
    steps : int
        Number of steps; fewer are made if the gradient vanishes or the margins overflow.
    angle : float
        Length of a step relative to the length of theta, at most 1.
    outputs : "trained" or "frozen"
        Whether v moves and counts in the length.
    loss : AbstractLoss or None
        None is the exponential loss.
    decrease : float or None
        If given, a step is also no longer than what lowers ln L by this much to first order. Without it the steps
        zigzag once margins are far larger than 1 / angle, which keeps the direction only within the angle.
    precision : "double" or "single"
        Of the arithmetic. Single is twice as fast, and enough where rounding of 1e-7 per step is far below the angle.

    Returns
    -------
    AngleFlow
        Same start, same bits.

    Examples
    --------
    >>> from marginflow.flow import angle_flow
    >>> end = angle_flow([[1.0], [-1.0]], None, [0.1, -0.1], [[1.0], [-2.0]], [1, -1], steps=50, angle=0.1)
    >>> end.separated, end.steps
    (True, 50)
    """
    points = matrix("X", X)
    weights = matrix("W", W)
    k, d = weights.shape
    if d != points.shape[1]:
        raise InputError(f"X has {points.shape[1]} columns, but W has {d}.")
    signs = labels("y", y, points.shape[0])
    out = vector("v", v, k)
    bias = None if b is None else vector("b", b, k)
    steps = whole_number("steps", steps, minimum=0)
    angle = real_number("angle", angle, above=0.0, at_most=1.0)
    if decrease is not None:
        decrease = real_number("decrease", decrease, above=0.0)
    trained = one_of("outputs", outputs, ("trained", "frozen")) == "trained"
    loss = Exponential() if loss is None else loss

    A = weights if bias is None else np.column_stack([weights, bias])
    dtype = np.float32 if one_of("precision", precision, ("double", "single")) == "single" else np.float64
    samples = points if bias is None else with_ones(points)
    kernel = TwoLayerKernel(samples, signs, k, None if trained else out, dtype=dtype)
    theta = ParameterVector(kernel.shapes, dtype).fill([A, out] if trained else [A])
    descent = ParameterVector(kernel.shapes, dtype)
    x, g = theta.flat, descent.flat
    done = 0
    with np.errstate(over="ignore", invalid="ignore"):
        while done < steps:
            kernel.evaluate(theta, loss, descent)
            squared = float(np.dot(g, g))
            if not 0.0 < squared < math.inf:
                break
            eta = angle * math.sqrt(float(np.dot(x, x)) / squared)
            if decrease is not None:
                eta = min(eta, decrease / squared)
            np.multiply(g, eta, out=g)
            np.add(x, g, out=x)
            done += 1
        margins = kernel.forward(theta).astype(np.float64)
    moved = theta.parts[0].astype(np.float64)
    return AngleFlow(
        W=moved if bias is None else moved[:, :-1].copy(),
        b=None if bias is None else moved[:, -1].copy(),
        v=theta.parts[1].astype(np.float64) if trained else out.copy(),
        margins=margins,
        log_loss=loss.log_sum(margins) + loss.log_scale(margins.size),
        separated=bool(margins.min() > 0.0),
        steps=done,
    )
