"""Small rewritings of the reverse sweep, before temporaries are put back into expressions.

- ``d = zeros_like(a); d += e`` is ``d = e`` where ``e`` is new and of full shape (`begin_with`);
- a copy of a part of a shadow is not needed where all that uses it runs before the next write, and a zeroing may wait
  until then (`drop_copy`).

Full contributions first: one as large as its cotangent is its begin; items are added to that, not to zeros.

::

    d_z = np.zeros_like(z)
    d_z[label] += d_t              ->    d_z = scale * exp_z
    d_z += scale * exp_z                 d_z[label] += d_t

Additions may change places; neither reads what the other writes.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any

import gast

from .....runtime.broadcast import unbroadcast
from .... import ir
from ....analysis.alias import roots_of
from ....analysis.effects import touches
from ....analysis.liveness import count_uses, readers_of
from ....domain.facts import Num, is_same
from ....ir.function import Function
from ....ir.patterns import is_call, is_copy, is_ellipsis, is_list, is_zero, is_zeroing, leaving_of
from ....ir.traversal import followed, read_instead

VIEWS = ("transpose", "swapaxes", "moveaxis", "squeeze", "expand_dims", "atleast_1d", "atleast_2d", "einsum")


def elide_copies(s: Function, block: ir.Block, leaving: frozenset[str] = frozenset()) -> None:
    """Rewrite a block and the blocks inside it, in place; `leaving` are the variables that are read after it."""
    for stmt in block:
        for inner in ir.adjoint_bodies(stmt):
            elide_copies(s, inner, leaving_of(stmt, block) | leaving)
    zeros = [stmt for stmt in block if is_zero(s, stmt)]
    copies = [stmt for stmt in block if is_copy(stmt)]
    if zeros or copies:
        places = Places(block, leaving)
        for zero in zeros:
            begin_with(s, places, zero)
        for copy in copies:
            drop_copy(s, places, copy)
        block[:] = places.block()


class Places:
    """A block that is being rewritten: where its statements are, and which of them read a variable."""

    def __init__(self, block: ir.Block, leaving: frozenset[str]) -> None:
        self.leaving = leaving
        self.slots: list[ir.Block] = [[] for _ in block]  # what stands now where a statement stood
        self.of: dict[Any, tuple[int, int]] = {}
        self.makers: dict[str, ir.Let] = {}
        self.readers: dict[str, dict[Any, None]] = defaultdict(dict)
        for slot, stmt in enumerate(block):
            self.put(stmt, slot)

    def put(self, stmt: Any, slot: int, position: int = 0) -> None:
        """Put a statement into a slot."""
        self.slots[slot].insert(position, stmt)
        self.number(slot)
        for name in ir.reads_inside(stmt):
            self.readers[name][stmt] = None
        if isinstance(stmt, ir.Let):
            self.makers |= dict.fromkeys(stmt.targets, stmt)

    def drop(self, stmt: Any) -> None:
        slot, _ = self.of.pop(stmt)
        self.slots[slot].remove(stmt)
        self.number(slot)
        for name in ir.reads_inside(stmt):
            self.readers[name].pop(stmt, None)

    def number(self, slot: int) -> None:
        for position, stmt in enumerate(self.slots[slot]):
            self.of[stmt] = (slot, position)

    def between(self, first: Any, last: Any) -> ir.Block:
        """The statements after one up to and with another."""
        start, end = self.of[first], self.of[last]
        return [stmt for slot in self.slots[start[0] : end[0] + 1] for stmt in slot if start < self.of[stmt] <= end]

    def block(self) -> ir.Block:
        return [stmt for slot in self.slots for stmt in slot]


def propagate_copies(s: Function, block: ir.Block) -> None:
    """Call a temporary that is another variable, or what is handed on as it is, by that variable's name."""
    while mapping := synonyms(s, block):
        names = followed(mapping)
        for name, other in names.items():
            if s.hints[other] == "t":
                s.call(other, s.hints[name], s.roles.get(name))
            have, more = s.facts[other], roots_of(s.facts[name])
            if isinstance(have, Num) and not more <= have.roots:  # of these, there may be views
                s.facts[other] = replace(have, roots=have.roots | more)
        remove_synonyms(s, block)
        for stmt in ir.walk(block):
            read_instead(stmt, names)


