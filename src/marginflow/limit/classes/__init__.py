"""Exact KKT points of the max-margin problem with K classes."""

from marginflow.limit.classes.point import ClassesLimit, kkt_point_of_classes

__all__ = ["ClassesLimit", "kkt_point_of_classes"]
