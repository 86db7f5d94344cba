"""A family of instances to hunt in: how to draw one, change it a little, build it, and make it simpler."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from marginflow.theory.instance import Instance

Candidate = Mapping[str, Any]
"""What names one member of a family: whole numbers, words and lists of these, so that JSON holds all of it."""


class AbstractFamily(ABC):
    """Instances that are named by a few whole numbers.

    A family knows nothing of the statements that are hunted in it, and contains no counterexample: it only says which
    instances there are. A statement of another paper is hunted by naming one of these, or a new one.
    """

    @property
    @abstractmethod
    def title(self) -> str:
        """What its members are, in a few words."""

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> Candidate:
        """A fresh member."""

    @abstractmethod
    def move(self, candidate: Candidate, rng: np.random.Generator) -> Candidate:
        """A neighbour: one number, label or start is changed."""

    @abstractmethod
    def build(self, candidate: Candidate) -> Instance:
        """The instance; an `InputError` where the candidate has none."""

    @abstractmethod
    def simpler(self, candidate: Candidate) -> Iterator[Candidate]:
        """Members that are simpler, the boldest changes first; every chain of them ends."""
