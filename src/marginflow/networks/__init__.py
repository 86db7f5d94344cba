"""ReLU networks: two layers (the papers' object), K classes, any depth, and how they begin."""

from marginflow.doors import check_types
from marginflow.networks import initialisation
from marginflow.networks.classifier import Classifier, load_network
from marginflow.networks.layers import Gradient, MLPGradient
from marginflow.networks.mlp import MLP
from marginflow.networks.two_layer import TwoLayer

__all__ = ["MLP", "Classifier", "Gradient", "MLPGradient", "TwoLayer", "initialisation", "load_network"]

check_types(globals())
