"""Rules of Python's own functions of lists of numbers, and of the methods between lists and arrays."""

from __future__ import annotations

import builtins

import numpy as np

from .table import broadcasting, forward, linear, reverse

broadcasting(builtins.sum)


@linear(builtins.sum)
def sum(y, d, iterable, start=0):
    return d if isinstance(iterable, np.ndarray) else [d for _ in iterable], d


# The largest of several equal numbers share evenly, as in np.maximum.
@reverse(builtins.max)
def largest(y, d, items):
    if isinstance(items, tuple) and len(items) == 2:
        ties = 1 + (items[0] == items[1])
        return [d / ties if items[0] >= items[1] else 0.0, d / ties if items[1] >= items[0] else 0.0]
    return extreme(y, d, items)


@reverse(builtins.min)
def smallest(y, d, items):
    if isinstance(items, tuple) and len(items) == 2:
        ties = 1 + (items[0] == items[1])
        return [d / ties if items[0] <= items[1] else 0.0, d / ties if items[1] <= items[0] else 0.0]
    return extreme(y, d, items)


def extreme(y, d, items):
    if isinstance(items, np.ndarray):
        equal = items == y
        return np.where(equal, d / np.maximum(np.sum(equal), 1), 0.0)
    ties = builtins.sum([item == y for item in items])
    return [d / ties if item == y else 0.0 for item in items]


@forward(builtins.max, builtins.min)
def push_extreme(y, d, items):
    if isinstance(d, (list, tuple)):  # the tangents of all items, of a list whose length is known at run time
        chosen = [t for t, item in zip(d, items) if item == y]
        return builtins.sum(chosen) / len(chosen)
    if isinstance(items, (list, tuple)):  # `d` is that of one item
        return extreme(y, d, items)
    return np.sum(np.where(items == y, d, 0.0)) / np.sum(items == y)


@linear(np.ndarray.tolist)
def tolist(y, d, x):
    return np.array(d) if x.dtype == np.float64 else np.array(d, dtype=x.dtype)
