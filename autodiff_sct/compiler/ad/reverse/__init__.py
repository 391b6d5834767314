"""Reverse mode: the adjoint of each statement, backwards.

A value has a cotangent, which is assigned once and added to; memory has a shadow, whose views are those of the memory.
"""
