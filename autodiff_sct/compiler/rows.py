"""Small arrays that a loop saves in every iteration are the rows of one array.

::

    saved_x = []                              saved_x = np.empty((max(steps, 0), 3))
    for i in range(steps):                    for i in range(steps):
        saved_x.append(x)                         saved_x[i] = x
        x = x + dt * field(x)                     x += dt * field(x)
    ...                                ->     ...
    for i in range(steps - 1, -1, -1):        for i in range(steps - 1, -1, -1):
        x = saved_x.pop()                         x = saved_x[i]

An array of a few numbers is mostly what Python keeps around them, some 110 bytes, and what is copied into a row may be
changed where it is.  The loop runs to its end, the number of its iterations is known before it, and each of them saves
one array of a shape that the program tells in numbers, and reads it back.  Nobody writes to it through another name:
what the reverse sweep puts back as it was is seen by all that are the same array, not by a copy.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from . import ir
from .facts import Dim, Num
from .regions import Regions
from .specialise.state import Specialiser
from .together import Saved, call_by_content, forget, lists

SMALL = 32  # numbers that are copied as quickly as a list takes up an array
DTYPES = {np.dtype(np.float64): "", np.dtype(np.float32): "np.float32", np.dtype(np.complex128): "np.complex128"}


def in_rows(s: Specialiser, where: Regions, front: ir.Block, back: ir.Block) -> None:
    """Rewrite what the loops of a whole program save, in place."""
    loops = {x.primal: x for x in back if isinstance(x, ir.Loop) and runs_through(x.primal)}
    found = lists(s, front, back) if loops else []
    for loop in [x for x in front if x in loops]:
        backwards = loops[loop]
        for saved in [x for x in found if x.pushed_in is loop.body and x.popped_in is backwards.body]:
            shape = None if where.is_written(saved.value) else shape_in_numbers(s, loop, s.facts[saved.value])
            if shape is not None:
                keep_in_rows(s, where, saved, shape, front, loop, backwards)


def runs_through(loop: Any) -> bool:
    """Whether a loop of the forward sweep counts up by one, from a small number, and is never left early."""
    if not isinstance(loop, ir.Loop) or loop.kind != "range" or loop.stop is not None or loop.every is not None:
        return False
    return len(loop.bounds) == 1 or (len(loop.bounds) == 2 and is_small(loop.bounds[0]))


def is_small(bound: Any) -> bool:
    return isinstance(bound, gast.Constant) and bound.value in (0, 1, 2)


def shape_in_numbers(s: Specialiser, loop: ir.Loop, facts: Any) -> tuple[int, ...] | None:
    """The shape of a small array that a loop makes, where it is the same in every run of the program."""
    if not isinstance(facts, Num) or facts.kind != "array" or not facts.dims or facts.dtype not in DTYPES:
        return None
    lengths = s.lengths_in(loop.body)
    shape = tuple(lengths.canonical(axis) for axis in facts.dims)
    known = not (facts.tensor or facts.whole) and all(isinstance(length, int) for length in shape)
    return shape if known and math.prod(shape) <= SMALL else None


def keep_in_rows(
    s: Specialiser,
    where: Regions,
    saved: Saved,
    shape: tuple[int, ...],
    front: ir.Block,
    loop: ir.Loop,
    backwards: ir.Loop,
) -> None:
    """Let one array hold what was in a list."""
    call_by_content(s, saved)
    facts, read = as_num(s.facts[saved.value]), as_num(s.facts[saved.pop.target])
    root = s.root(("rows", saved.name))
    where.written.add(where.find(root))
    rows = s.fresh(s.hints[saved.name], replace(facts, dims=(None, *shape), roots=frozenset([root])))
    s.named.add(rows)
    s.facts[saved.pop.target] = replace(read, roots=read.roots | {root})
    front.insert(front.index(loop), ir.Let((rows,), empty(facts.dtype, iterations(s, loop.bounds[-1]), shape)))
    row = ir.Store(rows, ir.name(name_index(s, loop)), ir.name(saved.value), None, saved.push.origin)
    saved.pushed_in.insert(saved.pushed_in.index(saved.push), row)
    again = ir.subscript(ir.name(rows), ir.name(name_index(s, backwards)))
    saved.popped_in.insert(saved.popped_in.index(saved.pop), ir.Let(saved.pop.targets, again, None, saved.pop.origin))
    forget(front, saved)


def as_num(facts: Any) -> Num:
    assert isinstance(facts, Num)
    return facts


def empty(dtype: Any, rows: Any, shape: tuple[int, ...]) -> Any:
    keywords = {"dtype": ir.dotted(DTYPES[dtype])} if DTYPES[dtype] else {}
    return ir.call("np.empty", ir.tuple_([rows, *(ir.constant(length) for length in shape)]), **keywords)


def name_index(s: Specialiser, loop: ir.Loop) -> str:
    """The counter of a loop, of which nobody may have read it yet: ``for _ in range(n)``."""
    index = str(loop.index)
    if index not in s.named:
        s.hints[index] = "k"
    return index


def iterations(s: Specialiser, bound: Any) -> Any:
    """The number of iterations up to a bound, which is less than 0 if the user says so."""
    size = getattr(s.facts.get(getattr(bound, "id", "")), "size", None)
    is_length = isinstance(size, Dim) and size.offset >= 0 and not isinstance(size.symbol, str)
    if is_length or isinstance(bound, gast.Constant) or getattr(getattr(bound, "func", None), "id", "") == "len":
        return bound
    return ir.call("max", bound, ir.constant(0))
