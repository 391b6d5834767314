"""Forward substitution of names that only the next statement reads, and of numbers of the forward sweep.

Substitution of names that only the next statement reads, where that saves, raises, enters, tells or changes them.

::

    old_row = row.copy()
    saved_old_row.append(old_row)      ->    saved_old_row.append(row.copy())

    result = ValueError("negative")
    raise result                       ->    raise ValueError("negative")

    text = f"{x:.2f}"
    print(text)                        ->    print(f"{x:.2f}")

    t = y[i + 1]
    saved_t.append(t)                  ->    saved_t.append(y[i + 1])
    y[i] *= t                                y[i] *= y[i + 1]

    d_item = d_rows[k]
    d_item += d_t                      ->    d_rows[k] += d_t

    item = rows[1]
    item[0] = t                        ->    rows[1][0] = t

    condition = x > 0.5
    took.append(condition)             ->    took.append(x > 0.5)
    if condition:                            if took[-1]:
        ...                                      ...

    stop = abs(step) < 1e-9                  if abs(step) < 1e-9:
    if stop:                           ->        break
        break

Nothing runs between the two, so nothing is evaluated at another time; what is saved and read once more is an item of
an array or a list to which nobody writes in between.  Of lists and dicts of arrays, ``d_rows[k] += d_t`` adds to the
array that is there and puts the same array back.

A number that the forward sweep computes for one line of the reverse sweep is computed there.

::

    total = np.sum(y ** 2)                  ...
    ...                               ->    d_a = d_out * np.sum(y ** 2)
    d_a = d_out * total

What it is computed from is there in any case: nobody writes to it, the reverse sweep reads it later, and no other
value takes its name.  What may fail moves only to the reverse of its own line, and past nothing that may fail, too:
exceptions keep their order.
"""

from __future__ import annotations

from typing import Any

import gast

from ....core import thresholds
from ... import ir
from ...analysis.alias import reachable, roots_of
from ...analysis.effects import fact, is_safe, touches
from ...analysis.liveness import count_uses
from ...analysis.remarks import hand_on
from ...domain.facts import Listed, Mapped, Num
from ...ir.function import Function
from ...ir.patterns import is_ellipsis, is_pop_call, size
from ...ir.traversal import substitute_own
from ...text.expressions import columns_of

COLUMNS = 80
SHORT = 12  # columns of the place of an item that is read twice


def substitute_into_effects(s: Function, front: ir.Block, back: ir.Block) -> None:
    """Rewrite both sweeps, in place."""
    uses = count_uses([*front, *back])
    for block in (front, back):
        inside(s, block, uses)


def inside(s: Function, block: ir.Block, uses: dict[str, int]) -> None:
    """Rewrite a block and the blocks inside it."""
    for stmt, following in list(zip(block, block[1:])):
        if isinstance(stmt, ir.Let) and len(stmt.targets) == 1 and uses.get(stmt.target) == 1 and not stmt.state_reads:
            if not (stmt.saves or stmt.in_place) and is_written(s, stmt, following):
                hand_on(s, stmt, following)
                following.origin = following.origin or stmt.origin
                block.remove(stmt)
            elif stmt.target not in s.named and is_place(stmt, following):
                hand_on(s, stmt, following)
                stmt.placed = True
    for stmt in [x for x in block if isinstance(x, ir.Let) and uses.get(x.target) == 2]:
        if not is_tested(s, stmt, block):
            read_twice(s, stmt, block)
    for stmt in block:
        if isinstance(stmt, ir.Loop):
            stop_there(stmt, uses)
        for inner in ir.bodies(stmt):
            inside(s, inner, uses)


def stop_there(loop: ir.Loop, uses: dict[str, int]) -> None:
    """Write the test that ends a loop where it ends, after what is carried on has its new values."""
    last = loop.body[-1] if loop.body else None
    if not isinstance(last, ir.Let) or last.effect or last.targets != (getattr(loop.stop, "id", None),):
        return
    if uses.get(last.target) == 1 and {c.phi for c in loop.carries}.isdisjoint(ir.reads(last)):
        loop.stop = last.expr
        loop.body.pop()


def is_written(s: Function, stmt: ir.Let, following: Any) -> bool:
    """True if a value becomes part of the statement after it, which is changed then."""
    mapping = {stmt.target: stmt.expr}
    if isinstance(following, ir.Raise):
        raised = isinstance(following.node, gast.Raise) and getattr(following.node.exc, "id", None) == stmt.target
        if raised:
            following.node = ir.substitute(following.node, mapping)
        return raised
    if isinstance(following, ir.With):
        expr, name = following.items[0]
        entered = getattr(expr, "id", None) == stmt.target
        if entered:
            following.items[0] = (stmt.expr, name)
        return entered
    if is_told(stmt, following):
        following.expr = ir.substitute(following.expr, mapping)
        return True
    if stmt.effect:
        return False
    if isinstance(following, ir.Effect) and following.kind == "save" and stmt.target in ir.reads(following):
        together = ir.substitute(following.expr, mapping)
        if columns_of(together) > COLUMNS:
            return False
        following.expr = together
        return True
    return isinstance(following, ir.Store) and is_item(s, stmt, following)


