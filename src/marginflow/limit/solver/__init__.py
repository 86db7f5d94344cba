"""ADMM finds the structure of a KKT point near given neurons, Newton's method makes it exact."""