def synonyms(s: Function, block: ir.Block) -> dict[str, str]:
    """The variables that are others; those of loops and branches are taken out of them."""
    mapping = {stmt.target: stmt.expr.id for stmt in ir.walk(block) if is_synonym(s, stmt)}
    for stmt in ir.adjoint_walk(block):
        if isinstance(stmt, ir.Loop) and stmt.rerun is None:
            same = [c for c in stmt.carries if c.next == c.phi and c.init is not None]
            mapping |= {name: str(c.init) for c in same for name in (c.phi, c.out)}
            stmt.carries = [c for c in stmt.carries if c not in same]
        elif isinstance(stmt, ir.If) and (stmt.then or stmt.orelse):
            alike = [m for m in stmt.merges if m.then == m.orelse and m.then is not None]
            mapping |= {m.target: str(m.then) for m in alike}
            stmt.merges = [m for m in stmt.merges if m not in alike]
    return mapping


def remove_synonyms(s: Function, block: ir.Block) -> None:
    block[:] = [stmt for stmt in block if not is_synonym(s, stmt)]
    for stmt in block:
        for inner in ir.bodies(stmt):
            remove_synonyms(s, inner)


def is_synonym(s: Function, stmt: Any) -> bool:
    if type(stmt) is not ir.Let or type(stmt.expr) is not gast.Name or not ir.is_variable(stmt.expr.id):
        return False
    return len(stmt.targets) == 1 and stmt.target not in s.named


# -- first contributions


def begin_with(s: Function, places: Places, zero: ir.Let) -> None:
    """Turn the first addition to a zero shadow into its definition."""
    name = zero.target
    first, views = first_use(s, places, name)
    if is_uniform_addition(s, first, name):
        value = ir.call(ir.attribute(zero.expr.func.value, "full_like"), zero.expr.args[0], first.value)
    elif is_full_addition(s, first, name, places, places.of[zero]):
        value = first.value
        s.facts[value.id] = s.facts[name]  # its memory is the shadow's, of which there are views
    else:
        return
    slot = places.of[first][0]
    for stmt in (zero, first, *views):
        places.drop(stmt)
    for position, stmt in enumerate((ir.Let((name,), value, None, first.origin), *views)):
        places.put(stmt, slot, position)


def first_use(s: Function, places: Places, name: str) -> tuple[Any, list[ir.Let]]:
    """The first statement that does something with a shadow or a view of it, and the views made before."""
    views: list[ir.Let] = []
    readers = set(places.readers[name])
    while readers:
        stmt = min(readers, key=places.of.__getitem__)
        if not is_view_of(s, stmt, name):
            return stmt, views
        views.append(stmt)
        readers |= places.readers[stmt.target].keys()
        readers.remove(stmt)
    return None, views


def is_view_of(s: Function, stmt: Any, name: str) -> bool:
    """True if a statement makes a view of a shadow, which is the same before and after an addition."""
    if not isinstance(stmt, ir.Let) or not (isinstance(stmt.expr, (gast.Subscript, gast.Attribute)) or views(stmt)):
        return False
    if len(stmt.targets) != 1 or not isinstance(s.facts[stmt.target], Num):
        return False
    return bool(roots_of(s.facts[stmt.target]) & roots_of(s.facts[name]))


def views(stmt: ir.Let) -> bool:
    """True if a statement calls a function of NumPy's that makes a view of its argument."""
    func = stmt.expr.func if isinstance(stmt.expr, gast.Call) and not stmt.effect else None
    return isinstance(func, gast.Attribute) and func.attr in VIEWS


def is_uniform_addition(s: Function, stmt: Any, name: str) -> bool:
    """True if one number is added to all of a shadow."""
    if not isinstance(stmt, ir.Store) or stmt.base != name or stmt.aug is not gast.Add or not is_ellipsis(stmt.index):
        return False
    have = s.facts.get(stmt.value.id) if isinstance(stmt.value, gast.Name) else None
    return isinstance(have, Num) and have.dims == () and have.kind != "array" and (have.python or is_real(have))


def is_real(facts: Num) -> bool:
    return facts.dtype is not None and facts.dtype.kind == "f"


