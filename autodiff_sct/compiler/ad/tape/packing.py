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

What keeps the name of a variable that changes before the last of them is there is saved for itself, and so are a few
numbers in loops that are inside of loops: of these there are many, and tuples take more room than they do.  Of numba's
lists each holds one type, and it is told how many there are: programs for it keep theirs.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import gast

from ....core import thresholds
from ... import ir
from ...analysis.liveness import count_uses, describe
from ...analysis.remarks import hand_on
from ...domain.facts import Listed, Num, Pair
from ...interp.kernel.specialiser import Specialiser
from ...ir.function import Role
from ...ir.patterns import is_pop_call
from ...ir.traversal import change_own, replaced_node, substitute_own

FORKS = (gast.IfExp, gast.BoolOp, gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp, gast.Lambda)


@dataclass
class Saved:
    """A list that is filled by one statement and emptied by another."""

    name: str
    push: ir.Effect
    pop: Any  # the statement that pops from it
    pushed_in: ir.Block
    popped_in: ir.Block

    @property
    def value(self) -> str:
        return str(self.push.expr.args[0].id)

    @property
    def target(self) -> str | None:
        """The variable that is read back, if a statement does nothing else."""
        alone = is_pop(self.pop) and getattr(self.pop.expr.func.value, "id", None) == self.name
        return self.pop.target if alone else None


def pack_saves(s: Specialiser, front: ir.Block, back: ir.Block) -> None:
    """Save together what can be, in place."""
    groups: dict[tuple[int, int], list[Saved]] = {}
    for saved in lists(s, front, back, 1):
        if saved.name not in s.in_rows and s.roles.get(saved.name) is not Role.STATE:  # states of segments
            groups.setdefault((id(saved.pushed_in), id(saved.popped_in)), []).append(saved)
    inner = {id(block) for block in blocks_of_inner_loops(front)} if groups else ()
    for group in groups.values():
        for run in filter(None, runs(s, group)):
            if (
                id(run[0].pushed_in) in inner
                and len(run) < thresholds.NUMBERS_OF_A_TUPLE
                and all(is_scalar(s, x.value) for x in run)
            ):
                continue
            alone = sum(saved.target is not None for saved in run)  # those that are popped on a line of their own
            if len(run) + alone > 2 and len(run) > 1:
                join(s, front, back, run)


def blocks_of_inner_loops(program: ir.Block) -> list[ir.Block]:
    """The blocks in loops that are inside of loops."""
    outer = [x for x in ir.walk(program) if isinstance(x, ir.Loop)]
    inner = [x for loop in outer for x in ir.walk(loop.body) if isinstance(x, ir.Loop)]
    return [block for loop in inner for block in ir.blocks(loop.body)]


def is_scalar(s: Specialiser, name: str) -> bool:
    facts = s.facts[name]
    return isinstance(facts, Num) and facts.dims == ()


def lists(s: Specialiser, front: ir.Block, back: ir.Block, measured: int = 0) -> list[Saved]:
    """The lists of saved values that are filled in one place and emptied in one, in the order of filling.

    A loop may ask `measured` times how long they are.
    """
    pushes: dict[str, tuple[ir.Effect, ir.Block]] = {}
    pops: dict[str, tuple[Any, ir.Block]] = {}
    for block in ir.blocks(front):
        for stmt in block:
            if isinstance(stmt, ir.Effect) and stmt.kind == "save" and is_push(stmt.expr):
                pushes[stmt.expr.func.value.id] = (stmt, block)
    for block in ir.blocks(back) if pushes else ():
        for stmt in block:
            if not pushes.keys().isdisjoint(ir.reads(stmt)):
                pops |= dict.fromkeys(popped_in(stmt), (stmt, block))
    both = [n for n in pushes if n in pops and n in s.saved]
    uses = count_uses([*front, *back]) if both else {}
    lengths = Counter(n for stmt in back if isinstance(stmt, ir.Loop) for b in stmt.bounds for n in lengths_in(b))
    kept = [n for n in both if uses[n] == 2 + lengths[n] and lengths[n] <= measured]
    return [Saved(n, pushes[n][0], pops[n][0], pushes[n][1], pops[n][1]) for n in kept]


def popped_in(stmt: Any) -> list[str]:
    """The lists from which a statement itself pops, whenever it runs, and once."""
    if isinstance(stmt, ir.Loop) and stmt.kind == "while":
        return []
    expressions = [e for e in ir.expressions(stmt) if any(is_pop_call(node) for node in ir.nodes_in(e))]
    if any(isinstance(node, FORKS) for e in expressions for node in ir.nodes_in(e)):
        return []
    found = [node.func.value for e in expressions for node in ir.nodes_in(e) if is_pop_call(node)]
    return [base.id for base in found if isinstance(base, gast.Name)]


