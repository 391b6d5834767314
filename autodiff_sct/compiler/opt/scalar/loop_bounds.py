"""The bounds of loops, as one would write them.

``n = len(x)`` with ``range(n)`` and ``range(n - 1, -1, -1)`` becomes ``range(len(x))`` and
``range(len(x) - 1, -1, -1)`` (`rematerialize_lengths`), of an array or of a list that has all its items by then; so is
``t = steps + 1`` written where loops need it. A start of ``len(x) - 1 - 1`` becomes ``len(x) - 2`` (`fold_bounds`).
Where the counter has no name, ``range(n - 1, -1, -1)`` is ``range(n)`` (`normalize_direction`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import gast

from ... import ir
from ...analysis.alias import Regions, roots_of
from ...analysis.live_ranges import uncounted
from ...domain.facts import Listed, Num, Opaque
from ...ir.builder import Specialiser


def rematerialize_lengths(s: Specialiser, where: Regions, program: ir.Block, lists: bool) -> ir.Block:
    """The program with the lengths of arrays, and of `lists` that are complete, written where loops need them."""
    statements = ir.walk(program)
    lengths = {stmt.target: stmt.expr for stmt in statements if is_length(s, stmt, Num)}
    if lists:
        lengths |= complete(s, where, program)
    shorter = numbers_off(s, statements, lengths)
    lengths |= sums(s, statements)
    if not lengths:
        return program
    loops = [x for x in statements if isinstance(x, ir.Loop)]
    in_bounds = Counter(n for loop in loops for bound in loop.bounds for n in ir.names_in(bound))
    every = Counter(n for stmt in program for n in ir.reads_inside(stmt))
    shorter = {name: length for name, length in shorter.items() if in_bounds[name] == every[name]}
    in_bounds += Counter(length.left.id for length in shorter.values())  # which are read there then
    lengths = {name: expr for name, expr in lengths.items() if in_bounds[name] == every[name]}
    lengths |= {name: ir.substitute(length, lengths) for name, length in shorter.items() if length.left.id in lengths}
    for loop in loops:
        loop.bounds = tuple(ir.substitute(bound, lengths) for bound in loop.bounds)
    return without(program, lengths)


def numbers_off(s: Specialiser, statements: list[Any], lengths: dict[str, Any]) -> dict[str, Any]:
    """The lengths among some with a number added, under no name of the user's."""
    made = [stmt for stmt in statements if isinstance(stmt, ir.Let) and len(stmt.targets) == 1]
    return {
        stmt.target: stmt.expr
        for stmt in made
        if stmt.target not in s.named
        and isinstance(stmt.expr, gast.BinOp)
        and isinstance(stmt.expr.op, (gast.Add, gast.Sub))
        and getattr(stmt.expr.left, "id", None) in lengths
        and type(getattr(stmt.expr.right, "value", None)) is int
    }


def sums(s: Specialiser, statements: list[Any]) -> dict[str, Any]:
    """The integers that are one of the user's with a number added, whose name never stands for another."""
    made = Counter(s.hints[n] for stmt in statements for n in ir.ir_targets(stmt) if n in s.named)
    found = {}
    for stmt in statements:
        expr: Any = stmt.expr if isinstance(stmt, ir.Let) and stmt.target not in s.named else None
        if not isinstance(expr, gast.BinOp) or not isinstance(expr.op, (gast.Add, gast.Sub)):
            continue
        number = isinstance(expr.right, gast.Constant) and type(expr.right.value) is int
        left = expr.left.id if number and isinstance(expr.left, gast.Name) else None
        if left in s.facts and is_python_int(s.facts[left]) and (left in s.named or left not in s.definitions):
            if made[s.hints[left]] <= (left in s.definitions):
                found[stmt.target] = expr
    return found


def is_python_int(facts: Any) -> bool:
    return isinstance(facts, Num) and facts.python and facts.kind == "int"


def is_length(s: Specialiser, stmt: Any, kind: type) -> bool:
    """True if a statement reads the length of a variable of some kind, under no name of the user's."""
    return (
        isinstance(stmt, ir.Let)
        and stmt.target not in s.named
        and isinstance(stmt.expr, gast.Call)
        and getattr(stmt.expr.func, "id", "") == "len"
        and all(isinstance(s.facts[n], kind) for n in ir.reads(stmt))
    )


