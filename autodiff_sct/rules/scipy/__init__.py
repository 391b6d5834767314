"""Rules of SciPy's functions, read when SciPy is there.

Each row is an ordinary function over arrays: the compiler inlines it, the tape calls it.
"""


def fitted(value, y):
    """A value in its result's precision: functions of SciPy leave single precision where they meet Python's numbers."""
    return value if value.dtype == y.dtype else value.astype(y.dtype)
