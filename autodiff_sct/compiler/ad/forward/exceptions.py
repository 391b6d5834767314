"""Forward mode inside ``try``: handlers are for what the program raises, not for what its tangents raise.

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
from typing import TYPE_CHECKING, Any

import gast

from ....runtime import apart
from ... import ir
from ...domain.values import Leaf
from ...interp.control.tangent_levels import manager
from ...ir.builder import Role, Specialiser

if TYPE_CHECKING:
    from .transform import Forward

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
