"""marginflow: exact, certified KKT points of ReLU networks, and the theory of implicit bias made executable."""

from marginflow import certificates, data, losses, networks
from marginflow.certificates import certify
from marginflow.errors import InputError

__all__ = ["InputError", "certificates", "certify", "data", "losses", "networks"]
__version__ = "0.1.0"
