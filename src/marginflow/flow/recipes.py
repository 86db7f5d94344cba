"""How the papers trained, one recipe each, exactly as published; what they leave unstated is a parameter."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from marginflow.arrays import one_of, real_number, whole_number
from marginflow.errors import InputError
from marginflow.flow.descent import AbstractRecipe, Descent
from marginflow.flow.schedule import Constant, Geometric
from marginflow.flow.stopping import AbstractStop, Epochs, LossBelow, Steps
from marginflow.flow.trainable import Network
from marginflow.losses import AbstractLoss, Exponential, Logistic, Reduction
from marginflow.networks import TwoLayer, initialisation


@dataclass(frozen=True, kw_only=True)
class VYS22(AbstractRecipe):
    r"""Increasing rate to a loss of 1e-30 [VYS22, section 6].

    SGD with batches of 5000 (full batches up to 5000 samples), exponential loss, rate 1e-5 times 1.1 every 100
    iterations, until the loss is below 1e-30. Takes 71,000 to 76,000 steps whatever the sizes are.

    Parameters
    ----------
    rate, factor, every, batch, stop_loss
        As published.
    loss : "exponential" or "logistic"
        The paper plots the exponential loss and reports that the logistic loss gives similar results.
    reduction : "sum" or "mean"
        Unstated. Our choice is the sum, as in the paper's eq. (1); the mean moves the margins by ln n.
    iteration : "step" or "epoch"
        Unstated: what is counted in "every 100 iterations" where there are more than 5000 samples. Our choice: steps.
    max_steps : int or None
        Not in the paper: a bound for data that the network cannot fit.

    Deviations
    ----------
    Other things the paper does not state, and what we do: initialisation (that of torch, see `network`), no output
    bias, no momentum, float64; with mini-batches the loss that stops training is that of all samples, computed at most
    once an epoch and only after a batch has fallen below; the rate counts from the first step.

    `every=5` gives the same network (equal margins to 4 digits) in a twentieth of the steps where n <= d; where n > d
    it can diverge, and `Descent(schedule=LossNormalised(0.02), ...)` is the safe way to be fast.
    """

    rate: float = 1e-5
    factor: float = 1.1
    every: int = 100
    batch: int = 5000
    stop_loss: float = 1e-30
    loss: Literal["exponential", "logistic"] = "exponential"
    reduction: Reduction = "sum"
    iteration: Literal["step", "epoch"] = "step"
    max_steps: int | None = None

    def __post_init__(self) -> None:
        Geometric(self.rate, self.factor, self.every)
        whole_number("batch", self.batch)
        real_number("stop_loss", self.stop_loss, above=0.0)
        one_of("loss", self.loss, ("exponential", "logistic"))
        one_of("reduction", self.reduction, ("sum", "mean"))
        one_of("iteration", self.iteration, ("step", "epoch"))
        if self.max_steps is not None:
            whole_number("max_steps", self.max_steps, minimum=0)

    def network(self, width: int, dimension: int, *, seed: int = 0) -> TwoLayer:
        """A network as the paper begins with, as far as is known: torch's law, hidden bias, trained outputs."""
        return TwoLayer.initialise(width, dimension, law=initialisation.VYS22Start(), seed=seed)

    def plan(self, network: Network, n_samples: int) -> Descent:
        """The training plan; a two-layer network with trained outputs is expected."""
        if not isinstance(network, TwoLayer) or network.outputs == "frozen":
            raise InputError(f"The network is {network!r}; VYS22 trains both layers of a two-layer network.")
        loss: AbstractLoss = (
            Exponential(self.reduction) if self.loss == "exponential" else Logistic(reduction=self.reduction)
        )
        stop: list[AbstractStop] = [LossBelow(self.stop_loss)]
        if self.max_steps is not None:
            stop.append(Steps(self.max_steps))
        steps_per_epoch = max(1, math.ceil(n_samples / self.batch))
        every = self.every * (steps_per_epoch if self.iteration == "epoch" else 1)
        return Descent(loss=loss, schedule=Geometric(self.rate, self.factor, every), stop=stop, batch=self.batch)


