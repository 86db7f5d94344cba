"""[KYS23, Thm 3.1] Any KKT point on the line, and the lemmas of its proof (App. A.1)."""
