"""Audits: everything that can be said of one network and its data, as one record."""

from marginflow.audits.audit import audit
from marginflow.audits.classes import ClassesAudit, audit_classes
from marginflow.audits.findings import Audit
from marginflow.audits.statements import PROPERTIES, Judged, judge_statements
from marginflow.doors import show_doors

__all__ = ["PROPERTIES", "Audit", "ClassesAudit", "Judged", "audit", "audit_classes", "judge_statements"]

show_doors(globals())
