"""Iteration: everything that a loop goes over is a list of known things, or counted."""

from __future__ import annotations

import enum
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import gast

from ....core import thresholds
from ... import ir
from ...analysis.alias import roots_of
from ...domain.dependencies import ItemRead
from ...domain.facts import INT, Facts, Listed, Mapped, Num, Opaque, Pair
from ...domain.values import Const, Later, Leaf, ListV, Obj, Suspended, TupleV, Value
from ...ir.builder import Restart, Specialiser
from ...ir.element_facts import storable
from ..control.joins import loop
from ..control.raising import attempted
from ..kernel.escape import roots_held
from ..kernel.user_errors import refuse_iteration
from ..objects.objects import has_method
from ..objects.record_tables import record_of
from ..world.captures import import_external
from .dict_views import fields
from .lazy_iterators import CHANGED, Ahead, changes_outside, unchanged

ENDLESS = sys.maxsize


@dataclass(eq=False)
class Source:
    """What a loop goes over: `items` known one by one, or `bounds` of a range whose index gives the item.

    Or `advance` makes the next item as long as `goes_on`.  With none of these, the loop goes over an iterable of which
    nothing is known.
    `hint` names the counter where it is not the user's own variable.
    """

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
        from .items import check_length

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


def is_range(value: Value) -> bool:
    """Whether a value is a range with bounds that only the run knows."""
    return isinstance(value, Source) and value.item is Source.item and value.length is not None


def length_of(s: Specialiser, value: Leaf) -> Value:
    """``len(value)``."""
    facts = s.facts[value.name]
    size = facts.dims[0] if isinstance(facts, Num) and facts.dims else None
    if isinstance(size, int):
        return Const(size)
    expr = ir.call(gast.Name("len", gast.Load(), None, None), ir.name(value.name))
    return s.let(expr, replace(INT, size=size), ir.Op(len, {"x": value}), hint="n", may_raise=False)


def over(s: Specialiser, value: Value) -> Source:
    from .items import get_item, items_of

    if isinstance(value, Source):
        return value
    if isinstance(value, Suspended):
        raise s.kept_generator()
    if isinstance(value, Const) and isinstance(value.value, range):
        if s.frame is not None and s.frame.rule and len(value.value) <= thresholds.RULE_TRIPS_WRITTEN_OUT:
            return Source(items=[Const(k) for k in value.value])
        return over_range(s, [Const(value.value.start), Const(value.value.stop), Const(value.value.step)])
    if isinstance(value, Const) and isinstance(value.value, enum.EnumMeta):
        return Source(items=list(map(Const, value.value)))
    if isinstance(value, (TupleV, ListV, Obj)) or (
        isinstance(value, Const) and isinstance(value.value, (tuple, list, str))
    ):
        if isinstance(value, Obj) and value.cls not in (dict, list):
            return over_object(s, value)
        if isinstance(value, Obj):
            s.gone_over_known.add(value.id)
        items = items_of(s, value, None)
        places = fields(s, value)
        return Source(items=items, fields=((places, [s.env[place] for place in places]),) if places else ())
    if isinstance(value, Leaf):
        facts = s.facts[value.name]
        if isinstance(facts, Pair) or record_of(s, value) is not None:
            return Source(items=items_of(s, value, None))
        if isinstance(facts, Listed) or (isinstance(facts, Num) and facts.kind in ("array", None)):
            if isinstance(facts, Num) and facts.dims == ():
                refuse_iteration(s, value)
            if isinstance(facts, Num):
                s.held |= facts.roots  # the loop goes on reading it, whatever becomes of its name
            length = length_of(s, value)

            def item(index: Value) -> Value:
                if isinstance(facts, Listed) and s.gone_over:
                    s.gone_over[-1].update(facts.roots)
                return get_item(s, value, index)

            lists = facts.roots if isinstance(facts, Listed) else frozenset()
            return Source(bounds=(length,), item=item, hint="i", length=lambda: length, lists=lists)
        if isinstance(facts, Mapped):
            return over_keys(s, value)
        if isinstance(facts, Opaque):
            return Source()
    refuse_iteration(s, value)
    raise s.refuse(
        "unknown-value",
        "the compiler cannot tell what this loop goes over",
        "loop over a range, an array, a list, a tuple or a dict",
    )


def short(s: Specialiser, value: Value) -> tuple[Any, list[Value] | None]:
    """The site of a loop over a few known numbers, and these where it is to be written out."""
    if (
        not isinstance(value, Const)
        or not isinstance(value.value, range)
        or len(value.value) > thresholds.TRIPS_WRITTEN_OUT
    ):
        return None, None
    site = s.site("loop")
    return site, [Const(k) for k in value.value] if ("write out", site) in s.dynamic else None


