r"""Units in which samples are about 1 long: what comes after is compared with numbers and runs in single precision.

Samples are divided by a power of two c, so that the longest has norm between 1/2 and 1. Then u is multiplied by c, and
so are the objective and all multipliers. With frozen outputs the cost of a neuron is ||u_j||^2 / (2 v_j^2); there
v_j^2 is multiplied by a power of two kappa, so that the largest is near 1, and the factor of the objective and of the
multipliers is c^2 / kappa. Powers of two round nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from marginflow.arrays import FloatArray
from marginflow.limit.neurons import Neurons
from marginflow.limit.problem import Problem


@dataclass(frozen=True)
class Units:
    """The divisor c of the samples, and the factor kappa of v_j^2 (None with trained outputs)."""

    scale: float
    outputs_scale: float | None = None

    @classmethod
    def of(cls, problem: Problem, outputs_squared: FloatArray | None) -> Units:
        """Those in which the longest sample and the largest v_j^2 are between 1/2 and 1."""
        kappa = None if outputs_squared is None else 1.0 / _power_of_two(float(outputs_squared.max()))
        return cls(_power_of_two(float(problem.norms.max())), kappa)

    @property
    def price(self) -> float:
        """What the objective and the multipliers are multiplied by."""
        return self.scale if self.outputs_scale is None else self.scale * (self.scale / self.outputs_scale)

    def problem(self, problem: Problem) -> Problem:
        """The problem in these units; neurons of it are `neurons`, whatever its basis says."""
        if self == Units(1.0):
            return problem
        return replace(
            problem,
            X=problem.X / self.scale,
            s2=problem.s2 / self.scale / self.scale,
            penalty=problem.penalty * self.price,
        )

    def neurons(self, neurons: Neurons) -> Neurons:
        """Neurons of the problem in these units."""
        squared = neurons.outputs_squared
        if squared is not None and self.outputs_scale is not None:
            squared = squared * self.outputs_scale
        return Neurons(neurons.U * self.scale, neurons.s, squared)


def _power_of_two(largest: float) -> float:
    return float(2.0 ** np.ceil(np.log2(largest)))
