"""[KYS23, Thm 3.2] Local minima on the line, the propositions of the proof (App. A.2), and where they fail."""
