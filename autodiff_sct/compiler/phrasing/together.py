"""Values that are saved in one place and read back in one place are saved together.

::

    saved_t.append(t)                      saved.append((t, x, y))
    saved_x.append(x)                      ...
    saved_y.append(y)                      t, x, y = saved.pop()
    ...                            ->
    y = saved_y.pop()

And a loop whose trips were counted for the reverse sweep is reversed as often as it saved something::

    trips = 0                              while x < 1:
    while x < 1:                               saved_x.append(x)
        saved_x.append(x)                      x = x * x
        x = x * x                  ->      for trip in range(len(saved_x)):
        trips += 1
    for trip in range(trips):

An array that is read once keeps a list of its own: it is popped where it is read, and its memory is free again then.
Numbers keep lists of their own where a loop reads items of arrays, for those become numbers in lists, too (`items`).
Of numba's lists each holds one type, and it is told how many there are: programs for it keep theirs.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import gast

from .. import ir
from ..explain import hand_on
from ..facts import Listed, Num, Pair
from ..optimise import count_uses, is_pop_call
from ..specialise.state import Specialiser
from ..text.naming import describe


@dataclass
class Saved:
    """A list that is filled by one statement and emptied by another."""

    name: str
    push: ir.Effect
    pop: ir.Let
    pushed_in: ir.Block
    popped_in: ir.Block

    @property
    def value(self) -> str:
        return str(self.push.expr.args[0].id)


def save_together(s: Specialiser, front: ir.Block, back: ir.Block) -> None:
    """Save together what can be, in place."""
    known = lists(s, front, back)
    if not known:
        return
    groups: dict[tuple[int, int], list[Saved]] = {}
    uses = count_uses(back)
    items = reads_items(s, [*front, *back])
    for saved in known:
        call_by_content(s, saved)
        if saved.pop.target not in uses:
            forget(front, saved)
        elif saved.name not in s.in_rows and may_be_held(s, saved, uses[saved.pop.target], items):
            groups.setdefault((id(saved.pushed_in), id(saved.popped_in)), []).append(saved)
    for group in groups.values():
        for run in runs(s, group):
            alone = sum(uses[saved.pop.target] > 1 for saved in run)  # those that are popped on a line of their own
            if len(run) > 2 or (len(run) == 2 and alone):
                join(s, front, run)


def lists(s: Specialiser, front: ir.Block, back: ir.Block) -> list[Saved]:
    """The lists of saved values that are filled in one place and emptied in one, in the order of filling."""
    pushes: dict[str, tuple[ir.Effect, ir.Block]] = {}
    pops: dict[str, tuple[ir.Let, ir.Block]] = {}
    for block in blocks(front):
        for stmt in block:
            if isinstance(stmt, ir.Effect) and stmt.kind == "save" and is_push(stmt.expr):
                pushes[stmt.expr.func.value.id] = (stmt, block)
    for block in blocks(back):
        for stmt in block:
            if isinstance(stmt, ir.Let) and len(stmt.targets) == 1 and stmt.effect and is_pop_call(stmt.expr):
                pops |= dict.fromkeys(ir.reads(stmt), (stmt, block))
    both = [n for n in pushes if n in pops and n in s.saved]
    uses = count_uses([*front, *back]) if both else {}
    return [Saved(n, pushes[n][0], pops[n][0], pushes[n][1], pops[n][1]) for n in both if uses[n] == 2]


def may_be_held(s: Specialiser, saved: Saved, uses: int, items: bool) -> bool:
    """Whether it costs nothing that a value is there from when the first of several is read back."""
    if s.hints[saved.name].startswith("took"):
        return False
    return not items if is_scalar(s, saved.value) else uses > 1


def reads_items(s: Specialiser, program: ir.Block) -> bool:
    """Whether a loop takes numbers out of an array: where arrays become lists, so do the numbers that are saved."""
    loops = [x for x in ir.walk(program) if isinstance(x, ir.Loop)]
    inside = [x for loop in loops for x in ir.walk(loop.body) if isinstance(x, ir.Let) and len(x.targets) == 1]
    return any(isinstance(x.expr, gast.Subscript) and is_scalar(s, x.target) for x in inside)


def is_scalar(s: Specialiser, name: str) -> bool:
    facts = s.facts[name]
    return isinstance(facts, Num) and facts.dims == ()


def call_by_content(s: Specialiser, saved: Saved) -> None:
    """Call what is read back after what it holds, and the list, too: ``saved_sin_x``."""
    found = describe(s, s.definitions.get(saved.value)) if s.hints[saved.value] == "t" else None
    if found is not None:
        s.hints[saved.pop.target], s.hints[saved.name] = found, f"saved_{found}"


def is_push(expr: Any) -> bool:
    """Whether an expression appends a variable to a list."""
    return (
        isinstance(expr, gast.Call)
        and getattr(expr.func, "attr", "") == "append"
        and len(expr.args) == 1
        and isinstance(expr.args[0], gast.Name)
    )


def blocks(block: ir.Block) -> list[ir.Block]:
    """A block and the blocks inside it."""
    return [block, *(found for stmt in block for inner in ir.bodies(stmt) for found in blocks(inner))]


# -- one list of tuples


def runs(s: Specialiser, group: list[Saved]) -> list[list[Saved]]:
    """Those of a group that can be saved together: no name changes its value before the last of them is there."""
    waiting = {id(saved.push): saved for saved in group}
    names: set[str] = set()  # of the user's, that hold what is to be saved
    result: list[list[Saved]] = [[]]
    for stmt in group[0].pushed_in:
        saved = waiting.get(id(stmt))
        if saved is not None:
            result[-1].append(saved)
            names |= {s.hints[saved.value]} & named(s, [saved.value])
        elif result[-1] and names & made(s, stmt):
            result.append([])
            names = set()
    return [[saved for saved in run if can_come(s, run, saved)] for run in result]


def can_come(s: Specialiser, run: list[Saved], saved: Saved) -> bool:
    """Whether the name of what is read back is free where the first of a run is read back."""
    block = saved.popped_in
    first = min(block.index(other.pop) for other in run)
    if saved.pop.target not in s.named:
        return True
    return not any(s.hints[saved.pop.target] in made(s, stmt) for stmt in block[first : block.index(saved.pop)])


def made(s: Specialiser, stmt: Any) -> set[str]:
    """The names of the user's to which a statement gives a value."""
    return named(s, [*ir.ir_targets(stmt), *ir.defined_in(stmt)])


