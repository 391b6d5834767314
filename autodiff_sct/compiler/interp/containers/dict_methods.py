"""Methods of dicts."""

from __future__ import annotations

from collections.abc import Callable

import gast

from ... import ir
from ...domain.facts import BOOL, Mapped
from ...domain.values import Const, Leaf, Obj, TupleV, Value
from ..kernel.operations import branch, call_python, compare_two, over
from ..kernel.program_values import Restart
from ..kernel.specialiser import Specialiser
from ..kernel.user_errors import always
from ..models import lists as models_lists
from ..objects import record_tables
from . import items, lists
from .iteration import each, keys_of, mapped, over_keys
from .missing_keys import holds_nothing

REORDERING = {"popitem": models_lists.pop_item, "move_to_end": models_lists.move_to_end}


def dict_method(s: Specialiser, base: Obj, name: str, args: list[Value]) -> Value:
    keys = s.fields(base)
    if name == "keys":
        return TupleV(tuple(Const(k) for k in keys))
    if name == "values":
        return TupleV(tuple(items.get_field(s, base, Const(k)) for k in keys))
    if name == "items":
        return TupleV(tuple(TupleV((Const(k), items.get_field(s, base, Const(k)))) for k in keys))
    if name in ("get", "setdefault", "pop") and args and s.is_static(args[0]):
        key = s.static(args[0])
        found = key in keys
        if name == "pop" and not found and len(args) == 1:
            raise always(s, KeyError, key)
        default = items.own_value(s, args[1]) if len(args) > 1 and not found else Const(None)
        value = items.get_field(s, base, args[0]) if found else default
        if name == "setdefault" and not found:
            items.set_field(s, base, args[0], value)
        if name == "pop" and found:
            refuse_outside(s, base)
            items.refuse_frozen(s, base)
            del s.env[(base.id, key)]
        return value
    if name == "copy":
        return copy_dict(s, base)
    if name == "clear":
        refuse_outside(s, base)
        items.refuse_frozen(s, base)
        for key in keys:
            del s.env[(base.id, key)]
        return Const(None)
    if name in ("get", "setdefault") and base.id[0] == "dict":
        raise Restart(base.id)
    if name in REORDERING and base.id[0] == "dict":
        raise Restart(base.id)
    if name == "get" and args:
        found = compare_two(s, gast.In(), args[0], base)
        return either(s, name, found, lambda: items.get_item(s, base, args[0]), default_of(s, args))
    raise s.refuse("dict-method", f"the dict method {name!r} cannot be followed here")


def either(s: Specialiser, name: str, found: Value, present: Callable[[], Value], absent: Callable[[], Value]) -> Value:
    """The result of a method: one value where the key was `found`, another one where it was not."""
    key = ("choice", s.site(name))

    def put(value: Callable[[], Value]) -> None:
        s.env[key] = value()

    branch(s, found, lambda: put(present), lambda: put(absent))
    return s.env.pop(key)


def default_of(s: Specialiser, args: list[Value]) -> Callable[[], Value]:
    """The second argument of ``get``, or None."""
    return lambda: items.own_value(s, args[1] if len(args) > 1 else Const(None))


def update(s: Specialiser, base: Value, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``base.update(other, key=value)``"""
    for other in args:
        if isinstance(other, Obj) and other.cls is dict or record_tables.record_of(s, other) is not None:
            items.update_dict(s, base, [(None, other)])
        elif isinstance(facts := s.facts_of(other), Mapped):
            pairs = mapped_method(s, other, facts, "items", [], {})
            each(s, pairs, lambda pair: items.set_item(s, base, *pair.items))
        else:
            each(s, over(s, other), lambda pair: items.set_item(s, base, *items.items_of(s, pair, 2)))
    items.update_dict(s, base, [(Const(k), v) for k, v in kwargs.items()])
    return Const(None)


def refuse_outside(s: Specialiser, base: Obj) -> None:
    """Refuse to take keys out of a dict that the caller holds."""
    if base.id in s.objects:
        raise s.refuse(
            "outside-write", "a key is taken out of a dict that lives outside the function", "change a copy of it"
        )


def copy_dict(s: Specialiser, base: Obj) -> Obj:
    obj = Obj(("dict", s.site("copy")), dict)
    values = {key: items.get_field(s, base, Const(key)) for key in s.fields(base)}
    for key in s.fields(obj):
        del s.env[(obj.id, key)]
    for key, value in values.items():
        s.env[(obj.id, key)] = value
    return obj


def mapped_method(
    s: Specialiser, base: Leaf, facts: Mapped, name: str, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    if name == "keys":
        return keys_of(s, base)
    if name == "values":
        return mapped(s, over_keys(s, base), lambda k: items.get_element(s, base, facts, k, True))
    if name == "items":
        return mapped(s, over_keys(s, base), lambda k: TupleV((k, items.get_element(s, base, facts, k, True))))
    if name == "pop" and len(args) == 1:
        value = items.get_item(s, base, args[0])
        lists.delete_key(s, base, args[0])
        return value
    if name in ("get", "setdefault"):
        return get_or(s, base, facts, name, args)
    if name in REORDERING:
        return call_python(s, REORDERING[name], [base, *args], kwargs)
    if name == "copy" and s.counters.isdisjoint(facts.roots) and s.factories.keys().isdisjoint(facts.roots):
        result = items.new_dict(s)
        update(s, result, [base], {})
        return result
    raise s.refuse("dict-method", f"the dict method {name!r} cannot be followed here")


def get_or(s: Specialiser, base: Leaf, facts: Mapped, name: str, args: list[Value]) -> Value:
    default = args[1] if len(args) > 1 else Const(None)
    if holds_nothing(s, facts):
        value = items.own_value(s, default)
        if name == "setdefault":
            items.set_item(s, base, args[0], value)
        return value
    op = gast.NotIn() if name == "setdefault" else gast.In()
    test = s.let(
        gast.Compare(s.expr(args[0]), [op], [ir.name(base.name)]),
        BOOL,
        hint="missing" if name == "setdefault" else "found",
    )
    if name == "setdefault":
        branch(s, test, lambda: items.set_item(s, base, args[0], default), lambda: None)
        return items.get_element(s, base, facts, args[0], True)
    return either(s, name, test, lambda: items.get_element(s, base, facts, args[0], True), default_of(s, args))
