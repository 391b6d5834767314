"""Calls of the standard library, of built-in functions and of objects of other packages.

A handler maps a call on abstract values to statements and a value.  A function without one is followed or called.
"""