def is_place(stmt: ir.Let, following: Any) -> bool:
    """True if a statement only finds the array or the list into which the next one stores an item."""
    if not isinstance(following, ir.Store) or following.base != stmt.target or is_ellipsis(following.index):
        return False
    expr = stmt.expr
    while isinstance(expr, gast.Subscript) and isinstance(expr.slice, (gast.Constant, gast.Name, gast.UnaryOp)):
        expr = expr.value
    if not isinstance(expr, gast.Name) or expr is stmt.expr or stmt.effect:
        return False
    stored = (following.index, following.value)
    if any(isinstance(node, gast.Slice) or is_pop_call(node) for e in stored for node in ir.nodes_in(e)):
        return False
    return columns_of(stmt.expr) + sum(map(columns_of, stored)) <= COLUMNS


def read_twice(s: Function, stmt: ir.Let, block: ir.Block) -> None:
    """Let an item that is saved and read once more, in the same block, go without a name."""
    place = block.index(stmt)
    saving = block[place + 1] if place + 1 < len(block) else None
    if len(stmt.targets) != 1 or stmt.target in s.named or not is_number_of_item(s, stmt) or stmt.state_reads:
        return
    if not isinstance(saving, ir.Effect) or saving.kind != "save" or stmt.target not in ir.reads(saving):
        return
    for other in block[place + 2 :]:
        if stmt.target in ir.reads_inside(other):
            break
        if not isinstance(other, ir.Let) and getattr(other, "kind", "") != "save" or writes(other):
            return
    else:
        return
    mapping = {stmt.target: stmt.expr}
    simple = isinstance(other, (ir.Let, ir.Store)) and stmt.target in ir.reads(other)
    if not simple or columns_of(ir.substitute(saving.expr, mapping)) > COLUMNS:
        return
    for reader in (saving, other):
        hand_on(s, stmt, reader)
        substitute_own(reader, mapping)
    block.remove(stmt)


def is_tested(s: Function, stmt: ir.Let, block: ir.Block) -> bool:
    """True if a value is saved, then tested: now what was saved last is."""
    place = block.index(stmt)
    saving, test = (block[place + 1 : place + 3] + [None, None])[:2]
    if len(stmt.targets) != 1 or stmt.target in s.named or stmt.effect or stmt.state_reads:
        return False
    if not isinstance(saving, ir.Effect) or saving.kind != "save" or not isinstance(test, ir.If):
        return False
    call = saving.expr
    if [getattr(arg, "id", None) for arg in call.args] != [stmt.target] or getattr(
        test.test, "id", None
    ) != stmt.target:
        return False
    together = ir.substitute(call, {stmt.target: stmt.expr})
    if call.func.attr != "append" or columns_of(together) > COLUMNS:
        return False
    hand_on(s, stmt, saving)
    saving.expr, test.test = together, ir.subscript(call.func.value, ir.constant(-1))
    block.remove(stmt)
    return True


def writes(stmt: Any) -> bool:
    """True if an assignment may change memory."""
    return isinstance(stmt, ir.Let) and (stmt.effect or stmt.in_place)


def is_number_of_item(s: Function, stmt: ir.Let) -> bool:
    """True if a statement reads a number out of an array or a list, at a place that is told in a few letters."""
    expr, found = stmt.expr, s.facts[stmt.target]
    if stmt.effect or not isinstance(expr, gast.Subscript) or columns_of(expr.slice) > SHORT:
        return False
    base = fact(s, expr.value)
    number = isinstance(found, Num) and found.dims == () and found.kind in ("npscalar", "float")
    return number and (isinstance(base, Listed) or getattr(base, "kind", None) == "array")


def is_told(stmt: ir.Let, following: Any) -> bool:
    """True if the first that a call in a statement evaluates is a variable."""
    call = following.expr if isinstance(following, (ir.Let, ir.Effect)) else None
    if not isinstance(call, gast.Call) or not isinstance(call.func, gast.Name) or not call.args:
        return False
    return stmt.effect and getattr(call.args[0], "id", None) == stmt.target


def is_item(s: Function, stmt: ir.Let, following: ir.Store) -> bool:
    """True if a statement changes the array that an item of a list is, as the statement before it names it."""
    whole = isinstance(following.index, gast.Constant) and following.index.value is Ellipsis
    if not whole or following.aug is None or following.base != stmt.target:
        return False
    item, place = s.facts[stmt.target], stmt.expr
    if not isinstance(item, Num) or item.kind != "array" or not isinstance(place, gast.Subscript):
        return False
    if not isinstance(place.value, gast.Name) or not isinstance(fact(s, place.value), (Listed, Mapped)):
        return False
    following.base, following.index = place.value.id, place.slice
    return True


