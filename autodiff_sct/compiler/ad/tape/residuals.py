"""Residuals: the values handed from a forward function to its backward function, and those that it may change.

The backward function may be run many times, and the caller may write its own arrays in between: what the backward
function changes it copies first, and what the caller may change is copied where it is handed over.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import gast

from ....errors import AliasError, Origin
from ....runtime import memory, objects
from ... import ir
from ...analysis.alias import Regions, every_root, reachable, roots_of
from ...analysis.definite_assignment import unbound
from ...domain.facts import Listed, Mapped, Num, Opaque
from ...interp.kernel.specialiser import Specialiser
from ...ir.patterns import outside_names
from ...ir.traversal import read_instead
from ..reverse.primal_shadows import BESIDE

CHANGING = ("append", "insert", "pop", "reverse")  # methods that change a list


def kept_state(
    s: Specialiser, where: Regions, callers: list[str], front: ir.Block, back: ir.Block, seeds: Iterable[str]
) -> dict[str, Any]:
    """The copies for the backward function of values that the caller may write between the two.

    `callers` are the variables that the caller holds, too.  Written memory that several variables share has shadows
    that are shared likewise, so these are copied together.
    """
    names = [*callers, *(e.name for e in s.externals.values())]
    shared = {root for n in names for root in reachable(s, s.facts[n])}
    sure = {*names, *always_assigned(front)}
    state = [n for n in outside_names(back) if n not in seeds]
    joint = meeting(s, where, state, shared)
    own: set[str] = set()
    if joint:
        front[-1:-1] = together(s, back, joint)  # before what the forward function returns
        own = {*outside_names(back)} - {*state}
        state = [n for n in outside_names(back) if n not in seeds]

    def kept(variable: str) -> Any:
        facts = s.facts[variable]
        if variable in own or not (isinstance(facts, Opaque) or reachable(s, facts) & shared):
            return ir.name(variable)
        if isinstance(facts, Num) and facts.kind == "array" and variable in sure:
            return ir.call(ir.attribute(ir.name(variable), "copy"))
        return ir.call(s.bind("detached", objects.detached), ir.name(variable))

    return {n: kept(n) for n in state}


def meeting(s: Specialiser, where: Regions, state: list[str], shared: set[int]) -> list[str]:
    """The variables that meet others in written memory of which the caller holds a part, or a call's state may.

    What a call has saved is not known: it may be any of the arrays that are written.
    """
    reached = {n: reachable(s, s.facts[n]) for n in state}
    written = {n: {root for root in reached[n] if where.find(root) in where.written} for n in state}
    states = [n for n in state if isinstance(s.facts[n], Opaque)]
    found = [*states, *(n for n in state if written[n])] if states and any(written.values()) else []
    pending = [n for n in state if reached[n] & shared and any(written[n] & written[m] for m in state if m != n)]
    while pending:
        found += pending
        held = {root for n in found for root in written[n]}
        pending = [n for n in state if n not in found and written[n] & held]
    return [n for n in state if n in found]


def unset_state(
    s: Specialiser, front: ir.Block, back: ir.Block, inputs: list[str], names: dict[str, str], body: list[Any]
) -> list[Any]:
    """``name = None`` for what only some paths of the printed `body` assign, and is handed over or copied for that."""
    joint = copied_together(s, front)
    before = [stmt for stmt in front if not (joint and copied_together(s, [stmt]))]
    made = ir.defined(front) - ir.defined(before)
    wanted = [n for n in [*joint, *outside_names(back)] if n not in made]
    printed = {names[n] for n in inputs if n in names} | always_stored(body)
    own = always_assigned(before)  # another variable of the same name may be written where it is read
    lost = [n for n in wanted if n not in own and names[n] not in printed]
    return unset(before, inputs, wanted, names, {names[n] for n in lost})


def always_stored(body: list[Any]) -> set[str]:
    """The names to which every run of printed statements gives a value."""
    found: set[str] = set()
    for stmt in body:
        if isinstance(stmt, gast.If):
            found |= always_stored(stmt.body) & always_stored(stmt.orelse)
        elif isinstance(stmt, gast.With):
            found |= always_stored(stmt.body)
        elif isinstance(stmt, (gast.Assign, gast.AugAssign)):
            targets = stmt.targets if isinstance(stmt, gast.Assign) else [stmt.target]
            found |= {
                n.id
                for t in targets
                for n in gast.walk(t)
                if isinstance(getattr(n, "ctx", None), gast.Store) and isinstance(n, gast.Name)
            }
    return found


def unset(
    front: ir.Block, inputs: list[str], wanted: list[str], names: dict[str, str], lost: Iterable[str] = ()
) -> list[Any]:
    """``name = None`` for what only some paths assign, which these names are known to be."""
    sure = {names[n] for n in inputs if n in names} | {names[n] for n in always_assigned(front) if n in names}
    sure -= {*lost}
    texts = [t for t in dict.fromkeys(names[n] for n in wanted) if t not in sure]
    return [gast.Assign([gast.Name(t, gast.Store(), None, None)], ir.constant(None), None) for t in texts]


def always_assigned(block: ir.Block) -> set[str]:
    """The variables that every run of a block assigns."""
    return assigned(block) - unbound(block)


def assigned(block: ir.Block) -> set[str]:
    """The variables that the statements of a block assign, or pass on from before them, on every path through these."""
    found: set[str] = set()
    for stmt in block:
        if isinstance(stmt, ir.Let):
            found |= set(stmt.targets)
        elif isinstance(stmt, ir.If):
            found |= {m.target for m in stmt.merges if m.then is not None and m.orelse is not None}
        elif isinstance(stmt, ir.Loop):
            found |= {n for c in stmt.carries if c.init is not None for n in (c.phi, c.out)}
            found |= {stmt.trips} if stmt.trips else set()
        elif isinstance(stmt, ir.With):
            found |= assigned(stmt.body)
    return found


# -- what the backward function changes


def own_copies(s: Specialiser, back: ir.Block, given: set[str], sure: set[str]) -> ir.Block:
    """Copy what the backward function changes of the forward function's values, as it may be run again.

    `given` are its own arguments, `sure` what every path assigns.
    """
    outside = [n for n in outside_names(back) if n not in given]
    changed = changed_names(s, back)
    refuse_stale_state(s, back, [n for n in [*outside, *given] if n in changed and n in s.facts])
    shared = shared_memory(s, back, outside, [n for n in given if n in s.facts], changed)
    joint = [
        n for n in shared if not isinstance(s.facts[n], Num) or any(shared[n] & shared[m] for m in shared if m != n)
    ]
    joint += [n for n in outside if n in changed and isinstance(s.facts[n], Opaque)]  # the states of recursive calls
    alone = [n for n in outside if (n in changed or n in shared) and n not in joint]
    return [*(own_copy(s, back, n, n in sure) for n in alone), *together(s, back, joint)]


def own_copy(s: Specialiser, back: ir.Block, name: str, sure: bool) -> ir.Let:
    fresh = s.fresh_like(name)
    s.named.add(fresh)
    own: Any = ir.call(ir.attribute(ir.name(name), "copy"))
    if not sure:
        own = gast.IfExp(gast.Compare(ir.name(name), [gast.IsNot()], [ir.constant(None)]), own, ir.constant(None))
    replace_everywhere(back, name, fresh)
    return ir.Let((fresh,), own, effect=True)


def shared_memory(
    s: Specialiser, back: ir.Block, outside: list[str], given: list[str], changed: set[str]
) -> dict[str, frozenset[int]]:
    """The variables from the forward function with the memory of theirs that the backward one changes."""
    theirs = frozenset().union(*(every_root(s, s.facts[n]) for n in given))
    arrays = [n for n in changed if n in s.facts and isinstance(s.facts[n], (Num, Listed, Mapped))]
    items = [every_root(s, s.facts[n]) for n in changed_inside(s, back) if n in s.facts]
    roots = frozenset().union(*(roots_of(s.facts[n]) for n in arrays), *items) - theirs
    beside = frozenset(s.roots[site] for site in BESIDE if site in s.roots)
    if roots & beside:
        roots |= beside
    found = {n: every_root(s, s.facts[n]) & roots for n in outside}
    return {n: own for n, own in found.items() if own}


def copied_together(s: Specialiser, back: ir.Block) -> list[str]:
    """The variables whose copies share memory among each other as they do."""
    calls = [stmt.expr for stmt in back if isinstance(stmt, ir.Let) and isinstance(stmt.expr, gast.Call)]
    found = [c for c in calls if s.globals.get(getattr(c.func, "id", "")) is memory.copies]
    return [n for call in found for arg in call.args for n in ir.names_in(arg)]


def together(s: Specialiser, back: ir.Block, names: list[str]) -> ir.Block:
    """Copies that share memory among each other as the variables do, read in the place of these."""
    if not names:
        return []
    made = [s.fresh_like(n) for n in names]
    s.named.update(made)
    for old, new in zip(names, made):
        replace_everywhere(back, old, new)
    call = ir.call(s.bind("copies", memory.copies), *(ir.name(n) for n in names))
    return [ir.Let(tuple(made), call, effect=True)]


def changed_names(s: Specialiser, back: ir.Block) -> set[str]:
    """The variables through which a backward sweep changes memory."""
    stored = {stmt.base for stmt in ir.walk(back) if isinstance(stmt, ir.Store)}
    return stored | {n for expr in changed_by_calls(s, back) for n in ir.names_in(whose_item(expr))}


def changed_inside(s: Specialiser, back: ir.Block) -> set[str]:
    """The variables of which an item is changed that has no name of its own: ``saved.pop().append(x)``."""
    items = [expr for expr in changed_by_calls(s, back) if not isinstance(expr, gast.Name)]
    return {n for expr in items for n in ir.names_in(whose_item(expr))}


def changed_by_calls(s: Specialiser, back: ir.Block) -> Iterator[Any]:
    """The lists, dicts and arrays that methods and functions change, as they stand in the calls."""
    for stmt in ir.walk(back):
        for call in [node for expr in ir.expressions(stmt) for node in ir.nodes(expr) if isinstance(node, gast.Call)]:
            if isinstance(call.func, gast.Attribute) and call.func.attr in CHANGING:
                yield call.func.value
            elif isinstance(call.func, gast.Name):
                yield from (call.args[k] for k in getattr(s.globals.get(call.func.id), "changed", ()))


def whose_item(expr: Any) -> Any:
    """The container that holds an item of an item: the indices are only read."""
    while isinstance(expr, gast.Subscript):
        expr = expr.value
    return expr


def replace_everywhere(block: ir.Block, old: str, new: str) -> None:
    """Let a block read another variable in place of one."""
    for stmt in ir.walk(block):
        read_instead(stmt, {old: new})


def refuse_stale_state(s: Specialiser, back: ir.Block, changed: list[str]) -> None:
    """A state refers to the memory that the forward function worked on, not to a copy of it."""
    roots = frozenset().union(*(every_root(s, s.facts[n]) for n in changed))
    for stmt in ir.walk(back):
        if any(every_root(s, s.facts[n]) & roots for n in getattr(stmt, "state_reads", ())):
            raise AliasError(
                "memory that a recursive function keeps for its derivative is written, "
                "in or around a function whose backward part is separate",
                "give the recursive function a copy",
                stmt.origin,
                code="recursion",
            )


def check_state(s: Specialiser, state: list[str], written: list[str], origin: Origin | None) -> None:
    """The written arguments come to the backward function anew: what it reads of them must come through them."""
    roots = frozenset().union(*(roots_of(s.facts[p]) for p in written))
    for n in state:
        if roots & roots_of(s.facts[n]):
            raise AliasError(
                f"a recursive function keeps a view ({s.in_words(n)}) of an argument that it writes",
                "index the argument itself, or copy the view",
                origin,
                code="recursion",
            )


def first_origin(block: ir.Block) -> Origin | None:
    return next((stmt.origin for stmt in ir.walk(block) if getattr(stmt, "origin", None) is not None), None)
