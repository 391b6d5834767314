"""Tangents of functions of lists, and tangents inside ``try``.

Forward mode inside ``try``: handlers are for what the program raises, not for what its tangents raise.

::

    try:                                   try:
        y = math.sqrt(x)                       y = math.sqrt(x)
    except ArithmeticError:        ->          with apart():
        y = 0.0                                    t_y = t_x / (2 * y)
                                           except ArithmeticError:
                                               y, t_y = 0.0, 0.0

At ``x = 0`` the root has a value and no derivative: the division by zero reaches the caller.
"""

from __future__ import annotations

import builtins
import inspect
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import gast
import numpy as np

from ....errors import NoRule
from ....rules.table import BY_ITEM
from ....runtime import apart, broadcast
from ... import ir
from ...domain.facts import Listed, Mapped, Pair
from ...domain.values import Const, Leaf, ListV, TupleV, Value
from ...interp.arrays import emit_op
from ...interp.control.joins import manager
from ...interp.kernel.specialiser import Specialiser
from ...ir.function import Role
from ..reverse.cotangents import facts_like, helper, is_number, is_unbound, zeros

if TYPE_CHECKING:
    from ...interp.kernel.specialiser import Specialiser
    from .transform import Forward


def sum_from(f: Forward, stmt: ir.Let, op: ir.Op, names: list[str]) -> Value:
    """``sum(items, start)``"""
    items, start = op.arguments
    alone = replace(stmt, expr=ir.call(stmt.expr.func, stmt.expr.args[0]))
    added = f.linear(alone, op, items) if items in names else Const(None)
    total = f.plus(added, f.of(op.arguments[start].name) if start in names else Const(None))
    first = f.s.num(op.arguments[start])
    if first is None or first.dims == ():
        return total
    # The tangents of items that are broadcast beside an array to begin with may be smaller than it.
    full = helper(f.s, broadcast.spread, total, Leaf(stmt.target))
    return f.s.let(full, facts_like(f.s, stmt.target), may_raise=False)


def multilinear(f: Forward, stmt: ir.Let, op: ir.Op) -> Value:
    """The sum of the values of a function of a list with one item at a time replaced by its tangent."""
    (items,) = op.arguments.values()
    total: Value = Const(None)
    for tangent, k in f.inputs(items):
        replaced = ListV(tuple(tangent if k == j else item for j, item in enumerate(items.items)))
        expr = ir.call(stmt.expr.func, f.s.expr(replaced))
        total = f.plus(total, emit_op.apply(f.s, op.fn, expr, [replaced], {}))
    return total


def popped(f: Forward, stmt: ir.Let) -> bool:
    """``x = items.pop()``, also of a value that nobody reads; False where the list has no tangents."""
    s = f.s
    assert stmt.op is not None
    base = stmt.op.arguments["x"].name
    if not f.active(base):
        return False
    s.block.append(stmt)
    index = map(s.expr, [stmt.op.arguments["index"]] if "index" in stmt.op.arguments else [])
    expr = ir.call(ir.attribute(s.expr(f.of(base)), "pop"), *index)
    tangent = s.let(expr, s.facts[stmt.target], effect=True)
    if f.active(stmt.target):
        f.tangents[stmt.target] = f.variable(tangent, stmt.target)
    return True


def without_constants(s: Specialiser, stmt: ir.Let, argument: Value) -> Any:
    """The expression of a statement with zeros for the numbers written into a list that it reads."""
    flat = zeros_for_constants(argument)
    if flat == argument:
        return stmt.expr
    wanted = gast.dump(s.expr(argument))
    found = [node for node in gast.walk(stmt.expr) if gast.dump(node) == wanted]
    if len(found) != 1:
        raise NoRule(
            "numbers in this list have no forward rule",
            "make arrays of them first",
            stmt.origin,
            code="no-forward-rule",
        )
    return Exchange(found[0], s.expr(flat)).visit(stmt.expr)


def zeros_for_constants(value: Value) -> Value:
    """A list with zeros for its numbers."""
    if isinstance(value, TupleV):
        return TupleV(tuple(zeros_for_constants(v) for v in value.items), value.cls)
    if isinstance(value, ListV):
        return ListV(tuple(zeros_for_constants(v) for v in value.items), value.site)
    return Const(0.0) if isinstance(value, Const) and isinstance(value.value, (int, float, complex)) else value


