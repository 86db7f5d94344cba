"""[FCB22] Random Feature Amplification: one file per result; the lemmas stand with the theorem they prove."""
