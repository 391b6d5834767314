"""Python's own functions."""

from __future__ import annotations

import dataclasses
import functools
import operator
from dataclasses import replace
from typing import Any, TypeGuard

import gast
import numpy as np

from ....core import thresholds
from ....runtime import sorting
from ... import ir
from ...domain.dummies import is_cheap, is_short
from ...domain.facts import BOOL, INT, Listed, Mapped, Num, Opaque, Pair
from ...domain.values import Bound, Choice, Closure, Const, Leaf, ListV, Obj, PartialV, SliceV, TupleV, Value
from ..arrays import emit_op
from ..arrays.flat import base_of, is_flat
from ..containers import items as containers
from ..containers import lists
from ..containers.iteration import each, enumerated, keys_of, known_numbers, length_of, mapped, zipped
from ..containers.sources import Source, count_of, is_range, over_range, reversed_source
from ..kernel import operations
from ..kernel.escape import refuse_references
from ..kernel.handlers import OPERATORS, handles
from ..kernel.operations import (
    attribute_of,
    call_method_of,
    call_python,
    call_value,
    defines,
    opaque_call,
    operate,
    over,
    truth,
)
from ..kernel.specialiser import Specialiser
from ..kernel.user_errors import always
from ..models import functions as models
from ..objects import dict_views, record_tables
from ..objects.objects import call_method, replace_fields
from ..objects.tables import method_of, operation
from ..objects.union_tables import exists
from ..world.class_guards import has_method
from .combinatorics import by_constants, holds_constants, sorted_constants


