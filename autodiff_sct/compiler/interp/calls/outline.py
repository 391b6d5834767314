"""Calls that stay calls: large functions of numbers, and functions without a rule.

Large functions of numbers stay calls.

A function is inlined where it is called.  A solver that calls a function of hundreds of lines at its start, in its loop
and when it has failed would become many times as long as what the user wrote.  So a function that inlining has written
out at length already, and that is called again, is compiled once, as recursive functions are (see `recursion`), and
called::

    d_f: y = solve(p0) * solve(p1)          # each `solve` inlined: hundreds of lines, twice
    ->   result = solve_forward(p0, state)
         result2 = solve_forward(p1, state2)

That is done where it is plain that a call is as good as its text: numbers go in, numbers come out, and what is between
does nothing but compute.  Anything else is inlined, unless it is called from functions that are called from many
others: helpers that call helpers twice would double what is written with each level.  Such a helper may take arrays,
write into them, and read variables of its module.
"""

from __future__ import annotations

import logging
import random
import sys
import traceback
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from ....core import thresholds
from ....errors import Refused
from ... import ir
from ...analysis.alias import written_by
from ...domain.facts import Num, Opaque
from ...domain.request import Way
from ...domain.values import Const, Frame, Leaf, Rest, TupleV, Value, home_of
from ...ir.builder import Specialiser
from ..arrays import transfer
from ..containers import items
from ..containers.missing_keys import note_unseen
from ..kernel import operations
from ..kernel.bind_arguments import SHOWING, Shown, drawn, is_pure, written_by_name
from ..kernel.escape import refuse_references
from ..kernel.operations import defines
from ..library import attribute_builtins
from .recursion import activations, compile_recursion
from .recursive_functions import Recursion, Signature, call

Takes = Callable[[Specialiser, Value], bool]


def inlined(s: Specialiser, frame: Frame, write: Callable[[], Value]) -> Value:
    """The result of a function that is inlined, whose length is noted."""
    before = s.counter
    try:
        return write()
    finally:
        s.written_at[frame.site] = s.written_at.get(frame.site, 0) + s.counter - before


def shared_call(
    s: Specialiser, frame: Frame, bound: dict[str, Value], fn: Any, body: Callable[[dict[str, Value]], Value]
) -> Value | None:
    """The value of a call that is not inlined again; None where inlining it is right."""
    if s.shared is None or s.written_at.get(frame.site, 0) < thresholds.INLINED_VARIABLES or frame.site in s.inlined:
        return None
    if not isinstance(fn, types.FunctionType) or fn.__closure__ or frame.resume is not None or activations(frame):
        return None
    takes = is_array if depth_of(frame) >= thresholds.NESTED_CALLS else is_number
    if not all(is_plain(s, value, takes) for value in bound.values()):
        return None
    fixed, signature = Signature(s, {"function": Const(fn)}), Signature(s, bound)
    key = (fixed.key, signature.key)
    if key not in s.recursions:
        approved = s.shared.setdefault(frame.site, [])
        s.attempt.met.add(Way.INLINE)
        s.recursive_calls += 1
        try:
            compile_recursion(s, key, frame, bound, signature, body, (fixed.keep, signature.keep))
        except Refused:
            s.inlined.add(frame.site)
            return None
        if not only_computes(s, s.recursions[key], takes):
            s.inlined.add(frame.site)
            del s.recursions[key]
            return None
        approved.append(s.recursions[key])
    return call(s, s.recursions[key], [value for _, value in signature.leaves])


def depth_of(frame: Frame) -> int:
    """The number of functions being inlined around a frame."""
    depth, caller = 0, frame.caller
    while caller is not None:
        depth, caller = depth + 1, caller.caller
    return depth


def is_plain(s: Specialiser, value: Value, takes: Takes) -> bool:
    """True if an argument is a number or what else it `takes`, a constant, or a tuple of them."""
    if isinstance(value, TupleV):
        return all(is_plain(s, item, takes) for item in value.items)
    return isinstance(value, Const) or takes(s, value)


def is_number(s: Specialiser, value: Value) -> bool:
    facts = s.facts_of(value) if isinstance(value, Leaf) else None
    return isinstance(facts, Num) and facts.dims == () and facts.kind != "array" and facts.row is None


