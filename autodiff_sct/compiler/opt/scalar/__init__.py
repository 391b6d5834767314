"""Scalar optimisations: common subexpressions, invariant code, dead code, substitution, placement of statements."""
