"""Sources of loops: known items, a count, a range, step by step, and iterators whose sources change.

Lazy iterators, read at once where Python reads them step by step: their sources must stay until they end.

::

    large = filter(lambda v: v > low, items)       `items` and `low` are read here,
    for v in large: ...                            and here in Python

Lists and dicts that change their length while a loop goes over them: noticed, refused where need be.

::

    for v in items:                 for key in table:
        items.append(v)                 del table[key]

A loop goes over as many items as there are when it begins; Python sees those that come later, and raises where a dict
has got or lost a key.  A `for` over a list is specialised again then, as one that asks before each step whether there
is another item (`growing`); the others are refused.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import gast

from ... import ir
from ...analysis.alias import reachable, roots_of, written_by
from ...domain.facts import INT, Facts, Listed, Mapped, Num, Opaque
from ...domain.values import Closure, Const, Frame, Later, Leaf, ListV, Obj, Value
from ..kernel.escape import holds_reference, parts_of, roots_held
from ..kernel.operations import call_value, operate, over, own_value
from ..kernel.program_values import Restart
from ..kernel.specialiser import Specialiser, storable
from ..kernel.user_errors import raise_if
from ..world.normalized_bodies import free_names

CHANGED = "what an iterator reads is changed before it is at its end"


@dataclass(frozen=True, eq=False)
class Ahead:
    """An iterator that is read all at once where Python reads it step by step: its source must stay as it was."""

    roots: frozenset[int]  # of lists and arrays
    variables: dict[Any, Any]  # what functions given to it read
    happened: bool = False  # whether these functions have done anything else than to return a value
    handed_on: bool = False  # whether another iterator, with functions of its own, takes the items

    def check(self, s: Specialiser, block: ir.Block, collected: bool = False) -> None:
        """Refuse a block that has changed something; nothing of the program's runs where items are only collected."""
        written = {root for x in ir.walk(block) if (n := written_by(x)) for root in roots_of(s.facts[n])}
        same = all(
            s.env.get(key) is v or isinstance(v, Leaf) and s.env.get(key) == v for key, v in self.variables.items()
        )
        meanwhile = self.happened and (self.handed_on or not collected)
        if written & self.roots or not same or meanwhile:
            raise s.refuse("changed-while-iterated", CHANGED)


@contextmanager
def unchanged(s: Specialiser, aheads: Iterable[Ahead], collected: bool = False) -> Iterator[None]:
    """Write what is done with the items of an iterator, which changes nothing of what was read ahead."""
    mark = len(s.block)
    yield
    for ahead in aheads:
        ahead.check(s, s.block[mark:], collected)


ENDLESS = sys.maxsize


@dataclass(eq=False)
class Source:
    """The source of a loop: `items` known one by one, or `bounds` of a range whose index gives the item.

    Or `advance` makes the next item as long as `goes_on`.  With none of these, the loop goes over an iterable of which
    nothing is known.
    `hint` names the counter where it is not the user's own variable.
    """

    said = "an iterator or a range"  # by a message

    items: list[Value] | None = None
    bounds: tuple[Value, ...] | None = None
    item: Callable[[Any], Value] = lambda index: index
    hint: str | None = None
    facts: Facts = Opaque()
    length: Callable[[], Value] | None = None
    endless: bool = False
    advance: Callable[[], Value] | None = None
    goes_on: Callable[[], Value] | None = None
    once: Any = None  # the place where it was made, of an iterator: under a name it is gone through once
    given: tuple[Value, ...] = ()  # to the function that made it
    whole: Value | None = None  # the list that it goes over, made for it
    cursor: Obj | None = None  # the iterator whose items these are
    moved: frozenset[Any] = frozenset()  # the iterators that move where this one does
    lists: frozenset[int] = frozenset()  # roots of the lists that are gone over
    ahead: tuple[Ahead, ...] = ()  # what was read of it before its time
    roots: list[frozenset[int]] = field(default_factory=list)  # of the memory of the items
    fields: tuple[tuple[list[Any], list[Value]], ...] = ()  # where its items were read one by one, and what was there

    def read(self, s: Specialiser, pair: tuple[int, Value]) -> Value:
        """An item, known with its number, when a loop comes to it."""
        number, item = pair
        if any(
            number < len(places) and s.env.get(places[number]) is not found[number] for places, found in self.fields
        ):
            raise s.refuse("changed-while-iterated", CHANGED)
        return item.compute() if isinstance(item, Later) else item

    @contextmanager
    def reached(self, s: Specialiser, number: int) -> Iterator[Value]:
        """An item, known with its number, for what is done with it: whoever comes to those behind it sees them then."""
        assert self.items is not None
        if len(self.roots) != len(self.items):
            self.roots = [roots_held(s, [item]) for item in self.items]
        with s.written_out(number), s.holding(frozenset().union(*self.roots[number + 1 :])):
            yield self.read(s, (number, self.items[number]))

    def all_items(self, s: Specialiser, count: int | None = None) -> list[Value]:
        """The items, for what goes through all of them at once: of those that are counted there are `count`."""

        found: list[Value] = []
        with unchanged(s, self.ahead, collected=True):
            for number in range(len(self.items or ())):
                with self.reached(s, number) as item:
                    found.append(item)
        self.check_length(s)
        if self.items is not None:
            return found
        if count is None:
            raise s.refuse(
                "unknown-length",
                "something whose number of items is known only at run time is unpacked",
                "index it, or unpack a tuple",
            )
        if self.length is not None:
            check_length(s, s.expr(self.length()), count)
        for number in range(count):
            with s.written_out(number):
                found.append(self.item(Const(number)))
        return found

    def check_length(self, s: Specialiser) -> None:
        """Specialise again where there are more items now than were read one by one."""
        for places, _ in self.fields:
            if places and len(places) < sum(isinstance(key, tuple) and key[0] == places[0][0] for key in s.env):
                raise Restart(places[0][0])  # it is no list of known items

    again: Callable[[], Source] | None = None  # the same, counted, where its items are computed when they are reached
    counted: tuple[Value, Value] | None = None  # the list of which `enumerate` gives the items, and the first number
    every: Value | None = None  # the steps of one segment, where the loop keeps its state at the start of each only
    folder: Value | None = None  # where it keeps these states, if not in memory


