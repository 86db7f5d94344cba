"""Is a KKT point a local minimum: the dual function on zero neurons, and feasible descent made visible."""
