"""Automatic differentiation: what both modes share."""
