"""Passes over statements: both sweeps as one would write them."""
