"""A training plan for gradient descent, what a recipe is that makes one, and gradient flow as such a recipe."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from marginflow.arrays import one_of, whole_number
from marginflow.doors import brief
from marginflow.errors import InputError
from marginflow.flow.schedule import AbstractSchedule, AngleBounded
from marginflow.flow.stopping import AbstractStop
from marginflow.flow.trainable import Network
from marginflow.losses import AbstractLoss, Exponential

Method = Literal["euler", "heun"]


@dataclass(frozen=True, kw_only=True)
class Descent:
    """A training plan: what is minimised, by which steps, on which samples, until when.

    Parameters
    ----------
    loss : AbstractLoss
        What is minimised.
    schedule : AbstractSchedule
        How long the steps are.
    stop : sequence of AbstractStop
        The first rule that holds ends the run; at least one.
    batch : int or None
        Samples in a step; None, or n and more, for all. Batches are consecutive pieces of a fresh permutation in each
        epoch; the last one may be smaller.
    method : "euler" or "heun"
        Plain gradient steps, or second-order steps of d theta = -grad ln L (two gradients each) for gradient flow.
    """

    loss: AbstractLoss
    schedule: AbstractSchedule
    stop: Sequence[AbstractStop]
    batch: int | None = None
    method: Method = "euler"

    def __post_init__(self) -> None:
        object.__setattr__(self, "stop", stop_rules(self.stop))
        if not self.stop:
            raise InputError("stop is empty; at least one rule must end the run.")
        if self.batch is not None:
            whole_number("batch", self.batch)
        one_of("method", self.method, ("euler", "heun"))


def stop_rules(given: Sequence[AbstractStop]) -> tuple[AbstractStop, ...]:
    """Stop rules as a tuple, or an `InputError` for what is not a list of them."""
    if not isinstance(given, Sequence) or isinstance(given, str | bytes):
        raise InputError(f"stop is {brief(given)}; a list of stop rules is expected.")
    return tuple(given)


class AbstractRecipe(ABC):
    """A published way to train: gives a plan for a network and data, and refuses what the paper does not train."""

    @abstractmethod
    def plan(self, network: Network, n_samples: int) -> Descent:
        """The training plan, or an `InputError` if the network is not one that the recipe is about."""


@dataclass(frozen=True, kw_only=True)
class GradientFlow(AbstractRecipe):
    r"""The path of d theta / dt = -grad L, by Heun's method on d theta / d tau = -grad ln L, d tau = L dt.

    Both equations have the same path; the second moves at a speed of order one however small L is. A step is no longer
    than angle * ||theta|| and lowers ln L by at most `decrease` to first order: the first bound keeps the direction
    accurate, the second the weights p_i, which change by a factor of about e^decrease in a step. The flow time t is
    recorded as ln t.

    Along the flow, once sum_i l(q_i) < l(0), the smoothed normalised margin q / ||theta||^degree with
    l(q) = sum_i l(q_i), which for the exponential loss is ln(1 / sum_i e^{-q_i}) / ||theta||^degree, never falls
    [Lyu and Li 2020, Thm 4.1; FVBS23 and VYS22, Thm 2.1], and v_j^2 - ||(w_j, b_j)||^2 is constant for every neuron.

    Parameters
    ----------
    angle : float
        Largest step relative to the length of theta.
    decrease : float
        Largest decrease of ln L in a step.
    loss : AbstractLoss
        The exponential sum by default.
    stop : sequence of AbstractStop
        When to stop.

    Deviations
    ----------
    The flow follows a subgradient at kinks and slides along them; here relu'(0) = 0 and a path that should slide along
    a kink crosses it back and forth within one step: second order between kinks, first order while sliding. Halving
    `angle` and `decrease` from their defaults turns theta at a loss of 1e-8 by less than 2e-3 (sphere data with n <= d,
    start with |v_j| = ||(w_j, b_j)||; tested). Where v_j changes sign while its neuron slides along a kink the flow
    itself is not unique - the neuron may leave the kink to either side - and no step size settles which way it goes;
    from |v_j| >= ||(w_j, b_j)||, as `initialisation.Balanced` gives, no v_j ever changes sign.

    Examples
    --------
    >>> import marginflow as mf
    >>> from marginflow.flow import GradientFlow, LossBelow, train
    >>> data = mf.data.Dataset(X=[[1.0, 0.0], [0.0, 1.0]], y=[1, -1])
    >>> net = mf.networks.TwoLayer.initialise(width=8, dimension=2, scale=0.1, seed=0)
    >>> run = train(net, data, GradientFlow(stop=[LossBelow(1e-8)]))
    >>> bool((run.trajectory.balance[-1] - run.trajectory.balance[0]).max() < 1e-4)
    True
    """

    angle: float = 0.005
    decrease: float = 0.02
    loss: AbstractLoss = field(default_factory=Exponential)
    stop: Sequence[AbstractStop]

    def __post_init__(self) -> None:
        AngleBounded(self.angle, self.decrease)
        object.__setattr__(self, "stop", stop_rules(self.stop))
        if not isinstance(self.loss, AbstractLoss):
            raise InputError(f"loss is {self.loss!r}; Exponential() or Logistic() is expected.")

    def plan(self, network: Network, n_samples: int) -> Descent:
        """Full batches, second-order steps."""
        return Descent(loss=self.loss, schedule=AngleBounded(self.angle, self.decrease), stop=self.stop, method="heun")
