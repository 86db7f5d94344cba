"""A training plan, and the papers' plans as recipes."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from marginflow.arrays import one_of, whole_number
from marginflow.doors import brief
from marginflow.errors import InputError
from marginflow.flow.schedule import AbstractSchedule
from marginflow.flow.stopping import AbstractStop
from marginflow.flow.trainable import Network
from marginflow.losses import AbstractLoss

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
