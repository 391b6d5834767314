"""Differentiation: from the program to its adjoint or its tangent.

A program in the intermediate form comes in; its forward sweep and reverse sweep (or tangents) go out.  The value and
the side effects of the forward sweep are those of the program.
"""
