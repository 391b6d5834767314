"""First touch: the first contribution to a part of a shadow of zeros is an assignment and reads nothing.

::

    d_rod[1:-1] = 0.0                       d_rod[1:-1] = d_t * 2
    d_rod[2:] += d_t                  ->    d_rod[2:] += d_t
    d_rod[1:-1] += d_t * 2

    d_x = np.zeros_like(x)                  d_x = np.empty_like(x)
    d_x[:-1] += d_t                   ->    d_x[-1:] = 0.0
    d_x[1:] -= d_t                          d_x[:-1] = d_t
                                            d_x[1:] -= d_t

    d_p = np.zeros_like(p)                  d_p = d_d.sum(axis=1)
    d_p += d_d.sum(axis=1)            ->    d_p += d_t
    d_p += d_t

    d_x = np.zeros_like(x)                  d_x = d_y * k
    d_x[0] += d_t                     ->    d_x[0] += d_t
    d_x += d_y * k

    d_t = d_u[i]                            d_t = d_u[i]
    d_u[i] = 0.0                      ->    d_u[i - 1] += d_t * r
    d_u[i - 1] += d_t * r
    d_u[i] += d_t

Additions to one shadow may change places with each other, and only they are passed.  Of fresh zeros, the first
part is assigned, and every one that meets none of those before; which parts meet is told by their bounds (`slices`).
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from .... import ir
from ....ad.tape.subscript_dependence import Places
from ....analysis.alias import reachable, roots_of
from ....analysis.effects import touches
from ....analysis.liveness import count_uses
from ....analysis.ownership import is_alike
from ....analysis.subscript_uses import are_disjoint, cover, is_basic, rest_of
from ....domain.facts import Num
from ....ir.function import Function
from ....ir.patterns import holds_numbers, is_call, is_ellipsis, is_pop_call, is_sum_with, is_zeroing, negated, signed
from ...rewrite.contractions import Contractions
from ..dse import reached


def assign_first_contributions(s: Function, program: ir.Block, block: ir.Block) -> None:
    """Rewrite a block of the reverse sweep of a program and the blocks inside it, in place."""
    if not any(is_zeroing(stmt) or is_new_zeros(s, stmt) for stmt in ir.adjoint_walk(block)):
        return
    uses = count_uses(program)
    for inner in [block, *(body for stmt in ir.adjoint_walk(block) for body in ir.adjoint_bodies(stmt))]:
        zeros = [stmt for stmt in inner if is_zeroing(stmt) or is_new_zeros(s, stmt)]
        users = users_of(s, inner) if zeros else {}
        for zero in zeros:
            if isinstance(zero, ir.Store):
                begin_part(s, inner, zero, users)
            else:
                fill(s, inner, zero, uses, users)


def users_of(s: Function, block: ir.Block) -> dict[int, set[Any]]:
    """The statements of a block that read or write the memory of each root."""
    users: dict[int, set[Any]] = {}
    for stmt in block:
        for root in reached(s, stmt):
            users.setdefault(root, set()).add(stmt)
    return users


# -- a part that is set to zero


def begin_part(s: Function, block: ir.Block, zero: ir.Store, users: dict[int, set[Any]]) -> None:
    """Let the first addition to a part replace its zeroing."""
    start = block.index(zero)
    end, passed = first_addition(s, block, start, users)
    if end is None:
        return
    addition = block[end]
    if is_what_was_there(s, block, start, addition):
        del block[end], block[start]
        return
    place = min(passed, default=end)
    made = {name for stmt in block[place:end] for name in ir.ir_targets(stmt)}
    read = [n for n in ir.names_in(addition.value) if ir.is_variable(n)]
    memory = {root for n in read for root in reachable(s, s.facts[n])}
    if made & set(ir.reads(addition)) or any(touches(s, stmt, memory, True) for stmt in block[place:end]):
        return
    del block[end]
    block.insert(place, addition)
    assign(addition)
    del block[start]


def first_addition(
    s: Function, block: ir.Block, start: int, users: dict[int, set[Any]]
) -> tuple[int | None, list[int]]:
    """The first addition to exactly the part that a statement zeroes, and the other additions before."""
    zero = block[start]
    region = roots_of(s.facts[zero.base])
    if not region or not is_fixed(s, zero.index):
        return None, []
    index = gast.dump(zero.index)
    touching = set().union(*(users[root] for root in region))
    passed: list[int] = []
    for k in range(start + 1, len(block)):
        stmt = block[k]
        if stmt not in touching:
            continue
        if not is_addition(s, stmt, region):
            return None, []
        if stmt.base == zero.base and gast.dump(stmt.index) == index:
            return k, passed
        passed.append(k)
    return None, []


def is_fixed(s: Function, index: Any) -> bool:
    """True if an index means the same wherever it stands: no array that may be written is in it."""
    facts = [s.facts[n] for n in ir.names_in(index) if ir.is_variable(n)]
    return all(isinstance(f, Num) and f.dims == () and not f.roots for f in facts)


def is_addition(s: Function, stmt: Any, region: frozenset[int]) -> bool:
    """True if a statement only adds to memory of a region, and something that is not of it."""
    if not isinstance(stmt, ir.Store) or stmt.aug not in (gast.Add, gast.Sub):
        return False
    facts = s.facts[stmt.base]
    if not isinstance(facts, Num) and not (holds_numbers(s, facts) and is_number(s, stmt.value)):
        return False
    read = [*ir.names_in(stmt.value), *ir.names_in(stmt.index)]
    return stmt.base not in read and not any(roots_of(s.facts[n]) & region for n in read if ir.is_variable(n))


def is_number(s: Function, expr: Any) -> bool:
    """True if a cotangent is surely a number, in nobody's memory: to assign that is as good as to add it to zero."""
    if isinstance(expr, gast.Name):
        facts = s.facts.get(expr.id)
        return isinstance(facts, Num) and facts.dims == () and not facts.roots
    names = [n for n in ir.names_in(expr) if ir.is_variable(n)]
    made = isinstance(expr, (gast.BinOp, gast.UnaryOp))
    return made and all(is_number(s, ir.name(n)) or holds_numbers(s, s.facts[n]) for n in names)


