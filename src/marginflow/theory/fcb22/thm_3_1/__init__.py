"""[FCB22, Theorem 3.1] Training points, test error, the lemmas of their proof, and the chain on a planted good run."""
