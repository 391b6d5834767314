"""What the forward sweep has computed is not computed again by the reverse sweep.

::

    m, v = x.mean(axis=0), x.var(axis=0)
    t = x - m                                                   t = x - m
    ...                                                   ->    ...
    d_x += 2 * d_v / n * (x - np.mean(x, axis=0))               d_x += 2 * d_v / n * t

The derivatives of variances and norms, and those of what a user writes twice, come to such values.  Only those of the
outermost block are taken, which are there whatever the run does; of operations that are functions of their operands;
and where nothing but arithmetic reads what the reverse sweep would make.  Memory that the program writes is left alone,
and so are products with numbers, which are multiplied in elsewhere.

Inverses of matrices, which the derivatives of determinants need, are taken from loops and branches, too, where these
are reversed: to save one takes a fraction of the time of making it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gast
import numpy as np

from ... import ir
from ...analysis.alias import Regions
from ...analysis.liveness import readers_of
from ...domain.facts import Listed, Num
from ...ir.builder import Specialiser
from ...ir.patterns import ELEMENTWISE, literal, numpy_name
from ...ir.rewrite import substitute_own

# Functions of one array and of settings: the names of those, in order.
SETTINGS: dict[Any, tuple[str, ...]] = {np.roll: ("shift", "axis")}
METHODS = ("mean", "sum", "max", "min")
SETTINGS |= {getattr(np, name): ("axis",) for name in METHODS}


def with_known_values(s: Specialiser, where: Regions, forward: ir.Block, reverse: ir.Block, final: ir.Return) -> None:
    """Let the reverse sweep read what the outermost block of the forward sweep has, in place."""
    known: dict[Any, str] = {}
    for stmt in forward:
        if isinstance(stmt, ir.Let) and not where.is_written(stmt.target) and not stmt.augments:
            if (key := key_of(s, where, stmt, {})) is not None:
                known.setdefault(key, stmt.target)
    if not known:
        return
    readers: dict[str, list[Any]] = {}
    names: dict[str, str] = {}
    for stmt in ir.adjoint_walk(reverse):
        key = key_of(s, where, stmt, names) if isinstance(stmt, ir.Let) and not stmt.in_place else None
        found = known.get(key)
        if found is None:
            continue
        readers = readers or readers_of([*reverse, final])
        if all(is_arithmetic(reader, stmt.target) for reader in readers.get(stmt.target, ())):
            names[stmt.target] = found
            stmt.expr, stmt.op, stmt.may_raise = ir.name(found), None, False


def with_known_inverses(
    s: Specialiser, where: Regions, forward: ir.Block, reverse: ir.Block, around: Mapping[Any, str]
) -> None:
    """Let what reverses a block of the forward sweep read the inverses that this and those around it have, in place."""
    known = dict(around)
    for stmt in forward:
        if is_inverse(stmt) and not where.is_written(stmt.target) and (key := key_of(s, where, stmt, {})) is not None:
            known.setdefault(key, stmt.target)
    for stmt in list(reverse):
        primal = getattr(stmt, "primal", None)
        inner = ir.bodies(stmt)
        of = ir.bodies(primal) if type(primal) is type(stmt) else [[] for _ in inner]
        for body, part in zip(inner, of, strict=True):
            with_known_inverses(s, where, part, body, known)
        found = known.get(key_of(s, where, stmt, {})) if is_inverse(stmt) else None
        if found is None:
            continue
        readers = [x for x in ir.adjoint_walk(reverse) if stmt.target in ir.uses(x)]
        if all(isinstance(x, ir.Let) and not x.in_place for x in readers):
            reverse.remove(stmt)
            for reader in readers:
                substitute_own(reader, {stmt.target: ir.name(found)})


def is_inverse(stmt: Any) -> bool:
    call = stmt.expr if isinstance(stmt, ir.Let) and not stmt.in_place else None
    if not isinstance(call, gast.Call) or call.keywords or len(call.args) != 1:
        return False
    return ir.path_of(call.func) == "np.linalg.inv"


def key_of(s: Specialiser, where: Regions, stmt: ir.Let, names: dict[str, str]) -> Any:
    """What a statement computes, where that is an array and a function of its operands; `names` stand for others.

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


def is_array_of_list(s: Specialiser, expr: Any) -> bool:
    """Whether an expression makes an array of a list of numbers."""
    if not isinstance(expr, gast.Call) or numpy_name(expr) != "array" or len(expr.args) != 1 or expr.keywords:
        return False
    if not isinstance(expr.args[0], gast.Name):
        return False
    facts = s.facts.get(expr.args[0].id)
    held = s.elements_of(facts) if isinstance(facts, Listed) else None
    return isinstance(held, Num) and held.dims == () and held.kind != "array"


def function_of(s: Specialiser, expr: gast.Call) -> Any:
    """The function of NumPy that is called, by its name or as the method of an array."""
    name = numpy_name(expr)
    if name is None and isinstance(expr.func, gast.Attribute) and isinstance(expr.func.value, gast.Name):
        array = expr.func.value.id
        if ir.is_variable(array) and array in s.facts and is_array(s, array):
            name = expr.func.attr if expr.func.attr in METHODS else None
    return getattr(np, name or "", None)


def part_of(where: Regions, expr: Any, names: dict[str, str]) -> Any:
    """A variable whose memory nobody writes to, or a number."""
    if isinstance(expr, gast.Name) and ir.is_variable(expr.id):
        return None if where.is_written(expr.id) else names.get(expr.id, expr.id)
    number = literal(expr)
    return None if number is None else (type(number), repr(number))


def is_array(s: Specialiser, name: str) -> bool:
    facts = s.facts[name]
    return isinstance(facts, Num) and facts.kind == "array" and bool(facts.ndim) and not facts.tensor


def is_arithmetic(stmt: Any, name: str) -> bool:
    """Whether a statement makes something new of what it reads."""
    if not isinstance(stmt, ir.Let) or not isinstance(stmt.expr, (gast.BinOp, gast.UnaryOp)):
        return False
    return not stmt.in_place or getattr(stmt.expr.left, "id", None) != name
