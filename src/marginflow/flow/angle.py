r"""Normalised gradient steps of bounded angle on raw arrays: the lean flow that goes before a polish."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from marginflow.arrays import FloatArray, labels, matrix, one_of, real_number, vector, whole_number
from marginflow.display import Brief
from marginflow.errors import InputError
from marginflow.flow.kernel import TwoLayerKernel
from marginflow.flow.parameters import ParameterVector
from marginflow.losses import AbstractLoss, Exponential
from marginflow.networks.evaluation import augmented_samples
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


class AngleSteps:
    """The steps of `angle_flow`, some at a time: parameters and buffers stay where they are in between.

    The gradient at a point comes with its margins, so looking whether the samples are separated costs nothing where
    more steps follow. Arguments are those of `angle_flow`.

    `momentum` may be raised between steps. Where all samples pull at the network in one direction, as with noisy labels
    of one class, steps of bounded angle swing across it and hardly move along the flow. With momentum beta a step is
    angle ||theta|| times the average of the unit gradients so far with weights (1 - beta) beta^age: what swings
    averages out.
    """

    def __init__(
        self,
        W: ArrayLike,
        b: ArrayLike | None,
        v: ArrayLike,
        X: ArrayLike,
        y: ArrayLike,
        *,
        angle: float,
        outputs: Outputs = "trained",
        loss: AbstractLoss | None = None,
        decrease: float | None = None,
        precision: Literal["double", "single"] = "double",
    ) -> None:
        points = matrix("X", X)
        weights = matrix("W", W)
        k, d = weights.shape
        if d != points.shape[1]:
            raise InputError(f"X has {points.shape[1]} columns, but W has {d}.")
        signs = labels("y", y, points.shape[0])
        out = vector("v", v, k)
        bias = None if b is None else vector("b", b, k)
        self.angle = real_number("angle", angle, above=0.0, at_most=1.0)
        self.decrease = None if decrease is None else real_number("decrease", decrease, above=0.0)
        trained = one_of("outputs", outputs, ("trained", "frozen")) == "trained"
        self.loss = Exponential() if loss is None else loss
        self.steps = 0
        self.momentum = 0.0

        A = weights if bias is None else np.column_stack([weights, bias])
        dtype = np.float32 if one_of("precision", precision, ("double", "single")) == "single" else np.float64
        samples = augmented_samples(points, bias=bias is not None)
        self._bias, self._frozen = bias is not None, None if trained else out
        self._kernel = TwoLayerKernel(samples, signs, k, self._frozen, dtype=dtype, shared=True)
        self._theta = ParameterVector(self._kernel.shapes, dtype).fill([A, out] if trained else [A])
        self._descent = ParameterVector(self._kernel.shapes, dtype)
        self._velocity: FloatArray | None = None
        self._log_loss: float | None = None  # None where the descent direction is not that of the present point

    def _evaluate(self) -> float:
        """ln of the natural sum of the loss, with the margins in the kernel; nothing is computed a second time."""
        if self._log_loss is None:
            self._log_loss = self._kernel.evaluate(self._theta, self.loss, self._descent)
        return self._log_loss

    @np.errstate(over="ignore", invalid="ignore")
    def take(self, steps: int, *, until_separated: bool = False) -> int:
        """Go on for this many steps, or until every margin is positive; how many were made.

        Fewer are made if the gradient vanishes or the margins overflow.
        """
        x, g = self._theta.flat, self._descent.flat
        for done in range(steps):
            if math.isnan(self._evaluate()) or (until_separated and self.separated):
                return done
            squared = float(np.dot(g, g))
            if not 0.0 < squared < math.inf:
                return done
            eta = self.angle * math.sqrt(float(np.dot(x, x)) / squared)
            if self.decrease is not None:
                eta = min(eta, self.decrease / squared)
            if not math.isfinite(eta):
                return done
            self._log_loss = None
            np.multiply(g, eta, out=g)
            np.add(x, g if self.momentum == 0.0 else self._averaged(g), out=x)
            self.steps += 1
        return steps

    def _averaged(self, step: FloatArray) -> FloatArray:
        """A step along the average of unit gradients; `step` is eta times the gradient, and overwritten."""
        if self._velocity is None:
            self._velocity = np.zeros_like(step)
        length = math.sqrt(float(np.dot(step, step)))
        np.multiply(step, (1.0 - self.momentum) / length, out=step)
        np.multiply(self._velocity, self.momentum, out=self._velocity)
        np.add(self._velocity, step, out=self._velocity)
        return np.multiply(self._velocity, length, out=step)

    @property
    def separated(self) -> bool:
        """Whether every margin is positive; the next step uses what this computes."""
        with np.errstate(over="ignore", invalid="ignore"):
            return not math.isnan(self._evaluate()) and bool(self._kernel.margins.min() > 0.0)

    @property
    def log_loss(self) -> float:
        """ln L, not a number where the margins overflow; the next step uses what this computes."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self._evaluate() + self.loss.log_scale(self._kernel.margins.size)

    @property
    def parameters(self) -> tuple[FloatArray, FloatArray | None, FloatArray]:
        """W, b and v at present, in double precision."""
        moved = self._theta.parts[0].astype(np.float64)
        v = self._theta.parts[1].astype(np.float64) if self._frozen is None else self._frozen.copy()
        return (moved[:, :-1].copy(), moved[:, -1].copy(), v) if self._bias else (moved, None, v)

    @property
    def end(self) -> AngleFlow:
        """Where the steps have come to."""
        W, b, v = self.parameters
        with np.errstate(over="ignore", invalid="ignore"):
            margins = self._kernel.forward(self._theta).astype(np.float64)
        return AngleFlow(
            W=W, b=b, v=v,
            margins=margins,
            log_loss=self.loss.log_sum(margins) + self.loss.log_scale(margins.size),
            separated=bool(margins.min() > 0.0),
            steps=self.steps,
        )  # fmt: skip


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
    steps = whole_number("steps", steps, minimum=0)
    flow = AngleSteps(
        W, b, v, X, y, angle=angle, outputs=outputs, loss=loss, decrease=decrease, precision=precision
    )  # fmt: skip
    flow.take(steps)
    return flow.end
