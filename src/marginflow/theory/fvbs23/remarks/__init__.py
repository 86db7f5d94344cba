"""The remarks of FVBS23."""