def is_range(value: Value) -> bool:
    """True if a value is a range with bounds that only the run knows."""
    return isinstance(value, Source) and value.item is Source.item and value.length is not None


def over_range(s: Specialiser, args: list[Value]) -> Source:
    bounds = tuple(args)
    if len(bounds) == 3 and bounds[2] == Const(1):
        bounds = bounds[:2]
    if len(bounds) == 2 and bounds[0] == Const(0):
        bounds = bounds[1:]

    def length() -> Value:
        if len(bounds) == 1:
            return bounds[0]
        if len(bounds) == 2:
            return operate(s, gast.Sub, bounds[1], bounds[0])
        expr = ir.call(
            gast.Name("len", gast.Load(), None, None),
            ir.call(gast.Name("range", gast.Load(), None, None), *(s.expr(b) for b in bounds)),
        )
        return s.let(expr, INT, hint="n")

    return Source(bounds=bounds, length=length)


def count_of(s: Specialiser, source: Source) -> Value:
    """The number of items: none where a range ends before it begins, for which `length` may be negative."""
    assert source.length is not None
    length: Value = source.length()
    if isinstance(length, Const):
        return Const(max(length.value, 0))
    if counts(s, s.expr(length)):
        return length
    return call_value(s, Const(max, gast.Name("max", gast.Load(), None, None)), [length, Const(0)], {})


def counts(s: Specialiser, expr: Any) -> bool:
    """True if a whole number is surely not negative: a length, or the least of several."""
    if isinstance(expr, gast.Constant):
        return bool(expr.value >= 0)
    if isinstance(expr, gast.Name):
        facts = s.facts.get(expr.id)
        size = facts.size if isinstance(facts, Num) else None
        if size is not None and (isinstance(size, int) or size.offset >= 0):
            return True
        return expr.id in s.definitions and counts(s, s.definitions[expr.id])
    if isinstance(expr, gast.Call) and isinstance(expr.func, gast.Name):
        return expr.func.id == "len" or expr.func.id == "min" and all(counts(s, arg) for arg in expr.args)
    return False


def nth(s: Specialiser, source: Source, k: Value) -> Value:
    """The item number `k`, counted from 0."""
    if source.bounds is None:
        raise s.refuse("unknown-length", "an iterable of unknown length is combined with another")
    if len(source.bounds) == 1:
        return source.item(k)
    start = source.bounds[0]
    if len(source.bounds) == 3:
        k = operate(s, gast.Mult, k, source.bounds[2])
    return source.item(operate(s, gast.Add, start, k))


def check_length(s: Specialiser, length: Any, count: int) -> None:
    test = gast.Compare(length, [gast.NotEq()], [ir.constant(count)])
    raise_if(s, test, ValueError, f"wrong number of values to unpack (expected {count})")


def all_storable(s: Specialiser, items: list[Value]) -> bool:
    return all(storable(s, v) or isinstance(v, ListV) for v in items)


