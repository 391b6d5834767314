"""Algebraic rewriting: the same numbers from fewer operations."""