@handles(len)
def len_(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    value = args[0]
    if (view := dict_views.viewed(s, value)) is not None:
        return len_(s, [view.base], {})
    if isinstance(value, (TupleV, ListV)):
        return Const(len(value.items))
    if isinstance(value, Obj):
        if value.cls in (dict, list):
            return Const(len(s.fields(value)))
        return attribute_of(s, base_of(s, value), "size") if is_flat(value) else call_method(s, value, "__len__", [])
    if isinstance(value, Const):
        return Const(len(value.value))
    if isinstance(value, Leaf):
        facts = s.facts[value.name]
        if (record := record_tables.record_of(s, value)) is not None:
            return Const(len(record.keys_of_all))
        if (count := operation(s, value, "__len__")) is not None:
            return count
        return Const(len(facts.items)) if isinstance(facts, Pair) else length_of(s, value)
    if isinstance(value, Bound) and isinstance(value.function, str):  # an attribute of an object of unknown class
        return s.let(ir.call("len", s.expr(value)), INT, effect=True, hint="length")
    if isinstance(value, Source) and is_range(value):
        return count_of(s, value)
    raise s.refuse("unknown-length", "len() of something whose length cannot be followed")


@handles(range)
def range_(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    if all(s.is_static(a) for a in args):
        return Const(range(*(s.static(a) for a in args)))
    full = args if len(args) > 1 else [Const(0), args[0]]
    return over_range(s, full)


@handles(enumerate)
def enumerate_(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    start = args[1] if len(args) > 1 else kwargs.get("start", Const(0))
    source = over(s, args[0])
    if source.items is None and source.bounds is None:
        source = over(s, listed_opaque(s, args[0]))
    return replace(enumerated(s, source, start), counted=(args[0], start))


def listed_opaque(s: Specialiser, value: Value) -> Leaf:
    """The items of an iterable of which nothing is known, in a list."""
    listed = Listed(frozenset([s.root(("list", s.site("opaque")))]))
    s.put_element(listed, s.members.get(value.name, Opaque()) if isinstance(value, Leaf) else Opaque())
    expr = ir.call(gast.Name("list", gast.Load(), None, None), s.expr(value))
    return s.let(expr, listed, ir.Op(dict.keys, {"x": value}), hint="items", effect=True)


@handles(reversed)
def reversed_(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    source = over(s, args[0])
    if source.items is None and source.bounds is None:  # nothing is known of it
        return over(s, listed_opaque(s, opaque_call(s, ir.name("reversed"), reversed, args, kwargs)))
    return reversed_source(s, source)


@handles(map)
def map_(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    fn = args[0]
    if len(args) == 2:
        return mapped(s, over(s, args[1]), lambda item: call_value(s, fn, [item], {}))
    source = zipped(s, [over(s, a) for a in args[1:]])
    return mapped(s, source, lambda item: call_value(s, fn, list(item.items), {}))


@handles(filter)
def filter_(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return call_python(s, models.filtered, [args[0], listify(s, args[1])], {})


def listify(s: Specialiser, value: Value) -> Value:
    if isinstance(value, Leaf) and isinstance(s.facts[value.name], Mapped):
        return keys_of(s, value)
    own = isinstance(value, Obj) and value.cls is not list
    return as_list(s, value) if own or isinstance(value, Source) else value


@defines(operations.as_list)
def as_list(s: Specialiser, value: Value) -> Value:
    """The items of anything in a new list."""
    if (numbers := known_numbers(value)) is not None:
        return ListV(numbers, s.site())
    source = over(s, value)
    if source.whole is not None:
        return source.whole
    if source.items is not None:
        return ListV(tuple(source.all_items(s)), s.site())
    if isinstance(value, Leaf) and is_vector(facts := s.num(value)):
        item = Num("npscalar", facts.dtype, ())
        return lists.of_array(s, value, ir.call(gast.Name("list", gast.Load(), None, None), s.expr(value)), item)
    listed = Listed(frozenset([s.root(("list", s.site("as list")))]))
    if source.bounds is None and source.advance is None:
        return listed_opaque(s, value)
    result = s.let(gast.List([], gast.Load()), listed, ir.Op(list, {"items": ListV(())}), hint="items", may_raise=False)
    each(s, source, lambda item: lists.append(s, result, item))
    return result


def is_vector(facts: Num | None) -> TypeGuard[Num]:
    """True if something is an array of floats of one axis."""
    if facts is None or facts.kind != "array" or facts.ndim != 1 or facts.tensor:
        return False
    return facts.dtype is not None and facts.dtype.kind in "fc"


@handles(list)
def list_(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    if not args:
        return ListV((), s.site())
    if isinstance(args[0], Obj) and args[0].cls is list:
        return ListV(tuple(containers.items_of(s, args[0], None)), s.site())
    if isinstance(args[0], Leaf) and isinstance(facts := s.facts[args[0].name], Listed):
        if facts.is_tuple is False:
            return call_value(s, Bound("copy", args[0]), [], {})
        called = ir.call(gast.Name("list", gast.Load(), None, None), s.expr(args[0]))
        return lists.copied(s, args[0], facts, called)
    return as_list(s, args[0])


@handles(tuple)
def tuple_(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    if not args:
        return TupleV(())
    if isinstance(args[0], Obj) and args[0].cls is list:
        return TupleV(tuple(containers.items_of(s, args[0], None)))
    if (numbers := known_numbers(args[0])) is not None:
        return TupleV(numbers)
    facts = s.facts_of(args[0]) if isinstance(args[0], Leaf) else None
    if isinstance(facts, Listed) and facts.roots.isdisjoint(s.lazy):
        return lists.as_tuple(s, args[0])
    source = over(s, args[0])
    if source.items is not None:
        return TupleV(tuple(source.all_items(s)))
    return lists.as_tuple(s, as_list(s, args[0]))


@handles(dict)
def dict_(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    result = containers.new_dict(s)
    if args and isinstance(args[0], Obj) and args[0].cls is dict:
        containers.update_dict(s, result, [(None, args[0])])
    elif args and (isinstance(s.facts_of(args[0]), Mapped) or record_tables.record_of(s, args[0]) is not None):
        call_method_of(s, result, "update", args, {})
    elif args:
        each(s, over(s, args[0]), lambda pair: containers.set_item(s, result, *containers.items_of(s, pair, 2)))
    containers.update_dict(s, result, [(Const(k), v) for k, v in kwargs.items()])
    return record_tables.as_record(s, result)


@handles(sum)
def sum_(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    items = listify(s, args[0])
    start = args[1] if len(args) > 1 else kwargs.get("start")
    known = as_items(s, items)
    if known is not None and not known:
        return start if start is not None else Const(0)
    if known is not None and any(isinstance(v, (Obj, TupleV, ListV)) for v in known):
        return call_python(s, models.folded, [items, start or Const(0)], {})
    if start is not None and lists.is_list(s, start):
        return call_python(s, models.folded, [items, containers.own_value(s, start)], {})
    given = ListV(tuple(known)) if known is not None else items
    more = [] if start is None else [start]
    expr = ir.call(gast.Name("sum", gast.Load(), None, None), s.expr(given), *(s.expr(v) for v in more))
    return emit_op.apply(s, sum, expr, [given, *more], {})


def as_items(s: Specialiser, value: Value) -> list[Value] | None:
    if isinstance(value, (TupleV, ListV)) or (isinstance(value, Obj) and value.cls in (dict, list)):
        return containers.items_of(s, value, None)
    if isinstance(value, Const) and isinstance(value.value, (tuple, list, range)) and is_short(value.value):
        return [Const(v) for v in value.value]
    return None


def is_of_rows(s: Specialiser, items: Value) -> bool:
    """True if a value is a list of run-time length of tuples or of lists."""
    facts = s.facts_of(items)
    return isinstance(facts, Listed) and isinstance(s.elements_of(facts), (Pair, Listed))


def is_row(s: Specialiser, value: Value) -> bool:
    return isinstance(value, (TupleV, ListV)) or isinstance(s.facts_of(value), (Pair, Listed))


def extreme(fn: Any) -> Any:
    def handler(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
        args = [listify(s, a) for a in args] if len(args) == 1 else args
        if kwargs and len(args) == 1 and isinstance(args[0], Leaf) and isinstance(s.facts_of(args[0]), Opaque):
            args = [listed_opaque(s, args[0])]  # a set, say, which has no items by number
        if "key" in kwargs:
            items = args[0] if len(args) == 1 else TupleV(tuple(args))
            return call_python(s, models.largest_by if fn is max else models.smallest_by, [items, kwargs["key"]], {})
        if "default" in kwargs and len(args) == 1:
            known = as_items(s, args[0])
            if known is None:
                either = models.largest_or if fn is max else models.smallest_or
                return call_python(s, either, [args[0], kwargs["default"]], {})
            if not known:
                return kwargs["default"]
        elif kwargs:
            raise s.refuse(
                "numpy-form", f"{fn.__name__} with {next(iter(kwargs))}= cannot be followed", "leave that keyword out"
            )
        if len(args) == 1 and (known := as_items(s, args[0])) is not None:
            if not known:
                raise always(s, ValueError, empty(fn))
            if len(known) == 1:
                return known[0]
            args = known
        if all(isinstance(a, Const) for a in args) and is_cheap(fn, [s.static(a) for a in args]):
            return Const(fn(*(a.value for a in args)))
        if len(args) == 1 and (is_of_rows(s, args[0]) or are_objects(s, args[0])):
            call_python(s, models.check_filled, [args[0], Const(empty(fn))], {})
            return call_python(s, models.largest if fn is max else models.smallest, args, {})
        if any(isinstance(a, Obj) or len(args) > 1 and is_row(s, a) for a in args):
            return call_python(s, models.largest if fn is max else models.smallest, [TupleV(tuple(args))], {})
        expr = ir.call(gast.Name(fn.__name__, gast.Load(), None, None), *(s.expr(a) for a in args))
        items = args[0] if len(args) == 1 else TupleV(tuple(args))
        return emit_op.apply(s, fn, expr, [items], {})

    return handler


def empty(fn: Any) -> str:
    """The exception of an extreme of nothing."""
    try:
        fn(())
    except ValueError as error:
        return str(error)
    return ""


handles(max)(extreme(max))
handles(min)(extreme(min))


@handles(sorted)
def sorted_(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    key = kwargs.get("key", Const(None))
    items = listify(s, args[0])
    if isinstance(items, Leaf) and isinstance(s.facts[items.name], Opaque):
        items = listed_opaque(s, items)
    if isinstance(items, Obj) and items.cls is dict:
        items = ListV(tuple(Const(k) for k in s.fields(items)), s.site())
    if s.is_static(items) and key == Const(None) and is_cheap(sorted, [s.static(items)]):
        return Const(sorted(s.static(items), reverse=s.static(kwargs.get("reverse", Const(False)))))
    backwards = kwargs.get("reverse", Const(False))
    if key == Const(None) and s.is_static(backwards) and (known := by_constants(as_items(s, items) or [])) is not None:
        return ListV(tuple(reversed(known) if s.static(backwards) else known), s.site())
    if (
        key != Const(None)
        and s.is_static(backwards)
        and (places := places_by_key(s, as_items(s, items), key)) is not None
    ):
        given = as_items(s, items) or []
        order = sorted(places, key=places.__getitem__, reverse=s.static(backwards))
        return ListV(tuple(given[k] for k in order), s.site())
    items = containers.own_list(s, items) if isinstance(items, ListV) else items
    if key == Const(None) and isinstance(items, Leaf) and holds_constants(s, items) and not are_objects(s, items):
        return sorted_constants(s, items, backwards)
    return call_python(s, models.ordered, [items, key, backwards], {})


def places_by_key(s: Specialiser, items: list[Value] | None, key: Value) -> dict[int, Any] | None:
    """The constants by which known items are sorted; None where only the run knows one of them."""
    if not items or len(items) > thresholds.SHORT_LIST:
        return None
    mark, env = len(s.block), dict(s.env)
    keys = [call_value(s, key, [item], {}) for item in items]
    if len(s.block) == mark and all(s.is_static(v) for v in keys):
        return {k: s.static(v) for k, v in enumerate(keys)}
    del s.block[mark:]
    s.env = env
    return None


@handles(sorting.order_of)
def order_of(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    if are_objects(s, args[0]):
        return call_python(s, models.order_by_comparing, args, kwargs)
    listed = Listed(frozenset([s.root(("list", s.site("order")))]))
    s.put_element(listed, INT)
    expr = ir.call(s.bind("order_of", sorting.order_of), *(s.expr(a) for a in args))
    return s.let(expr, listed, ir.Op(sorting.order_of, {"keys": args[0]}), hint="order")


def are_objects(s: Specialiser, items: Value) -> bool:
    """True if a list is one of objects, which their own methods compare."""
    if isinstance(items, Obj):
        return any(isinstance(item, Obj) for item in containers.items_of(s, items, None))
    facts = s.facts_of(items)
    element = s.elements_of(facts) if isinstance(facts, Listed) else None
    return isinstance(element, Num) and element.row is not None


@handles(set, frozenset)
def set_(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return set_of(s, listify(s, args[0]) if args else ListV((), s.site()))


def quantifier(fn: Any) -> Any:
    def handler(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if isinstance(args[0], Source) and args[0].once is not None:  # it is asked for no more than is needed
            return call_python(s, models.any_of if fn is any else models.all_of, args, {})
        items = listify(s, args[0])
        refuse_references(s, items)
        known = as_items(s, items)
        if known is not None and all(isinstance(item, Const) for item in known):
            return Const(fn(s.static(item) for item in known))
        return s.let(
            ir.call(gast.Name(fn.__name__, gast.Load(), None, None), s.expr(items)),
            BOOL,
            ir.Op(bool, {"x": items}),
            hint="condition",
        )

    return handler


handles(any)(quantifier(any))
handles(all)(quantifier(all))


@handles(functools.reduce)
def reduce_(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    items = listify(s, args[1])
    if len(args) > 2:
        return call_python(s, models.reduced_from, [args[0], items, args[2]], {})
    return call_python(s, models.reduced, [args[0], items], {})


@handles(functools.partial)
def partial_(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return PartialV(args[0], tuple(args[1:]), dict(kwargs))


# -- truth


@handles(bool)
def bool_(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    value = truth(s, args[0])
    if isinstance(value, Const):
        return value
    return s.let(ir.call(gast.Name("bool", gast.Load(), None, None), s.expr(value)), BOOL, ir.Op(bool, {"x": value}))


@handles(int)
def int_(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    if all(s.is_static(a) for a in [*args, *kwargs.values()]):
        return Const(int(*map(s.static, args), **{k: s.static(v) for k, v in kwargs.items()}))
    facts = s.num(args[0])
    if facts is not None and facts.kind == "int":
        return args[0]
    return s.let(
        ir.call(gast.Name("int", gast.Load(), None, None), *(s.expr(a) for a in args)),
        INT,
        ir.Op(int, {"x": args[0]}),
        hint="k",
    )


@handles(callable)
def callable_(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    value = args[0]
    if isinstance(value, Leaf):
        return Const(method_of(s, value, "__call__") is not None)
    if isinstance(value, Obj):
        return Const(has_method(s, value, "__call__"))
    if isinstance(value, Choice):
        return exists(s, value)
    if isinstance(value, Const):
        return Const(callable(value.value))
    return Const(isinstance(value, (Closure, Bound, PartialV)) or hasattr(value, "call"))


@handles(slice)
def slice_(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    bounds = [Const(None), *args] if len(args) == 1 else args
    if all(map(s.is_static, bounds)):
        return Const(slice(*map(s.static, bounds)))
    return SliceV(*bounds, *[Const(None)] * (3 - len(bounds)))


@handles(divmod)
def divmod_(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return TupleV((operate(s, gast.FloorDiv, *args), operate(s, gast.Mod, *args)))


@handles(pow)
def pow_(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    if len(args) != 2:
        raise s.refuse("numpy-form", "pow with a modulus cannot be followed", "write `x**y % m`")
    return operate(s, gast.Pow, *args)


@handles(abs)
def abs_(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    value = args[0]
    if isinstance(value, Obj):
        return call_method(s, value, "__abs__", [])
    if isinstance(value, Const):
        return Const(abs(value.value))
    return emit_op.apply(
        s, np.absolute, ir.call(gast.Name("abs", gast.Load(), None, None), s.expr(value)), args, {}, abs
    )


for _kind, (_fn, _python, _method) in OPERATORS.items():
    handles(_python)(lambda s, args, kwargs, _kind=_kind: operate(s, _kind, *args))


@handles(operator.getitem)
def getitem(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return containers.get_item(s, args[0], args[1])


@handles(operator.neg)
def neg(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return emit_op.apply(s, np.negative, gast.UnaryOp(gast.USub(), s.expr(args[0])), args, {}, operator.neg)


# -- copies


@handles(dataclasses.replace)
def replace_(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return replace_fields(s, args[0], kwargs)


def set_of(s: Specialiser, items: Value) -> Value:
    """``set(items)``; a set carries no derivative."""
    facts = s.facts_of(items)
    result = s.let(ir.call(gast.Name("set", gast.Load(), None, None), s.expr(items)), Opaque(set), effect=True)
    element = s.elements_of(facts) if isinstance(facts, Listed) else None
    if element is not None:
        s.members[result.name] = element
    return result