def is_what_was_there(s: Function, block: ir.Block, start: int, addition: ir.Store) -> bool:
    """True if an addition puts back what the zeroing before it has removed."""
    name = getattr(addition.value, "id", None)
    if addition.aug is not gast.Add or name is None:
        return False
    region = roots_of(s.facts[addition.base])
    for stmt in reversed(block[:start]):
        if isinstance(stmt, ir.Let) and stmt.targets == (name,):
            return is_content(s, stmt, addition)
        if touches(s, stmt, region, True):
            return False
    return False


def is_content(s: Function, stmt: ir.Let, part: ir.Store) -> bool:
    """True if a statement takes what a part holds, not a view of it."""
    expr = stmt.expr.func.value if is_call(stmt.expr, "copy") and not stmt.expr.args else stmt.expr
    if not isinstance(expr, gast.Subscript) or getattr(expr.value, "id", None) != part.base:
        return False
    new = expr is not stmt.expr or is_number(s, ir.name(stmt.target))
    return new and gast.dump(expr.slice) == gast.dump(part.index)


def assign(addition: ir.Store) -> None:
    """Let a statement assign what it adds."""
    if addition.aug is gast.Sub:
        positive = negated(addition.value)
        addition.value = signed(addition.value) if positive is None else positive
    addition.aug = None


# -- new zeros


def is_new_zeros(s: Function, stmt: Any) -> bool:
    if not isinstance(stmt, ir.Let) or not (is_call(stmt.expr, "zeros_like") or is_call(stmt.expr, "zeros")):
        return False
    facts = s.facts[stmt.target]
    return isinstance(facts, Num) and facts.kind == "array" and bool(facts.ndim)


def fill(s: Function, block: ir.Block, zero: ir.Let, uses: dict[str, int], users: dict[int, set[Any]]) -> None:
    """Assign the parts of new zeros to which something is added, as long as they do not meet."""
    region = roots_of(s.facts[zero.target])
    touching = set().union(*(users.get(root, ()) for root in region))
    begin_with_sum(s, block, zero, region, touching)
    if begin_whole(s, block, zero, region, touching, uses):
        return
    filled: list[ir.Store] = []
    for stmt in block[block.index(zero) + 1 :]:
        if stmt not in touching:
            continue
        if not is_addition(s, stmt, region) or stmt.base != zero.target or is_ellipsis(stmt.index):
            break
        basic = all(is_basic(s, part.index) for part in (stmt, *filled))
        if filled and not (basic and all(are_disjoint(s, stmt.index, other.index) for other in filled)):
            break
        filled.append(stmt)
    for stmt in filled:
        turn_sign(block, stmt, uses)
        assign(stmt)
    if filled and is_call(zero.expr, "zeros_like") and not zero.expr.keywords:
        without_zeros(s, block, zero, [stmt.index for stmt in filled])


