"""Outside writes: globals, closure variables, attributes of classes and of objects that a program assigns.

Each lives in an object that is there before the call (a module, a cell, a class), as an attribute of it. It is assigned
once, in the forward sweep, and read from the specialiser's variables after that.
"""

from __future__ import annotations

import sys
from typing import Any

import gast

from ... import ir
from ...domain.dependencies import ItemRead
from ...domain.identifiers import is_identifier
from ...domain.values import Const, Obj, Poison, Value
from ...ir.builder import Specialiser
from ..kernel.escape import refuse_references
from .captures import import_external, object_number, of_outside
from .class_guards import DESCRIPTORS, lookup, observe


def assign_outside(s: Specialiser, base: Obj, attr: str, value: Value, hint: str = "captured") -> None:
    """An object that exists outside the call is changed, once, in the forward sweep."""
    refuse_references(s, value)
    owner = s.bind(hint, s.objects[base.id][0])
    if is_identifier(attr):
        node: Any = gast.Assign([gast.Attribute(owner, attr, gast.Store())], s.expr(value), None)
    else:
        node = ir.call(s.bind("setattr", setattr), owner, ir.constant(attr), s.expr(value))
    s.block.append(ir.Effect(node, s.where(), "publish", (value,)))
    s.env[(base.id, attr)] = value


def put_outside(s: Specialiser, base: Obj, key: Any, value: Value) -> None:
    """``table[key] = value`` of a dict that exists outside the call."""
    if base.cls is not dict:
        raise s.refuse("outside-write", "a list that lives outside the function is written into")
    refuse_references(s, value)
    target = gast.Subscript(s.bind("captured", s.objects[base.id][0]), s.expr(Const(key)), gast.Store())
    s.block.append(ir.Effect(gast.Assign([target], s.expr(value), None), s.where(), "publish", (value,)))
    s.env[(base.id, key)] = value


def append_outside(s: Specialiser, base: Obj, value: Value) -> None:
    """``items.append(value)`` of a list that exists outside the call."""
    refuse_references(s, value)
    method = ir.attribute(s.bind("captured", s.objects[base.id][0]), "append")
    s.block.append(ir.Effect(ir.call(method, s.expr(value)), s.where(), "publish", (value,)))
    s.env[(base.id, len(s.fields(base)))] = value


def of_other_path(s: Specialiser, id: Any, attr: str) -> Value:
    """The value of an attribute on a path that does not assign it."""
    owner, read = s.objects[id]
    if isinstance(owner, list):
        raise s.refuse(
            "outside-write",
            "a list that lives outside the function gets an item on some paths only, which is no number",
            "append what is a number, or append in a function that is declared with `ad.constant`",
        )
    if isinstance(owner, dict) and attr in owner:
        return import_external(s, ItemRead(read, attr), f"item_{attr}", ("item", id, attr))
    if hasattr(owner, attr) and not isinstance(owner, dict):
        return of_outside(s, Obj(id, type(owner)), attr)
    observe(s, lambda: attr in read() if isinstance(owner, dict) else hasattr(read(), attr))
    s.unsure.add((id, attr))
    return Poison(f"the attribute {attr!r} may not have been assigned on the path that led here")


def holder(s: Specialiser, owner: Any) -> Obj:
    """A module, a class or a cell as an object whose attributes are assigned."""
    found = Obj(("outside", object_number(s, owner)), type(owner))
    s.world.closed = True
    s.objects[found.id] = (owner, lambda: owner)
    return found


def assigned(s: Specialiser, owner: Any, attr: str) -> Value | None:
    """The value that the program has assigned there; None where it has not."""
    known = s.identities.get(id(owner))
    value = None if known is None else s.env.get((("outside", known[0]), attr))
    if isinstance(value, Poison):
        raise s.poisoned(value)
    return value


def assigned_to_class(s: Specialiser, cls: type, attr: str) -> Value | None:
    """The value that the program has assigned to an attribute of a class or of one of its bases."""
    for parent in cls.__mro__:
        value = assigned(s, parent, attr)
        if value is not None or attr in parent.__dict__:
            return value
    return None


def assign_to_class(s: Specialiser, cls: type, attr: str, value: Value) -> None:
    """``Model.count = value``"""
    own = cls.__module__.split(".")[0] not in ("builtins", "numpy") and type(cls) is type
    if not own or cls in s.inside or attr.startswith("__") or isinstance(lookup(cls, attr), DESCRIPTORS):
        raise s.refuse(
            "outside-write",
            f"the attribute {attr!r} of a class is assigned, which changes what it does",
            "make a subclass",
        )
    if any(name == attr and issubclass(known, cls) for known, name in s.shadowed):
        raise s.refuse(
            "outside-write",
            f"{attr!r} of {cls.__name__} is assigned after that of an object that only some paths give one",
            "assign the attribute of the class first",
        )
    assign_outside(s, holder(s, cls), attr, value, cls.__name__)


def module_of(table: dict[str, Any]) -> Any:
    """The module whose names these are; None where there is none."""
    found = sys.modules.get(table.get("__name__", ""))
    return found if found is not None and vars(found) is table else None


def assign_global(s: Specialiser, table: dict[str, Any], id: str, value: Value) -> None:
    """``global name; name = value``"""
    module = module_of(table)
    if module is None:
        raise s.refuse(
            "outside-write",
            f"the global variable {id!r} of a function without a module is assigned",
            "return the new value instead",
        )
    assign_outside(s, holder(s, module), id, value, module.__name__.rpartition(".")[2].strip("_"))
