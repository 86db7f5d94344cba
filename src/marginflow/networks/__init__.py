"""ReLU networks: two layers (the papers' object), any depth, and how they begin."""

from marginflow.networks import initialisation
from marginflow.networks.two_layer import Gradient, TwoLayer

__all__ = ["Gradient", "TwoLayer", "initialisation"]
