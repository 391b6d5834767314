"""Bounds and counters of loops, as one would write them.

The bounds of loops, as one would write them.

``n = len(x)`` with ``range(n)`` and ``range(n - 1, -1, -1)`` becomes ``range(len(x))`` and
``range(len(x) - 1, -1, -1)`` (`rematerialize_lengths`), of an array or of a list that has all its items by then; so is
``t = steps + 1`` written where loops need it. A start of ``len(x) - 1 - 1`` becomes ``len(x) - 2`` (`fold_bounds`).
Where the counter has no name, ``range(n - 1, -1, -1)`` is ``range(n)`` (`normalize_direction`).

A counter with a number added is written where it is read, and has a name only where it is read often.

::

    t = i - 1                              d_w = d_t * d[i - 1]
    d_w = d_t * d[t]                       w = a[i - 1] / b[i - 1]
    t2, t3 = i - 1, i - 1          ->
    w = a[t2] / b[t3]

    for j in range(n):                     before = i - 1
        x[i - 1] += y[i - 1, j]    ->      for j in range(n):
                                               x[before] += y[before, j]

Such a number cannot fail and changes with its loop only, whose body it may begin.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import gast

from ... import ir
from ...analysis.alias import Regions, roots_of
from ...analysis.liveness import uncounted
from ...domain.facts import INT, Listed, Num, Opaque
from ...ir.function import Function
from ...ir.traversal import change_own, replaced_node
from .forward_substitution import substitute_own


def rematerialize_lengths(s: Function, where: Regions, program: ir.Block, lists: bool) -> ir.Block:
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


def numbers_off(s: Function, statements: list[Any], lengths: dict[str, Any]) -> dict[str, Any]:
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


def sums(s: Function, statements: list[Any]) -> dict[str, Any]:
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


def is_length(s: Function, stmt: Any, kind: type) -> bool:
    """True if a statement reads the length of a variable of some kind, under no name of the user's."""
    return (
        isinstance(stmt, ir.Let)
        and stmt.target not in s.named
        and isinstance(stmt.expr, gast.Call)
        and getattr(stmt.expr.func, "id", "") == "len"
        and all(isinstance(s.facts[n], kind) for n in ir.reads(stmt))
    )


def complete(s: Function, where: Regions, program: ir.Block) -> dict[str, Any]:
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


def resized(s: Function, stmt: Any) -> Sequence[str] | None:
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


def normalize_direction(s: Function, program: ir.Block) -> None:
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


OFTEN = 3  # places that read one
CALLED = {(gast.Add, 1): "after", (gast.Sub, 1): "before"}


def rematerialize_counters(s: Function, program: ir.Block) -> None:
    """Write counters, and integers with a name of the user's, with a number added where they are read, in place."""
    counters = counters_of(program)
    integers = counters | integers_of(s, program)
    if not integers:
        return
    statements = ir.walk(program)
    found = {
        stmt.target: stmt.expr
        for stmt in statements
        if isinstance(stmt, ir.Let)
        and len(stmt.targets) == 1
        and stmt.target not in s.named
        and is_count(stmt.expr, integers if s.hints[stmt.target] == "t" else counters)
    }
    passed_on = {n for stmt in statements for n in handed_on(stmt)}
    found = {name: expr for name, expr in found.items() if name not in passed_on}
    if not found:
        return
    for stmt in statements:
        substitute_own(stmt, found)
    for block in ir.blocks(program):
        block[:] = [x for x in block if not (isinstance(x, ir.Let) and x.target in found)]


def name_counters(s: Function, back: ir.Block) -> None:
    """Give a name to those that the reverse sweep reads often, in place; the forward sweep stays as it is written."""
    for loop in [stmt for stmt in ir.adjoint_walk(back) if isinstance(stmt, ir.Loop)]:
        counter = loop.index
        if counter is None or loop.kind != "range":
            continue
        inside = ir.walk(loop.body)
        inner = {x for stmt in inside if isinstance(stmt, ir.Loop) for x in ir.walk(stmt.body)}
        found: dict[str, Any] = {}
        again: set[str] = set()  # those that a loop inside reads
        reads = Counter[str]()
        for stmt in inside:
            for node in (n for e in read_by(stmt) for n in outside_slices(e) if is_count(n, {counter})):
                key = gast.dump(node)
                found.setdefault(key, node)
                reads[key] += 1
                again |= {key} if stmt in inner else set()
        for key, node in found.items():
            if reads[key] >= OFTEN - (key in again):
                begin_with(s, loop, inside, key, node)


def begin_with(s: Function, loop: ir.Loop, inside: ir.Block, key: str, node: Any) -> None:
    """Let the body of a loop begin with a number under a name of its own."""
    name = s.fresh(CALLED.get((type(node.op), node.right.value), "t"), INT)
    for stmt in inside:
        change_own(stmt, lambda expr: replaced_node(expr, node, ir.name(name)))
    loop.body.insert(0, ir.Let((name,), node))


def counters_of(program: ir.Block) -> set[str]:
    """The counters of loops over ranges."""
    loops = [stmt for stmt in ir.walk(program) if isinstance(stmt, ir.Loop) and stmt.kind == "range"]
    return {x.index for x in loops if x.index is not None}


def integers_of(s: Function, program: ir.Block) -> set[str]:
    """The integers with a name of the user's that keep their value: parameters and what is made outside of blocks."""
    made = {name for stmt in program if isinstance(stmt, ir.Let) for name in stmt.targets}
    inside = ir.defined(program) - made
    facts = {name: s.facts.get(name) for name in s.named if name not in inside}
    return {name for name, known in facts.items() if isinstance(known, Num) and known.kind == "int"}


def is_count(expr: Any, counters: set[str]) -> bool:
    """True if an expression is a counter with a number added or taken away."""
    return (
        isinstance(expr, gast.BinOp)
        and isinstance(expr.op, (gast.Add, gast.Sub))
        and getattr(expr.left, "id", None) in counters
        and isinstance(expr.right, gast.Constant)
        and type(expr.right.value) is int
    )


def handed_on(stmt: Any) -> list[str]:
    """The variables that a statement gives other variables."""
    if isinstance(stmt, ir.Loop):
        return [n for c in stmt.carries for n in (c.init, c.next) if n] + (
            [*stmt.rerun.names.values()] if stmt.rerun is not None else []
        )
    if isinstance(stmt, ir.If):
        return [n for m in stmt.merges for n in (m.then, m.orelse) if n]
    return [n for _, sources in stmt.merges for n in sources if n] if isinstance(stmt, ir.Try) else []


def read_by(stmt: Any) -> list[Any]:
    """The expressions of a statement in which a number gets a name; the bounds of loops are left."""
    return [] if isinstance(stmt, (ir.Loop, ir.With, ir.Raise, ir.Return)) else ir.expressions(stmt)


def outside_slices(expr: Any) -> list[Any]:
    """The nodes of an expression but for the bounds of slices, ``a[i : i + 2]``."""
    if isinstance(expr, gast.Slice):
        return []
    return [expr, *(node for child in ir.children(expr) for node in outside_slices(child))]
