"""Derivatives of recursive functions: pairs of functions that call themselves."""
