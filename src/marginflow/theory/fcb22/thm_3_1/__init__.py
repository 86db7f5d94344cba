"""[FCB22, Theorem 3.1] Training points, test error, and the whole chain on a planted good run."""
