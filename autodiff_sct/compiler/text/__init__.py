"""Trees of Python as text.

In comes a tree of `ast` or of `gast`; out comes its text, with minimal parentheses and lines of a readable length.  The
text parses to the tree that was printed.
"""