def begin_whole(
    s: Function, block: ir.Block, zero: ir.Let, region: frozenset[int], touching: set[Any], uses: dict[str, int]
) -> bool:
    """Let the first addition define a cotangent, where it is one to all of it, and new."""
    first, parts = first_whole(s, block, zero, region, touching)
    if isinstance(first, ir.Let):
        return begin_with_total(s, block, zero, first, parts)
    if first is None:
        return False
    if isinstance(first.value, gast.Name) and is_alike(s, zero.target, first.value.id):
        first.value = ir.call(ir.attribute(first.value, "copy"))
    elif not is_whole(s, zero.target, first.value) or not is_made_there(first.value):
        return False
    place = block.index(first)
    following: Any = next(iter(block[place + 1 :]), None)
    if first.aug is gast.Sub and uses[zero.target] == 2 and is_sum_with(getattr(following, "expr", None), zero.target):
        following.expr, following.in_place = ir.binop(following.expr.right, gast.Sub, following.expr.left), False
        first.aug = gast.Add
    assign(first)
    block[place] = ir.Let(zero.targets, first.value, None, first.origin)
    block[place + 1 : place + 1] = parts
    for stmt in (zero, *parts):
        block.remove(stmt)
    return True


def is_whole(s: Function, name: str, value: Any) -> bool:
    """True if a value surely has the shape of an array of floats."""
    facts, dims = s.facts[name], Contractions(s).dims(value)
    names = [n for n in ir.names_in(value) if ir.is_variable(n)]
    if not isinstance(facts, Num) or facts.dtype != np.float64:
        return False
    return s.same_lengths(dims, facts.dims, s.where_made(name, *names))


def begin_with_total(s: Function, block: ir.Block, zero: ir.Let, total: ir.Let, parts: list[ir.Store]) -> bool:
    """The same where the sum has a name of its own."""
    value = total.expr.right
    if not is_whole(s, zero.target, value) or not roots_of(s.facts[total.target]):
        return False
    if not is_made_there(value):
        if not isinstance(value, gast.Name):
            return False
        value = ir.call(ir.attribute(value, "copy"))
    place = block.index(total)
    block[place] = ir.Let(total.targets, value, None, total.origin)
    block[place + 1 : place + 1] = [ir.Store(total.target, x.index, x.value, x.aug, x.origin) for x in parts]
    for stmt in (zero, *parts):
        block.remove(stmt)
    return True


def first_whole(
    s: Function, block: ir.Block, zero: ir.Let, region: frozenset[int], touching: set[Any]
) -> tuple[Any, list[ir.Store]]:
    """The first addition to all of new zeros, and the additions to parts of them that may as well follow it."""
    parts: list[ir.Store] = []
    memory: set[int] = set()  # that they read
    for stmt in block[block.index(zero) + 1 :]:
        if stmt not in touching:
            if memory and touches(s, stmt, memory, True):
                break
        elif isinstance(stmt, ir.Let) and stmt.in_place and is_sum_with(stmt.expr, zero.target):
            return (stmt if parts and is_last(s, block, stmt, zero.target, region) else None), parts
        elif not is_addition(s, stmt, region) or stmt.base != zero.target:
            break
        elif is_ellipsis(stmt.index):
            return stmt, parts
        elif any(is_pop_call(node) for e in ir.expressions(stmt) for node in ir.nodes_in(e)):
            break
        else:
            parts.append(stmt)
            memory |= {root for n in ir.reads(stmt) if n != stmt.base for root in reachable(s, s.facts[n])}
    return None, []


def is_last(s: Function, block: ir.Block, total: ir.Let, name: str, region: frozenset[int]) -> bool:
    """True if a sum is the last to read one of its sides, and the other has no memory of it."""
    others = [n for n in ir.names_in(total.expr.right) if ir.is_variable(n)]
    after = block[block.index(total) + 1 :]
    if name in others or any(reachable(s, s.facts[n]) & region for n in others):
        return False
    return not any(name in ir.reads_inside(stmt) for stmt in after)


def is_made_there(expr: Any) -> bool:
    """True if an expression makes an array that nothing else refers to."""
    return isinstance(expr, (gast.BinOp, gast.UnaryOp)) or is_call(expr, "sum") or is_call(expr, "einsum")


