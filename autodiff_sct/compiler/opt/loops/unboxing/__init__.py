"""Unboxing: arrays that loops touch item by item are lists of Python's numbers while the loops run.

The numbers have the same bits.  Where a list raises what an array would not, the call runs again on arrays.
"""
