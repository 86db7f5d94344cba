"""Bounds on the global optimum for small data of any dimension: columns from above, the dual supremum from below."""
