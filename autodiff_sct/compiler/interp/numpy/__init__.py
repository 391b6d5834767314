"""Calls, methods and subscripts of NumPy: kind, dtype, rank, sharing and shape of results.

Facts come from NumPy itself, which runs on dummies; here is what a dummy cannot tell.
"""
