"""Merges of branches, loops and lists of saved values, and variables that some paths leave unbound.

Variables that may not be bound: those that leave a branch or a loop which assigned them on some paths only.

Nothing may be read of such a variable where the program itself does not read it, not even its shape.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import count
from typing import Any

import gast

from .. import ir
from ..ir.patterns import is_pop_call, literal
from .subscript_uses import settled


def unbound(block: ir.Block) -> set[str]:
    """The variables of a program that are not bound on every path that leads to them."""
    found = read_beside(block)
    joins = [pair for stmt in ir.walk(block) for pair in sources(stmt)]
    changed = True
    while changed:
        before = len(found)
        for target, names in joins:
            if any(n is None or n in found for n in names):
                found.add(target)
        changed = len(found) != before
    return found


def read_beside(block: ir.Block) -> set[str]:
    """The variables of a branch or a loop that are read outside it: where the value at hand is one of several kinds.

    Of ``if test: b = l[-1]``, ``if test: f(b)`` the second branch reads the variable of the first one.  After a ``try``
    whose other paths all raise, the variables of the path that goes on are bound.
    """
    home: dict[str, tuple[int, ...]] = {}
    found: set[str] = set()
    number = count()

    def visit(inner: ir.Block, path: tuple[int, ...]) -> None:
        for stmt in inner:
            found.update(n for n in ir.reads(stmt) if n in home and path[: len(home[n])] != home[n])
            home.update(dict.fromkeys(ir.ir_targets(stmt), path))
            for body in ir.bodies(stmt):
                visit(body, path if isinstance(stmt, ir.With) else (*path, next(number)))
            if isinstance(stmt, ir.Try) and (only := only_path(stmt)) is not None:
                taken = [stmt.body, *(handler[2] for handler in stmt.handlers)][only]
                home.update({name: path for each in taken for name in ir.ir_targets(each)})

    visit(block, ())
    return found


def sources(stmt: object) -> list[tuple[str, list[str | None]]]:
    """The variables that a control statement defines, each with what it may stand for; None for nothing."""
    if isinstance(stmt, ir.If):
        return [(m.target, [m.then, m.orelse]) for m in stmt.merges]
    if isinstance(stmt, ir.Try):
        return [(target, [n for k, n in enumerate(names) if k not in stmt.ended]) for target, names in stmt.merges]
    if isinstance(stmt, ir.Loop):
        steps = [(c.phi, [c.init, c.next]) for c in stmt.carries]
        return steps + [(c.out, [c.next] if surely_runs(stmt) else [c.init, c.next]) for c in stmt.carries]
    return []


def surely_runs(loop: ir.Loop) -> bool:
    """True if a loop goes over a range that is written out and not empty."""
    bounds = [literal(b) for b in loop.bounds]
    return loop.kind == "range" and all(type(b) is int for b in bounds) and len(range(*bounds)) > 0


def only_path(stmt: ir.Try) -> int | None:
    """The path of a ``try`` that was taken wherever the program went on; None where there are several."""
    alive = [k for k in range(1 + len(stmt.handlers)) if k not in stmt.ended]
    return alive[0] if len(alive) == 1 else None


def drop_sure(block: ir.Block, unsure: set[str]) -> None:
    """Drop the reading of variables that are bound, or that have been read before, in place."""
    unsure = set(unsure)
    kept = []
    for stmt in block:
        for body in ir.bodies(stmt):
            drop_sure(body, unsure)
        if ir.is_reading(stmt):
            if stmt.expr.id not in unsure:
                continue
            unsure.discard(stmt.expr.id)
        kept.append(stmt)
    block[:] = kept


NOTHING: frozenset[str] = frozenset()


class Meetings:
    """The merges of branches and the loops of a program, with the sources of their variables."""

    def __init__(self, program: ir.Block) -> None:
        self.followed: set[str] = set()  # variables of which `Flow` sees all that comes to them
        self.saves = saves_of(program)
        self.outs: dict[str, tuple[ir.Loop, ir.Carry]] = {}
        self.settled = settled(program)
        for stmt in ir.walk(program):
            if isinstance(stmt, ir.If):
                self.followed |= {m.target for m in stmt.merges}
            elif isinstance(stmt, ir.Let) and len(stmt.targets) == 1:
                self.followed.add(stmt.target)
            elif isinstance(stmt, ir.Let) and is_pop_call(stmt.expr):
                items = self.saves.get(getattr(stmt.expr.func.value, "id", ""), [None])
                alike = all(isinstance(x, gast.Tuple) and len(x.elts) == len(stmt.targets) for x in items)
                self.followed |= set(stmt.targets) if alike else NOTHING
            elif isinstance(stmt, ir.Loop):
                self.followed |= {n for c in stmt.carries for n in (c.phi, c.out)}
                self.outs |= {c.out: (stmt, c) for c in stmt.carries}

    def tests(self, expr: Any, was_numpy: Callable[[Any], bool], was_python: Callable[[str], bool]) -> list[Any] | None:
        """The loops that make an outcome a ``np.float64`` if all of them have iterations; None if unknown.

        Where they had nothing to do, it is what it was before, which has to be a number of Python's.
        """
        _, carry = self.outs.get(getattr(expr, "id", ""), (None, None))
        before = carry.init if carry is not None else None
        return self.trips(expr, was_numpy) if before is not None and was_python(before) else None

    def trips(self, expr: Any, was_numpy: Callable[[Any], bool]) -> list[Any] | None:
        """The tests whether loops had something to do."""
        loop, carry = self.outs.get(getattr(expr, "id", ""), (None, None))
        if loop is None or carry is None or carry.next is None or loop.kind != "range" or loop.stop is not None:
            return None
        if any(ir.is_variable(n) and n not in self.settled for bound in loop.bounds for n in ir.names_in(bound)):
            return None
        inner = self.outs.get(carry.next, (None, None))[1]
        deeper: list[Any] | None = []
        if inner is not None and inner.init == carry.phi:
            deeper = self.trips(ir.name(carry.next), was_numpy)
        elif not was_numpy(ir.name(carry.next)):
            return None
        own = not_empty(loop)
        return None if own is None or deeper is None else [own, *deeper]


def saves_of(program: ir.Block) -> dict[str, list[Any]]:
    """The values put into lists of saved values that only such statements and ``pop`` reach."""
    found: dict[str, list[Any]] = {}
    others: set[str] = set()
    for stmt in ir.walk(program):
        calls = [node for expr in ir.expressions(stmt) for node in ir.nodes_in(expr) if isinstance(node, gast.Call)]
        saves = isinstance(stmt, ir.Effect) and stmt.kind == "save"
        pushes = [stmt.expr] if saves and stmt.expr in calls and stmt.expr.args else []
        for call in pushes:
            found.setdefault(getattr(call.func.value, "id", ""), []).append(call.args[0])
        lists = [getattr(c.func.value, "id", "") for c in calls if c in pushes or is_pop_call(c)]
        lists += [getattr(c.args[0], "id", "") for c in calls if getattr(c.func, "id", "") == "len" and c.args]
        used = ir.uses(stmt)
        others.update((Counter(used) - Counter(lists)).keys() if lists else used)
    return {name: items for name, items in found.items() if name not in others}


def not_empty(loop: ir.Loop) -> Any | None:
    """The test whether a range holds anything."""
    start, stop, step = [*([ir.constant(0)] if len(loop.bounds) == 1 else []), *loop.bounds, ir.constant(1)][:3]
    down = isinstance(step, gast.UnaryOp)
    number = step.operand if down else step
    if not isinstance(number, gast.Constant) or number.value == 0:
        return None
    return gast.Compare(stop, [gast.Lt() if down else gast.Gt()], [start])


def all_of(tests: list[Any]) -> Any:
    return gast.BoolOp(gast.And(), tests) if len(tests) > 1 else tests[0]


def is_plain_arithmetic(node: Any) -> bool:
    """True if a part of an expression is a variable, a number, a length, or an operation on such."""
    if isinstance(node, gast.Call):
        return getattr(node.func, "id", "") == "len"
    return isinstance(node, (gast.Name, gast.Constant, gast.BinOp, gast.UnaryOp))
