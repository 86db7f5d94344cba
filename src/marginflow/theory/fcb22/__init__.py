"""[FCB22] Random Feature Amplification: one file per group of results, in the order of the proofs."""
