"""A structured interior point for the convex problem (C), and from it an exact KKT point of (P)."""