def substitute_numbers(s: Function, front: ir.Block, back: ir.Block) -> None:
    """Move statements from the end of the forward sweep into the reverse sweep, in place."""
    uses = count_uses([*front, *back])
    table = Movable(s, front, back, uses)
    for let in [stmt for stmt in reversed(front) if table.is_single(stmt)]:
        user, facts = table.readers.get(let.target), s.facts[let.target]
        if user is not None and let in front and isinstance(facts, Num) and facts.dims == ():
            table.move(let, user)


class Movable:
    """The statements that may move, and where to."""

    def __init__(self, s: Function, front: ir.Block, back: ir.Block, uses: dict[str, int]) -> None:
        self.s, self.front, self.back, self.uses = s, front, back, uses
        self.makers = {stmt.target: stmt for stmt in front if isinstance(stmt, ir.Let) and len(stmt.targets) == 1}
        self.readers = {n: stmt for stmt in back if isinstance(stmt, (ir.Let, ir.Store)) for n in ir.reads(stmt)}
        self.failing: set[Any] = set()  # what has been moved and may fail

    def is_single(self, stmt: Any) -> bool:
        """True if a statement only computes a number or an array, for one reader."""
        if not isinstance(stmt, ir.Let) or len(stmt.targets) != 1 or self.uses.get(stmt.target) != 1:
            return False
        if stmt.effect or stmt.in_place or stmt.saves or stmt.state_reads or stmt.target in self.s.named:
            return False
        facts = self.s.facts[stmt.target]
        return isinstance(facts, Num) and facts.dims is not None and (facts.kind == "array" or not facts.dims)

    def move(self, let: ir.Let, user: Any) -> None:
        """Put a statement before its reader, with what is computed for it alone."""
        unit = [let]
        for stmt in unit:
            makers = [self.makers[n] for n in ir.reads(stmt) if n in self.makers]
            unit += [maker for maker in makers if maker in self.front and self.is_single(maker)]
        whole = sum(size(e) for e in ir.expressions(user)) + sum(size(stmt.expr) for stmt in unit)
        if whole > thresholds.OPERATIONS_NESTED or not all(self.may_move(stmt, unit, user) for stmt in unit):
            return
        if not self.is_kept(unit, user):
            return
        if not all(is_safe(self.s, stmt) for stmt in unit):
            self.failing |= {user, *unit}
        self.front[:] = [stmt for stmt in self.front if stmt not in unit]
        place = self.back.index(user)
        self.back[place:place] = unit[::-1]
        for stmt in unit:
            hand_on(self.s, stmt, user)

    def may_move(self, stmt: ir.Let, unit: list[Any], user: Any) -> bool:
        """True if a statement gives the same before a statement of the reverse sweep."""
        ahead = [x for x in self.front[self.front.index(stmt) + 1 :] if x not in unit]
        passed = [*ahead, *self.back[: self.back.index(user)]]
        if not is_safe(self.s, stmt):
            late = any(x in self.failing for x in passed) or not all(is_safe(self.s, x) for x in ahead)
            if late or not ir.same_line(stmt, user):
                return False
        memory = {root for n in ir.reads(stmt) for root in reachable(self.s, self.s.facts[n])}
        if any(touches(self.s, x, memory, True) or self.takes_from(x, memory) for x in passed):
            return False
        named = {self.s.hints[n] for n in ir.reads(stmt) if n in self.s.hints}
        return not any(self.s.hints[n] in named for x in passed for n in self.targets(x))

    def takes_from(self, stmt: Any, memory: set[int]) -> bool:
        """True if a statement may change memory by a call whose result it names, such as ``items.pop()``."""
        lets = [x for x in ir.inside(stmt) if isinstance(x, ir.Let) and x.effect]
        return any(memory & roots_of(self.s.facts[n]) for x in lets for n in (*ir.reads(x), *x.state_reads))

    def targets(self, stmt: Any) -> list[str]:
        """The variables that a statement and the blocks inside it define."""
        return [n for n in (*ir.ir_targets(stmt), *ir.defined_in(stmt)) if n in self.s.hints]

    def is_kept(self, unit: list[Any], user: Any) -> bool:
        """True if the reverse sweep keeps the arrays that some statements read, also without them."""
        made = {stmt.target for stmt in unit}
        arrays = {n for stmt in unit for n in ir.reads(stmt) if n in self.makers and roots_of(self.s.facts[n])} - made
        if not arrays:
            return True
        later = {n for stmt in self.back[self.back.index(user) :] for n in ir.reads_inside(stmt)}
        return arrays <= later
