"""Reuse of memory: ``total += row`` in place where nobody else sees it, and cotangents overwritten by their successors.

::

    v = v + c * lap                         v += c * lap
    u = u + 0.1 * v                   ->    u += 0.1 * v

Single assignment makes ``total.2 = total.1 + row`` of it.  Where the old value is not read after that, neither in the
reverse sweep nor under another name, and its memory was made by an operation of the program, the sum is written there.
What a loop carries has one memory for all its iterations: what reads it before may only make something new of it.

The same holds for ``p = p / np.sum(p)``, where the new array surely has the shape, the dtype and the order in memory
of the old one.

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

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from ... import ir
from ...analysis.alias import enclosing_loops, roots_of
from ...analysis.liveness import count_uses
from ...analysis.ownership import COMMUTATIVE, IN_PLACE, Memory, is_alike, is_new
from ...domain import pass_registry
from ...domain.facts import Num
from ...ir.function import Function
from ...ir.patterns import is_call
from ...ir.traversal import replaced_node
from ..rewrite.contractions import Contractions
from .axis_order import Orders, is_elementwise

NEW = {"zeros", "ones", "empty", "full", "zeros_like", "ones_like", "empty_like", "full_like", "copy", "array"}
UFUNCS = {
    gast.Add: "add", gast.Sub: "subtract", gast.Mult: "multiply", gast.Div: "divide", gast.Pow: "power",
}  # fmt: skip


def mark_reuse(s: Function, program: ir.Block) -> None:
    """Mark the augmented assignments of a program that may be carried out in place."""
    sums = [stmt for stmt in ir.walk(program) if isinstance(stmt, ir.Let) and stmt.augments]
    owners = Owners(s, program) if sums else None
    for stmt in sums:
        if owners is not None and owners.may_overwrite(stmt):
            stmt.in_place = True


def reuse_primals(s: Function, program: ir.Block, front: ir.Block, reordered: bool) -> None:
    """Let the user's arrays that get a new value under their name be overwritten by it, where nobody sees that.

    `reordered` says that the last digits of what the forward sweep computes do not matter.
    """
    on = pass_registry.on("reuse_buffers")
    lets = [stmt for stmt in ir.walk(front) if isinstance(stmt, ir.Let) and len(stmt.targets) == 1]
    own = [stmt for stmt in lets if on and is_successor(s, stmt)]
    anew = [stmt for stmt in lets if not reordered and makes_anew(s, stmt)]
    if not own and not anew:
        return
    owners = Owners(s, program)
    orders = Orders(s, owners.makers, owners.carries)
    for stmt in own:
        if owners.may_overwrite(stmt) and (reordered or orders.keeps(stmt.expr)):
            stmt.augments = stmt.in_place = True
    for stmt in anew:
        if not stmt.in_place and not orders.keeps(stmt.expr):
            keep_order(s, stmt)


def keep_order(s: Function, stmt: ir.Let) -> None:
    """Let what ``x op= e`` makes lie in memory as `x` does: ``x + e`` may be in another order."""
    np_, old = s.bind("np", np), stmt.expr.left
    memory = ir.call(ir.attribute(np_, "empty_like"), old)
    stmt.expr = ir.call(ir.attribute(np_, UFUNCS[type(stmt.expr.op)]), old, stmt.expr.right, out=memory)


def makes_anew(s: Function, stmt: ir.Let) -> bool:
    """True if a statement is a user's ``x op= e`` that may not be carried out in place."""
    if not stmt.augments or stmt.in_place or not isinstance(stmt.expr, gast.BinOp):
        return False
    left = stmt.expr.left
    return isinstance(left, gast.Name) and type(stmt.expr.op) in UFUNCS and is_alike(s, left.id, stmt.target)


def is_successor(s: Function, stmt: ir.Let) -> bool:
    """True if a statement gives a name of the user's to what an operation with the array of that name makes."""
    if stmt.effect or stmt.in_place or not isinstance(stmt.expr, gast.BinOp):
        return False
    left = stmt.expr.left
    if not isinstance(stmt.expr.op, IN_PLACE) or not isinstance(left, gast.Name):
        return False
    if not {left.id, stmt.target} <= s.named:
        return False
    return s.hints[left.id] == s.hints[stmt.target] and is_alike(s, left.id, stmt.target)


