"""Functions of Python and NumPy as Python text, which is inlined in the place of their calls."""