def named(s: Specialiser, variables: list[str]) -> set[str]:
    return {s.hints[n] for n in variables if n in s.named}


def join(s: Specialiser, front: ir.Block, run: list[Saved]) -> None:
    """Make one list of several."""
    facts = Listed(frozenset([s.root(("saved", *(saved.name for saved in run)))]))
    s.put_element(facts, Pair(tuple(s.facts[saved.value] for saved in run)))
    name = s.fresh("saved", facts)
    s.named.add(name)
    s.saved.add(name)
    for k, stmt in enumerate(front):
        if isinstance(stmt, ir.Let) and stmt.target == run[0].name:
            made = ir.Let((name,), stmt.expr)
            made.saves = True
            front.insert(k, made)
            break
    push, where = run[-1].push, run[-1].pushed_in
    values = ir.tuple_([ir.name(saved.value) for saved in run])
    expr = ir.call(ir.attribute(ir.name(name), "append"), values)
    pushed = ir.Effect(expr, push.origin, push.kind)
    where.insert(where.index(push), pushed)
    for saved in run:
        hand_on(s, saved.push, pushed)
    block = run[0].popped_in
    first = min(block.index(saved.pop) for saved in run)
    targets = tuple(saved.pop.target for saved in run)
    together = ir.Let(targets, ir.call(ir.attribute(ir.name(name), "pop")), effect=True, origin=block[first].origin)
    block.insert(first, together)
    for saved in run:
        forget(front, saved)


def forget(front: ir.Block, saved: Saved) -> None:
    """Drop a list together with what fills and empties it."""
    saved.pushed_in.remove(saved.push)
    saved.popped_in.remove(saved.pop)
    front[:] = [x for x in front if not (isinstance(x, ir.Let) and x.target == saved.name)]


# -- trips


def count_saved(s: Specialiser, front: ir.Block, back: ir.Block) -> None:
    """Use the length of a list instead of a count of the trips of a loop, in place."""
    counted = [(x, x.trips) for x in front if isinstance(x, ir.Loop) and x.trips is not None]
    if not counted:
        return
    uses = count_uses([*front, *back])
    known = lists(s, front, back)
    reads = Counter(
        n for stmt in back if isinstance(stmt, ir.Loop) for bound in stmt.bounds for n in ir.names_in(bound)
    )
    for loop, trips in counted:
        found = [saved for saved in known if saved.pushed_in is loop.body]
        if uses.get(trips) != 1 or reads[trips] != 1 or not found:
            continue
        for stmt in [x for x in back if isinstance(x, ir.Loop)]:
            inside = [saved for saved in found if saved.popped_in is stmt.body]
            if inside and stmt.kind == "range" and trips in ir.names_in(stmt.bounds[0]):
                length = ir.call("len", ir.name(inside[0].name))
                stmt.bounds = tuple(ir.substitute(bound, {trips: length}) for bound in stmt.bounds)
                loop.trips = None
                break
