"""Recursive functions with derivatives: pairs of functions that call themselves."""
