"""Single precision, which functions of SciPy leave where they meet Python's numbers."""


def fitted(value, y):
    """A value in the precision of the result that it is the slope of."""
    return value if value.dtype == y.dtype else value.astype(y.dtype)