def begin_with_sum(s: Function, block: ir.Block, zero: ir.Let, region: frozenset[int], touching: set[Any]) -> None:
    """Let an addition go before the subtraction just before it, for what is assigned needs no sign then."""
    after = range(block.index(zero) + 1, len(block))
    first = next((k for k in after if block[k] in touching), len(block))
    pair = block[first : first + 2]
    if len(pair) == 2 and all(is_addition(s, stmt, region) and stmt.base == zero.target for stmt in pair):
        if pair[0].aug is gast.Sub and pair[1].aug is gast.Add:
            block[first : first + 2] = [pair[1], pair[0]]


def turn_sign(block: ir.Block, part: ir.Store, uses: dict[str, int]) -> None:
    """Give what is only subtracted from zeros its other sign where it is made, if that saves an operation."""
    name = getattr(part.value, "id", None)
    if part.aug is not gast.Sub or name is None or uses.get(name) != 1:
        return
    for stmt in block:
        if isinstance(stmt, ir.Let) and stmt.targets == (name,) and (positive := negated(stmt.expr)) is not None:
            if not isinstance(positive, gast.Name):
                stmt.expr, part.aug = positive, gast.Add


def without_zeros(s: Function, block: ir.Block, zero: ir.Let, filled: list[Any]) -> None:
    """Zero only what the first assignments leave out, where that is known."""
    if not all(is_basic(s, index) for index in filled):
        return
    rest: list[Any] | None = [] if cover(s, filled) else rest_of(filled[0]) if len(filled) == 1 else None
    if rest is None:
        return
    numpy = zero.expr.func.value
    place = block.index(zero)
    block[place] = ir.Let(zero.targets, ir.call(ir.attribute(numpy, "empty_like"), *zero.expr.args), None, zero.origin)
    block[place + 1 : place + 1] = [ir.Store(zero.target, index, ir.constant(0.0), None, zero.origin) for index in rest]


def assign_items(s: Function, program: ir.Block, back: ir.Block) -> None:
    """Assign the first contribution to an item of zeros.

    ::

        d_x = np.zeros_like(x)                  d_x = np.zeros_like(x)
        for i in range(n - 1, -1, -1):    ->    for i in range(n - 1, -1, -1):
            d_x[i] += d_t * t                       d_x[i] = d_t * t

    No line before it, and none in an earlier step of the loops around it, has written that item.

    Rewrite additions in the reverse sweep of a program, in place.
    """
    zeros = {stmt.target for stmt in back if is_new_zeros(s, stmt)}
    stores: dict[str, list[ir.Store]] = {}
    for stmt in ir.walk(program):
        if isinstance(stmt, ir.Store) and stmt.base in zeros:
            stores.setdefault(stmt.base, []).append(stmt)
    loops = [stmt for stmt in ir.walk(program) if isinstance(stmt, ir.Loop)] if stores else []
    looped = {stmt for loop in loops for stmt in ir.walk(loop.body)}
    stores = {base: found for base, found in stores.items() if any(is_increment(x) and x in looped for x in found)}
    if not stores:
        return
    places, hidden = Places(program), written_elsewhere(s, program, stores.keys())
    for base in stores.keys() - hidden:
        first = [store for store in stores[base] if is_increment(store) and is_first(places, store, stores[base])]
        for store in first:
            if store.aug is gast.Sub:
                positive = negated(store.value)
                store.value = signed(store.value) if positive is None else positive
            store.aug = None


def is_increment(store: ir.Store) -> bool:
    return store.aug in (gast.Add, gast.Sub)


def is_first(places: Places, store: ir.Store, stores: list[ir.Store]) -> bool:
    """True if no statement writes an item before another one adds to it."""
    return bool(places.around[store]) and all(
        places.is_apart(other, ir.subscript(ir.name(other.base), other.index), store) for other in stores
    )


def written_elsewhere(s: Function, program: ir.Block, names: Any) -> set[str]:
    """Those of some arrays that have other names, or that something else than an assignment may write."""
    met = {n for stmt in program for n in [*ir.reads_inside(stmt), *ir.defined([stmt])] if n in s.facts}
    found = {n for n in names for other in met - {n} if roots_of(s.facts[n]) & roots_of(s.facts[other])}
    for stmt in ir.walk(program):
        if isinstance(stmt, ir.Effect) or isinstance(stmt, ir.Let) and (stmt.effect or stmt.in_place):
            found |= set(ir.reads(stmt))
    return found
