"""[FVBS23, Theorem 3.1 and Appendix A] Every KKT point generalises, and the lemmas of the proof."""