def is_full_addition(s: Function, stmt: Any, name: str, places: Places, start: tuple[int, int]) -> bool:
    if not isinstance(stmt, ir.Store) or stmt.base != name or stmt.aug is not gast.Add or not is_ellipsis(stmt.index):
        return False
    if not isinstance(stmt.value, gast.Name) or name in ir.names_in(stmt.index):
        return False
    have, want = s.facts.get(stmt.value.id), s.facts[name]
    if (
        not isinstance(have, Num)
        or not isinstance(want, Num)
        or have.kind != "array"
        or not is_same(have.dtype, want.dtype)
    ):
        return False
    if not s.same_lengths(have.dims, want.dims, s.where_made(stmt.value.id, name)):
        return False
    maker = places.makers.get(stmt.value.id)
    if maker is None or not start < places.of[maker] or not isinstance(maker.expr, (gast.BinOp, gast.UnaryOp)):
        return False
    # Whoever else reads the value would see what is written into the shadow later.
    return list(places.readers[stmt.value.id]) == [stmt] and stmt.value.id not in places.leaving


# -- copies


def drop_copy(s: Function, places: Places, copy: ir.Let) -> None:
    """Use a part of a shadow directly where nothing writes to it in between."""
    source = [n for n in ir.names_in(copy.expr.func.value) if ir.is_variable(n)]
    users, fitted = users_of(s, places, copy.target)
    if not source or not users:
        return
    region = roots_of(s.facts[copy.target]) | {root for n in source for root in roots_of(s.facts[n])}
    last = max(users, key=places.of.__getitem__)
    writes = [stmt for stmt in places.between(copy, last) if touches(s, stmt, region, True)]
    if len(writes) > (not fitted) or writes and not may_wait(s, places, writes[0], last, region, copy):
        return
    if writes:
        places.drop(writes[0])
        slot, position = places.of[last]
        places.put(writes[0], slot, position + 1)
    copy.expr, copy.op = copy.expr.func.value, None
    for name in (copy.target, *fitted):
        facts = s.facts[name]
        if isinstance(facts, Num):  # it shares the memory now
            s.facts[name] = replace(facts, roots=region | roots_of(facts))


def users_of(s: Function, places: Places, name: str) -> tuple[list[Any], list[str]]:
    """The statements that make something new of a value, or of what is fitted to a shape; none if there are others."""
    users, fitted = list(places.readers[name]), list[str]()
    for user in users:
        if name in places.leaving or not (consumes(s, user, name) or is_fitting(s, user, name)):
            return [], []
        if is_fitting(s, user, name):
            more, others = users_of(s, places, user.target)
            if not more:
                return [], []
            users, fitted = [*users, *more], [*fitted, user.target, *others]
    return users, fitted


def is_fitting(s: Function, stmt: Any, name: str) -> bool:
    """True if a statement fits a value to the shape of another, which may leave it as it is."""
    if (
        not isinstance(stmt, ir.Let)
        or not isinstance(stmt.expr, gast.Call)
        or not isinstance(s.facts[stmt.target], Num)
    ):
        return False
    called = s.globals.get(getattr(stmt.expr.func, "id", ""))
    first = [getattr(arg, "id", "") == name for arg in stmt.expr.args] == [True, False]
    return called is unbroadcast and first and isinstance(s.facts[stmt.target], Num)


def may_wait(s: Function, places: Places, write: Any, last: Any, region: frozenset[int], copy: ir.Let) -> bool:
    """True if a write is a zeroing that nobody needs before: what comes next reads the copy, or neither."""
    users, original = places.readers[copy.target], region - roots_of(s.facts[copy.target])
    after = places.between(write, last)
    return is_zeroing(write) and not any(
        touches(s, stmt, original if stmt in users else region, False) for stmt in after if stmt is not write
    )


def consumes(s: Function, stmt: Any, name: str) -> bool:
    """True if a statement makes something new of a value, and keeps no reference to it."""
    if isinstance(stmt, ir.Store):
        return name in ir.names_in(stmt.value) and not is_list(s, stmt.base)
    if not isinstance(stmt, ir.Let):
        return False
    if isinstance(stmt.expr, (gast.BinOp, gast.UnaryOp)):
        # A sum that is printed as ``d += e`` changes the memory of its left side.
        return not stmt.in_place or getattr(stmt.expr.left, "id", None) != name
    return is_call(stmt.expr, "sum") or (is_call(stmt.expr, "einsum") and len(stmt.expr.args) == 3)


