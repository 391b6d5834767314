"""A cotangent that is read for the last time is overwritten by its successor.

==========================================  ============================================
``d_c = d_c + d_h * o``                     ``d_c += d_h * o``
``d_x = d_x + d_t * t - 0.5 * d_t * x``     ``d_x += d_t * t - 0.5 * d_t * x``
``d_p = scale * d_p``                       ``d_p *= scale``
``d_p = d_p - d_p.sum(axis=1)[:, None]``    ``d_p -= d_p.sum(axis=1)[:, None]``
``d_a = d_h * (1 - h)``                     ``d_h *= 1 - h``, and it is read for ``d_a``
``return d_s.copy()``                       ``return d_s``
==========================================  ============================================

That is right where three things are known:

- the memory is *own*: an operation of the reverse sweep made it, in each iteration where a loop carries it;
- nothing that is alive then, under whatever name or inside whatever list, may share it;
- old and new have one shape and one dtype.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from ... import ir
from ...analysis.liveness import count_uses
from ...analysis.ownership import COMMUTATIVE, IN_PLACE, Memory, is_alike, is_new
from ...ir.builder import Specialiser
from ...ir.patterns import is_call
from ...ir.traversal import replaced_node
from ..rewrite.contractions import Contractions
from .primal_reuse import taken_over

SUMS = (gast.Add, gast.Sub)


def reuse_cotangents(s: Specialiser, program: ir.Block, back: ir.Block, names: bool) -> None:
    """Let the statements of the reverse sweep that may do so work in place, in a form that is printed so.

    `names` says that one cotangent may be overwritten by another.
    """
    candidates = [stmt for stmt in ir.adjoint_walk(back) if isinstance(stmt, ir.Let) and len(stmt.targets) == 1]
    heirs = Heirs(s, program, back) if names else None
    candidates = [stmt for stmt in candidates if may_continue(s, stmt, heirs) or copied(s, stmt) is not None]
    final = program[-1]
    if not candidates and not copies(final):
        return
    memory = Memory(s, program, back)
    for stmt in candidates:
        found = successor(s, stmt, heirs)
        if found is None:
            drop_copy(s, memory, stmt)
        elif memory.is_free(found[0], stmt):
            stmt.expr, stmt.in_place = ir.binop(ir.name(found[0]), *found[1:]), True
            memory.goes_on(found[0], stmt)
    keep_own(memory, final)


def may_continue(s: Specialiser, stmt: ir.Let, heirs: Heirs | None) -> bool:
    """True if a statement replaces an array by another one that surely fits into its memory."""
    found = successor(s, stmt, heirs)
    return found is not None and is_alike(s, found[0], stmt.target)


def successor(s: Specialiser, stmt: ir.Let, heirs: Heirs | None) -> tuple[str, type, Any] | None:
    """The variable that a statement replaces, the operation and its other side."""
    if stmt.effect or not isinstance(stmt.expr, gast.BinOp):
        return None
    if stmt.in_place and isinstance(stmt.expr.left, gast.Name):
        return None
    hint = s.hints[stmt.target]
    if not s.is_cotangent(stmt.target):
        return None
    found = replaced_in(stmt.expr, lambda expr: has_hint(s, expr, hint))
    if found is None and heirs is not None:
        found = heirs.replaced(stmt)
    return found if found is not None and is_read_by_calls(found[2], found[0]) else None


class Heirs:
    """The cotangents that may go on with the memory, and the name, of another one: no loop or branch hands either on.

    A product may, and a sum only with what has no name of its own: in others, two names tell more than one.
    """

    def __init__(self, s: Specialiser, program: ir.Block, back: ir.Block) -> None:
        self.s = s
        self.before: dict[Any, Any] = {}  # statement -> the one that stands before it
        for block in ir.blocks(back):
            self.before |= zip(block[1:], block)
        statements = ir.walk(back)
        self.made = {x.target for x in statements if isinstance(x, ir.Let) and len(x.targets) == 1}
        for stmt in statements:
            self.made.difference_update(taken_over(stmt))
        self.uses = count_uses(program)
        self.returned = {*ir.names_in(program[-1].value)} if isinstance(program[-1], ir.Return) else set()

    def replaced(self, stmt: ir.Let) -> tuple[str, type, Any] | None:
        """The other cotangent that a statement replaces, the operation and its other side."""
        if stmt.target not in self.made or stmt.target in self.returned or not self.has_use(stmt.target):
            return None
        found = replaced_in(stmt.expr, self.is_left)
        if found is None or (found[1] in SUMS and found[0] in self.s.named) or self.is_one_of_two(stmt, found[0]):
            return None
        return found

    def has_use(self, name: str) -> bool:
        """True if a variable is read under a name of its own."""
        return self.uses.get(name, 0) > 1 or name in self.s.named

    def is_left(self, expr: Any) -> bool:
        return isinstance(expr, gast.Name) and expr.id in self.made and self.s.is_cotangent(expr.id)

    def is_one_of_two(self, stmt: ir.Let, old: str) -> bool:
        """True if the statement before is a product with the same cotangent: ``d_a, d_b = d_c * b, d_c * a``."""
        other = getattr(self.before.get(stmt), "expr", None)
        sides = (other.left, other.right) if isinstance(other, gast.BinOp) else ()
        return any(getattr(side, "id", "") == old for side in sides)


def is_read_by_calls(expr: Any, name: str) -> bool:
    """True if an expression reads a variable in calls only, which make something new of it."""
    if isinstance(expr, gast.Name):
        return expr.id != name
    if isinstance(expr, gast.Call):
        of_two = is_call(expr, "einsum") and len(expr.args) == 3  # of one array, it may be a view
        return is_new(expr) or of_two or name not in ir.names_in(expr)
    return all(is_read_by_calls(part, name) for part in ir.children(expr))


def replaced_in(expr: Any, is_old: Callable[[Any], bool]) -> tuple[str, type, Any] | None:
    """``old - a + b`` is old, minus and ``a - b``."""
    kind = type(expr.op)
    if kind not in IN_PLACE:
        return None
    if is_old(expr.left):
        return expr.left.id, kind, expr.right
    if kind in COMMUTATIVE and is_old(expr.right):
        return expr.right.id, kind, expr.left
    if kind not in SUMS or not isinstance(expr.left, gast.BinOp) or not isinstance(expr.left.op, SUMS):
        return None
    found = replaced_in(expr.left, is_old)
    if found is None:
        return None
    old, first, rest = found
    return old, first, ir.binop(rest, gast.Add if kind is first else gast.Sub, expr.right)


def has_hint(s: Specialiser, expr: Any, hint: str) -> bool:
    return isinstance(expr, gast.Name) and ir.is_variable(expr.id) and s.hints[expr.id] == hint


# -- copies


def copied(s: Specialiser, stmt: ir.Let) -> str | None:
    """The variable of the same name of which a statement makes a copy."""
    if not is_call(stmt.expr, "copy") or stmt.expr.args:
        return None
    original, hint = stmt.expr.func.value, s.hints[stmt.target]
    return original.id if s.is_cotangent(stmt.target) and has_hint(s, original, hint) else None


def drop_copy(s: Specialiser, memory: Memory, stmt: ir.Let) -> None:
    """Go on with an array that nobody reads after it has been copied."""
    name = copied(s, stmt)
    if name is not None and memory.is_free(name, stmt):
        stmt.expr, stmt.op = ir.name(name), None
        memory.goes_on(name, stmt)


def copies(final: Any) -> list[Any]:
    """The copies that are made for the results."""
    nodes = ir.nodes_in(final.value) if isinstance(final, ir.Return) else []
    return [node for node in nodes if is_call(node, "copy") and not node.args]


def keep_own(memory: Memory, final: Any) -> None:
    """Return what is own without a copy, where no other result may share it, and vectors that are computed just there.

    A matrix that is computed may lie in memory in another order than its copy.
    """
    for copy in copies(final):
        original = copy.func.value
        if not isinstance(original, gast.Name) and len(Contractions(memory.s).dims(original) or (None, None)) > 1:
            continue
        if memory.comes_from_own(original) and not shared_names(memory, final.value, original):
            final.value = replaced_node(final.value, copy, original)


def shared_names(memory: Memory, results: Any, original: Any) -> list[str]:
    """The variables among the results, but for the one mention that is copied, which may share its memory."""
    if not isinstance(original, gast.Name):
        return []
    names = [n for n in ir.names_in(results) if ir.is_variable(n) and memory.may_share(n, original.id)]
    names.remove(original.id)
    return [n for n in names if not memory.are_apart(n, original.id)]
