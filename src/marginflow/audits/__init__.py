"""Audit of somebody's network: everything that the library can say about it and its data, as plain findings."""

from marginflow.audits.audit import audit
from marginflow.audits.findings import Audit, Flip, Judged, ProvedRadius

__all__ = ["Audit", "Flip", "Judged", "ProvedRadius", "audit"]
