"""The exact l2 radius of a two-layer ReLU network: distance to the decision boundary, proved from both sides."""

from marginflow.robustness.radius.batch import each_radius, exact_radii
from marginflow.robustness.radius.certificate import ClassifierCertificate, ProofNode, ProofStep, RadiusCertificate
from marginflow.robustness.radius.checker import Judgement, check_certificate
from marginflow.robustness.radius.exact import exact_radius
from marginflow.robustness.radius.result import Radius

__all__ = [
    "ClassifierCertificate",
    "Judgement",
    "ProofNode",
    "ProofStep",
    "Radius",
    "RadiusCertificate",
    "check_certificate",
    "each_radius",
    "exact_radii",
    "exact_radius",
]
