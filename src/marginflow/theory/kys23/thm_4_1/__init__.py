"""[KYS23, Theorem 4.1] Near-max-margin networks in high dimension overfit benignly: Lemmas B.1 to B.3."""