NEW = (gast.BinOp, gast.UnaryOp)


def order_full_first(s: Function, block: ir.Block) -> None:
    """Rewrite a block of the reverse sweep and the blocks inside it, in place."""
    if any(is_zeros(stmt) for stmt in ir.adjoint_walk(block)):
        rewrite(s, block, count_uses(block))


def is_zeros(stmt: Any) -> bool:
    return isinstance(stmt, ir.Let) and is_call(stmt.expr, "zeros_like")


def rewrite(s: Function, block: ir.Block, uses: dict[str, int]) -> None:
    for stmt in block:
        for inner in ir.adjoint_bodies(stmt):
            rewrite(s, inner, uses)
    zeros = [stmt for stmt in block if is_zeros(stmt)]
    readers = readers_of(block) if zeros else {}
    for zero in zeros:
        *items, total = readers.get(zero.target) or [None]
        whole = items and is_sum_of(total, zero.target) and maker_of(block, total.expr.right.id)
        if not whole or readers[whole.target] != [total]:
            continue
        if uses.get(zero.target) == len(items) + 1 and uses.get(whole.target) == 1:
            if begin(s, block, zero, items, whole, total):
                readers = readers_of(block)


def begin(s: Function, block: ir.Block, zero: ir.Let, items: list[Any], whole: ir.Let, total: Any) -> bool:
    """Begin with what is added last, if that is full and all before it only adds."""
    if not isinstance(whole.expr, NEW) or whole.in_place:
        return False
    if not are_alike(s, zero.target, whole.target) or not all(adds_to(x, zero.target) for x in items):
        return False
    start, end = min(block.index(items[0]), block.index(whole)), block.index(total)
    read = {n for x in [*items, whole] for n in ir.reads(x) if n != zero.target}
    memory = frozenset(root for n in read for root in roots_of(s.facts[n]))
    if any(touches(s, x, memory, True) or changes(x, read) for x in block[start:end] if x not in items):
        return False
    for stmt in (zero, whole, *items):
        block.remove(stmt)
    place = block.index(total)
    block[place] = ir.Let(total.targets, whole.expr, None, total.origin)
    for k, stmt in enumerate(items):
        stmt.base = total.target
        block.insert(place + 1 + k, stmt)
    return True


def is_sum_of(stmt: Any, name: str) -> bool:
    """True if a statement adds another variable to a variable, in place."""
    if not isinstance(stmt, ir.Let) or not stmt.in_place or not isinstance(stmt.expr.op, gast.Add):
        return False
    return getattr(stmt.expr.left, "id", "") == name and getattr(stmt.expr.right, "id", name) != name


def maker_of(block: ir.Block, name: str) -> ir.Let | None:
    return next((x for x in block if isinstance(x, ir.Let) and x.targets == (name,) and not x.effect), None)


def are_alike(s: Function, a: str, b: str) -> bool:
    """True if two arrays have one shape and one dtype."""
    one, other = s.facts[a], s.facts[b]
    if not isinstance(one, Num) or not isinstance(other, Num) or one.kind != "array" or other.kind != "array":
        return False
    return (
        one.dtype is not None
        and is_same(one.dtype, other.dtype)
        and s.same_lengths(one.dims, other.dims, s.where_made(a, b))
    )


def adds_to(stmt: Any, name: str) -> bool:
    """True if a statement only adds to a part of an array, and something else than the array."""
    if not isinstance(stmt, ir.Store) or stmt.base != name or stmt.aug not in (gast.Add, gast.Sub):
        return False
    return name not in [*ir.names_in(stmt.index), *ir.names_in(stmt.value)]


def changes(stmt: Any, names: set[str]) -> bool:
    """True if a statement changes one of some variables where it is."""
    return any(
        isinstance(x, ir.Let) and x.in_place and getattr(x.expr.left, "id", "") in names for x in ir.inside(stmt)
    )