def complete(s: Specialiser, where: Regions, program: ir.Block) -> dict[str, Any]:
    """The lengths of lists, by their names, that nothing changes any more."""
    found: dict[str, Any] = {}
    if not any(is_length(s, stmt, Listed) for stmt in program):
        return found
    changed: set[int] | None = set()  # from here on; nothing is known of what else a list may be inside
    for stmt in reversed(program):
        if changed is None:
            break
        if is_length(s, stmt, Listed):
            region = {where.find(root) for n in ir.reads(stmt) for root in roots_of(s.facts[n])}
            if region and not region & changed:
                found[stmt.target] = stmt.expr
        for inner in ir.inside(stmt):
            lists = resized(s, inner)
            if lists is None:
                changed = None
                break
            changed |= {where.find(root) for n in lists for root in roots_of(s.facts[n])}
    return found


def resized(s: Specialiser, stmt: Any) -> Sequence[str] | None:
    """The lists whose length a statement may change; nothing where that could be any."""
    if isinstance(stmt, ir.Store):
        return [] if isinstance(s.facts[stmt.base], Num) else [stmt.base]
    if isinstance(stmt, ir.Effect) or (isinstance(stmt, ir.Let) and stmt.effect):
        if getattr(stmt, "kind", "") == "save":
            return []
        reads, callee = ir.reads(stmt), getattr(stmt.expr, "func", None)
        owner = callee.value if isinstance(callee, gast.Attribute) else None
        if isinstance(owner, gast.Name) and ir.is_variable(owner.id):
            return reads
        return [] if all(isinstance(s.facts[n], (Num, Opaque)) for n in reads) else None
    return []


def without(block: ir.Block, names: dict[str, Any]) -> ir.Block:
    for stmt in block:
        for inner in ir.bodies(stmt):
            inner[:] = without(inner, names)
    return [stmt for stmt in block if not (isinstance(stmt, ir.Let) and stmt.target in names)]


def fold_bounds(program: ir.Block) -> None:
    """Add up the numbers in the bounds of loops."""
    for stmt in ir.walk(program):
        if isinstance(stmt, ir.Loop) and stmt.kind == "range":
            stmt.bounds = tuple(folded(bound) for bound in stmt.bounds)


def folded(expr: Any) -> Any:
    rest, number = split(expr)
    if rest is None:
        return ir.constant(number)
    if rest is expr or number == 0:
        return rest
    return ir.binop(rest, gast.Add if number > 0 else gast.Sub, ir.constant(abs(number)))


def split(expr: Any) -> tuple[Any, int]:
    """A sum of integers as the part that only the run tells, and a number."""
    if isinstance(expr, gast.Constant) and type(expr.value) is int:
        return None, expr.value
    if isinstance(expr, gast.BinOp) and isinstance(expr.op, (gast.Add, gast.Sub)):
        rest, number = split(expr.left)
        other, more = split(expr.right)
        sign = 1 if isinstance(expr.op, gast.Add) else -1
        if other is None:
            return rest, number + sign * more
        if rest is None and sign == 1:
            return other, number + more
        if rest is not None and rest is not expr.left and number + sign * more == 0:
            return ir.operation(rest, expr.op, other), 0
    return expr, 0


# -- loops that only repeat


def normalize_direction(s: Specialiser, program: ir.Block) -> None:
    """Let loops whose counter is nobody's count up, in place."""
    loops = [x for x in ir.walk(program) if isinstance(x, ir.Loop) and x.kind == "range" and len(x.bounds) == 3]
    if not loops:
        return
    nameless = uncounted(s, ir.walk(program))
    for loop in loops:
        start, stop, step = loop.bounds
        if loop.index not in nameless or loop.every is not None or not (is_minus_one(stop) and is_minus_one(step)):
            continue
        if isinstance(start, gast.Constant) and type(start.value) is int:
            loop.bounds = (ir.constant(start.value + 1),)
        elif isinstance(start, gast.BinOp) and isinstance(start.op, gast.Sub) and is_one(start.right):
            loop.bounds = (start.left,)


def is_one(expr: Any) -> bool:
    return isinstance(expr, gast.Constant) and type(expr.value) is int and expr.value == 1


def is_minus_one(expr: Any) -> bool:
    return isinstance(expr, gast.UnaryOp) and isinstance(expr.op, gast.USub) and is_one(expr.operand)
