"""[FVBS23] The Double-Edged Sword of Implicit Bias: one file per group of results, in the order of the proofs."""
