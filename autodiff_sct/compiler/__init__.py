"""The compiler: from a function to the text of its derivative.

A function and the kinds of its arguments come in, an emitted Python function goes out.  A package imports only those
that stand above it in the order of ``docs/design.md``.
"""
