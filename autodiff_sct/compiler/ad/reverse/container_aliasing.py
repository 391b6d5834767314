"""Aliases in the reverse sweep: of items of containers, and of variables that may stand for one piece of memory.

Memory inside lists and dicts: when the shadow of an item may be taken from the shadow of its container.

What is put into a list or a dict is, for the reverse sweep, a value: its cotangent is taken out of the container's
shadow again.  That is right as long as the container is the only way to it, or nobody writes it afterwards; anything
else is refused here.  An item that is read out of a container has a place in the container's shadow, which is looked up
where the reverse sweep first meets the item: the container must be the same there as where the item was read.

Variables that may stand for one piece of memory.

u, w = x.copy(), np.zeros_like(x)     two arrays; so they are after ``u, w = w, u``, in each step of a loop
u, w = a, a[1:]                       one, under two names
u, w = rows[0], rows[1]               perhaps one

Indices that name no position twice: stores and additions there need no care for repetitions.

::

    order = np.argsort(x)          np.add.at(d_x, order, d_y)          ->      d_x[order] += d_y
    y[rows] *= 3                   stored(d_y, rows) * 3               ->      d_y[rows] * 3

An index is known to be distinct by what made it: places that are counted, sorted, found or drawn without replacement,
and literal lists.  All count from the front, or, in a literal, all from the end, so that no two numbers are one place.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import ir
from ...analysis.alias import reachable, roots_of, written_by
from ...domain.facts import Listed, Mapped, Num, Pair, several
from ...domain.values import Const, Leaf, ListV, TupleV, Value
from ...interp.arrays import indexing
from ...interp.arrays.emit_op import Unbound
from ...interp.numpy.methods import is_random, opaque_method

if TYPE_CHECKING:
    from .transform import Reverse


def is_item_read(r: Reverse, stmt: ir.Let) -> bool:
    """True if a statement reads memory out of a list or a dict."""
    op = stmt.op
    if op is None or op.fn is not operator.getitem or len(stmt.targets) != 1:
        return False
    base = op.arguments.get("x")
    return isinstance(base, Leaf) and isinstance(r.s.facts[base.name], (Listed, Mapped))


def end_of(r: Reverse, stmt: Any) -> int:
    """The place of the last statement inside `stmt`."""
    return max(r.order[inner] for inner in ir.inside(stmt))


def writes(r: Reverse, region: int) -> list[int]:
    """The places where memory of a region is written."""
    found = ((place, written_by(stmt)) for stmt, place in r.order.items())
    return [place for place, base in found if base is not None and r.regions.of(base) == region]


def refuse_changed(r: Reverse, stmt: ir.Let, base: Leaf, end: int) -> None:
    """The container must not change between the reading of an item and its last use."""
    region = r.regions.of(base.name)
    if region is not None and any(r.order[stmt] < place <= end for place in writes(r, region)):
        raise r.shadows.lost(
            base.name,
            f"a list or dict changes while an item of {r.s.in_words(base.name)} is in use that is written",
            "read the item again after the change, or copy it",
            stmt.origin,
        )


def loops_around(r: Reverse, stmt: Any) -> list[ir.Loop]:
    place = r.order[stmt]
    return [loop for loop, start in r.order.items() if isinstance(loop, ir.Loop) and start < place <= end_of(r, loop)]


def written_later(r: Reverse, stmt: Any, region: int, loops: list[ir.Loop]) -> bool:
    start = min([r.order[stmt], *(r.order[loop] for loop in loops)])
    return any(place > start for place in writes(r, region) if place != r.order[stmt])


def check_put(r: Reverse, stmt: Any, value: Value, container: str) -> None:
    """Refuse to put memory into a container that is written later and is reached in another way, too."""
    for name in r.s.leaves(value):
        for region in written_regions(r, name) if r.activity.active(name) else ():
            loops = loops_around(r, stmt)
            twice = [n for v in container_items(stmt) for n in r.s.leaves(v)].count(name) > 1
            if (twice or is_shared(r, stmt, name, region, container, loops)) and written_later(r, stmt, region, loops):
                raise r.shadows.lost(
                    name,
                    f"{r.s.in_words(name)} is in a list or dict, is reached in another way, too, and is written",
                    "copy it into the list",
                    stmt.origin,
                )


def written_regions(r: Reverse, name: str) -> list[int]:
    """The written regions of a variable and of what a container holds."""
    own = r.regions.of(name)
    return sorted((regions_held(r, name) | (set() if own is None else {own})) & r.regions.written)


def container_items(stmt: Any) -> tuple[Value, ...]:
    """The operands that a list display puts into its list."""
    items = stmt.op.arguments.get("items") if isinstance(stmt, ir.Let) and stmt.op is not None else None
    return items.items if isinstance(items, ListV) else ()


def is_shared(r: Reverse, stmt: Any, name: str, region: int, container: str, loops: list[ir.Loop]) -> bool:
    place, shown = r.order[stmt], set(bases(r, name))
    if any(r.first.get(base, -1) < r.order[loop] for loop in loops for base in shown):
        return True
    if any(r.regions.of(n) == region for loop in loops for c in loop.carries for n in (c.phi, c.next) if n is not None):
        return True
    if any(isinstance(maker := r.makers.get(base), ir.Let) and is_item_read(r, maker) for base in shown):
        return True
    deep = r.regions.of(name) != region  # memory in a container that is put into another
    return any(
        n != container
        and r.first.get(n, -1) < place < last
        and (r.regions.of(n) == region or deep and region in regions_held(r, n))
        for n, last in r.last.items()
    )


def bases(r: Reverse, name: str) -> list[str]:
    """A variable, what it is a view of, and so on."""
    found = [name]
    for each in found:
        maker = r.makers.get(each)
        found += maker.op.shares if isinstance(maker, ir.Let) and maker.op is not None else ()
    return found


def check_copied(r: Reverse, stmt: ir.Let) -> None:
    """A copy of a list holds the same items; they must not be written after it."""
    facts = r.s.facts[stmt.target]
    element = r.s.elements_of(facts) if isinstance(facts, (Listed, Mapped)) else None
    loops = loops_around(r, stmt)
    for region in {r.regions.find(root) for root in reachable(r.s, element)} & r.regions.written:
        if written_later(r, stmt, region, loops):
            raise r.shadows.lost(
                stmt.target,
                "a copy of a list shares its items with the list, and they are written",
                "copy the items, too",
                stmt.origin,
            )


def regions_in(r: Reverse, facts: Any) -> list[int]:
    if isinstance(facts, Pair):
        return [region for item in facts.items for region in regions_in(r, item)]
    roots: frozenset[int] = getattr(facts, "roots", frozenset())
    return [r.regions.find(min(roots))] if roots else []


def regions_held(r: Reverse, name: str) -> set[int]:
    """The regions of the memory that a list, a dict or a tuple leads to."""
    facts = r.s.facts[name]
    held = r.s.elements_of(facts) if isinstance(facts, (Listed, Mapped)) else facts
    return set() if isinstance(facts, Num) else {r.regions.find(root) for root in reachable(r.s, held)}


def holds_memory(r: Reverse, facts: Any) -> bool:
    """True if the elements of a list have cotangents that are changed in place."""
    if isinstance(facts, Num):
        return any(region in r.regions.written for region in regions_in(r, facts))
    return isinstance(facts, (Listed, Mapped, Pair))


ONE_ARRAY = "two names carried around a loop are one array that is written"


def refuse_one_memory(r: Reverse, stmt: ir.Loop, carries: list[ir.Carry]) -> None:
    """Two names that are carried around a loop must not be one array: each has a shadow of its own."""
    for names in ([c.init for c in carries], [c.next for c in carries]):
        written = [n for n in names if n is not None and r.has_shadow(n)]
        for a, b in combinations(written, 2):
            if may_be_one(r, a, b):
                raise r.shadows.lost(a, ONE_ARRAY, "copy it", stmt.origin)


def may_be_one(r: Reverse, a: str, b: str) -> bool:
    """True if two variables may share memory."""
    return any(meet(r, p, q) for p in sources(r, a) for q in sources(r, b))


def sources(r: Reverse, name: str) -> set[str]:
    """The variables whose memory a variable is, or is a part of."""
    stmt = r.makers.get(name)
    if isinstance(stmt, ir.Let) and stmt.op is not None and stmt.op.shares:
        return {n for base in stmt.op.shares for n in sources(r, base)}
    if isinstance(stmt, ir.If):
        sides = [n for m in stmt.merges if m.target == name for n in (m.then, m.orelse) if n]
        return {n for side in sides for n in sources(r, side)}
    return {name}


def meet(r: Reverse, p: str, q: str) -> bool:
    """True if two sources may be one array."""
    if p == q:
        return True
    if not roots_of(r.s.facts[p]) & roots_of(r.s.facts[q]):
        return False
    loop = r.makers.get(p)
    if loop is r.makers.get(q) and isinstance(loop, ir.Loop):
        names = {c.phi for c in loop.carries}, {c.out for c in loop.carries}
        return not any(p in side and q in side for side in names)  # they have begun as two
    later, earlier = (p, q) if r.first.get(p, -1) > r.first.get(q, -1) else (q, p)
    return not is_made(r, later) or r.first.get(later) == r.first.get(earlier)


def is_made(r: Reverse, name: str) -> bool:
    """True if the memory of a variable is made where the variable is."""
    stmt = r.makers.get(name)
    if not isinstance(stmt, ir.Let) or stmt.op is None or stmt.op.shares:
        return False
    return all(isinstance(r.s.facts[n], Num) for n in ir.reads(stmt))


# Functions whose results, used together as one index, name every position at most once, as those of `nonzero` do.
PLACES: tuple[Callable[..., Any], ...] = (
    np.triu_indices,
    np.tril_indices,
    np.triu_indices_from,
    np.tril_indices_from,
    np.diag_indices,
    np.diag_indices_from,
)
ORDERS: tuple[Callable[..., Any], ...] = (np.argsort, np.argpartition)


def may_repeat(r: Reverse, index: Value) -> bool:
    """True if an index may name a position twice."""
    single = all(indexing.is_basic(r.s, p) or r.is_mask(p) for p in indexing.parts_of(index))
    return not single and not is_distinct(r, index)


def is_distinct(r: Reverse, index: Value) -> bool:
    """True if an index of integers names no position twice, since its parts, or one of them, do not."""
    parts = [p for p in indexing.parts_of(index) if not indexing.is_basic(r.s, p)]
    if all_places(r, parts):
        return True
    rows = all(is_vector(r, p) for p in parts)
    return rows and any(is_distinct_vector(r, p) and (len(parts) == 1 or is_long(r.s.num(p))) for p in parts)


def is_vector(r: Reverse, part: Value) -> bool:
    """True if a part of an index is integers along at most one axis."""
    if isinstance(part, (ListV, TupleV)):
        return integers(part) is not None
    facts = r.s.num(part)
    return facts is not None and facts.ndim in (0, 1) and facts.dtype is not None and facts.dtype.kind in "iu"


def is_long(facts: Num | None) -> bool:
    """True if an array surely has not one item, which would be broadcast against those of others."""
    return facts is not None and facts.dims is not None and all(map(several, facts.dims))


def is_distinct_vector(r: Reverse, part: Value) -> bool:
    """True if one array or list of integers holds no place twice."""
    if isinstance(part, (ListV, TupleV)):
        return are_apart(integers(part))
    maker = maker_of(r, part)
    if maker is None or len(maker.targets) != 1 or maker.op is None:
        return False
    fn, arguments = function_of(maker), maker.op.arguments
    if fn is operator.getitem:
        cut = all(indexing.is_cut(r.s, p) for p in indexing.parts_of(arguments["index"]))
        return cut and is_distinct_vector(r, arguments["x"])
    if fn is np.arange:
        return len(arguments) == 1
    if fn is np.array:
        return are_apart(integers(next(iter(arguments.values()))))
    if fn in ORDERS:
        return ndim_of(r, maker) == 1
    return fn is np.flatnonzero or fn is opaque_method and is_drawn_once(r, maker)


def is_drawn_once(r: Reverse, maker: ir.Let) -> bool:
    """True if a method of a generator of random numbers draws numbers below another, none of them twice."""
    assert maker.op is not None
    generator, *given = maker.op.arguments.values()
    below = r.s.num(given[0]) if given else None
    if not is_random(r.s.facts_of(generator)) or below is None or below.dims != ():
        return False
    name = maker.expr.func.attr
    if name == "choice":
        return any(k.arg == "replace" and getattr(k.value, "value", None) is False for k in maker.expr.keywords)
    return bool(name == "permutation")


def all_places(r: Reverse, parts: list[Value]) -> bool:
    """True if the parts of an index are all that a function found, one array for every axis, in any order."""
    makers = [maker_of(r, p) for p in parts]
    maker = makers[0] if makers else None
    if maker is None or any(m is not maker for m in makers) or maker.op is None:
        return False
    fn = function_of(maker)
    if fn is np.nonzero or fn is np.where and len(maker.op.arguments) == 1:
        if len(parts) != ndim_of(r, maker):
            return False
    elif fn not in PLACES:
        return False
    return sorted(p.name for p in parts if isinstance(p, Leaf)) == sorted(maker.targets)


def maker_of(r: Reverse, part: Value) -> ir.Let | None:
    """The statement that computes an array to which nobody writes."""
    maker = r.makers.get(part.name) if isinstance(part, Leaf) else None
    return maker if isinstance(maker, ir.Let) and not r.regions.is_written(part.name) else None


def ndim_of(r: Reverse, maker: ir.Let) -> int | None:
    """The number of axes of a call's first argument."""
    assert maker.op is not None
    facts = r.s.num(next(iter(maker.op.arguments.values())))
    return facts.ndim if facts is not None else None


def function_of(maker: ir.Let) -> Any:
    fn = maker.op.fn if maker.op is not None else None
    return fn.fn if isinstance(fn, Unbound) else fn


def integers(value: Value) -> list[int] | None:
    """The numbers of a literal list or tuple of integers."""
    if not isinstance(value, (ListV, TupleV)):
        return None
    items = [v.value for v in value.items if isinstance(v, Const)]
    return items if len(items) == len(value.items) and all(type(v) is int for v in items) else None


def are_apart(places: list[int] | None) -> bool:
    """True if numbers name different places, whatever the length of the axis."""
    if places is None or len(set(places)) < len(places):
        return False
    return all(k >= 0 for k in places) or all(k < 0 for k in places)
