"""Derivatives by the parameters, in the parameters' shapes."""

from dataclasses import dataclass

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.display import Brief
from marginflow.networks.layers import Outputs


@dataclass(frozen=True, eq=False, kw_only=True)
class Gradient(Brief):
    """The derivative of a scalar by the parameters of a `TwoLayer`, in the same shapes.

    The derivative by v is there for frozen outputs too; `norm_squared` leaves it out.
    """

    W: FloatArray
    b: FloatArray | None
    v: FloatArray

    def norm_squared(self, outputs: Outputs = "trained") -> float:
        """Sum of squares over the parameters that are trained."""
        total = float(np.vdot(self.W, self.W))
        if self.b is not None:
            total += float(self.b @ self.b)
        return total + (float(self.v @ self.v) if outputs == "trained" else 0.0)


@dataclass(frozen=True, eq=False, kw_only=True)
class MLPGradient(Brief):
    """The derivative of a scalar by the parameters of an `MLP`, in the same shapes, first layer first.

    The derivative by the last layer is there for frozen outputs too; `norm_squared` leaves it out.
    """

    weights: tuple[FloatArray, ...]
    biases: tuple[FloatArray | None, ...]

    def norm_squared(self, outputs: Outputs = "trained") -> float:
        """Sum of squares over the parameters that are trained."""
        trained = slice(None) if outputs == "trained" else slice(-1)
        total = sum(float(np.vdot(W, W)) for W in self.weights[trained])
        return total + sum(float(b @ b) for b in self.biases[trained] if b is not None)
