"""Statements and expressions of Python.

A node of the tree comes in; statements of the intermediate form and an abstract value go out, in the order of
evaluation.
"""
