"""Source text to a tree with structured control flow.

A function object comes in, the `gast` tree of its own text goes out.  In that tree, ``return`` is the last statement,
and ``break`` stands only as ``if name: break`` at the end of a loop's body.  The meaning is that of the text.
"""
