"""Optimisation of both sweeps together: dead code, then one statement for one thought.

`sweep_dead` drops what nobody reads and what cannot fail; `Nesting` puts temporaries back into the expression that uses
them.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import gast

from ....core import thresholds
from ... import ir
from ...analysis.alias import Regions, every_root, reachable, roots_of
from ...analysis.liveness import count_uses
from ...analysis.ownership import Sharing
from ...analysis.remarks import hand_on
from ...domain.facts import Listed, Num
from ...interp.kernel.specialiser import Specialiser
from ...ir.patterns import (
    SUMS,
    holds_numbers,
    is_method,
    is_number,
    is_pop_call,
    is_sum_of,
    is_sum_with,
    is_unknown,
    negated,
    size,
)
from ...ir.traversal import replaced, substitute_own

# -- nesting


def in_order(pending: dict[str, ir.Let], names: set[str]) -> list[str]:
    """Those of some variables that are pending, in the order in which they are."""
    found = pending.keys() & names
    return [name for name in pending if name in found] if len(found) > 1 else [*found]


class Nesting:
    """Puts a temporary that is used once into the statement that uses it."""

    def __init__(self, s: Specialiser, regions: Regions, program: ir.Block, limit: int) -> None:
        self.s, self.regions, self.program, self.limit = s, regions, program, limit
        self.uses = count_uses(program)

    @cached_property
    def memory(self) -> Sharing:
        return Sharing(self.s, self.program, {*self.uses, *ir.defined(self.program)})

    def block(self, block: ir.Block) -> ir.Block:
        result: ir.Block = []
        pending: dict[str, ir.Let] = {}
        for place, stmt in enumerate(block):
            self.inside(stmt)
            self.use(stmt, pending, result)
            if self.is_single(stmt) and (self.is_read_back(stmt) or self.is_passed_on(stmt, block, place)):
                if stmt.effect:
                    for name in [n for n, let in pending.items() if self.shortens(stmt, let)]:
                        self.write_out(name, pending, result)
                pending[stmt.target] = stmt
            else:
                result.append(stmt)
                self.flush(stmt, pending, result)
        final = [result.pop()] if result and isinstance(result[-1], ir.Return) else []
        return [*result, *pending.values(), *final]

    def inside(self, stmt: Any) -> None:
        """The blocks of a statement; what runs the forward sweep again is written as that is."""
        limit, self.limit = self.limit, 0 if getattr(stmt, "again", False) else self.limit
        for inner in ir.bodies(stmt):
            inner[:] = self.block(inner)
        self.limit = limit

    def is_single(self, stmt: Any) -> bool:
        """True if a statement makes one value, which is read once."""
        return type(stmt) is ir.Let and len(stmt.targets) == 1 and self.uses.get(stmt.target) == 1

    def is_read_back(self, stmt: ir.Let) -> bool:
        """True if such a value is popped, or a temporary: it is written where it is read."""
        return is_pop_call(stmt.expr) if stmt.effect else stmt.target not in self.s.named

    def is_temporary(self, stmt: Any) -> bool:
        return self.is_single(stmt) and not stmt.effect and stmt.target not in self.s.named

    def is_passed_on(self, stmt: ir.Let, block: ir.Block, place: int) -> bool:
        """True if such a value is a cotangent that is only added to another, or made into the same one, after it."""
        if stmt.effect or stmt.state_reads or not self.s.is_cotangent(stmt.target):
            return False
        ahead: list[Any] = []
        for other in block[place + 1 : place + 1 + thresholds.NEAR_COTANGENT]:
            if stmt.target in ir.reads_inside(other):
                return self.is_next_step(stmt, other, ahead)
            ahead.append(other)
        return False

    def is_next_step(self, stmt: ir.Let, following: Any, ahead: list[Any]) -> bool:
        """True if a statement goes on with a cotangent, and what is between lets that wait for it."""
        if isinstance(following, ir.Store):
            if following.aug is not gast.Add or getattr(following.value, "id", None) != stmt.target:
                return False
        elif not isinstance(following, ir.Let) or self.s.hints[following.target] != self.s.hints[stmt.target]:
            return False
        passed = [x for x in ahead if not (self.is_single(x) and self.is_read_back(x))]
        total = is_sum_of(following.expr, stmt.target) if isinstance(following, ir.Let) else True
        whole = self.whole_size(following, ahead) if total else 0
        one_line = isinstance(following, ir.Store) or following.origin is None or ir.same_line(following, stmt)
        fits = not isinstance(following, ir.Store) and (is_filled(following.expr) or is_fitted(following.expr))
        fits = fits or (is_filled(stmt.expr) and is_multiple(getattr(following, "expr", None), stmt.target))
        if not one_line and not fits and not (total and whole + size(stmt.expr) <= self.limit):
            return False
        if self.limit and whole <= self.limit < whole + size(stmt.expr):
            return False  # rather two sums than one whose parts need names
        hints = {self.s.hints[n] for n in ir.reads(stmt)}
        free = all(type(x) in ir.SIMPLE and not any(self.s.hints[n] in hints for n in ir.ir_targets(x)) for x in passed)
        return not passed or free

    def whole_size(self, stmt: Any, ahead: list[Any]) -> int:
        """The number of operations that a statement will hold with the temporaries that become part of it."""
        parts = {x.target: x for x in ahead if self.is_temporary(x)}
        found = [stmt]
        for each in found:
            found += [parts[n] for n in ir.reads(each) if n in parts]
        return sum(size(e) for each in found for e in ir.expressions(each))

    def use(self, stmt: Any, pending: dict[str, ir.Let], result: ir.Block) -> None:
        """Substitute pending temporaries into what a statement itself reads; write out those that others need first."""
        if not pending:
            return
        own = set(ir.reads(stmt))
        for name in [n for n in in_order(pending, own) if self.loads_first(stmt, pending[n])]:
            self.write_out(name, pending, result)
        if not all(isinstance(self.s.facts[n], Num) for n in own):
            for name in [n for n, let in pending.items() if popped_from(let) & own]:
                self.write_out(name, pending, result)  # what is popped after it would come before it
        taken = in_order(pending, own)
        if len(taken) > 2 and not self.limit and type(stmt) is ir.Let and not isinstance(stmt.expr, gast.BinOp):
            self.fill(stmt, taken, pending)
            taken = []
        for name in taken:
            let = pending.get(name)
            if let is None:
                continue
            if self.fits(stmt, let):
                if (
                    let.in_place
                    and type(let.expr.op) in SUMS
                    and isinstance(stmt, ir.Let)
                    and is_sum_with(stmt.expr, name)
                ):
                    stmt.expr = added_at_once(let.expr, stmt.expr.right)
                elif self.limit and is_added_negative(stmt, let):
                    stmt.expr = ir.binop(stmt.expr.left, gast.Sub, negated(let.expr))
                elif is_copied_term(stmt, let):
                    substitute_own(stmt, {name: let.expr.func.value})
                    if isinstance(stmt, ir.Let):
                        stmt.in_place = False
                elif is_copied_anew(self.s, stmt, let):
                    stmt.expr = let.expr
                else:
                    substitute_own(stmt, {name: let.expr})
                    if isinstance(stmt, ir.Let) and is_filled(let.expr):
                        stmt.expr = filled_with_product(stmt.expr)
                hand_on(self.s, let, stmt)
                filled = isinstance(stmt, ir.Let) and is_filled(stmt.expr)
                if name in self.s.named and let.origin and (filled or isinstance(stmt, ir.Store) or not stmt.origin):
                    stmt.origin = let.origin
                del pending[name]
            else:
                self.write_out(name, pending, result)
        if ir.bodies(stmt):
            for name in list(pending):
                self.write_out(name, pending, result)
        for name in in_order(pending, set(ir.reads_inside(stmt))) if pending else ():
            self.write_out(name, pending, result)

    def fill(self, stmt: ir.Let, names: list[str], pending: dict[str, ir.Let]) -> None:
        """Substitute temporaries into a display or the arguments of a call, all at once: there may be thousands."""
        lets = [pending.pop(name) for name in names]
        stmt.expr = replaced(stmt.expr, {let.target: let.expr for let in lets})
        for let in lets:
            hand_on(self.s, let, stmt)
            if let.target in self.s.named and let.origin and not stmt.origin:
                stmt.origin = let.origin

    def loads_first(self, stmt: Any, let: ir.Let) -> bool:
        """True if ``d_row[i] += d.pop()`` would read an item, counted from the end, before the list is shorter."""
        if not isinstance(stmt, ir.Store) or stmt.aug is None or popped_from(let) <= self.s.saved:
            return False
        base, index = self.s.facts.get(stmt.base), stmt.index
        if isinstance(base, Num) and base.kind == "array":
            return False
        if isinstance(index, gast.Constant):
            return type(index.value) is int and index.value < 0
        return not isinstance(index, gast.Name) or index.id in self.s.definitions

    def write_out(self, name: str, pending: dict[str, ir.Let], result: ir.Block) -> None:
        let = pending.pop(name, None)
        if let is not None:
            result.append(let)

    def fits(self, stmt: Any, let: ir.Let) -> bool:
        if isinstance(stmt, ir.Loop) and stmt.kind == "while":
            return False
        if isinstance(stmt, ir.Store) and stmt.base == let.target:
            return self.through_view(stmt, let)
        added = size(let.expr) - has_literal_factor(let.expr)
        return self.limit == 0 or sum(size(e) for e in ir.expressions(stmt)) + added <= self.limit or added == 0

    def through_view(self, stmt: ir.Store, let: ir.Let) -> bool:
        """``v = d[i]; v += e`` is ``d[i] += e``."""
        whole = isinstance(stmt.index, gast.Constant) and stmt.index.value is Ellipsis
        expr = let.expr
        if not whole or not isinstance(expr, gast.Subscript) or not isinstance(expr.value, gast.Name):
            return False
        base = self.s.facts.get(expr.value.id)
        if not isinstance(base, Num) or not roots_of(self.s.facts[let.target]) & roots_of(base):
            return False  # an item of a list is not a place in it
        stmt.base, stmt.index = expr.value.id, expr.slice
        return True

    def flush(self, stmt: Any, pending: dict[str, ir.Let], result: ir.Block) -> None:
        """A write may change what a pending temporary reads."""
        if isinstance(stmt, ir.Let) and not stmt.effect and overwritten_by(stmt) is None:
            return
        last = result.pop()
        for name in list(pending):
            if self.may_change(stmt, pending[name]):
                self.write_out(name, pending, result)
        result.append(last)

    def may_change(self, stmt: Any, let: ir.Let) -> bool:
        """True if a statement may change what an expression reads."""
        if isinstance(let.expr, (gast.Subscript, gast.Attribute)) and isinstance(let.expr.value, gast.Name):
            base, facts = self.s.facts.get(let.expr.value.id), self.s.facts[let.target]
            is_array = isinstance(facts, Num) and facts.kind == "array"  # where no rank is known, it may be a number
            if is_array and isinstance(base, Num) and roots_of(base) & roots_of(facts):
                return False  # a view is the same before and after a write
        changed = stmt.base if isinstance(stmt, ir.Store) else overwritten_by(stmt)
        if isinstance(stmt, ir.Let) and changed is not None and not stmt.augments:
            return any(self.memory.may_share(n, changed) for n in ir.reads(let) if n != changed)
        written = None if changed is None else self.s.facts[changed]
        if isinstance(written, Num) or (written is not None and holds_numbers(self.s, written)):
            return bool(written.roots & self.memory_read(let))
        if isinstance(stmt, ir.Let) and is_pop_call(stmt.expr) and popped_from(stmt) <= self.s.saved:
            return bool(popped_from(stmt) & set(ir.reads(let)))
        saving = isinstance(stmt, ir.Effect) and stmt.kind == "save"
        return any(self.is_memory(n, saving) for n in ir.reads(let))

    def shortens(self, pop: ir.Let, let: ir.Let) -> bool:
        """True if the list that is popped from may be one that an expression reads."""
        popped = popped_from(pop)
        if popped <= self.s.saved:
            return False
        roots = frozenset().union(*(roots_of(self.s.facts[n]) for n in popped))
        read = [n for n in ir.reads(let) if not isinstance(self.s.facts[n], Num)]
        return any(n in popped or is_unknown(f := self.s.facts[n]) or roots & every_root(self.s, f) for n in read)

    def memory_read(self, let: ir.Let) -> set[int]:
        """The memory whose content an expression may read: with a list, of what it holds, but not to name an item."""
        item = let.expr.value if isinstance(let.expr, gast.Subscript) else None
        roots = [
            roots_of(self.s.facts[n]) if getattr(item, "id", "") == n else reachable(self.s, self.s.facts[n])
            for n in ir.reads(let)
        ]
        return set().union(*roots)

    def is_memory(self, name: str, saving: bool) -> bool:
        """True if a variable holds what a write may change; saving a value fills a list that only it fills."""
        facts = self.s.facts[name]
        if name in self.s.saved and isinstance(facts, Listed):
            element = self.s.elements_of(facts)
            return saving or not isinstance(element, Num) or bool(element.roots)
        return not saving and (not isinstance(facts, Num) or bool(roots_of(facts)))


def has_literal_factor(expr: Any) -> bool:
    """True for a product with a literal, which becomes one with the other numbers of a product."""
    sides = (expr.left, expr.right) if isinstance(expr, gast.BinOp) and isinstance(expr.op, gast.Mult) else ()
    return any(isinstance(side, gast.Constant) for side in sides)


def is_filled(expr: Any) -> bool:
    """True if an expression makes an array of one number: what that number is, is what a reader asks."""
    return isinstance(expr, gast.Call) and getattr(expr.func, "attr", "") == "full_like"


def is_multiple(expr: Any, name: str) -> bool:
    """True if an expression is a variable times a number that is written in the text."""
    product = isinstance(expr, gast.BinOp) and isinstance(expr.op, gast.Mult)
    return product and getattr(expr.left, "id", None) == name and isinstance(expr.right, gast.Constant)


def filled_with_product(expr: Any) -> Any:
    """An array of one number times another, made of the product."""
    if (
        not isinstance(expr, gast.BinOp)
        or not isinstance(expr.op, gast.Mult)
        or not isinstance(expr.right, gast.Constant)
    ):
        return expr
    if not is_filled(expr.left):
        return expr
    shape, number = expr.left.args
    return gast.Call(expr.left.func, [shape, ir.binop(number, gast.Mult, expr.right)], expr.left.keywords)


def is_fitted(expr: Any) -> bool:
    """True if an expression gives something the shape of a variable."""
    return isinstance(expr, gast.Call) and getattr(expr.func, "id", "") in ("spread", "unbroadcast")


def is_added_negative(stmt: Any, let: ir.Let) -> bool:
    """True if a statement ends by adding a variable that is the negative of something."""
    added = stmt.expr if isinstance(stmt, ir.Let) and isinstance(stmt.expr, gast.BinOp) else None
    if added is None or not isinstance(added.op, gast.Add) or getattr(added.right, "id", None) != let.target:
        return False
    return negated(let.expr) is not None and not is_number(let.expr)


def is_copied_term(stmt: Any, let: ir.Let) -> bool:
    """True if a copy is one side of a sum, which is new anyway."""
    copied = is_method(let.expr, "copy") and not let.expr.args and isinstance(let.expr.func.value, gast.Name)
    if isinstance(stmt, ir.Return):
        results = stmt.value.elts if isinstance(stmt.value, gast.Tuple) else [stmt.value]
        return copied and any(is_sum_of(each, let.target) for each in results)
    return copied and isinstance(stmt, ir.Let) and is_sum_of(stmt.expr, let.target)


def is_copied_anew(s: Specialiser, stmt: Any, let: ir.Let) -> bool:
    """True if a statement only copies a vector that an operation makes, or what is a copy.

    A matrix that an operation makes may lie in memory in another order than its copy.
    """
    if not isinstance(stmt, ir.Let) or not is_method(stmt.expr, "copy") or stmt.expr.args:
        return False
    facts = s.facts[let.target]
    vector = isinstance(facts, Num) and facts.ndim is not None and facts.ndim <= 1
    operation = vector and not let.in_place and isinstance(let.expr, (gast.BinOp, gast.UnaryOp))
    made = operation or (is_method(let.expr, "copy") and not let.expr.args)
    return made and getattr(stmt.expr.func.value, "id", None) == let.target


def overwritten_by(stmt: Any) -> str | None:
    """The variable in whose memory a statement puts its result."""
    if not isinstance(stmt, ir.Let) or not stmt.in_place or not isinstance(stmt.expr, gast.BinOp):
        return None
    return stmt.expr.left.id if isinstance(stmt.expr.left, gast.Name) else None


def popped_from(let: ir.Let) -> set[str]:
    """The lists that an expression pops from."""
    pops = [node for node in ir.nodes_in(let.expr) if is_pop_call(node)]
    return {name for pop in pops for name in ir.names_in(pop.func.value)}


def added_at_once(first: Any, value: Any) -> Any:
    """The terms added to the memory of the left side of a sum: ``a + b + c`` as ``a + (b + c)``."""
    if isinstance(first.op, gast.Add):
        return ir.binop(first.left, gast.Add, ir.binop(first.right, gast.Add, value))
    if any(is_pop_call(node) for node in ir.nodes_in(first.right)):
        return ir.binop(first.left, gast.Sub, ir.binop(first.right, gast.Sub, value))
    return ir.binop(first.left, gast.Add, ir.binop(value, gast.Sub, first.right))
