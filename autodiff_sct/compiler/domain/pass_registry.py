"""The optimisations by name: each is one pass over both sweeps, and each may be switched off.

A pass that is off costs speed or looks, never meaning: the bank of user programs runs with each of them off.

>>> with without("canonicalize"):
...     on("canonicalize"), on("sink")
(False, True)
>>> on("canonicalize")
True
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

PASSES: dict[str, str] = {
    "sroa": "scalar replacement of short arrays that a loop allocates in each step",
    "gvn": "global value numbering: a value that is available is read, not computed again",
    "shift_invariance": "the shift by a maximum in a softmax or logsumexp carries no derivative",
    "licm": "loop-invariant code motion, before the program is differentiated",
    "repeated_operands": "a product with itself is a square, also where a number is multiplied in first",
    "reuse_inverses": "an inverse that is computed anyway solves systems, too",
    "softmax_vjp": "the cotangent of a softmax is the softmax times what is above its mean",
    "reuse_products": "a product that the forward sweep has is not computed again",
    "shape_uses": "a value that is read for its shape only is replaced, or its shape is saved",
    "dse": "dead store elimination: restores and clearings that nothing reads",
    "lower_accumulation": "the first contribution to a cotangent defines it; copies that nothing changes are elided",
    "plan_tape": "which values of the forward sweep are saved, read again, or computed again",
    "dce": "dead code elimination; of code that is kept since it may raise, only what raises",
    "copy_propagation": "a copy of a variable is the variable",
    "cholesky_vjp": "the cotangent of a matrix from that of its Cholesky factor, block by block",
    "batch_rank1_updates": "outer products that are added up are one product of matrices",
    "sink_into_branches": "statements that only one side of a branch uses are on that side",
    "sink": "code sinking: statements and stores stand after the last use of what they replace",
    "rematerialize": "lengths, affine counters, parts of arrays and short sums are computed where they are read",
    "strength_reduction": "small powers of arrays are products of squares",
    "fuse_branches": "branches on one test that nothing separates are fused",
    "tape_rows": "short vectors that a loop saves in each step are rows of one array",
    "tape_tuples": "values that are saved and read back together are saved as a tuple",
    "forward_substitute": "a value that one statement reads is computed in that statement",
    "reuse_buffers": "an array that is read for the last time is overwritten by its successor",
    "canonicalize": "signs, numeric factors and methods in the usual form",
    "fuse_contractions": "a sum of products is computed without the products",
    "propagate_negations": "the negative of a cotangent is subtracted instead of added",
    "loop_bounds": "numbers in the bounds of loops are added up, and loops that only repeat count up",
    "scalar_math": "functions of single numbers in loops are those of `math`",
    "unbox_arrays": "arrays that loops read item by item are lists while they run",
    "unpack": "items that are unpacked or exchanged are so in one statement",
    "iterate": "a loop that reads items by its counter iterates over them",
    "strip_mine": "long elementwise programs run over arrays in strips that fit into the cache",
    "scatter_add": "additions at places that integers name are made by NumPy itself",
    "runtime_select": "large selections and ties are decided by the values at run time",
    "conditions": "tests as one writes them: negated comparisons, shared branch heads, conditional expressions",
    "loop_exit_values": "the variable of a loop is read after it under its own name",
    "returns": "the only gradient is returned where it is computed",
    "breaks": "a loop is left where that is decided",
    "comprehensions": "a list that a loop only fills is a comprehension",
    "reversed_loops": "a loop that reads back what another saved in each step iterates over it in reverse",
    "assignments": "chained and tuple assignments of small values",
}

_off: ContextVar[frozenset[str]] = ContextVar("_off", default=frozenset())


def off() -> frozenset[str]:
    """The passes that do not run."""
    return _off.get()


def on(name: str) -> bool:
    """True if a pass of `PASSES` runs."""
    assert name in PASSES, name
    return name not in _off.get()


@contextmanager
def without(*names: str) -> Iterator[None]:
    """Compile without the passes of these names; programs that are compiled already stay as they are.

    Raises
    ------
    ValueError
        A name that is none of `PASSES`.
    """
    unknown = [name for name in names if name not in PASSES]
    if unknown:
        raise ValueError(f"no pass is called {unknown[0]!r}; the passes are {', '.join(PASSES)}")
    token = _off.set(_off.get() | set(names))
    try:
        yield
    finally:
        _off.reset(token)
