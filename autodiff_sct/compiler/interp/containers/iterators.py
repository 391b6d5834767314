"""Iterators: `iter` and `next`, classes with `__iter__`, and NumPy's walks over indices.

An iterator is a position in something that is counted.  It exists at compile time only, and its position is a field,
which branches and loops carry as they do any other.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import gast
import numpy as np

from ....runtime import sorting
from ... import ir
from ...analysis.alias import reachable
from ...domain.facts import BOOL, Listed, Num, Opaque
from ...domain.values import Const, Leaf, ListV, Obj, Poison, Rest, Suspended, TupleV, Value
from ...ir.dims import Lengths
from ..arrays import indexing
from ..arrays.emit_op import numpy_call
from ..arrays.flat import base_of
from ..kernel.escape import roots_held
from ..kernel.handlers import Handler, handles, wraps
from ..kernel.operations import (
    around_generator,
    as_list,
    attribute_of,
    branch,
    call_value,
    get_item,
    items_of,
    listed,
    opaque_call,
    operate,
    over,
    own_value,
    stepped,
)
from ..kernel.program_values import Restart
from ..kernel.specialiser import Specialiser
from ..kernel.user_errors import Ended
from ..models.functions import items_by_index
from ..models.lists import LOOPS
from ..objects import dict_views
from ..objects.tables import method_of
from ..world.class_guards import has_method
from . import sources
from .sources import ENDLESS, Ahead, Source, all_storable, as_counted, count_of, counts, nth, over_range


class Cursor:
    """The class of an iterator's `Obj`."""


POSITION = "position"


