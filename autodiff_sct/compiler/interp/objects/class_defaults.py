"""Attributes that an object has of its class, until it is given its own.

::

    class Total:
        value = 0.0
    total = Total()
    for e in x:
        total.value += e        the first iteration reads what the class holds

Where a path that assigns such an attribute meets one that does not, the object has its own on both: what the class
holds is what is read there either way.  So nobody may give the class another value after that.
"""

from __future__ import annotations

import functools
import types
from typing import Any

from ...domain.values import Const, Leaf, Obj, Poison, Value
from ...ir.builder import Specialiser
from ..kernel.escape import parts_of
from ..world.captures import import_external, object_number
from ..world.class_guards import DESCRIPTORS, found_in, has, own_method, refuse_descriptor
from ..world.outside_writes import assigned_to_class

NO_VALUES = (*DESCRIPTORS, functools.cached_property, types.MemberDescriptorType, types.GetSetDescriptorType)


def class_value(s: Specialiser, cls: type, attr: str) -> Value | None:
    """The value of a class for an object without the attribute; None where there is none, or one that is bound."""
    if (value := assigned_to_class(s, cls, attr)) is not None:
        return value
    if isinstance(found_in(s, cls, attr), NO_VALUES) or not has(cls, attr):
        return None
    return import_external(s, lambda: getattr(cls, attr), attr, ("attribute", object_number(s, cls), attr))


def of_both(s: Specialiser, cls: type, attr: str) -> Value | None:
    """The same, for an object that has an attribute of its own on another path."""
    value = None if attr.startswith("__") else class_value(s, cls, attr)
    if value is not None:
        refuse_descriptor(s, cls, attr)
        s.shadowed.add((cls, attr))
    return value


def first_value(s: Specialiser, cls: type) -> str | None:
    """The name of the first attribute of a class that is no method; None where it has none."""
    names = (name for parent in cls.__mro__ for name in parent.__dict__ if not name.startswith("__"))
    return next((name for name in names if of_both(s, cls, name) is not None), None)


def on_other_path(s: Specialiser, obj: Obj, attr: Any, env: dict[Any, Value]) -> Value | None:
    """The attribute that another path assigns, on a path with this environment; None where nothing gives it."""
    if obj.cls in (dict, list) or not isinstance(attr, str):
        return None
    outer, s.env = s.env, env
    try:
        value = of_both(s, obj.cls, attr)
    finally:
        s.env = outer
    if value is not None:
        return value
    s.unsure.add((obj.id, attr))
    slots = isinstance(found_in(s, obj.cls, attr), types.MemberDescriptorType)
    if slots or not (has(obj.cls, attr) or own_method(s, obj.cls, "__getattr__") is not None):
        return None
    return Poison(f"only the run tells whether {attr!r} was assigned to the object")


def objects_in(env: dict[Any, Value]) -> dict[Any, Obj]:
    """The objects that something in an environment refers to, by their ids."""
    found: dict[Any, Obj] = {}
    pending = list(env.values())
    while pending:
        value = pending.pop()
        if isinstance(value, Obj):
            found[value.id] = value
        elif not isinstance(value, (Leaf, Const)):
            pending += parts_of(value)
    return found