@dataclass(frozen=True, kw_only=True)
class KYS23(AbstractRecipe):
    r"""Constant rate 0.1 for 20,000 epochs on the logistic loss [KYS23, section 5].

    Parameters
    ----------
    rate, epochs
        As published; the paper reports that 100,000 epochs change nothing.
    batch : int or None
        Unstated ("SGD"). Our choice is full batches. The number of *updates* matters, not of epochs: 2,000 epochs with
        batches of 10 of 100 samples end where 20,000 full-batch epochs do.
    reduction : "sum" or "mean"
        Unstated. Our choice is the mean, the default of the usual software.

    Deviations
    ----------
    Also unstated, and what we do: initialisation (torch's, see `network`), hidden bias, no output bias, no momentum,
    float64. The paper also trains three layers: pass an `MLP`; with biases after the first layer it is not homogeneous.
    """

    rate: float = 0.1
    epochs: int = 20_000
    batch: int | None = None
    reduction: Reduction = "mean"

    def __post_init__(self) -> None:
        Constant(self.rate)
        whole_number("epochs", self.epochs, minimum=0)
        if self.batch is not None:
            whole_number("batch", self.batch)
        one_of("reduction", self.reduction, ("sum", "mean"))

    def network(self, width: int, dimension: int, *, seed: int = 0) -> TwoLayer:
        """A network as the paper begins with, as far as is known: torch's law, hidden bias, trained outputs."""
        return TwoLayer.initialise(width, dimension, law=initialisation.KYS23Start(), seed=seed)

    def plan(self, network: Network, n_samples: int) -> Descent:
        """The training plan."""
        return Descent(
            loss=Logistic(reduction=self.reduction),
            schedule=Constant(self.rate),
            stop=[Epochs(self.epochs)],
            batch=self.batch,
        )


@dataclass(frozen=True, kw_only=True)
class FCB22(AbstractRecipe):
    r"""Full-batch gradient descent on the first layer with a constant rate [FCB22, section 2.1 and Figure 1].

    Mean logistic loss (natural logarithm), outputs +-1/sqrt(m) frozen, no bias. The defaults are those of Figure 1:
    alpha = 0.05 and T = 3000 steps. `FCB22.theorem(k)` is the setting of Theorem 3.1, alpha = 1/(4k) and
    T = 1 + 1/(4 alpha) = k + 1.

    Parameters
    ----------
    rate : float
        The paper's alpha.
    steps : int
        The paper's T.

    Deviations
    ----------
    relu'(0) is not stated; it is 0 here. In the plane the step is computed by sorted angles and where d > n through the
    Gram matrix; both are the same step.
    """

    rate: float = 0.05
    steps: int = 3000

    def __post_init__(self) -> None:
        Constant(self.rate)
        whole_number("steps", self.steps, minimum=0)

    @classmethod
    def theorem(cls, k: int) -> FCB22:
        """The rate 1/(4k) and the k + 1 steps of Theorem 3.1 (an integer number of steps forces this form)."""
        k = whole_number("k", k)
        return cls(rate=1.0 / (4 * k), steps=k + 1)

    def network(self, width: int, dimension: int, *, omega: float | None = None, seed: int = 0) -> TwoLayer:
        """W independent N(0, omega^2), omega^2 = 1 / (16 m d) as in Figure 1 by default; outputs +-1/sqrt(m) frozen."""
        law = initialisation.FCB22Start(omega=omega)
        return TwoLayer.initialise(width, dimension, law=law, bias=False, outputs="frozen", seed=seed)

    def plan(self, network: Network, n_samples: int) -> Descent:
        """The training plan; frozen outputs of modulus 1/sqrt(m) and no bias are expected."""
        if not isinstance(network, TwoLayer) or network.outputs == "trained" or network.b is not None:
            raise InputError(f"The network is {network!r}; FCB22 trains a two-layer one without bias, outputs frozen.")
        size = np.abs(network.v)[np.abs(network.v) > 0.0]
        if size.size < network.width - 1 or np.abs(size * math.sqrt(network.width) - 1.0).max(initial=0.0) > 1e-12:
            raise InputError("The frozen outputs of FCB22 are +-1/sqrt(m) (with one 0 for odd m); these are not.")
        return Descent(loss=Logistic(reduction="mean"), schedule=Constant(self.rate), stop=[Steps(self.steps)])
