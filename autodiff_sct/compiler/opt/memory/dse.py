"""Dead store elimination: what is written into a cotangent and never read.

::

    d_lap = d_v * c                         d_lap = d_v * c
    d_u[1:-1] += d_lap[1:-1]          ->    d_u[1:-1] += d_lap[1:-1]
    d_lap[1:-1] = 0.0

The reverse of ``lap[1:-1] = ...`` clears what it has taken.  Where the array was made in the same block and nothing
after the store reaches its memory, it is not worth clearing.  What was computed for such a store only is not computed.

::

    y[...] = old_y2                         d_y *= 0.5
    d_y *= 0.5                        ->    y[...] = old_y
    y[...] = old_y

What is overwritten as a whole before anybody reads it is not put back.

::

    d_t = d_y.copy()                  ->    d_t = d_y.copy()
    d_y[...] = 0.0
    d_y[...] += d_t

Of ``np.add(y, x, out=y)``, `y` gets back what it has given.

A part that has been taken out of a cotangent, an item or slices, is not cleared where no later step reads it.

::

    for i in range(n - 1, 0, -1):           for i in range(n - 1, 0, -1):
        d_t = d_y[i]                            d_t = d_y[i]
        d_y[i] = 0.0                  ->        d_y[i - 1] += a * d_t
        d_y[i - 1] += a * d_t

The reverse of ``y[i] = ...`` clears what it has taken.  Above, `i` falls, and no step reads behind it; after the loop
nobody reads the array.  So it is where every read comes before the part is cleared, or is of another one (see
`Places`).  The array is one that the reverse sweep has made in the same block, or that a loop carries from the
step that has made it to the next; no other name leads to it, nor is it handed on to another variable at the end of a
block.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import gast

from ... import ir
from ...ad.tape.subscript_dependence import Places
from ...analysis.alias import reachable, roots_of
from ...analysis.liveness import count_uses, readers_of
from ...analysis.subscript_uses import asked_of, is_integer, passed_on
from ...domain.facts import Num
from ...ir.function import Function
from ...ir.patterns import is_copy, is_ellipsis, is_zeroing, leaving_of, subscript_parts
from .primal_reuse import is_creation


def eliminate_dead_stores(s: Function, block: ir.Block, leaving: frozenset[str] = frozenset()) -> None:
    """Drop the last stores of a block of the reverse sweep and of the blocks inside it, in place.

    `leaving` are the variables that are read after the block.
    """
    for stmt in block:
        for inner in ir.adjoint_bodies(stmt):
            eliminate_dead_stores(s, inner, leaving_of(stmt, block) | leaving)
    if not any(isinstance(stmt, ir.Store) for stmt in block):
        return
    for copy in [stmt for stmt in block if is_copy(stmt)]:
        place = block.index(copy)
        if is_given_back(copy, block[place + 1 : place + 3]):
            del block[place + 1 : place + 3]
    made = made_in(block, leaving)
    later = {root for name in leaving for root in roots_of(s.facts[name])}
    covered: set[int] = set()  # what is overwritten as a whole before anything else happens to it
    read, unread = set(leaving), set[str]()  # by what stays, and by what goes
    kept: ir.Block = []
    for k in range(len(block) - 1, -1, -1):
        stmt = block[k]
        if is_dead(s, stmt, made, later) or is_covered(s, stmt, covered) or is_for_nothing(stmt, unread - read):
            unread.update(ir.reads(stmt))
            continue
        kept.append(stmt)
        read.update(ir.reads_inside(stmt))
        here = reached(s, stmt)
        later |= here
        covered = covered - here | (roots_of(s.facts[stmt.base]) if is_overwriting(s, stmt, block[:k]) else set())
    block[:] = reversed(kept)


def is_given_back(copy: Any, following: ir.Block) -> bool:
    """True if an array that is copied is then cleared, and gets the copy."""
    if len(following) < 2 or not is_zeroing(following[0]) or not isinstance(following[1], ir.Store):
        return False
    zero, addition = following
    if addition.aug is not gast.Add:
        return False
    original, value = (getattr(expr, "id", None) for expr in (copy.expr.func.value, addition.value))
    whole = is_ellipsis(zero.index) and is_ellipsis(addition.index)
    return whole and original == zero.base == addition.base and value == copy.target


def is_overwriting(s: Function, stmt: Any, before: ir.Block) -> bool:
    """True if a statement overwrites all of the memory of an array that has been written, which only it can reach."""
    if not isinstance(stmt, ir.Store) or stmt.aug is not None or not is_ellipsis(stmt.index):
        return False
    if stmt.base in ir.names_in(stmt.value) or not any(isinstance(x, ir.Store) and x.base == stmt.base for x in before):
        return False
    roots = roots_of(s.facts[stmt.base])
    others = (facts for name, facts in s.facts.items() if name != stmt.base)
    return isinstance(s.facts[stmt.base], Num) and bool(roots) and all(not roots & reachable(s, f) for f in others)


def is_covered(s: Function, stmt: Any, covered: set[int]) -> bool:
    """True if what a statement writes is overwritten before it is read."""
    return isinstance(stmt, ir.Store) and bool(roots := roots_of(s.facts[stmt.base])) and roots <= covered


def made_in(block: ir.Block, leaving: frozenset[str]) -> set[str]:
    """The variables whose memory is made in a block, where only what follows can reach it."""
    uses = count_uses(block)
    made: set[str] = set()
    for stmt in block:
        if not isinstance(stmt, ir.Let) or stmt.in_place or len(stmt.targets) != 1:
            continue
        renames = isinstance(stmt.expr, gast.Name) and stmt.expr.id in made - leaving and uses[stmt.expr.id] == 1
        if renames or isinstance(stmt.expr, (gast.BinOp, gast.UnaryOp)) or is_creation(stmt.expr):
            made.add(stmt.target)
    return made


def is_dead(s: Function, stmt: Any, made: set[str], later: set[int]) -> bool:
    if not isinstance(stmt, ir.Store) or stmt.base not in made or not isinstance(s.facts[stmt.base], Num):
        return False
    roots = roots_of(s.facts[stmt.base])
    return bool(roots) and not roots & later


def is_for_nothing(stmt: Any, unread: set[str]) -> bool:
    """True if a statement computes no more than what nobody reads any more."""
    if not isinstance(stmt, ir.Let) or stmt.effect or stmt.in_place or stmt.augments or stmt.saves:
        return False
    raises = stmt.repeats is not None and stmt.may_raise  # maybe in the place of what the forward sweep computed
    return not raises and unread.issuperset(stmt.targets)


def reached(s: Function, stmt: Any) -> set[int]:
    """The memory that a statement and the blocks inside it read or write."""
    called = [name for inner in ir.inside(stmt) for name in getattr(inner, "state_reads", ())]
    return {root for name in [*ir.reads_inside(stmt), *called] for root in roots_of(s.facts[name])}


def eliminate_loop_stores(s: Function, program: ir.Block, back: ir.Block) -> None:
    """Drop such stores from the blocks of the reverse sweep, in place."""
    clears = [stmt for stmt in ir.adjoint_walk(back) if is_part_zeroing(s, stmt)]
    if not clears:
        return
    holders: dict[int, set[str]] = defaultdict(set)  # the names that lead to memory, by where that is made
    bases, uses = {stmt.base for stmt in clears}, count_uses(program)
    for name in (uses.keys() | ir.defined(program)) & s.facts.keys():
        for root in reachable(s, s.facts[name]):
            holders[root].add(name)
    makers = {
        stmt.target: (stmt, block)
        for block in ir.blocks(back)
        for stmt in block
        if isinstance(stmt, ir.Let) and len(stmt.targets) == 1
    }
    handed = {name for stmt in ir.walk(back) for name in passed_on(stmt)}
    views = {v: part for v, (made, _) in makers.items() if v not in handed and (part := view_of(s, made, bases))}
    seen: dict[str, set[str]] = defaultdict(set)
    for view, (base, _) in views.items():
        seen[base].add(view)
    made_in_block: dict[int, set[str]] = defaultdict(set)
    for base in bases & makers.keys():
        made_in_block[id(makers[base][1])].add(base)
    for around, owner, block in adjoint_blocks(back):
        left = bases - (leaving_of(owner, around) if owner else set())
        left -= {name for stmt in ir.walk(block) for name in passed_on(stmt)}
        here = left & made_in_block[id(block)]
        made = {base: names for base in here if (names := names_of(base, block, makers, uses))}
        own = [base for base, names in made.items() if is_alone(s, base, names | seen[base], holders)]
        for c in [c for c in carried(owner) if c.phi in left]:
            before, following = (names_of(n or "", b, makers, uses) for n, b in ((c.init, around), (c.next, block)))
            if before and following and is_handed_on(around, owner, c):
                names = {c.phi, c.out, *before, *following, *seen[c.phi]}
                own += [c.phi] if is_alone(s, c.phi, names, holders) else []
        places, readers = (Places(block), readers_of(ir.walk(block))) if own else (None, {})
        for base in own:
            reads = list(reads_of(s, readers.get(base, []), base))
            reads += [(stmt, views[v][1]) for v in seen[base] for stmt in readers.get(v, [])]
            dead = [x for x in clears if x.base == base and not_read(places, x, reads)]
            for inner in ir.blocks(block) if dead else ():
                inner[:] = [stmt for stmt in inner if stmt not in dead]


def view_of(s: Function, stmt: ir.Let, bases: set[str]) -> tuple[str, Any] | None:
    """The array of which a statement names a part in the same memory, and the subscript of that."""
    expr: Any = stmt.expr
    if not isinstance(expr, gast.Subscript) or getattr(expr.value, "id", "") not in bases:
        return None
    facts: Any = s.facts[expr.value.id]
    shares = roots_of(facts) & reachable(s, s.facts[stmt.target])
    return (expr.value.id, expr.slice) if shares and is_part(s, facts, expr.slice) else None


def is_part_zeroing(s: Function, stmt: Any) -> bool:
    facts = s.facts[stmt.base] if is_zeroing(stmt) else None
    return isinstance(facts, Num) and facts.kind == "array" and is_part(s, facts, stmt.index)


def is_part(s: Function, facts: Num, index: Any) -> bool:
    """True if a subscript takes an item or slices of an array, axis by axis."""
    parts = subscript_parts(index)
    plain = all(isinstance(part, gast.Slice) or is_integer(s, part) for part in parts)
    return plain and facts.ndim is not None and len(parts) <= facts.ndim


def adjoint_blocks(
    block: ir.Block, owner: Any = None, around: ir.Block | None = None
) -> Iterator[tuple[ir.Block, Any, ir.Block]]:
    """The blocks of the reverse sweep, the inner ones first, each with its statement and the block that this is in."""
    for stmt in block:
        for inner in ir.adjoint_bodies(stmt):
            yield from adjoint_blocks(inner, stmt, block)
    yield around or [], owner, block


# -- whose memory it is


def is_made(maker: Any) -> bool:
    """True if a statement makes new memory."""
    if maker.in_place or maker.effect:
        return False
    return isinstance(maker.expr, (gast.BinOp, gast.UnaryOp)) or is_creation(maker.expr)


def names_of(name: str, block: ir.Block, makers: dict[str, tuple[Any, ir.Block]], uses: dict[str, int]) -> set[str]:
    """The names that an array made in a block has had one after the other; none if it is made elsewhere."""
    names: set[str] = set()
    while name in makers and makers[name][1] is block:
        names.add(name)
        maker = makers[name][0]
        if not isinstance(maker.expr, gast.Name) or uses[maker.expr.id] != 1:
            return names if is_made(maker) else set()
        name = maker.expr.id
    return set()


def is_alone(s: Function, name: str, allowed: set[str], holders: dict[int, set[str]]) -> bool:
    """True if no other names than these lead to the memory of a variable."""
    roots = reachable(s, s.facts[name])
    return bool(roots) and all(holders[root] <= allowed for root in roots)


def carried(owner: Any) -> list[ir.Carry]:
    return owner.carries if isinstance(owner, ir.Loop) and owner.kind != "while" else []


def is_handed_on(around: ir.Block, loop: ir.Loop, carry: ir.Carry) -> bool:
    """True if what a loop of a block begins with is read by nobody else, then or later."""
    later = [*around[around.index(loop) + 1 :], *loop.body, *loop.head]
    others = [c.init for c in loop.carries if c is not carry]
    return carry.init not in others and not any(carry.init in ir.reads_inside(stmt) for stmt in later)


# -- who reads it


def reads_of(s: Function, readers: list[Any], base: str) -> Iterator[tuple[Any, Any]]:
    """The statements that read an array, each with the subscript of what it reads, or None."""
    facts: Any = s.facts[base]
    for stmt in readers:
        if isinstance(stmt, ir.Store) and stmt.base == base and stmt.aug is not None:
            yield stmt, stmt.index if is_part(s, facts, stmt.index) else None
        for expr in ir.expressions(stmt):
            if base in ir.variables_in(expr):
                yield from ((stmt, index) for index in parts_read(s, expr, base))


def parts_read(s: Function, expr: Any, base: str) -> Iterator[Any]:
    """The subscripts with which an expression reads an array, None for the whole of it."""
    if isinstance(expr, gast.Name):
        yield from [None] if expr.id == base else []
    elif isinstance(expr, gast.Subscript) and getattr(expr.value, "id", "") == base:
        facts: Any = s.facts[base]
        yield expr.slice if is_part(s, facts, expr.slice) else None
        yield from parts_read(s, expr.slice, base)
    else:
        asked = asked_of(s, expr)
        shown = asked is not None and asked[0] == base
        for part in ir.children(expr)[2 if shown and isinstance(expr, gast.Call) else 1 if shown else 0 :]:
            yield from parts_read(s, part, base)


def not_read(places: Any, clear: ir.Store, reads: list[tuple[Any, Any]]) -> bool:
    """True if every read of an array comes before an item of it is cleared, or to another part."""
    return all(
        places.is_past(clear, clear.index, stmt, index)
        if index is not None
        else not places.common(clear, stmt) and places.order[stmt] <= places.order[clear]
        for stmt, index in reads
    )
