"""Which multipliers explain a network best: one convex least-squares problem and the ways to solve it."""
