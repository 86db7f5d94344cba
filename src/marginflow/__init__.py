"""marginflow: exact, certified KKT points of ReLU networks, and the theory of implicit bias made executable."""

from marginflow import data, networks
from marginflow.errors import InputError

__all__ = ["InputError", "data", "networks"]
__version__ = "0.1.0"
