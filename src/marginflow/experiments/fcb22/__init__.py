"""Figures of FCB22, one file each."""
