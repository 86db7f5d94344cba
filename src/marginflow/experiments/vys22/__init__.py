"""Figures of VYS22, one file each."""