def over_object(s: Specialiser, value: Obj) -> Source:
    if value.id in s.objects and not any(has_method(s, value, name) for name in ("__iter__", "__next__")):
        outside, read = s.objects[value.id]
        try:
            count = len(outside)
        except TypeError:
            raise s.refuse(
                "unknown-length", "iteration over an object of unknown length", "loop over a list that it holds"
            ) from None
        return Source(
            items=[
                import_external(s, ItemRead(lambda: list(read()), k), f"item_{k}", ("item", value.id, k))
                for k in range(count)
            ]
        )
    from ..numpy.flat import is_flat, over_flat
    from .iterators import over_own

    if is_flat(value):
        return over_flat(s, value)
    found = over_own(s, value)
    if found is None:
        raise s.refuse("unknown-value", "iteration over an object without `__iter__`", "loop over a list that it holds")
    return found


def over_keys(s: Specialiser, value: Leaf) -> Source:
    """A loop over the keys of a dict, which must keep them meanwhile."""
    keys = keys_of(s, value)
    s.tables_of_keys |= dict.fromkeys(roots_of(s.facts[keys.name]), value.name)
    return over(s, keys)


def keys_of(s: Specialiser, value: Leaf) -> Leaf:
    """The keys of a dict, in order, as they are when the loop begins."""
    listed = Listed(frozenset([s.root(("keys", s.site()))]))
    s.put_element(listed, Opaque())
    s.keys_of |= dict.fromkeys(listed.roots, roots_of(s.facts[value.name]))
    expr = ir.call(gast.Name("list", gast.Load(), None, None), ir.name(value.name))
    return s.let(expr, listed, None, hint="keys", effect=True)


def over_range(s: Specialiser, args: list[Value]) -> Source:
    bounds = tuple(args)
    if len(bounds) == 3 and bounds[2] == Const(1):
        bounds = bounds[:2]
    if len(bounds) == 2 and bounds[0] == Const(0):
        bounds = bounds[1:]

    def length() -> Value:
        from ..language.expressions import operate

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
    """How many items there are: none where a range ends before it begins, for which `length` may be negative."""
    from ..calls.dispatch import call_value

    assert source.length is not None
    length: Value = source.length()
    if isinstance(length, Const):
        return Const(max(length.value, 0))
    if counts(s, s.expr(length)):
        return length
    return call_value(s, Const(max, gast.Name("max", gast.Load(), None, None)), [length, Const(0)], {})


def counts(s: Specialiser, expr: Any) -> bool:
    """Whether a whole number is surely not negative: a length, or the least of several."""
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
    from ..language.expressions import operate

    if source.bounds is None:
        raise s.refuse("unknown-length", "an iterable of unknown length is combined with another")
    if len(source.bounds) == 1:
        return source.item(k)
    start = source.bounds[0]
    if len(source.bounds) == 3:
        k = operate(s, gast.Mult, k, source.bounds[2])
    return source.item(operate(s, gast.Add, start, k))


def enumerated(s: Specialiser, source: Source, start: Value) -> Source:
    from ..language.expressions import operate

    def count(k: Value) -> Value:
        return k if start == Const(0) else operate(s, gast.Add, k, start)

    if source.items is not None:

        def numbered(parts: tuple[Value, ...]) -> Value:
            return TupleV((count(parts[0]), *parts[1:]))

        return Source(
            items=[later([Const(k), item], numbered) for k, item in enumerate(source.items)],
            again=lambda: enumerated(s, as_counted(s, source), start),
        )
    assert source.length is not None
    return Source(
        bounds=(source.length(),),
        item=lambda k: TupleV((count(k), nth(s, source, k))),
        hint="i",
        length=source.length,
        every=source.every,
    )


def zipped(s: Specialiser, sources: list[Source]) -> Source:
    """The items of several iterables side by side."""
    if all(source.items is not None for source in sources):
        return Source(
            items=[later(list(items), TupleV) for items in zip(*(source.items or [] for source in sources))],
            again=lambda: zipped(s, [as_counted(s, source) for source in sources]),
        )
    from .iterators import leave_cursors

    leave_cursors(s, sources)
    written_out = [source for source in sources if source.items is not None and not all_storable(s, source.items)]
    if written_out:
        return zipped_out(s, sources, min(len(source.items or []) for source in written_out))
    sources = [as_counted(s, source) for source in sources]
    lengths = [source.length() for source in sources if source.length is not None]
    if len(lengths) != sum(not source.endless for source in sources) or not lengths:
        raise s.refuse("unknown-length", "an iterable of unknown length is zipped")
    length = shortest(s, lengths)
    return Source(
        bounds=(length,),
        item=lambda k: side_by_side(s, sources, k, length == lengths[0]),
        hint="i",
        length=lambda: length,
        every=next((source.every for source in sources if source.every is not None), None),
    )


def side_by_side(s: Specialiser, sources: list[Source], k: Value, together: bool) -> Value:
    """The items number `k` of several iterables; unless they end `together`, those before the shortest go on by one."""
    items: list[Value] = []
    for source in sources:
        before, mark = dict(s.env), len(s.block)
        items.append(nth(s, source, k))
        if source is not sources[-1] and not together and changes_outside(s, before, s.block[mark:]):
            raise s.refuse(
                "iterator",
                "an iterator that changes something when it comes to its items is zipped with one that may be shorter",
                "write a loop",
            )
    return TupleV(tuple(items))


