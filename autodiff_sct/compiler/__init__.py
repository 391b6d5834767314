"""The compiler: from a Python function over NumPy to the source of its adjoint."""
