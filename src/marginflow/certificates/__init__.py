"""The judge: is a network a KKT point, a local minimum, and what does exact arithmetic say? Imports no solver."""

from marginflow.certificates.certificate import (
    DEFAULT_TOLERANCE,
    EXACT_TOLERANCE,
    NEAR_TOLERANCE,
    Certificate,
    KinkReport,
    Residuals,
)
from marginflow.certificates.classes import ClassifierKKT, certify_classifier
from marginflow.certificates.deep import DeepCertificate, certify_deep
from marginflow.certificates.exactness.exact import BallPoint, ExactCertificate, certify_balls, certify_exact
from marginflow.certificates.exactness.existence import KKTProof, prove_kkt_point
from marginflow.certificates.floor import training_floor
from marginflow.certificates.kkt import certify
from marginflow.certificates.minimality.descent import DescentDirection
from marginflow.certificates.minimality.local_minimum import Minimality, minimality
from marginflow.certificates.pattern import KINK_TOLERANCE
from marginflow.doors import check_types

__all__ = [
    "DEFAULT_TOLERANCE",
    "EXACT_TOLERANCE",
    "KINK_TOLERANCE",
    "NEAR_TOLERANCE",
    "BallPoint",
    "Certificate",
    "ClassifierKKT",
    "DeepCertificate",
    "DescentDirection",
    "ExactCertificate",
    "KKTProof",
    "KinkReport",
    "Minimality",
    "Residuals",
    "certify",
    "certify_balls",
    "certify_classifier",
    "certify_deep",
    "certify_exact",
    "minimality",
    "prove_kkt_point",
    "training_floor",
]

check_types(globals())