def later(parts: list[Value], make: Callable[[tuple[Value, ...]], Value]) -> Value:
    """What an iterator makes of some items: not yet, where one of them is computed when it is reached."""
    if not any(isinstance(part, Later) for part in parts):
        return make(tuple(parts))
    return Later(TupleV(tuple(parts)), lambda: make(tuple(p.compute() if isinstance(p, Later) else p for p in parts)))


def all_storable(s: Specialiser, items: list[Value]) -> bool:
    return all(storable(s, v) or isinstance(v, ListV) for v in items)


def zipped_out(s: Specialiser, sources: list[Source], count: int) -> Source:
    """Objects or functions beside something counted, which has to be as long as they are many."""
    for source in sources:
        if source.items is None:
            if source.length is None:
                raise s.refuse("unknown-length", "an iterable of unknown length is zipped")
            test = gast.Compare(s.expr(source.length()), [gast.GtE()], [ir.constant(count)])
            message = ir.constant(f"fewer than the {count} objects that it is zipped with")
            s.block.append(ir.Raise(gast.Assert(test, message), s.where()))
        else:
            count = min(count, len(source.items))

    def item(source: Source, k: int) -> Value:
        return source.items[k] if source.items is not None else Later(Const(None), lambda: nth(s, source, Const(k)))

    return Source(items=[later([item(source, k) for source in sources], TupleV) for k in range(count)])


def as_counted(s: Specialiser, source: Source) -> Source:
    """Items known one by one, as a list that is indexed."""
    from .items import own_list

    if source.items is None:
        return source
    if any(isinstance(item, Later) for item in source.items):
        return counted_later(s, source)
    items = own_list(s, ListV(tuple(source.items), s.site("items")))
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


def shortest(s: Specialiser, lengths: list[Value]) -> Value:
    first = s.num(lengths[0])
    if all(length == lengths[0] for length in lengths):
        return lengths[0]
    sizes = [f.size for f in map(s.num, lengths) if f is not None]
    if (
        first is not None
        and first.size is not None
        and all(size == first.size for size in sizes)
        and len(sizes) == len(lengths)
    ):
        return lengths[0]
    return s.let(
        ir.call(gast.Name("min", gast.Load(), None, None), *(s.expr(v) for v in lengths)),
        INT,
        hint="n",
        may_raise=False,
    )


def mapped(s: Specialiser, source: Source, fn: Callable[[Value], Value]) -> Source:
    if source.items is not None:

        def compute(number: int, item: Value) -> Value:
            with s.written_out(number):
                return fn(source.read(s, (number, item)))

        items = [Later(item, partial(compute, number, item)) for number, item in enumerate(source.items)]
        return Source(items=items, fields=source.fields, again=lambda: mapped(s, as_counted(s, source), fn))
    return replace(source, item=lambda k: fn(source.item(k)), hint=source.hint or "i", whole=None)


def each(s: Specialiser, source: Source, action: Callable[[Value], None]) -> None:
    """A loop that does `action` with every item."""
    with unchanged(s, source.ahead, collected=True):
        write_loop(s, source, action)


def write_loop(s: Specialiser, source: Source, action: Callable[[Value], None]) -> None:
    if source.items is not None:
        for number in range(len(source.items)):
            with source.reached(s, number) as item:
                action(item)
        source.check_length(s)
        return
    if source.advance is not None:
        advancing(s, source, action)
        return

    def make() -> ir.Loop:
        if source.bounds is None:
            raise s.refuse(
                "unknown-value",
                "an iterable of which nothing is known is collected",
                "collect the items of a list, an array or a range",
            )
        return ir.Loop(
            "range", [], [], s.fresh(source.hint or "i", INT), tuple(s.expr(b) for b in source.bounds), origin=s.where()
        )

    def run(node: ir.Loop) -> None:
        assert node.index is not None
        action(source.item(Leaf(node.index)))

    loop(s, make, run)


def advancing(s: Specialiser, source: Source, action: Callable[[Value], None], stop: Any = None) -> None:
    """A loop over an object that says whether it has another item, and gives it."""
    from ..language.expressions import truth
    from ..language.statements import changes, read_stop

    advance, goes_on = source.advance, source.goes_on
    assert advance is not None and goes_on is not None

    def run(node: ir.Loop) -> None:
        before = dict(s.env)
        test = attempted(s, node.head, lambda: truth(s, goes_on()))
        if test is None:
            raise s.refuse(
                "exceptions",
                "asking this iterator for its end always raises an exception",
                "loop over a list of its items",
            )
        if changes(s, before, node.head):
            raise s.refuse(
                "changed-while-iterated",
                "an iterator changes where it is asked whether it is at its end",
                "write a while loop",
            )
        node.test = s.expr(test)
        action(advance())
        read_stop(s, node, stop)

    loop(s, lambda: ir.Loop("while", [], [], origin=s.where()), run)
