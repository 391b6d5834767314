"""Passes over lowered programs: fusion, hoisting, scalar replacement, affine bounds."""