def as_counted(s: Specialiser, source: Source) -> Source:
    """Items known one by one, as a list that is indexed."""
    if source.items is None:
        return source
    if any(isinstance(item, Later) for item in source.items):
        return counted_later(s, source)
    items = own_value(s, ListV(tuple(source.items), s.site("items")))
    if isinstance(items, Obj) and all_storable(s, source.items):
        raise Restart(items.id)  # it is a short list that was kept at compile time
    if not isinstance(items, Leaf):
        raise s.refuse(
            "list-of-objects",
            "objects or functions are zipped with something of a length known only at run time",
            "make a list of it first",
        )
    return over(s, items)


def counted_later(s: Specialiser, source: Source) -> Source:
    """An iterator over items that are computed when they are reached, counted."""
    if source.again is not None:
        return source.again()
    if source.cursor is not None and all_storable(s, source.items or []):
        raise Restart(("counted", source.cursor.id))
    raise s.refuse("iterator", "an iterator over things made by a function is combined with another")


def reversed_source(s: Specialiser, source: Source) -> Source:
    if source.items is not None:
        return Source(items=source.items[::-1])
    bounds = source.bounds
    assert bounds is not None and source.length is not None
    if len(bounds) <= 2:
        start, stop = (Const(0), bounds[0]) if len(bounds) == 1 else bounds
        down = (operate(s, gast.Sub, stop, Const(1)), operate(s, gast.Sub, start, Const(1)), Const(-1))
        return replace(source, bounds=down)
    length = source.length()
    last = operate(s, gast.Sub, length, Const(1))
    return Source(
        bounds=(length,),
        item=lambda k: nth(s, source, operate(s, gast.Sub, last, k)),
        hint="i",
        length=lambda: length,
        every=source.every,
        folder=source.folder,
    )


def part_of_range(s: Specialiser, base: Value, index: Value) -> Value:
    """``range(n)[1:]``, ``range(n)[::-1]``, ``range(n)[i]`` and the like."""
    whole = base.bounds if isinstance(base, Source) and base.item is Source.item else None
    if whole is None:
        raise s.refuse("unknown-value", "this value cannot be indexed", "index an array, a list, a tuple or a dict")
    if is_index(s, index):
        return s.let(ir.subscript(ir.call("range", *map(s.expr, whole)), s.expr(index)), INT, hint="i")
    part = index.value if isinstance(index, Const) and isinstance(index.value, slice) else slice(0, 0)
    start, stop, step = part.start, part.stop, 1 if part.step is None else part.step
    if (start, stop, step) == (None, None, -1):
        return reversed_source(s, base)
    if len(whole) > 2 or (start or 0) < 0 or (stop is not None and stop >= 0) or step < 1:
        raise s.refuse(
            "unknown-value", "this part of a range cannot be followed", "give `range` its bounds, or make a list of it"
        )
    low, high = whole if len(whole) == 2 else (Const(0), whole[0])
    low = operate(s, gast.Add, low, Const(start)) if start else low
    high = operate(s, gast.Sub, high, Const(-stop)) if stop else high
    return over_range(s, [low, high, Const(step)])


def is_index(s: Specialiser, index: Value) -> bool:
    """True for one integer."""
    facts = s.facts_of(index) if isinstance(index, (Const, Leaf)) else None
    return isinstance(facts, Num) and facts.dims == () and facts.dtype is not None and facts.dtype.kind == "i"


def read_ahead(s: Specialiser, given: list[Value], deeply: bool) -> Ahead:
    """The sources of an iterator: the containers of its arguments, and what the functions among them read.

    If not `deeply`, only which items they have.
    """

    variables: dict[Any, Value] = {}
    roots: frozenset[int] = frozenset()
    pending = list(given)
    while pending:
        value = pending.pop()
        facts = s.facts_of(value)
        roots |= reachable(s, facts) if deeply or facts is None else roots_of(facts)
        found = {place: s.env[place] for place in places_read(s, value) if place not in variables}
        variables |= found
        if not deeply:
            continue
        source = s.cursors.get(value.id) if isinstance(value, Obj) else value
        pending += [*found.values(), *parts_of(value)]
        pending += [*(source.items or ()), *source.given] if isinstance(source, Source) else []
    return Ahead(roots, variables)


def ahead_of_time(s: Specialiser, given: list[Value], before: dict[Any, Value], block: ir.Block, deeply: bool) -> Ahead:
    """The values that an iterator read all at once, and whether anything happened meanwhile."""
    seen = roots_held(s, before.values())
    written = (roots_of(s.facts[name]) for stmt in ir.walk(block) if (name := written_by(stmt)))
    lets = [stmt for stmt in ir.walk(block) if isinstance(stmt, ir.Let)]
    called = any(stmt.effect and not isinstance(s.facts[stmt.target], Listed) for stmt in lets)
    assigned = any(s.env.get(key) is not value and s.env.get(key) != value for key, value in before.items())
    return replace(read_ahead(s, given, deeply), happened=called or assigned or any(roots & seen for roots in written))


