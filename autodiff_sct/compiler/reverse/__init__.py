"""Reverse mode: the statements of the forward sweep backwards, cotangents of values and of memory."""
