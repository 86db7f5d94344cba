"""Samples with labels: one file per distribution."""

from marginflow.data.dataset import Dataset

__all__ = ["Dataset"]
