"""[FVBS23, Theorem 4.2 and Appendix D] No KKT point is robust, and the lemmas of the proof."""
