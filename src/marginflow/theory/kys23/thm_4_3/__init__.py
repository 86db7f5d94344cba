"""[KYS23, Theorem 4.3] KKT points with frozen outputs +1, -1 overfit benignly: Lemmas B.4 to B.9."""