def lengths_in(expr: Any) -> list[str]:
    """The variables of whose lengths an expression is made."""
    calls = [node for node in ir.nodes_in(expr) if isinstance(node, gast.Call)]
    lengths = [c.args[0] for c in calls if getattr(c.func, "id", "") == "len" and len(c.args) == 1]
    return [arg.id for arg in lengths if isinstance(arg, gast.Name)]


def is_pop(stmt: Any) -> bool:
    """True if a statement does nothing but to give a popped value a name."""
    return isinstance(stmt, ir.Let) and len(stmt.targets) == 1 and stmt.effect and is_pop_call(stmt.expr)


def drop_unread_lists(s: Specialiser, front: ir.Block, back: ir.Block) -> None:
    """Drop lists whose values nobody reads, and call the others after what they hold, in place."""
    known = [saved for saved in lists(s, front, back) if saved.target is not None]
    uses = count_uses(back) if known else {}
    for saved in known:
        call_by_content(s, saved)
        if saved.target not in uses:
            forget(front, saved)
            saved.popped_in.remove(saved.pop)
    drop_empty(back)


def drop_empty(block: ir.Block) -> None:
    """Drop the loops and branches of the reverse sweep that do nothing, in place."""
    for stmt in block:
        for inner in ir.adjoint_bodies(stmt):
            drop_empty(inner)
    block[:] = [stmt for stmt in block if not is_empty(stmt)]


def is_empty(stmt: Any) -> bool:
    if isinstance(stmt, ir.If):
        return not (stmt.then or stmt.orelse or stmt.merges)
    return isinstance(stmt, ir.Loop) and stmt.kind == "range" and not (stmt.body or stmt.carries or stmt.trips)


def call_by_content(s: Specialiser, saved: Saved) -> None:
    """Call what is read back after what it holds, and the list, too: ``saved_sin_x``."""
    found = describe(s, s.definitions.get(saved.value)) if s.hints[saved.value] == "t" else None
    if found is not None and saved.target is not None:
        s.hints[saved.target], s.hints[saved.name] = found, f"saved_{found}"


def is_push(expr: Any) -> bool:
    """True if an expression appends a variable to a list."""
    return (
        isinstance(expr, gast.Call)
        and getattr(expr.func, "attr", "") == "append"
        and len(expr.args) == 1
        and isinstance(expr.args[0], gast.Name)
    )


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
    """True if the name of what is read back is free where the first of a run is read back."""
    block = saved.popped_in
    first = min(block.index(other.pop) for other in run)
    name = saved.value if saved.target is None else saved.target
    if name not in s.named:
        return True
    between = block[first : block.index(saved.pop)]
    return not any(s.hints[name] in made(s, stmt) | named(s, [*ir.reads_inside(stmt)]) for stmt in between)


def made(s: Specialiser, stmt: Any) -> set[str]:
    """The names of the user's to which a statement gives a value."""
    return named(s, [*ir.ir_targets(stmt), *ir.defined_in(stmt)])


def named(s: Specialiser, variables: list[str]) -> set[str]:
    return {s.hints[n] for n in variables if n in s.named}


def join(s: Specialiser, front: ir.Block, back: ir.Block, run: list[Saved]) -> None:
    """Make one list of several."""
    facts = Listed(frozenset([s.root(("saved", *(saved.name for saved in run)))]))
    s.put_element(facts, Pair(tuple(s.facts[saved.value] for saved in run)))
    name = s.fresh("saved", facts, Role.SAVED)
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
        for loop in [x for x in back if isinstance(x, ir.Loop)]:
            substitute_own(loop, {saved.name: ir.name(name)})
    block = run[0].popped_in
    first = min(block.index(saved.pop) for saved in run)
    origin = block[first].origin
    targets = tuple(read_back(s, saved) for saved in run)
    together = ir.Let(targets, ir.call(ir.attribute(ir.name(name), "pop")), effect=True, origin=origin)
    block.insert(first, together)
    for saved in run:
        forget(front, saved)


def read_back(s: Specialiser, saved: Saved) -> str:
    """The variable that a saved value becomes where it is popped with others; its own pop goes."""
    if saved.target is not None:
        name = saved.target
        saved.popped_in.remove(saved.pop)
        return name
    hint = describe(s, s.definitions.get(saved.value)) if s.hints[saved.value] == "t" else None
    name = s.fresh(hint or s.hints[saved.value], s.facts[saved.value])
    pop = ir.call(ir.attribute(ir.name(saved.name), "pop"))
    change_own(saved.pop, lambda expr: replaced_node(expr, pop, ir.name(name)))
    return name


def forget(front: ir.Block, saved: Saved) -> None:
    """Drop a list and what fills it."""
    saved.pushed_in.remove(saved.push)
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
