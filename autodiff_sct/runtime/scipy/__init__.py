"""Functions and objects that emitted programs call where they call SciPy.

Arguments are NumPy arrays and SciPy's objects; results are the same.  Nothing here knows the compiler.
"""
