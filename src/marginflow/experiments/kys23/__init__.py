"""Figures of KYS23, one file each."""
