"""``copy.copy`` and ``copy.deepcopy``: what is shared afterwards, and what is not."""

from __future__ import annotations

import copy
import dataclasses
import operator
from collections.abc import Callable, Iterable
from typing import Any

from ....runtime import objects
from ... import ir
from ...domain.facts import Facts, Listed, Mapped, Num
from ...domain.values import Bound, Const, Leaf, ListV, MaybeV, Obj, TupleV, Value
from ..containers import items as containers
from ..containers import lists
from ..containers.iteration import each
from ..kernel.escape import refuse_references
from ..kernel.handlers import handles
from ..kernel.operations import attribute_of, branch, call_python, call_value, over
from ..kernel.specialiser import Specialiser
from ..objects import optional
from ..objects.objects import fields_of as objects_fields
from ..objects.tables import class_of_row, fields_of_row, new_row
from ..world.class_guards import has_method

MadeOf = Callable[[Specialiser, Value], Value]  # what a dataclass inside another one becomes


@handles(copy.copy)
def copied(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A new container of the same items."""
    value = args[0]
    if isinstance(value, (Const, TupleV, MaybeV)):
        return value
    if isinstance(value, ListV):
        return ListV(value.items, s.site("copy"))
    if isinstance(value, Obj) and value.id not in s.objects and has_method(s, value, "__copy__"):
        return call_value(s, attribute_of(s, value, "__copy__"), [], {})
    if isinstance(value, Obj) and may_be_copied(s, value):
        return new_object(s, value, ("copy", s.site()), fields_of(s, value))
    if isinstance(value, Leaf):
        facts = s.facts[value.name]
        cls = class_of_row(s, value)
        if cls is not None and not hasattr(cls, "__copy__"):
            return new_row(s, cls, fields_of_row(s, value))
        if isinstance(facts, Num) and facts.kind != "array" and facts.kind is not None:
            return value
        if may_be_array(facts):
            return call_value(s, Const(operator.pos), [value], {})
        if isinstance(facts, Listed) or isinstance(facts, Num) and facts.kind == "array":
            return call_value(s, Bound("copy", value), [], {})
    raise s.refuse("copy", "a copy of something that cannot be followed")


def may_be_copied(s: Specialiser, value: Obj) -> bool:
    """True if all the fields of an object are known: of one from outside, only those that are read."""
    return value.id not in s.objects or value.cls in (list, dict)


def fields_of(s: Specialiser, value: Obj) -> dict[Any, Value]:
    return {key: containers.field(s, value, key) for key in s.fields(value)}


def new_object(s: Specialiser, like: Obj, id: Any, fields: dict[Any, Value]) -> Obj:
    obj = Obj(id, like.cls)
    s.frozen.discard(id)
    for key in s.fields(obj):
        del s.env[(id, key)]
    s.env |= {(id, key): value for key, value in fields.items()}
    return obj


@handles(copy.deepcopy)
def deepcopied(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """New containers of new arrays; what was one array in two places is one again."""
    return DeepCopy(s).of(args[0])


class DeepCopy:
    """One call of `deepcopy`, and what it has copied so far."""

    def __init__(self, s: Specialiser, depth: int = 0) -> None:
        self.s, self.depth = s, depth  # lists around
        self.made: dict[Any, Value] = {}  # a variable or an object -> its copy
        self.roots: frozenset[int] = frozenset()

    def site(self) -> Any:
        return self.s.site(("deepcopy", self.depth, len(self.made)))

    def of(self, value: Value) -> Value:
        if isinstance(value, Const):
            return value
        if isinstance(value, TupleV):
            return TupleV(tuple(self.of(v) for v in value.items), value.cls)
        if isinstance(value, ListV):
            return ListV(tuple(self.of(v) for v in value.items), self.site())
        if isinstance(value, MaybeV):
            return self.maybe(value)
        known = value.name if isinstance(value, Leaf) else value.id if isinstance(value, Obj) else None
        if known is None:
            raise self.s.refuse("copy", "a copy of something that cannot be followed")
        if known not in self.made:
            self.made[known] = self.leaf(value) if isinstance(value, Leaf) else self.object(value)
        return self.made[known]

    def maybe(self, value: MaybeV) -> Value:
        """A tuple or None; what is copied on one path only is no copy of what other names stand for."""
        s, made, key = self.s, dict(self.made), ("copy", self.site())

        def copy_items() -> None:
            s.env[key] = self.of(optional.there(s, value))

        def leave_none() -> None:
            s.env[key] = Const(None)

        branch(s, optional.asked(s, value, True), leave_none, copy_items)
        self.made = made
        return s.env.pop(key)

    def object(self, value: Obj) -> Value:
        s = self.s
        if not may_be_copied(s, value) or has_method(s, value, "__deepcopy__"):
            raise s.refuse("copy", "a deep copy of something outside the function cannot be followed")
        id = ("copy", self.site())
        self.made[value.id] = Obj(id, value.cls)
        return new_object(s, value, id, {key: self.of(v) for key, v in fields_of(s, value).items()})

    def leaf(self, value: Leaf) -> Value:
        s, facts = self.s, self.s.facts[value.name]
        refuse_references(s, value)
        if isinstance(facts, Listed):
            return self.list(value)
        if isinstance(facts, Num) and (facts.unless_none is not None or facts.dims == () and not facts.roots):
            return value  # a number, or None
        either = may_be_array(facts)
        if isinstance(facts, Mapped) or not isinstance(facts, Num) or facts.kind is None and not either:
            raise s.refuse("copy", "a deep copy of something that cannot be followed")
        if facts.kind != "array" and not either:
            return value
        if facts.roots & self.roots:
            raise s.alias_error("copy", "a deep copy of what may hold one array twice")
        self.roots |= facts.roots
        return call_value(s, Const(operator.pos) if either else Bound("copy", value), [value] if either else [], {})

    def list(self, value: Leaf) -> Value:
        """A list at run time: which of its items are one, only the run could tell."""
        s = self.s
        check = ir.call(s.bind("all_different", objects.all_different), s.expr(value))
        s.block.append(ir.Effect(check, s.where()))
        result = containers.own_list(s, ListV((), self.site()))
        each(s, over(s, value), lambda item: lists.append(s, result, DeepCopy(s, self.depth + 1).of(item)))
        return result


def may_be_array(facts: Facts) -> bool:
    """True for what is a number or an array, of floats: ``+x`` is the number itself, and a copy of the array."""
    if not isinstance(facts, Num) or facts.kind is not None or facts.unless_none is not None:
        return False
    return facts.dtype is not None and facts.differentiable


@handles(dataclasses.fields)
def descriptions(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """The descriptions of the fields of a dataclass, or of an object of one: they are the same in every run."""
    value = args[0] if len(args) == 1 and not kwargs else Const(None)
    cls = value.value if isinstance(value, Const) else class_of_row(s, value) or getattr(value, "cls", None)
    if not isinstance(cls, type) or not dataclasses.is_dataclass(cls):
        return call_python(s, dataclasses.fields, args, kwargs)
    return TupleV(tuple(Const(field) for field in dataclasses.fields(cls)))


@handles(dataclasses.asdict)
def asdict(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    if len(args) != 1 or kwargs:
        raise s.refuse("copy", "dataclasses.asdict with a factory cannot be followed")
    return dict_of(s, args[0])


@handles(dataclasses.astuple)
def astuple(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    if len(args) != 1 or kwargs:
        raise s.refuse("copy", "dataclasses.astuple with a factory cannot be followed")
    return tuple_of(s, args[0])


def dict_of(s: Specialiser, value: Value) -> Value:
    """The fields of a dataclass, each copied on its own, and those inside it as dicts of theirs."""
    return copied_dict(s, {Const(name): item for name, item in objects_fields(s, value)[1].items()}, dict_of)


def tuple_of(s: Specialiser, value: Value) -> Value:
    """The same as tuples."""
    return TupleV(tuple(copied_items(s, objects_fields(s, value)[1].values(), tuple_of)))


def copied_dict(s: Specialiser, items: dict[Const, Value], made_of: MadeOf) -> Value:
    result = containers.new_dict(s)
    for key, item in zip(items, copied_items(s, items.values(), made_of)):
        containers.set_item(s, result, key, item)
    return result


def copied_items(s: Specialiser, items: Iterable[Value], made_of: MadeOf) -> list[Value]:
    found: list[Value] = []
    for number, item in enumerate(items):
        with s.written_out(number):
            found.append(copied_field(s, item, made_of))
    return found


def copied_field(s: Specialiser, value: Value, made_of: MadeOf) -> Value:
    """The value that `asdict` and `astuple` make of a field."""
    if isinstance(value, Obj) and value.cls is dict and may_be_copied(s, value):
        return copied_dict(s, {Const(key): item for key, item in fields_of(s, value).items()}, made_of)
    if isinstance(value, Obj) and dataclasses.is_dataclass(value.cls):
        return made_of(s, value)
    if isinstance(value, (TupleV, ListV)) or isinstance(value, Obj) and value.cls is list:
        items = tuple(copied_items(s, containers.items_of(s, value, None), made_of))
        return TupleV(items, value.cls) if isinstance(value, TupleV) else ListV(items, s.site("list"))
    return DeepCopy(s).of(value)
