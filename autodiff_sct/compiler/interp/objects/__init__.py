"""Objects of classes: construction, attributes, identity, special methods, tables of objects.

An object whose identity only the run knows is a row of a table; every other one exists at compile time only.
"""
