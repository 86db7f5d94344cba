"""Samples with labels: one file per distribution."""

from marginflow.data.dataset import Dataset
from marginflow.data.reduction import in_span

__all__ = ["Dataset", "in_span"]
