"""Iteration: everything that a loop goes over is a list of known things, or counted.

Loops over lists that change their length meanwhile, as Python goes over them.

::

    for v in items:                     k = 0
        if v > 1.0:                     while k < len(items):
            items.append(v / 2)    ->       v, k = items[k], k + 1
                                            if v > 1.0:
                                                items.append(v / 2)

`resizing` notices that a loop is one of these, and has the program specialised again.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import gast

from ....core import thresholds
from ... import ir
from ...analysis.alias import roots_of, written_by
from ...domain.dependencies import ItemRead
from ...domain.facts import BOOL, INT, Listed, Mapped, Num, Opaque, Pair
from ...domain.values import Const, Later, Leaf, ListV, Obj, Suspended, TupleV, Value
from ..arrays.flat import is_flat
from ..kernel import operations
from ..kernel.operations import defines, get_item, items_of, loop, operate, read_stop, truth
from ..kernel.program_values import INTEGER_LISTS, Restart
from ..kernel.specialiser import Specialiser
from ..kernel.user_errors import attempted, refuse_iteration
from ..objects.dict_views import fields
from ..objects.record_tables import record_of
from ..world.captures import import_external
from ..world.class_guards import has_method
from .iterators import leave_cursors, over_flat, over_own
from .sources import Source, all_storable, as_counted, changes_outside, nth, over_range, unchanged


def length_of(s: Specialiser, value: Leaf) -> Value:
    """``len(value)``."""
    facts = s.facts[value.name]
    size = facts.dims[0] if isinstance(facts, Num) and facts.dims else None
    if isinstance(size, int):
        return Const(size)
    expr = ir.call(gast.Name("len", gast.Load(), None, None), ir.name(value.name))
    return s.let(expr, replace(INT, size=size), ir.Op(len, {"x": value}), hint="n", may_raise=False)


@defines(operations.over)
def over(s: Specialiser, value: Value) -> Source:
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
            if value.id in s.integer_lists and not (s.frame is not None and s.frame.rule):
                raise Restart(INTEGER_LISTS)
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


def known_numbers(value: Value) -> tuple[Value, ...] | None:
    """The numbers of a range that is known and so short that they stay known one by one in a list of them."""
    if not isinstance(value, Const) or not isinstance(value.value, range):
        return None
    return tuple(map(Const, value.value)) if len(value.value) <= thresholds.NUMBERS_LISTED else None


def are_known_integers(items: list[Value]) -> bool:
    """True for a few integers that are known, as those of axes."""
    few = 0 < len(items) <= thresholds.NUMBERS_LISTED
    return few and all(isinstance(item, Const) and type(item.value) is int for item in items)


def over_object(s: Specialiser, value: Obj) -> Source:
    if value.id in s.objects and not any(has_method(s, value, name) for name in ("__iter__", "__next__")):
        outside, read = s.objects[value.id]
        try:
            count = len(outside)
        except TypeError:
            raise s.refuse(
                "unknown-length",
                "iteration over an object of unknown length cannot be followed",
                "loop over a list that it holds",
            ) from None
        return Source(
            items=[
                import_external(s, ItemRead(lambda: list(read()), k), f"item_{k}", ("item", value.id, k))
                for k in range(count)
            ]
        )

    if is_flat(value):
        return over_flat(s, value)
    found = over_own(s, value)
    if found is None:
        raise s.refuse(
            "unknown-value",
            "iteration over an object without `__iter__` cannot be followed",
            "loop over a list that it holds",
        )
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


def enumerated(s: Specialiser, source: Source, start: Value) -> Source:
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
        folder=source.folder,
    )


def zipped(s: Specialiser, sources: list[Source]) -> Source:
    """The items of several iterables side by side."""
    if all(source.items is not None for source in sources):
        return Source(
            items=[later(list(items), TupleV) for items in zip(*(source.items or [] for source in sources))],
            again=lambda: zipped(s, [as_counted(s, source) for source in sources]),
        )

    iterators = {source.cursor and source.cursor.id for source in sources}
    if len(sources) > 1 and len(iterators) == 1 and None not in iterators:
        return grouped(s, sources[0], len(sources))
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
        item=lambda k: side_by_side(s, sources, [k] * len(sources), length == lengths[0]),
        hint="i",
        length=lambda: length,
        every=next((source.every for source in sources if source.every is not None), None),
        folder=next((source.folder for source in sources if source.folder is not None), None),
    )


def grouped(s: Specialiser, source: Source, count: int) -> Source:
    """The items of one iterator, `count` at a time, as ``zip(*[iter(x)] * count)`` gives them."""
    if source.length is None:
        raise s.refuse("unknown-length", "an iterable of unknown length is zipped")
    leave_cursors(s, [source])
    length = operate(s, gast.FloorDiv, source.length(), Const(count))

    def item(k: Value) -> Value:
        first = operate(s, gast.Mult, k, Const(count))
        places = [operate(s, gast.Add, first, Const(j)) for j in range(count)]
        return side_by_side(s, [source] * count, places, False)

    return Source(bounds=(length,), item=item, hint="i", length=lambda: length)


def side_by_side(s: Specialiser, sources: list[Source], places: list[Value], together: bool) -> Value:
    """The items at `places` of several iterables; those before the shortest go on unless they end `together`."""
    items: list[Value] = []
    for n, (source, k) in enumerate(zip(sources, places, strict=True), 1):
        before, mark = dict(s.env), len(s.block)
        items.append(nth(s, source, k))
        if n < len(sources) and not together and changes_outside(s, before, s.block[mark:]):
            raise s.refuse(
                "iterator",
                "an iterator that changes something when it comes to its items is zipped with one that may be shorter",
                "write a loop",
            )
    return TupleV(tuple(items))


def later(parts: list[Value], make: Callable[[tuple[Value, ...]], Value]) -> Value:
    """The items that an iterator makes later, when they are reached."""
    if not any(isinstance(part, Later) for part in parts):
        return make(tuple(parts))
    return Later(TupleV(tuple(parts)), lambda: make(tuple(p.compute() if isinstance(p, Later) else p for p in parts)))


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


def changes(s: Specialiser, before: dict[Any, Value], head: ir.Block) -> bool:
    """True if computing a loop's test assigns names or fields, or writes memory."""
    if any(written_by(stmt) is not None for stmt in ir.walk(head)):
        return True
    frames = set()
    frame = s.frame
    while frame is not None:
        frames.add(frame.id)
        frame = frame.parent
    for key, value in s.env.items():
        if key in before:
            if not (before[key] is value or before[key] == value):
                return True
        elif isinstance(key, tuple) and key[0] in frames:
            return True
    return False


def counted_list(s: Specialiser, iterable: Value) -> tuple[Leaf, Value | None] | None:
    """The list that a loop goes over, and the first of the numbers that `enumerate` gives beside its items."""
    given = iterable.counted if isinstance(iterable, Source) else None
    items, start = given or (iterable, None)
    if not isinstance(items, Leaf) or not isinstance(s.facts[items.name], Listed):
        return None
    return items, start


def over_growing(s: Specialiser, items: Leaf, start: Value | None, action: Callable[[Value], None], stop: Any) -> None:
    """A loop that asks before each step whether the list has another item."""
    place = ("grown", s.site("grown")), "k"
    s.env[place] = Const(0)

    def goes_on() -> Value:
        test = gast.Compare(s.expr(s.env[place]), [gast.Lt()], [s.expr(length_of(s, items))])
        return s.let(test, BOOL, hint="goes_on", may_raise=False)

    def advance() -> Value:
        position = s.env[place]
        item = get_item(s, items, position)
        s.env[place] = operate(s, gast.Add, position, Const(1))
        if start is None:
            return item
        return TupleV((position if start == Const(0) else operate(s, gast.Add, position, start), item))

    advancing(s, Source(advance=advance, goes_on=goes_on), action, stop)
    s.env.pop(place, None)