def is_array(s: Specialiser, value: Value) -> bool:
    """True if a value is a number or an array of numbers."""
    facts = s.facts_of(value) if isinstance(value, Leaf) else None
    return isinstance(facts, Num) and facts.dims is not None and facts.row is None


def only_computes(s: Specialiser, function: Recursion, takes: Takes) -> bool:
    """True if a function returns what it may take, and does nothing besides, but that it may raise."""
    names = [*function.params, *function.results]
    if not all(takes(s, Leaf(name)) for name in names) or not all(
        is_quiet(s, stmt, takes) for stmt in ir.walk(function.block)
    ):
        return False
    return True


def is_quiet(s: Specialiser, stmt: Any, takes: Takes) -> bool:
    """True if a statement computes, raises, or writes into arrays where functions of arrays are called."""
    if takes is is_array and written_by(stmt) is not None:
        return True
    if not isinstance(stmt, ir.Let):
        return isinstance(stmt, (ir.If, ir.Loop, ir.Raise))
    made = stmt.op.fn if stmt.op is not None else None
    return not stmt.effect or (isinstance(made, type) and issubclass(made, Exception)) or is_shared(s, made)


def is_shared(s: Specialiser, fn: Any) -> bool:
    return isinstance(fn, Recursion) and any(fn in approved for approved in (s.shared or {}).values())


MAKES = {np.random.default_rng: np.random.Generator, logging.getLogger: logging.Logger}
CHANGE_LISTS = {random.shuffle, random.Random.shuffle}
AT_HAND = {sys.exc_info, getattr(sys, "exception", None), traceback.format_exc}
SHARE_MEMORY = {memoryview, np.frombuffer, np.nditer}


@defines(operations.opaque_call)
def opaque_call(s: Specialiser, callee: Any, fn: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A call of something without a rule: it just runs, and is refused where a derivative would pass through it.

    `fn` is the function, or the variable that holds it.
    """

    refuse_references(s, *args, *kwargs.values())
    if fn in CHANGE_LISTS:
        raise s.refuse(
            "unknown-write",
            f"{fn.__name__} changes a list where the compiler cannot see it",
            "do that before the differentiated function, or write the change out with methods of the list",
        )
    if fn in AT_HAND:
        raise s.refuse(
            "exceptions",
            f"{fn.__name__} asks for the exception that is handled",
            "name it: `except ValueError as error:`",
        )
    if fn in SHARE_MEMORY and any(f.kind == "array" for a in args if (f := s.num(a)) is not None):
        if fn is not np.nditer or "op_flags" in kwargs:
            raise s.refuse(
                "unknown-write", f"{fn.__name__} gives another way to an array's memory", "index the array itself"
            )
    if (text := attribute_builtins.computed(s, fn, args, kwargs)) is not None:
        return text
    expr = ir.call(callee, *(s.expr(a) for a in args), **{k: s.expr(v) for k, v in kwargs.items()})
    facts: Any = Opaque()
    if is_pure(fn):
        facts = transfer.facts_of_call(s, fn, args, kwargs)
        if isinstance(facts, Num) and facts.kind is None:
            facts = Opaque()
    elif isinstance(getattr(fn, "__self__", None), str):
        facts = attribute_builtins.returned_by(fn.__name__)
    elif isinstance(getattr(fn, "__self__", None), random.Random):
        facts = drawn(fn.__name__)
    elif home_of(fn).split(".")[0] in SHOWING:
        facts = Opaque(Shown)
    elif isinstance(fn, type) or fn in MAKES:
        facts = Opaque(fn if isinstance(fn, type) else MAKES[fn])
    args = [a.items if isinstance(a, Rest) else a for a in args]
    held = [fn] if isinstance(fn, Leaf) else []
    every = {f"argument {k}": v for k, v in enumerate([*held, *args, *kwargs.values()])}
    op = ir.Op(operations.opaque_call if held else fn, every | written_by_name(fn, args, kwargs))
    note_unseen(s, [*args, *kwargs.values()])
    return items.spread(s, s.let(expr, facts, op, hint="result", effect=True))
