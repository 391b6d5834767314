"""Derivatives inside programs: `grad` and its kin where the compiler meets them, and the bootstrap of the compiler.

A call of the package's own functions comes in, statements of the intermediate form go out.
"""
