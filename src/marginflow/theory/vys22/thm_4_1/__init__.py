"""[VYS22, Thm 4.1] Every KKT network is non-robust: the theorem and Lemmas C.1 to C.9 of its proof."""
