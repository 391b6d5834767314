"""Common subexpressions and copies: a value that is available is read.

Value numbering: what a program computes of the same values as before is read from there.

::

    y = np.exp(a) / np.sum(np.exp(a))             t = np.exp(a)
                                          ->      y = t / np.sum(t)

Operations on arrays whose memory the program does not write, in one block or in branches of it, where what reads the
second result makes something new of it.  So nobody can tell, and the reverse sweep has one value to think of.  The body
of a loop has its own values: no cotangent is carried through it for this.

The reverse sweep reads what the block that it reverses has computed, and what the blocks around that have::

    c, s = np.cos(x), np.sin(x)                   c, s = np.cos(x), np.sin(x)
    ...                                     ->    ...
    d_x = d_s * np.cos(x) - d_c * np.sin(x)       d_x = d_s * c - d_c * s

In loops it reads what is saved anyway.  Products with numbers are left alone, for these are multiplied in elsewhere.

Copy propagation: the result of a branch is read in the branch that reverses it under its name after it.

::

    if n > 1.0:                             if n > 1.0:
        y2 = y / n                              y2 = y / n
        y3 = y2                             else:
    else:                                       y2 = y
        y3 = y                      ->      ...
    ...                                     if n > 1.0:
    if n > 1.0:                                 d_n = -(np.vdot(d_y, y2) / n)
        d_n = -(np.vdot(d_y, y2) / n)

It is the same value, and two names for it would need a copy.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import gast
import numpy as np

from ... import ir
from ...analysis.alias import Regions
from ...analysis.ownership import is_new
from ...domain.facts import Listed, Num
from ...domain.values import Leaf, TupleV
from ...ir.function import Function
from ...ir.patterns import ELEMENTWISE, literal, numpy_name
from ...ir.traversal import read_instead, substitute_own

NO_NAMES: Mapping[str, str] = {}
# Functions of one array and of settings: the names of those, in order.
SETTINGS: dict[Any, tuple[str, ...]] = {np.roll: ("shift", "axis")}
METHODS = ("mean", "sum", "max", "min")
SETTINGS |= {getattr(np, name): ("axis",) for name in METHODS}


def number_values(s: Function, where: Regions, program: ir.Block, results: Sequence[str]) -> None:
    """Drop statements of a program, in place; `results` are the variables that it returns."""
    Once(s, where, program, results).block(program, {})


class Once:
    """Looks for what is computed again."""

    def __init__(self, s: Function, where: Regions, program: ir.Block, results: Sequence[str]) -> None:
        self.s, self.where, self.program = s, where, program
        self.shown = set(results)  # what somebody sees under its own name
        for stmt in ir.walk(program):
            if isinstance(stmt, ir.Effect):
                self.shown.update(n for value in stmt.operands for n in s.leaves(value))

    @cached_property
    def readers(self) -> dict[str, list[Any]]:
        return readers_inside(self.program)

    def block(self, block: ir.Block, known: dict[Any, str]) -> None:
        kept = []
        for stmt in block:
            if not isinstance(stmt, ir.Let) or not self.is_known(stmt, known):
                kept.append(stmt)
                for inner in ir.bodies(stmt):
                    self.block(inner, {} if isinstance(stmt, ir.Loop) else dict(known))
        block[:] = kept

    def is_known(self, stmt: ir.Let, known: dict[Any, str]) -> bool:
        """True if a statement computes what there is already, which is read instead from then on."""
        key = key_of(self.s, self.where, stmt)
        if key is None or stmt.augments or self.where.is_written(stmt.target) or stmt.target in self.shown:
            return False
        found = known.setdefault(key, stmt.target)
        if found == stmt.target or not all(self.may_read(x, stmt.target) for x in self.readers[stmt.target]):
            return False
        readers = self.readers[stmt.target]
        for reader in readers:
            substitute_own(reader, {stmt.target: ir.name(found)})
            arguments = reader.op.arguments
            reader.op = replace(reader.op, arguments={k: renamed(v, stmt.target, found) for k, v in arguments.items()})
        self.readers[found] += readers
        return True

    def may_read(self, stmt: Any, name: str) -> bool:
        """True if a statement only computes with a variable, or takes from an array, or puts there, what it picks."""
        return makes_new(stmt, name) or self.is_index(stmt, name)

    def is_index(self, stmt: Any, name: str) -> bool:
        """True if a statement reads a variable as the index of what it reads or writes, by which that is no view."""
        if isinstance(stmt, ir.Store):
            picks = isinstance(self.s.facts[stmt.base], Num) and name not in (stmt.base, *ir.variables_in(stmt.value))
            return picks and stmt.op is not None
        expr = stmt.expr if isinstance(stmt, ir.Let) and stmt.op is not None and not stmt.effect else None
        if not isinstance(expr, gast.Subscript) or not isinstance(self.s.facts[stmt.target], Num):
            return False
        return name not in ir.variables_in(expr.value)


def number_across_sweeps(s: Function, where: Regions, forward: ir.Block, reverse: ir.Block, final: ir.Return) -> None:
    """Let the reverse sweep read what the forward sweep has, in place."""
    Across(s, where, readers_inside([*reverse, final])).block(reverse, forward, {}, False)


class Across:
    """Looks in the reverse sweep for what the block that is reversed, and those around it, have computed."""

    def __init__(self, s: Function, where: Regions, readers: dict[str, list[Any]]) -> None:
        self.s, self.where, self.readers = s, where, readers
        self.names: dict[str, str] = {}  # of the reverse sweep -> of the forward sweep

    def block(self, block: ir.Block, primal: ir.Block, around: dict[Any, str], looped: bool) -> None:
        """Rename what reverses `primal`: of a loop, only what is saved anyway is read."""
        known = around | {key: name for key, name in self.values(primal) if not looped or name in self.readers}
        for stmt in block:
            if known and isinstance(stmt, ir.Let) and not stmt.in_place:
                self.rename(stmt, known.get(key_of(self.s, self.where, stmt, self.names)))
            reversed_stmt = getattr(stmt, "primal", None)
            inner = ir.adjoint_bodies(stmt)
            of = ir.bodies(reversed_stmt) if type(reversed_stmt) is type(stmt) else [[] for _ in inner]
            for body, part in zip(inner, of):
                self.block(body, part, known, looped or isinstance(stmt, ir.Loop))

    def values(self, primal: ir.Block) -> Iterator[tuple[Any, str]]:
        """The values that a block of the forward sweep computes, the first of equal values last."""
        for stmt in reversed(primal):
            if isinstance(stmt, ir.Let) and not self.where.is_written(stmt.target) and not stmt.augments:
                if (key := key_of(self.s, self.where, stmt)) is not None:
                    yield key, stmt.target

    def rename(self, stmt: ir.Let, found: str | None) -> None:
        """Read a value of the forward sweep in the place of a statement of the reverse sweep."""
        if found is not None and all(is_arithmetic(x, stmt.target) for x in self.readers.get(stmt.target, ())):
            self.names[stmt.target] = found
            stmt.expr, stmt.op, stmt.may_raise = ir.name(found), None, False


def readers_inside(block: ir.Block) -> dict[str, list[Any]]:
    """The statements that read each variable or pass it on, those inside others among them."""
    readers: dict[str, list[Any]] = defaultdict(list)
    for stmt in ir.walk(block):
        for name in set(ir.uses(stmt)):
            readers[name].append(stmt)
    return readers


def makes_new(stmt: Any, name: str) -> bool:
    """True if a statement is an operation that makes something new of a variable that is its argument."""
    if not isinstance(stmt, ir.Let) or stmt.effect or stmt.op is None:
        return False
    direct = ir.variables_in(stmt.expr).count(name) == sum(v == Leaf(name) for v in stmt.op.arguments.values())
    return direct and (is_new(stmt.expr) or is_arithmetic(stmt, name))


def renamed(value: Any, old: str, new: str) -> Any:
    if isinstance(value, TupleV):
        return replace(value, items=tuple(renamed(item, old, new) for item in value.items))
    return Leaf(new) if value == Leaf(old) else value


def is_inverse(stmt: Any) -> bool:
    call = stmt.expr if isinstance(stmt, ir.Let) and not stmt.in_place else None
    if not isinstance(call, gast.Call) or call.keywords or len(call.args) != 1:
        return False
    return ir.path_of(call.func) == "np.linalg.inv"


def key_of(s: Function, where: Regions, stmt: ir.Let, names: Mapping[str, str] = NO_NAMES) -> Any:
    """The key of a statement that computes an array as a function of its operands; `names` stand for others.

    The expression tells, not the operation that it was made for: other passes may have rewritten it since.
    """
    if len(stmt.targets) != 1 or stmt.effect or not is_array(s, stmt.target):
        return None
    expr, settings = stmt.expr, {}
    kind: Any
    if isinstance(expr, gast.BinOp) and isinstance(expr.op, ELEMENTWISE):
        kind, operands = type(expr.op), [expr.left, expr.right]
        if kind is gast.Mult and any(isinstance(operand, gast.Constant) for operand in operands):
            return None
    elif isinstance(expr, gast.Compare) and len(expr.ops) == 1:
        kind, operands = type(expr.ops[0]), [expr.left, *expr.comparators]
    elif isinstance(expr, gast.UnaryOp) and isinstance(expr.op, gast.Invert):
        kind, operands = gast.Invert, [expr.operand]
    elif is_inverse(stmt):
        kind, operands = np.linalg.inv, expr.args
    elif is_array_of_list(s, expr):
        kind, operands = np.array, expr.args
    elif isinstance(expr, gast.Call) and (fn := function_of(s, expr)) is not None:
        if not isinstance(fn, np.ufunc) and fn not in SETTINGS:
            return None
        args = expr.args if numpy_name(expr) else [expr.func.value, *expr.args]
        kind, operands = fn, args[:1] if fn in SETTINGS else args
        settings = dict(zip(SETTINGS.get(fn, ()), args[1:]))
        settings |= {k.arg: k.value for k in expr.keywords}
        if len(args) > len(operands) + len(settings) or not all(literal(v) is not None for v in settings.values()):
            return None
    else:
        return None
    parts = [part_of(where, operand, names) for operand in operands]
    options = frozenset((name, type(literal(value)), literal(value)) for name, value in settings.items())
    return None if None in parts else (kind, *parts, options)


def is_array_of_list(s: Function, expr: Any) -> bool:
    """True if an expression makes an array of a list of numbers."""
    if not isinstance(expr, gast.Call) or numpy_name(expr) != "array" or len(expr.args) != 1 or expr.keywords:
        return False
    if not isinstance(expr.args[0], gast.Name):
        return False
    facts = s.facts.get(expr.args[0].id)
    held = s.elements_of(facts) if isinstance(facts, Listed) else None
    return isinstance(held, Num) and held.dims == () and held.kind != "array"


def function_of(s: Function, expr: gast.Call) -> Any:
    """The function of NumPy that is called, by its name or as the method of an array."""
    name = numpy_name(expr)
    if name is None and isinstance(expr.func, gast.Attribute) and isinstance(expr.func.value, gast.Name):
        array = expr.func.value.id
        if ir.is_variable(array) and array in s.facts and is_array(s, array):
            name = expr.func.attr if expr.func.attr in METHODS else None
    return getattr(np, name or "", None)


def part_of(where: Regions, expr: Any, names: Mapping[str, str]) -> Any:
    """A variable whose memory nobody writes to, or a number."""
    if isinstance(expr, gast.Name) and ir.is_variable(expr.id):
        return None if where.is_written(expr.id) else names.get(expr.id, expr.id)
    number = literal(expr)
    return None if number is None else (type(number), repr(number))


def is_array(s: Function, name: str) -> bool:
    facts = s.facts[name]
    return isinstance(facts, Num) and facts.kind == "array" and bool(facts.ndim) and not facts.tensor


def is_arithmetic(stmt: Any, name: str) -> bool:
    """True if a statement makes something new of what it reads."""
    if not isinstance(stmt, ir.Let) or not isinstance(stmt.expr, (gast.BinOp, gast.UnaryOp)):
        return False
    return not stmt.in_place or getattr(stmt.expr.left, "id", None) != name


def propagate_merges(s: Function, back: ir.Block) -> None:
    """Rewrite the branches of the reverse sweep that stand outside loops, in place."""
    for stmt in back:
        if not isinstance(stmt, ir.If):
            continue
        primal = stmt.primal if isinstance(stmt.primal, ir.If) else None
        for side in ("then", "orelse"):
            body = getattr(stmt, side)
            propagate_merges(s, body)
            if primal is not None:
                made = ir.defined(getattr(primal, side))
                sources = [(getattr(m, side), m.target) for m in primal.merges]
                names = {a: b for a, b in sources if a in made and is_alike(s, a, b)}
                for inner in ir.walk(body) if names else ():
                    read_instead(inner, names)


def is_alike(s: Function, name: str, merged: str) -> bool:
    """True if the same is known of what one path hands on as of what comes from all of them."""
    one, other = s.facts[name], s.facts[merged]
    if not isinstance(one, Num) or not isinstance(other, Num) or {name, merged} & s.unbound:
        return False
    return (one.kind, one.dtype, one.dims) == (other.kind, other.dtype, other.dims)