@handles(iter)
def iter_(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    value = args[0]
    if isinstance(value, Suspended) and len(args) == 1:
        return value
    if isinstance(value, Obj) and value.cls not in (list, dict):
        return own_iterator(s, value)
    known = isinstance(value, (Source, ListV, TupleV, Obj, Const))
    if len(args) > 1 or not known and not isinstance(s.facts_of(value), (Num, Listed)):
        return opaque_call(s, gast.Name("iter", gast.Load(), None, None), iter, args, kwargs)
    value = own_value(s, value)
    note_walked(s, (value,))
    return value if isinstance(value, Obj) and value.cls is Cursor else cursor_over(s, over(s, value))


def cursor_over(s: Specialiser, source: Source) -> Obj:
    """A new iterator."""
    site = source.once or ("iterator", s.site())
    if ("counted", site) in s.dynamic:
        read = Ahead(frozenset(), {place: v for places, found in source.fields for place, v in zip(places, found)})
        ahead = (*source.ahead, read)
        source = replace(as_counted(s, source), ahead=ahead, lists=source.lists, moved=source.moved)
    if source.items is None and (source.bounds is None or source.length is None and not source.endless):
        raise s.refuse("unknown-length", "an iterator over something of unknown length cannot be followed")
    cursor = Obj(site, Cursor)
    s.walked |= source.lists
    note_walked(s, source.given)
    read_before = frozenset().union(*(ahead.roots for ahead in source.ahead))
    s.walked |= read_before
    s.lazy |= read_before
    s.held |= s.lazy
    s.cursors[site] = source
    s.env |= {(inner, POSITION): SPENT for inner in source.moved}
    s.env[(site, POSITION)] = Const(0)
    return cursor


def note_walked(s: Specialiser, given: tuple[Value, ...]) -> None:
    """Note the lists at compile time that are given to what makes an iterator."""
    for value in given:
        if isinstance(value, Obj) and value.cls is list:
            s.walked_known.add(value.id)
        elif isinstance(value, Source):
            note_walked(s, value.given)


def kept(s: Specialiser, value: Value) -> Value:
    """The iterator of a name: one such as ``zip(a, b)`` is gone through once, however often it is read."""
    return cursor_over(s, value) if isinstance(value, Source) and value.once is not None else value


@wraps(zip, map, filter, enumerate, reversed, itertools.chain.from_iterable)
@wraps(*({f for f in vars(itertools).values() if isinstance(f, type)} - {itertools.takewhile, itertools.dropwhile}))
def once(fn: Any, handler: Handler) -> Handler:
    """Mark what a function returns as an iterator."""

    def marked(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
        lazy = around_generator(s, fn, args, kwargs)
        if lazy is not None:
            return lazy
        mark, before = len(s.block), dict(s.env)
        value = handler(s, args, kwargs)
        site, given = ("iterator", s.site()), [*args, *kwargs.values()]
        if not isinstance(value, Source):
            value = replace(over(s, value), whole=value)
        inner = [] if fn in LOOPS else [a for a in given if isinstance(a, Source)]
        rows = fn is zip and any(isinstance(a, Rest) for a in given)  # Python reads each when it comes to a column
        given = [a.items if isinstance(a, Rest) else a for a in given]
        at_once = fn in AHEAD and value.cursor is None
        if fn is itertools.islice and sources.changes_outside(s, before, s.block[mark:]):
            raise s.refuse(
                "iterator", "a part of an iterator that changes something when it comes to its items", "write a loop"
            )
        s.held |= roots_held(
            s, given if value.items is None else [a for a in given if not isinstance(a, (ListV, TupleV))]
        )
        deeply = at_once and not (fn in HANDED_ON and all(is_plain(s, a) for a in given))
        read_later = () if fn in LOOPS else given
        listed = [frozenset(reached(s, f, deeply)) for a in read_later if isinstance(f := s.facts_of(a), Listed)]
        lists = frozenset().union(*listed, *(a.lists for a in inner))
        own = frozenset(a.id for a in given if isinstance(a, Obj) and a.cls is Cursor)
        moved = own.union(*(a.moved for a in inner))
        if at_once:
            s.env |= {(cursor, POSITION): SPENT for cursor in moved}
        ahead = [
            *(replace(each, handed_on=True) for a in inner for each in a.ahead),
            *([sources.ahead_of_time(s, given, before, s.block[mark:], deeply)] if at_once else []),
            *([sources.read_ahead(s, given, True)] if rows else []),
        ]
        read = [dict_views.fields(s, a) for a in given] if fn in (zip, enumerate) else []
        fields = [*(each for a in inner for each in a.fields), *((f, [s.env[place] for place in f]) for f in read)]
        return replace(
            value, once=site, given=tuple(given), lists=lists, ahead=tuple(ahead), fields=tuple(fields), moved=moved
        )

    return marked


def is_plain(s: Specialiser, value: Value) -> bool:
    """True if going over a value runs nothing of the program's: an array, a list or a tuple."""
    facts = s.facts_of(value)
    known = isinstance(value, (ListV, TupleV, Const)) or isinstance(value, Obj) and value.cls is list
    return known or isinstance(facts, Listed) or is_array(facts)


def is_array(facts: Any) -> bool:
    return isinstance(facts, Num) and facts.kind == "array"


def reached(s: Specialiser, facts: Listed, deeply: bool) -> Iterable[int]:
    """The roots of a list, and of what is in it where that is read, too."""
    return reachable(s, facts) if deeply else facts.roots


def ahead_of(s: Specialiser, iterable: Value) -> tuple[Ahead, ...]:
    """The values that are read ahead of a loop's iterable."""
    source = s.cursors[iterable.id] if isinstance(iterable, Obj) and iterable.cls is Cursor else iterable
    return source.ahead if isinstance(source, Source) else ()


def own_iterator(s: Specialiser, value: Value) -> Value:
    """The result of `__iter__` of an object of the user's; any other value as it is."""
    if is_only_indexed(s, value):
        return Suspended(items_by_index, [value], {}, s.site("generator"))
    if isinstance(value, Leaf) and (method := method_of(s, value, "__iter__")) is not None:
        return call_value(s, method, [], {})
    if not isinstance(value, Obj) or value.cls is Cursor or not has_method(s, value, "__iter__"):
        return value
    return call_value(s, attribute_of(s, value, "__iter__"), [], {})


def is_only_indexed(s: Specialiser, value: Value) -> bool:
    """True if Python goes over an object by asking for its items, since its class does not say how."""
    if isinstance(value, Leaf):
        return method_of(s, value, "__getitem__") is not None and method_of(s, value, "__iter__") is None
    if not isinstance(value, Obj) or value.cls is Cursor or value.id in s.objects or has_method(s, value, "__iter__"):
        return False
    return has_method(s, value, "__getitem__")


@handles(next)
def next_(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    value = args[0]
    if isinstance(value, Obj) and value.cls is Cursor:
        return step(s, value, args[1] if len(args) > 1 else None)
    if isinstance(value, Obj) and has_method(s, value, "__next__") and len(args) == 1:
        return call_value(s, attribute_of(s, value, "__next__"), [], {})
    if isinstance(value, Source) and value.once is not None:
        return step(s, cursor_over(s, value), args[1] if len(args) > 1 else None)
    if any(isinstance(a, (Source, ListV, TupleV, Obj)) or isinstance(s.facts_of(a), Listed) for a in args):
        raise s.refuse(
            "iterator",
            "`next` of something else than an iterator or a generator under a name cannot be followed",
            "index a list",
        )
    return opaque_call(s, gast.Name("next", gast.Load(), None, None), next, args, kwargs)


SPENT = Poison("an iterator is used again after a loop or a function has gone through it")


def source_of(s: Specialiser, cursor: Obj) -> Source:
    """The source of an iterator, counted unless its position is known."""
    source: Source = s.cursors[cursor.id]
    position = s.env[(cursor.id, POSITION)]
    if source.items is not None and not isinstance(position, Const) and all_storable(s, source.items):
        raise Restart(("counted", cursor.id))
    if isinstance(position, Poison):
        raise s.refuse("iterator", position.reason)
    for ahead in source.ahead:
        ahead.check(s, [])
    around: Lengths | None = s.lengths
    while around is not None:
        if any(around is body for body in s.walks.get(cursor.id, ())):
            raise s.refuse(
                "changed-while-iterated",
                "an iterator is moved inside a loop that goes over it",
                "use `while`, or count",
            )
        around = around.outer
    return source


def step(s: Specialiser, cursor: Obj, default: Value | None) -> Value:
    """``next(cursor)`` or ``next(cursor, default)``"""
    source, position = source_of(s, cursor), s.env[(cursor.id, POSITION)]
    if source.items is not None and position.value < len(source.items):
        s.env[(cursor.id, POSITION)] = Const(position.value + 1)
        return source.read(s, (position.value, source.items[position.value]))
    source.check_length(s)
    if source.items is not None and default is not None:
        return default
    length = Const(len(source.items)) if source.items is not None else None if source.endless else source.length
    if length is not None:
        end = length if isinstance(length, Const) else length()
        left = s.let(gast.Compare(s.expr(position), [gast.Lt()], [s.expr(end)]), BOOL, hint="left", may_raise=False)
        if default is not None:
            return step_or(s, left, lambda: take(s, cursor, source), default)
        stop: ir.Block = [ir.Raise(gast.Raise(ir.name("StopIteration"), None), s.where())]
        s.block.append(ir.If(gast.UnaryOp(gast.Not(), s.expr(left)), stop, [], [], s.where()))
    if source.items is not None:
        raise Ended
    return take(s, cursor, source)


def take(s: Specialiser, cursor: Obj, source: Source) -> Value:
    position = s.env[(cursor.id, POSITION)]
    s.env[(cursor.id, POSITION)] = operate(s, gast.Add, position, Const(1))
    return nth(s, source, position)


def stand_at_end(s: Specialiser) -> None:
    """Put the one iterator that was moved before StopIteration is caught at its end."""
    moved = [cursor for cursor in s.cursors if isinstance(s.env.get((cursor, POSITION)), Poison)]
    source = s.cursors[moved[0]] if len(moved) == 1 else None
    if source is not None and source.length is not None:
        s.env[(moved[0], POSITION)] = source.length()


def step_or(s: Specialiser, left: Value, item: Callable[[], Value], default: Value) -> Value:
    key = ("choice", s.site("next"))

    def choose(value: Callable[[], Value]) -> Callable[[], None]:
        def run() -> None:
            s.env[key] = value()

        return run

    branch(s, left, choose(item), choose(lambda: own_value(s, default)))
    return s.env.pop(key)


def over_cursor(s: Specialiser, cursor: Obj, counted: bool = False) -> Source:
    """The items that are left, each counted off as it is reached."""
    source, start = source_of(s, cursor), s.env[(cursor.id, POSITION)]
    if source.items is not None and counted:
        if not all_storable(s, source.items):
            raise s.refuse("list-of-objects", "a part of an iterator over objects or functions cannot be followed")
        raise Restart(("counted", cursor.id))
    if source.items is not None:
        s.env[(cursor.id, POSITION)] = SPENT
        return Source(items=source.items[start.value :], cursor=cursor)

    def item(k: Value) -> Value:
        if s.env[(cursor.id, POSITION)] is not SPENT:
            s.env[(cursor.id, POSITION)] = operate(s, gast.Add, k, Const(1))
            s.walks.setdefault(cursor.id, []).append(s.lengths)
        return nth(s, source, k)

    if source.endless:
        bounds = source.bounds if start == Const(0) else (start, *(source.bounds or ()))
        return Source(bounds=bounds, item=item, hint="i", endless=True, cursor=cursor)
    if source.length is None:
        raise s.refuse("iterator", "a loop over an iterator without an end cannot be followed", "use zip, or a range")
    end = source.length()
    bounds = (end,) if start == Const(0) else (start, end)
    left = end if start == Const(0) else operate(s, gast.Sub, end, start)
    return Source(bounds=bounds, item=item, hint="i", length=lambda: left, cursor=cursor)


def leave_cursors(s: Specialiser, sources: list[Source]) -> None:
    """Forget the positions of zipped iterators, which depend on the one that ends first: they are not used again."""
    cursors = [source.cursor.id for source in sources if source.cursor is not None]
    if len(set(cursors)) < len(cursors):
        raise s.refuse("iterator", "an iterator is zipped with itself")
    for cursor in cursors:
        s.env[(cursor, POSITION)] = SPENT


# -- objects that are their own iterators


def over_own(s: Specialiser, value: Obj) -> Source | None:
    """A loop over an object of the user's, where its class says how."""
    if value.cls is Cursor:
        return over_cursor(s, value)
    if not has_method(s, value, "__iter__"):
        return None
    found = own_iterator(s, value)
    if found != value:
        return over(s, found)
    return stepped(s, value)


# -- indices


def positions(s: Specialiser, shape: list[Value]) -> Source:
    """Every index into an array of this shape, the last axis first."""
    if len(shape) == 1:
        source = over_range(s, [Const(0), shape[0]])
        return Source(bounds=source.bounds, item=lambda k: TupleV((k,)), hint="i", length=source.length)
    return crossed(s, [over_range(s, [Const(0), length]) for length in shape])


@handles(np.ndindex)
def ndindex(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    shape = args[0] if len(args) == 1 else TupleV(tuple(args))
    if isinstance(shape, Leaf) and isinstance(s.facts[shape.name], Opaque) or isinstance(s.facts_of(shape), Listed):
        return opaque_call(s, ir.attribute(s.bind("np", np), "ndindex"), np.ndindex, args, kwargs)
    lengths = items_of(s, shape, None) if not s.num(shape) else [shape]
    return positions(s, lengths)


@handles(np.ndenumerate)
def ndenumerate(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    facts = s.num(args[0])
    shape = attribute_of(s, args[0], "shape") if facts is not None and facts.dims else None
    if not isinstance(shape, TupleV):
        raise s.refuse("unknown-length", "np.ndenumerate of something whose rank is not known", "loop over a range")
    source = positions(s, list(shape.items))

    def item(k: Value) -> Value:
        index = source.item(k)
        return TupleV((index, get_item(s, args[0], index)))

    return Source(bounds=source.bounds, item=item, hint="i", length=source.length)


@handles(np.nditer)
def nditer(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Any:
    """The elements of an array as they lie in memory, each for reading only."""
    facts = s.num(args[0]) if len(args) == 1 and not kwargs else None
    if facts is None or facts.kind != "array":
        return opaque_call(s, ir.attribute(s.bind("np", np), "nditer"), np.nditer, args, kwargs)
    return over(s, get_item(s, numpy_call(s, np.ravel, args, {}), order_in_memory(s, args, {})))


@handles(sorting.order_in_memory)
def order_in_memory(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    expr = ir.call(s.bind("order_in_memory", sorting.order_in_memory), s.expr(args[0]))
    return s.let(expr, Num("array", np.dtype(np.intp), (None,)), ir.Op(sorting.order_in_memory, {"a": args[0]}))


# -- itertools


@handles(itertools.cycle)
def cycle(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    source = as_counted(s, over(s, args[0]))
    if source.length is None:
        raise s.refuse("unknown-length", "itertools.cycle of an iterable of unknown length cannot be followed")
    length = source.length()
    return Source(
        bounds=(Const(ENDLESS),),
        item=lambda k: nth(s, source, operate(s, gast.Mod, k, length)),
        hint="i",
        endless=True,
    )


@handles(itertools.tee)
def tee(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """Iterators that begin where one stands: each goes over the same items."""
    count = s.static(args[1]) if len(args) > 1 else 2
    if isinstance(args[0], Obj) and args[0].cls is Cursor:
        items = own_value(s, as_list(s, args[0]))
    else:
        items = own_value(s, listed(s, args[0]))
    copies: list[Value] = []
    for k in range(count):
        with s.written_out(k):
            copies.append(cursor_over(s, over(s, items)))
    return TupleV(tuple(copies))


@handles(itertools.zip_longest)
def zip_longest(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    fill = kwargs.get("fillvalue", Const(None))
    sources = [as_counted(s, over(s, a)) for a in args]
    if any(source.length is None for source in sources):
        raise s.refuse("unknown-length", "itertools.zip_longest of an iterable of unknown length cannot be followed")
    lengths = [source.length() for source in sources]  # type: ignore[misc]
    longest = call_value(s, Const(max), lengths, {})

    def item(k: Value) -> Value:
        items: list[Value] = []
        for source, length in zip(sources, lengths):
            here = s.let(gast.Compare(s.expr(k), [gast.Lt()], [s.expr(length)]), BOOL, hint="here", may_raise=False)
            with s.written_out(len(items)):
                items.append(step_or(s, here, partial(nth, s, source, k), fill))
        return TupleV(tuple(items))

    return Source(bounds=(longest,), item=item, hint="i", length=lambda: longest)


# What goes through its arguments when it is called, or holds items back.
LAZY = (itertools.count, itertools.repeat, itertools.starmap, itertools.zip_longest)
AHEAD = {filter, itertools.chain.from_iterable, *(f for f in vars(itertools).values() if isinstance(f, type))} - {*LAZY}
AHEAD -= {*LOOPS}  # which Python goes through at once, too
# What hands on the items themselves and asks nothing of them: an item may change, a list may not get others.
HANDED_ON = {itertools.product, itertools.pairwise, itertools.islice, itertools.chain, itertools.cycle}


def over_flat(s: Specialiser, flat: Obj) -> Source:
    base = base_of(s, flat)
    shape = attribute_of(s, base, "shape")
    if not isinstance(shape, TupleV):
        raise s.refuse("numpy-form", "`.flat` of an array of unknown rank cannot be followed", "use `np.ravel`")
    source = positions(s, list(shape.items))
    return replace(source, item=lambda k: indexing.load_item(s, base, source.item(k)))


def crossed(s: Specialiser, sources: list[Source]) -> Source:
    """Counted through like a number whose digits are the positions."""
    if any(source.length is None for source in sources):
        raise s.refuse("unknown-length", "itertools.product of an iterable of unknown length cannot be followed")
    lengths = lengths_of(s, sources)
    total: Value = Const(1)
    for length in lengths:
        total = length if total == Const(1) else operate(s, gast.Mult, total, length)

    def item(k: Value) -> Value:
        positions: list[Value] = []
        for length in reversed(lengths[1:]):
            positions.insert(0, operate(s, gast.Mod, k, length))
            k = operate(s, gast.FloorDiv, k, length)
        return TupleV(tuple(nth(s, source, position) for source, position in zip(sources, [k, *positions])))

    return Source(bounds=(total,), item=item, hint="i", length=lambda: total)


def lengths_of(s: Specialiser, sources: list[Source]) -> list[Value]:
    """Lengths whose product is not positive where one of them is not: of two that are negative it would be."""
    lengths = [source.length() for source in sources if source.length is not None]
    if sum(not counts(s, s.expr(length)) for length in lengths) < 2:
        return lengths
    found: dict[Value, Value] = {}
    for source, length in zip(sources, lengths):
        if length not in found:
            found[length] = count_of(s, source)
    return [found[length] for length in lengths]
