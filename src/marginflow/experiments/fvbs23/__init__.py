"""Figures of FVBS23, one file each."""
