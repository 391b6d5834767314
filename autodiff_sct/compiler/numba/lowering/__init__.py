"""Lowering of statements and expressions to what numba compiles.

What has no lowering raises `Outside`, and the program stays NumPy code.
"""
