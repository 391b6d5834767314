"""Passes over memory: what is added, cleared, overwritten and gathered, and when."""