class Exchange(gast.NodeTransformer):
    """Put an expression in the place of one node; nothing that is shared changes."""

    def __init__(self, old: Any, new: Any) -> None:
        self.old, self.new = old, new

    def visit(self, node: Any) -> Any:
        if node is self.old:
            return self.new
        changes = {}
        for field, value in gast.iter_fields(node):
            if isinstance(value, list):
                changes[field] = [self.visit(v) if isinstance(v, gast.AST) else v for v in value]
            else:
                changes[field] = self.visit(value) if isinstance(value, gast.AST) else value
        return gast.copy_location(type(node)(**changes), node) if changes else node


def takes_items(row: Any, fn: Any, parameter: str) -> bool:
    """True if a forward rule gives the share of each item of a list, and not that of the list as an array."""
    starred = row.signature.parameters[parameter].kind is inspect.Parameter.VAR_POSITIONAL
    return starred or fn in (max, min, math.prod, math.dist, np.select, np.choose) or fn in BY_ITEM


def refuse_lists(s: Specialiser, row: Any, op: ir.Op, p: str, origin: Any) -> None:
    """Refuse a list that carries a derivative, where the rule of the function takes none."""
    argument = op.arguments[p]
    listed = isinstance(argument, Leaf) and isinstance(s.facts[argument.name], Listed)
    if listed and op.fn not in (max, min, math.prod, math.dist):
        raise NoRule(
            f"{getattr(op.fn, '__name__', op.fn)} of a list whose length is known only at run time has no forward rule",
            "use the NumPy function on an array",
            origin,
            code="no-forward-rule",
        )
    if isinstance(argument, (ListV, TupleV)) and not takes_items(row, op.fn, p):
        raise NoRule(
            f"{getattr(op.fn, '__name__', op.fn)} of a list has no forward rule",
            "use np.array of the list",
            origin,
            code="no-forward-rule",
        )


SIMPLE = (gast.Name, gast.Constant, gast.Subscript, gast.Attribute)  # expressions that look something up


def attempt(f: Forward, stmt: ir.Try) -> None:
    """Put the tangents' statements into all paths."""
    s, outer = f.s, f.handled
    f.handled = outer or bool(stmt.handlers)
    stmt.body = f.block(stmt.body)
    f.handled = outer
    stmt.handlers = [(kind, bound, f.block(b)) for kind, bound, b in stmt.handlers]
    blocks = [stmt.body, *(b for _, _, b in stmt.handlers)]
    for target, names in list(stmt.merges):
        if f.active(target):
            tangent = s.fresh_after(Role.TANGENT, target, f.facts(target))
            stmt.merges.append((tangent, [f.side(b, n) for b, n in zip(blocks, names)]))
            f.tangents[target] = Leaf(tangent)
    stmt.final = f.block(stmt.final)  # it goes on from what the paths have left
    if any(handles_all(s, kind) for kind, _, _ in stmt.handlers):
        let_through(s, stmt)


def let_through(s: Specialiser, stmt: ir.Try) -> None:
    """Let exceptions of tangents pass handlers of everything, too."""
    again = ir.Raise(gast.Raise(None, None), stmt.origin)
    stmt.handlers.insert(0, (s.bind("Apart", apart.Apart), None, [again]))
    stmt.merges = [(target, [names[0], None, *names[1:]]) for target, names in stmt.merges]
    stmt.ended = frozenset([1, *(path + 1 if path else 0 for path in stmt.ended)])


def handles_all(s: Specialiser, kind: Any) -> bool:
    """True if a handler is one of exceptions that are no `Exception`, too."""
    if kind is None:
        return True
    return any(s.globals.get(n, getattr(builtins, n, None)) is BaseException for n in ir.names_in(kind))


def set_apart(s: Specialiser, block: ir.Block, start: int) -> None:
    """Keep what the tangents from `start` on may raise from the handlers around them."""
    tangents = block[start:]
    if not all(map(looks_up, tangents)):
        block[start:] = [ir.With([(manager(s, apart.apart, s.level), None)], tangents, s.origin)]


def looks_up(stmt: Any) -> bool:
    """True if a tangent's statement computes nothing: NumPy's own operations raise where `np.errstate` says so."""
    if isinstance(stmt, ir.Store):
        return stmt.aug is None and isinstance(stmt.value, SIMPLE)
    return isinstance(stmt, ir.Effect) or (isinstance(stmt, ir.Let) and isinstance(stmt.expr, SIMPLE))


def zero_tangent(f: Forward, name: str) -> Value:
    """The tangent of a variable that no input influences; of one that may be unbound, as it is at run time."""
    s = f.s
    unbound = is_unbound(s, name) and not is_number(s, name)
    if unbound:
        s.defaulted.add(name)
    if unbound or isinstance(s.facts[name], (Listed, Mapped, Pair)):
        return s.let(helper(s, broadcast.zeros_like, Leaf(name)), f.facts(name), may_raise=False)
    return zeros(s, name)
