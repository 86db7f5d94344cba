"""[VYS22] Gradient Methods Provably Converge to Non-Robust Networks: one file per result, with its lemmas."""
