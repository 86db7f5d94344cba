"""The exact l2 radius."""
