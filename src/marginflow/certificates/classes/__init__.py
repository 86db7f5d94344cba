"""The KKT conditions of the max-margin problem with K classes."""

from marginflow.certificates.classes.certificate import ClassifierKKT
from marginflow.certificates.classes.kkt import certify_classifier

__all__ = ["ClassifierKKT", "certify_classifier"]
