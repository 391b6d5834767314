"""One of several functions, told by an index or a key that only the run knows: a call of it is a branch."""

from __future__ import annotations

from typing import Any

import gast

from ... import ir
from ...domain.facts import BOOL, INT
from ...domain.values import Choice, Const, Leaf, Value
from ...ir.builder import Specialiser
from ..kernel.functions import is_function
from ..kernel.operations import compare_two
from ..kernel.raising import raise_if
from . import optional


def are_functions(items: list[Value]) -> bool:
    """True if things are functions, all of them."""
    return bool(items) and all(map(is_function, items))


def by_position(s: Specialiser, items: list[Value], index: Value) -> Value:
    """``(f, g, h)[index]``"""
    facts = s.num(index)
    if facts is None or facts.dtype is None or facts.dtype.kind not in "iu" or facts.dims != ():
        raise s.refuse(
            "list-of-objects",
            "a list of functions is indexed by something else than an integer",
            "index it by an integer",
        )
    count = len(items)
    beyond = gast.BoolOp(gast.Or(), [compared(s, index, gast.GtE, count), compared(s, index, gast.Lt, -count)])
    raise_if(s, beyond, IndexError, "list index out of range")
    place = s.let(ir.binop(s.expr(index), gast.Mod, ir.constant(count)), INT, hint="which", may_raise=False)
    return choice(s, [(Const(k), item) for k, item in enumerate(items)], place)


def by_key(s: Specialiser, items: dict[Any, Value], key: Value) -> Value:
    """``{"a": f, "b": g}[key]``"""
    tests = [compared(s, key, gast.NotEq, known) for known in items]
    raise_if(s, tests[0] if len(tests) == 1 else gast.BoolOp(gast.And(), tests), KeyError, "an unknown key")
    return choice(s, [(Const(known), item) for known, item in items.items()], key)


def told_by_choice(s: Specialiser, op: Any, a: Value, b: Value) -> Value | None:
    """``f is g`` and the like, where one is chosen at run time; None where it is another comparison."""
    for value, other in ((a, b), (b, a)):
        if isinstance(value, Choice) and isinstance(op, (gast.Is, gast.IsNot, gast.Eq, gast.NotEq)):
            return of_either(s, value, *(compare_two(s, op, each, other) for each in (value.then, value.orelse)))
    return None


def of_either(s: Specialiser, value: Choice, then: Value, orelse: Value) -> Value:
    """The truth value that one of two functions has, from those of both."""
    if then == orelse:
        return then
    if (then, orelse) == (Const(True), Const(False)):
        return value.test
    if (then, orelse) == (Const(False), Const(True)):
        test = gast.UnaryOp(gast.Not(), s.expr(value.test))
        return optional.opposite(s, value.test, s.let(test, BOOL, may_raise=False))
    return s.let(gast.IfExp(s.expr(value.test), s.expr(then), s.expr(orelse)), BOOL, hint="chosen", may_raise=False)


def exists(s: Specialiser, value: Value) -> Value:
    """True in the program if what may be None is a function."""
    if isinstance(value, Choice):
        return of_either(s, value, exists(s, value.then), exists(s, value.orelse))
    return Const(value != Const(None))


def compared(s: Specialiser, value: Value, op: type, other: Any) -> Any:
    return gast.Compare(s.expr(value), [op()], [s.expr(Const(other))])


def choice(s: Specialiser, items: list[tuple[Const, Value]], value: Value) -> Value:
    *others, (_, found) = items
    for known, item in reversed(others):
        test = s.let(compared(s, value, gast.Eq, known.value), BOOL, hint="chosen", may_raise=False)
        assert isinstance(test, Leaf)
        found = Choice(test, item, found)
    return found
