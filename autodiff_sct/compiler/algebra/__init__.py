"""Passes over values: the same numbers from fewer operations."""
