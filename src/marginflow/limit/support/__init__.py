"""KKT points for classifiers that are wanted soon: descent, then exact on the samples near the margin alone."""

from marginflow.limit.support.point import support_point, support_points

__all__ = ["support_point", "support_points"]
