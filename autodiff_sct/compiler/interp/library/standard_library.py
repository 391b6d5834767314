"""Python's standard library: collections, itertools and operator, said with lists, dicts and loops."""

from __future__ import annotations

import collections
import functools
import heapq
import itertools
import math
import operator
from dataclasses import replace
from functools import partial
from typing import Any

import gast

from ....core import thresholds
from ... import ir
from ...domain.facts import Listed, Num, Pair
from ...domain.values import Const, Leaf, ListV, Obj, PartialV, Rest, SliceV, TupleV, Value
from ..arrays import emit_op
from ..containers import items as containers
from ..containers import lists
from ..containers.iteration import each, length_of, mapped, zipped
from ..containers.iterators import over_cursor
from ..containers.sources import ENDLESS, Source, count_of, counts
from ..kernel.handlers import HANDLERS, MADE, OPERATORS, handles, otherwise
from ..kernel.operations import as_list, augment, call_method_of, call_python, call_value, operate, over
from ..kernel.specialiser import Specialiser
from ..kernel.user_errors import raise_if
from ..models import functions as models
from ..models import lists as models_lists

# -- collections


@handles(collections.defaultdict)
def defaultdict(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A dict that calls its factory for a key that it lacks."""
    result = containers.new_dict(s)
    if args and args[0] != Const(None):
        site = ("dict", s.site())
        s.factories[site] = s.factories[s.root(site)] = args[0]
    call_method_of(s, result, "update", args[1:], kwargs)
    return result


@handles(collections.OrderedDict)
def ordered_dict(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    result = containers.new_dict(s)
    call_method_of(s, result, "update", args, kwargs)
    return result


@handles(dict.fromkeys)
def fromkeys(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return call_python(s, models_lists.from_keys, args, kwargs)


@handles(collections.Counter)
def counter(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A dict of numbers, where what is missing is 0."""
    site = ("dict", s.site())
    result = containers.new_dict(s)
    s.counters |= {site, s.root(site)}
    count(s, result, args, kwargs)
    return result


def count(s: Specialiser, table: Value, args: list[Value], kwargs: dict[str, Value]) -> None:
    """Add to a dict how often each item occurs, or what another dict says."""
    for arg in args:
        text = models_lists.add_counts if lists.is_dict(s, arg) else models_lists.count_items
        call_python(s, text, [table, arg], {})
    for name, number in kwargs.items():
        call_python(s, models_lists.add_count, [table, Const(name), number], {})


@handles(collections.deque)
def deque(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A list that loses its first item where it grows beyond `maxlen`."""
    limit = args[1] if len(args) > 1 else kwargs.get("maxlen", Const(None))
    items = as_list(s, args[0]) if args else ListV((), s.site("deque"))
    result = containers.own_list(s, items) if isinstance(items, ListV) else items
    if not isinstance(result, Leaf):
        raise s.refuse("list-of-objects", "a deque of objects or functions cannot be followed")
    facts: Any = s.facts[result.name]
    assert isinstance(facts, Listed)
    s.deques |= facts.roots
    if limit != Const(None):
        if args:
            result = lists.part(s, result, operate(s, gast.Sub, Const(0), limit), Const(None))
            facts = s.facts_of(result)
            s.deques |= facts.roots
        for root in facts.roots:
            s.limits[root] = limit
    return result


# -- itertools


def items_now(s: Specialiser, value: Value) -> list[Value] | None:
    """The items of an iterable, where they are known one by one and few."""
    if isinstance(value, Const) and isinstance(value.value, range) and len(value.value) <= thresholds.ITEMS_LISTED:
        return [Const(k) for k in value.value]
    source = over(s, value)
    return source.all_items(s) if source.items is not None else None


@handles(itertools.chain)
def chain(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    known = [over(s, a).items for a in args]
    if all(items is not None for items in known):
        return Source(items=[item for items in known for item in items or []])
    result = containers.own_list(s, ListV((), s.site("chain")))
    for arg in args:
        lists.extend_list(s, result, arg)
    return result


@handles(itertools.chain.from_iterable)
def chain_from(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    outer = over(s, args[0])
    if outer.items is not None:
        return chain(s, outer.items, {})
    result = containers.own_list(s, ListV((), s.site("chain")))
    each(s, outer, lambda inner: lists.extend_list(s, result, inner))
    return result


@handles(itertools.islice)
def islice(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    start, stop, step = (Const(None), args[1], Const(None)) if len(args) == 2 else (*args[1:], Const(None))[:3]
    from_here = start in (Const(None), Const(0)) and stop != Const(None)
    if isinstance(args[0], Obj) and args[0].id in s.cursors and from_here:
        return first_items(s, over_cursor(s, args[0], True), stop)
    if isinstance(args[0], Source) and args[0].endless and isinstance(stop, Const) and from_here:
        return replace(args[0], bounds=(stop,), length=lambda: stop, endless=False)
    if isinstance(args[0], Source) and args[0].length is None:
        raise s.refuse(
            "unknown-length",
            "itertools.islice of an iterable of unknown length cannot be followed",
            "loop over a range",
        )
    for bound in (start, stop):
        check_place(s, bound)
    items = containers.own_value(s, as_list(s, args[0]))
    if step in (Const(None), Const(1)):
        return lists.part(s, items, start, stop)
    if not isinstance(step, Const) or type(step.value) is not int or step.value < 1:
        raise s.refuse("iterator", "itertools.islice with a step that is no positive constant", "slice a list")
    return containers.get_item(s, items, SliceV(start, stop, step))


def check_place(s: Specialiser, place: Value) -> None:
    """Places are counted from the front: a negative one is an error, where a slice would count from the end."""
    if place == Const(None) or counts(s, s.expr(place)):
        return
    message = "Indices for islice() must be None or an integer: 0 <= x <= sys.maxsize."
    raise_if(s, gast.Compare(s.expr(place), [gast.Lt()], [ir.constant(0)]), ValueError, message)


def first_items(s: Specialiser, source: Source, count: Value) -> Source:
    """The next items of an iterator, one by one: it goes on behind them."""
    bounds = source.bounds or ()
    start, end = bounds if len(bounds) == 2 else (Const(0), *bounds)
    last = count if start == Const(0) else operate(s, gast.Add, start, count)
    stop = call_value(s, Const(min, gast.Name("min", gast.Load(), None, None)), [last, end], {})
    left = stop if start == Const(0) else operate(s, gast.Sub, stop, start)
    return replace(source, bounds=(stop,) if start == Const(0) else (start, stop), length=lambda: left)


@handles(itertools.pairwise)
def pairwise(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    items = items_now(s, args[0])
    if items is not None:
        return Source(items=[TupleV(pair) for pair in itertools.pairwise(items)])
    whole = as_list(s, args[0]) if isinstance(args[0], Source) else args[0]
    shifted = [
        over(s, lists.part(s, whole, start, stop))
        for start, stop in ((Const(None), Const(-1)), (Const(1), Const(None)))
    ]
    return zipped(s, shifted)


@handles(itertools.accumulate)
def accumulate(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    fn = args[1] if len(args) > 1 else kwargs.get("func", Const(operator.add))
    items = containers.own_list(s, listed) if isinstance(listed := as_list(s, args[0]), ListV) else listed
    if "initial" in kwargs:
        return call_python(s, models.accumulated_from, [items, fn, kwargs["initial"]], {})
    return call_python(s, models.accumulated, [items, fn], {})


@handles(itertools.count)
def counted(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    start = args[0] if args else kwargs.get("start", Const(0))
    step = args[1] if len(args) > 1 else kwargs.get("step", Const(1))

    def item(k: Value) -> Value:
        offset = k if step == Const(1) else operate(s, gast.Mult, k, step)
        return offset if start == Const(0) else operate(s, gast.Add, start, offset)

    return Source(bounds=(Const(ENDLESS),), item=item, hint="i", endless=True)


@handles(itertools.repeat)
def repeat(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    times = args[1] if len(args) > 1 else kwargs.get("times")
    if times is None:
        return Source(bounds=(Const(ENDLESS),), item=lambda k: args[0], hint="i", endless=True)
    return Source(bounds=(times,), item=lambda k: args[0], hint="i", length=lambda: times)


@handles(itertools.starmap)
def starmap(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return mapped(s, over(s, args[1]), lambda item: call_value(s, args[0], containers.items_of(s, item, None), {}))


@handles(itertools.groupby)
def groupby(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    key = args[1] if len(args) > 1 else kwargs.get("key", Const(None))
    groups = over(s, call_python(s, models.grouped, [as_list(s, args[0]), key], {}))

    site = ("iterator", s.site("group"))

    def pair(item: Value) -> Value:
        label, group = containers.items_of(s, item, 2)
        return TupleV((label, replace(over(s, group), once=site)))  # a group is gone through once, too

    if groups.items:
        raise s.refuse(
            "iterator", "itertools.groupby of something so short that its loop is written out", "write a loop"
        )
    return mapped(s, groups, pair)


# -- heapq


for _heap, _text in ((heapq.heappush, models_lists.heap_push), (heapq.heappop, models_lists.heap_pop)):
    handles(_heap)(functools.partial(lambda text, s, args, kwargs: call_python(s, text, args, kwargs), _text))
handles(heapq.heapify)(lambda s, args, kwargs: call_python(s, models_lists.heap_order, args, kwargs))


# -- math


@otherwise(math.prod)
def prod(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    return call_python(s, models.multiplied, [*args, kwargs["start"]], {}) if "start" in kwargs else None


@otherwise(math.hypot)
def hypot(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    """``math.hypot(*items)`` is the distance from zero, to the last bit."""
    if not args or not isinstance(args[0], Rest):
        return None
    zeros = operate(s, gast.Mult, ListV((Const(0.0),), s.site("zeros")), length_of(s, args[0].items))
    return call_value(s, Const(math.dist, ir.attribute(s.bind("math", math), "dist")), [args[0].items, zeros], {})


# -- operator


def in_place(kind: type) -> Any:
    def handler(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
        facts = s.num(args[0])
        if isinstance(args[0], Leaf) and facts is not None and not facts.python and facts.kind != "npscalar":
            return emit_op.store_augmented(s, args[0], Const(Ellipsis), kind, args[1])
        return augment(s, args[0], kind, args[1])

    return handler


for _kind, (_fn2, _python, _method) in OPERATORS.items():
    handles(getattr(operator, f"i{_method.rstrip('_')}"))(in_place(_kind))


@handles(operator.setitem)
def setitem(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    containers.set_item(s, args[0], args[1], args[2])
    return Const(None)


@handles(operator.delitem)
def delitem(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    lists.delete_item(s, args[0], args[1])
    return Const(None)


@handles(operator.itemgetter)
def itemgetter(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    if len(args) == 1:
        return PartialV(Const(models.take_item), (args[0],), {})
    return PartialV(Const(models.take_items), (TupleV(tuple(args)),), {})


@handles(operator.attrgetter)
def attrgetter(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    paths = tuple(TupleV(tuple(Const(part) for part in s.static(a).split("."))) for a in args)
    if len(args) == 1:
        return PartialV(Const(models.take_attribute), paths, {})
    return PartialV(Const(models.take_attributes), (TupleV(paths),), {})


@handles(operator.methodcaller)
def methodcaller(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return PartialV(Const(models.call_method), (args[0], TupleV(tuple(args[1:]))), kwargs)


def made_outside(s: Specialiser, made: Any) -> Value:
    """The object that a constructor makes of constants, before the program."""
    _, args, *_ = made.__reduce__()
    keywords: dict[str, Any] = {}
    if isinstance(cls := made.__reduce__()[0], functools.partial):
        keywords = cls.keywords
        args = (*cls.args, *args)
    return HANDLERS[type(made)](s, [Const(a) for a in args], {k: Const(v) for k, v in keywords.items()})


for _cls in (operator.itemgetter, operator.attrgetter, operator.methodcaller):
    MADE[_cls] = made_outside


# -- zip(*rows)


@handles(zip)
def zip_(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    if args and isinstance(args[0], Rest):
        return columns(s, args[0].items, kwargs)
    sources = [over(s, a) for a in args]
    if kwargs.get("strict", Const(False)) != Const(False):
        check_strictly(s, sources)
    return zipped(s, sources)


def check_strictly(s: Specialiser, sources: list[Source]) -> None:
    """Iterables of different lengths are an error, raised before the loop: nobody must see what it would have done."""
    if s.attempts:
        raise s.refuse(
            "exceptions", "zip with strict=True inside `try` cannot be followed", "compare the lengths before the loop"
        )
    for number, source in enumerate(sources[1:], 2):
        lengths = [strict_length(s, source) for source in (sources[0], source)]
        if lengths[0] != lengths[1]:
            given = [strict_length(s, source, count_of) for source in (sources[0], source)]
            call_python(s, models.check_lengths, [*given, Const(number)], {})


def strict_length(s: Specialiser, source: Source, counted: Any = lambda s, source: source.length()) -> Value:
    if source.items is not None:
        return Const(len(source.items))
    if source.length is None:
        raise s.refuse("unknown-length", "an iterable of unknown length in zip with strict=True cannot be followed")
    length: Value = counted(s, source)
    return length


def columns(s: Specialiser, rows: Leaf, kwargs: dict[str, Value]) -> Source:
    """``zip(*rows)`` of a matrix, or of a list of rows: the columns, each a list."""
    facts = s.facts[rows.name]
    if isinstance(facts, Num) and facts.dims is not None and len(facts.dims) == 2:
        height, width = length_of(s, rows), call_python(s, models.width, [rows], {})
    else:
        found = columns_of_list(s, rows, facts) if isinstance(facts, Listed) and not kwargs else None
        if found is None:
            raise s.refuse(
                "unknown-length",
                "zip of the items of something whose length is known only at run time",
                "transpose an array, or unpack the columns of tuples",
            )
        if found.items is not None:
            return found
        height, (width,) = length_of(s, rows), found.bounds or ()
    return Source(bounds=(width,), item=partial(column, s, rows, height), hint="i", length=lambda: width)


def columns_of_list(s: Specialiser, rows: Leaf, facts: Listed) -> Source | None:
    """The number of columns of the rows in a list, or of tuples where these are unpacked; None otherwise."""
    element = s.elements_of(facts)
    if isinstance(element, Pair) and is_unpacked(s, s.node):
        call_python(s, models.check_any, [rows, Const(len(element.items))], {})
        return Source(items=[column(s, rows, length_of(s, rows), Const(k)) for k in range(len(element.items))])
    if isinstance(element, Listed) or isinstance(element, Num) and element.ndim == 1:
        return Source(bounds=(call_python(s, models.shortest, [rows], {}),))
    return None


def around(s: Specialiser, node: Any) -> Any:
    """The node that an expression of the function stands in."""
    assert s.frame is not None
    return next((n for n in gast.walk(s.frame.parsed.tree) if any(c is node for c in gast.iter_child_nodes(n))), None)


def is_unpacked(s: Specialiser, node: Any) -> bool:
    """True if what an iterator gives is unpacked where it is made, if need be through ``map``."""
    parent = around(s, node)
    if isinstance(parent, gast.Call) and getattr(parent.func, "id", None) == "map":
        return is_unpacked(s, parent)
    return unpacks(parent)


def unpacks(stmt: Any) -> bool:
    return isinstance(stmt, gast.Assign) and isinstance(stmt.targets[0], (gast.Tuple, gast.List))


def column(s: Specialiser, rows: Leaf, height: Value, k: Value) -> Value:
    """The items at `k` of all rows, as a list."""
    listed = Listed(frozenset([s.root(("list", s.site("column")))]))
    result = s.let(
        gast.List([], gast.Load()), listed, ir.Op(list, {"items": ListV(())}), hint="column", may_raise=False
    )

    def item(j: Value) -> Value:
        if isinstance(s.facts[rows.name], Num):
            return containers.get_item(s, rows, TupleV((j, k)))
        return containers.get_item(s, containers.get_item(s, rows, j), k)

    each(s, Source(bounds=(height,), item=item, hint="j"), lambda value: lists.append(s, result, value))
    return result
