"""Rules of SciPy's functions, read when SciPy is there.

Each row is an ordinary function over arrays: the compiler inlines it, the tape calls it.
"""