class Owners:
    """The owners of memory: the maker of each variable, its readers, and the variable that takes it over."""

    def __init__(self, s: Function, program: ir.Block) -> None:
        self.s = s
        self.makers: dict[str, Any] = {}
        self.carries: dict[str, tuple[ir.Loop, ir.Carry]] = {}  # by what a loop carries, and by what it leaves
        self.readers: dict[str, list[Any]] = defaultdict(list)
        self.taken: dict[str, int] = defaultdict(int)  # how often branches and loops take a variable over
        self.order: dict[Any, int] = {}
        self.ends: dict[ir.Loop, int] = {}  # the place of the last statement of a loop
        self.around = enclosing_loops(program)
        for place, stmt in enumerate(ir.walk(program)):
            self.order[stmt] = place
            self.makers |= dict.fromkeys(ir.ir_targets(stmt), stmt)
            for name in ir.reads(stmt):
                self.readers[name].append(stmt)
            for name in taken_over(stmt):
                self.taken[name] += 1
            if isinstance(stmt, ir.Loop):
                self.carries |= {name: (stmt, c) for c in stmt.carries for name in (c.phi, c.out)}
                self.ends[stmt] = place + sum(1 for body in ir.bodies(stmt) for _ in ir.walk(body))

    def may_overwrite(self, stmt: ir.Let) -> bool:
        """True if the left side of an operation is read there for the last time, and reached by nobody else."""
        left = stmt.expr.left if isinstance(stmt.expr, gast.BinOp) else None
        if not isinstance(left, gast.Name) or self.taken[left.id] or not self.is_made_in(self.around[stmt], left.id):
            return False
        before = [reader for reader in self.readers[left.id] if reader is not stmt]
        return self.are_done(left.id, before, 0, self.order[stmt]) and self.is_own(left.id, frozenset())

    def is_made_in(self, around: tuple[ir.Loop, ...], name: str) -> bool:
        """True if each step of the innermost of some loops makes a variable, or is handed it by the step before."""
        if name in self.carries:
            loop, carry = self.carries[name]
            return around == ((*self.around[loop], loop) if name == carry.phi else self.around[loop])
        return name in self.makers and self.around[self.makers[name]] == around

    def are_done(self, name: str, readers: list[Any], first: int, last: int) -> bool:
        """True if readers make something new of a variable, all of them between two places of the program."""
        return all(
            first <= self.order[reader] < last
            and (self.consumes(reader, name) or self.is_passing_view(reader, first, last))
            for reader in readers
        )

    def is_passing_view(self, reader: Any, first: int, last: int) -> bool:
        """True if a statement takes a view that is only read, between two places."""
        if not isinstance(reader, ir.Let) or reader.effect or len(reader.targets) != 1:
            return False
        if not isinstance(reader.expr, gast.Subscript) or self.taken[reader.target]:
            return False
        return self.are_done(reader.target, self.readers[reader.target], first, last)

    def consumes(self, reader: Any, name: str) -> bool:
        """True if a statement keeps no reference to the memory of a variable that it reads."""
        roots = roots_of(self.s.facts[name])
        if isinstance(reader, ir.Store):
            return isinstance(self.s.facts[reader.base], Num) and not roots_of(self.s.facts[reader.base]) & roots
        if not isinstance(reader, ir.Let) or reader.effect or reader.in_place or not roots:
            return False
        return all(self.is_new(target, roots) and self.is_told(target, reader.expr) for target in reader.targets)

    def is_told(self, target: str, expr: Any) -> bool:
        """True if facts tell whose memory a variable shares: those of a tangent know of none but what is written."""
        facts = self.s.facts[target]
        is_array = not isinstance(facts, Num) or facts.kind == "array"
        return not is_array or not self.s.is_tangent(target) or self.makes(expr)

    def is_new(self, name: str, roots: frozenset[int]) -> bool:
        facts = self.s.facts[name]
        if not isinstance(facts, Num) or facts.kind is None:
            return False
        return facts.kind != "array" or bool(roots_of(facts)) and not roots_of(facts) & roots

    def is_own(self, name: str, assumed: frozenset[str]) -> bool:
        """True if a variable holds memory that no other variable reaches."""
        if name in assumed:
            return True
        if name in self.carries:
            return self.is_carried(*self.carries[name], assumed | {name})
        maker = self.makers.get(name)
        if not isinstance(maker, ir.Let) or len(maker.targets) != 1:
            return False
        return self.makes(maker.expr)

    def makes(self, expr: Any) -> bool:
        """True if an expression surely makes a new array."""
        return isinstance(expr, (gast.BinOp, gast.UnaryOp)) or is_creation(expr) or is_elementwise(self.s, expr)

    def is_carried(self, loop: ir.Loop, carry: ir.Carry, assumed: frozenset[str]) -> bool:
        """True if a loop alone holds what it carries from one iteration to the next."""
        start, around = self.order[loop], self.around[loop]
        ends = (carry.init, 0, start, around), (carry.next, start, self.ends[loop] + 1, (*around, loop))
        for name, first, last, place in ends:
            if name is None or self.taken[name] != 1 or not self.are_done(name, self.readers[name], first, last):
                return False
            if not self.is_made_in(place, name) or not self.is_own(name, assumed):
                return False
        return True


def taken_over(stmt: Any) -> list[str]:
    """The variables that a control statement gives another name."""
    if type(stmt) in ir.SIMPLE:
        return []
    if isinstance(stmt, ir.If):
        return [n for m in stmt.merges for n in (m.then, m.orelse) if n is not None]
    if isinstance(stmt, ir.Try):
        return [n for _, names in stmt.merges for n in names if n is not None]
    if isinstance(stmt, ir.Loop):
        return [n for c in stmt.carries for n in (c.init, c.next) if n is not None]
    return []


def is_creation(expr: Any) -> bool:
    return isinstance(expr, gast.Call) and isinstance(expr.func, gast.Attribute) and expr.func.attr in NEW


SUMS = (gast.Add, gast.Sub)


def reuse_cotangents(s: Function, program: ir.Block, back: ir.Block, names: bool) -> None:
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


def may_continue(s: Function, stmt: ir.Let, heirs: Heirs | None) -> bool:
    """True if a statement replaces an array by another one that surely fits into its memory."""
    found = successor(s, stmt, heirs)
    return found is not None and is_alike(s, found[0], stmt.target)


def successor(s: Function, stmt: ir.Let, heirs: Heirs | None) -> tuple[str, type, Any] | None:
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

    def __init__(self, s: Function, program: ir.Block, back: ir.Block) -> None:
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


def has_hint(s: Function, expr: Any, hint: str) -> bool:
    return isinstance(expr, gast.Name) and ir.is_variable(expr.id) and s.hints[expr.id] == hint


# -- copies


def copied(s: Function, stmt: ir.Let) -> str | None:
    """The variable of the same name of which a statement makes a copy."""
    if not is_call(stmt.expr, "copy") or stmt.expr.args:
        return None
    original, hint = stmt.expr.func.value, s.hints[stmt.target]
    return original.id if s.is_cotangent(stmt.target) and has_hint(s, original, hint) else None


def drop_copy(s: Function, memory: Memory, stmt: ir.Let) -> None:
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
