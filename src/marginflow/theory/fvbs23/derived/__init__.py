"""Derived here from FVBS23: sharper certificates, closed forms, reductions."""
