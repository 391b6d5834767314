"""Emitted programs run on dask arrays: a graph is made, and nothing is computed.

What comes in: an emitted function and its arguments, dask arrays among them.  What goes out: its results, likewise.
"""