def places_read(s: Specialiser, value: Value) -> list[Any]:
    """The places where a function reads the activations around it, and those of fields of objects."""
    if isinstance(value, Leaf) and holds_reference(s, s.facts[value.name]):
        return [key for key in s.env if isinstance(key, tuple) and key[0] == "column"]
    if isinstance(value, Obj) and value.id not in s.cursors:
        return [(value.id, key) for key in s.fields(value) if (value.id, key) in s.env]
    if not isinstance(value, Closure):
        return []
    names = free_names(value)
    frames = [f.id for f in iter_frames(value.frame)]
    return [k for k in s.env if isinstance(k, tuple) and k[0] in frames and k[-1] in names]


def iter_frames(frame: Frame | None) -> Iterator[Frame]:
    """An activation and those around it."""
    while frame is not None:
        yield frame
        frame = frame.parent


def changes_outside(s: Specialiser, before: dict[Any, Value], block: ir.Block) -> bool:
    """True if statements assign names or fields that there were before, or write memory that these lead to."""
    for key, value in before.items():
        moved = isinstance(key, tuple) and key[0] in s.cursors
        if not moved and not ((now := s.env.get(key, value)) is value or now == value):
            return True
    written = [base for stmt in ir.walk(block) if (base := written_by(stmt)) is not None]
    if not written:
        return False
    known = {root for value in before.values() for n in s.leaves(value) for root in reachable(s, s.facts[n])}
    return any(not known.isdisjoint(roots_of(s.facts[base])) for base in written)


def refuse_resizing(s: Specialiser, lists: set[int], block: ir.Block) -> None:
    """A loop goes over lists, of these roots, as long as they were when the loop began."""
    tables = {s.tables_of_keys[root] for root in lists & s.tables_of_keys.keys()}
    for stmt in ir.walk(block) if lists else ():
        base = written_by(stmt)
        if base is not None and isinstance(s.facts[base], Mapped):
            same = [t for t in tables if roots_of(s.facts[base]) & roots_of(s.facts[t]) and not is_newer(s, base, t)]
            if same:
                refuse_new_keys(s, stmt, base)
        if base is None or isinstance(stmt, ir.Store) and not isinstance(stmt.index, gast.Slice):
            continue
        found = s.facts[base]
        if isinstance(found, Listed) and found.roots & lists and not is_only_filled(s, base, block):
            if s.growing and s.growing[-1] not in s.dynamic:
                raise Restart(s.growing[-1])
            raise s.refuse(
                "changed-while-iterated",
                "a list changes its length while a loop goes over it",
                "loop over a copy: `for x in list(xs)`",
            )


def is_newer(s: Specialiser, table: str, other: str) -> bool:
    """True if a dict is made in the block being written, where another one has a name already."""
    made = [stmt for stmt in s.block if isinstance(stmt, ir.Let) and stmt.target == table]
    if not made or made[0].op is None or made[0].op.fn is not dict:
        return False
    return all(other not in ir.ir_targets(stmt) for stmt in s.block[s.block.index(made[0]) :])


def refuse_new_keys(s: Specialiser, stmt: Any, table: str) -> None:
    """A dict that a loop goes over may get other values for its own keys; other keys might be new ones."""
    key = s.definitions.get(getattr(stmt.index, "id", "")) if isinstance(stmt, ir.Store) else None
    keys = s.facts.get(getattr(key.value, "id", "")) if isinstance(key, gast.Subscript) else None
    own = [s.keys_of.get(root, frozenset()) & roots_of(s.facts[table]) for root in roots_of(keys)] if keys else []
    if not any(own):
        raise s.refuse(
            "changed-while-iterated",
            "a dict may get or lose keys while a loop goes over it",
            "loop over a copy: `for key in list(table)`",
        )


def is_only_filled(s: Specialiser, base: str, body: ir.Block) -> bool:
    """True if a list is made in the block being written, and nothing before the end of a loop does more than fill it.

    So it is none that the loop goes over, wherever it may be put afterwards.
    """
    made = next((k for k, stmt in enumerate(s.block) if isinstance(stmt, ir.Let) and stmt.target == base), None)
    if made is None or not isinstance(s.definitions[base], gast.List):
        return False
    later = ir.walk([*s.block[made + 1 :], *body])
    return all([*ir.uses(stmt)].count(base) == (written_by(stmt) == base) for stmt in later)
