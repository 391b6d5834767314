"""Captures and outside writes: arguments, globals, closure cells, attributes of classes and of objects.

Numbers and arrays become inputs of the emitted function, read anew for each call; functions, classes, flags and strings
are known at compile time and guarded: the dispatcher compiles again when one of them has changed.

Each lives in an object that is there before the call (a module, a cell, a class), as an attribute of it. It is assigned
once, in the forward sweep, and read from the specialiser's variables after that.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
import types
from collections.abc import Callable
from types import ModuleType
from typing import Any

import gast
import numpy as np

from ....core import thresholds
from ... import ir
from ...domain.dependencies import DefaultRead, Guard, ItemRead, KwDefaultRead
from ...domain.facts import Facts, Listed, Mapped, Num, Opaque, Pair
from ...domain.identifiers import is_identifier
from ...domain.pytree import Branch, Listing, Static, describe, is_setting, refuse_other_arrays
from ...domain.pytree import Leaf as LeafTree
from ...domain.request import Way
from ...domain.values import Const, External, Leaf, Obj, Poison, TupleV, Value
from ..kernel.escape import refuse_references
from ..kernel.operations import call_value
from ..kernel.specialiser import Specialiser
from .class_guards import DESCRIPTORS, lacking, lookup, observe, refuse_tuple

INDEX_TOOLS = ("r_", "c_", "s_", "index_exp", "mgrid", "ogrid")  # objects of NumPy's that are known by what they are


def import_external(s: Specialiser, read: Callable[[], Any], symbol: str, key: Any) -> Value:
    """The abstract value of something outside the program, reached by `read`."""
    if key not in s.imports:
        value = read()
        s.world.note(read, value)
        s.imports[key] = import_value(s, value, read, symbol, key)
    found = s.imports[key]
    made = isinstance(found, Const) and type(found.value) is inspect.Signature  # by a decorator, of what it wraps
    return call_value(s, Const(inspect.signature), [found], {}) if made else found


def import_value(s: Specialiser, value: Any, read: Callable[[], Any], symbol: str, key: Any) -> Value:
    if isinstance(value, ModuleType):
        s.guards.append(Guard(read, value))
        return Const(value, s.bind(symbol.rpartition(".")[2], value))
    if type(value) is inspect.Signature:
        s.guards.append(Guard(read, value))
        return Const(value)
    for name in INDEX_TOOLS:
        if value is getattr(np, name):
            s.guards.append(Guard(read, value))
            return Const(value, ir.attribute(s.bind("np", np), name))
    often = key[0] in ("default", "kwdefault") or isinstance(key[0], tuple) or s.in_package()  # items of tuples, too
    if often and type(value) is int and is_setting(value):
        if s.attempt.takes(Way.DEFAULTS):
            s.guards.append(Guard(read, value))
            return Const(value)
    # Of all that programs call `w`, each has lengths of its own.
    tree = describe(value, f"{symbol}@{object_number(s, value)}")
    if isinstance(tree, Static) or hasattr(type(value), "__autodiff_gradient__"):
        s.guards.append(Guard(read, value))
        note_symbol(s, value, symbol)
        return Const(value)
    by_items = isinstance(tree, Listing) and len(value) <= thresholds.SETTING and Way.LENGTHS in s.attempt.ways
    if isinstance(tree, LeafTree) or isinstance(tree, Listing) and not by_items:
        return external_leaf(s, value, read, symbol, tree)
    if isinstance(value, tuple):
        refuse_tuple(s, type(value))
        s.guards.append(Guard(lambda: form_of_tuple(read()), form_of_tuple(value)))
        items = tuple(import_external(s, ItemRead(read, k), f"{symbol}_{k}", (key, k)) for k in range(len(value)))
        return TupleV(items, type(value) if type(value) is not tuple else None)
    s.guards.append(Guard(lambda: identity(read()), identity(value)))
    if type(value) in (list, dict):
        s.guards.append(
            Guard(
                lambda: tuple(read()) if isinstance(read(), dict) else len(read()),
                tuple(value) if isinstance(value, dict) else len(value),
            )
        )
    note_symbol(s, value, symbol)
    return outside_object(s, value, read)


def form_of_tuple(value: Any) -> tuple[type, int | None]:
    """The class of a tuple, and its length: its items are looked at one by one."""
    return type(value), len(value) if isinstance(value, tuple) else None


def note_symbol(s: Specialiser, value: Any, symbol: str) -> None:
    """Note what the program calls an object that is outside."""
    s.symbols.setdefault(object_number(s, value), symbol.rpartition(".")[2])


def identity(value: Any) -> tuple[int, type]:
    """The identity and the class of an object: either may be assigned."""
    return id(value), type(value)


def outside_object(s: Specialiser, value: Any, read: Callable[[], Any]) -> Obj:
    refuse_other_arrays(value)
    s.world.closed = True  # an object is known by itself
    obj = Obj(("outside", object_number(s, value)), type(value))
    s.objects[obj.id] = (value, read)
    return obj


def object_number(s: Specialiser, value: Any) -> int:
    """A small number for an outside object, the same whenever it is met."""
    return s.identities.setdefault(id(value), (len(s.identities), value))[0]


def note_external_sizes(s: Specialiser, variable: str, symbol: str, value: Any) -> None:
    """Note the sizes of what the next input of the emitted function stands for."""
    s.sizes.note(symbol, value, (s.sizes.count + len(s.externals),))
    s.sizes.call_integer(variable, symbol)


def external_leaf(s: Specialiser, value: Any, read: Callable[[], Any], symbol: str, tree: Any) -> Leaf:
    """One input of the emitted function for one object, however many paths lead to it."""
    identity = (
        ("external", id(value))
        if not isinstance(value, (int, float, complex))
        else ("external", symbol, len(s.externals))
    )
    if identity in s.externals:
        known = s.externals[identity]
        s.guards.append(Guard(lambda: known.read() is read(), True))
        s.world.closed = True  # that two paths lead to one object is not among its readings
        return Leaf(known.name)
    hint = symbol.replace(".", "_").lstrip("_") or "captured"
    facts = facts_of_tree(s, tree, ("external", object_number(s, value)))
    name = s.fresh(hint, facts)
    s.named.add(name)
    note_external_sizes(s, name, f"{symbol}@{object_number(s, value)}", value)
    s.externals[identity] = External(name, read, symbol, facts, value)
    return Leaf(name)


def facts_of_tree(s: Specialiser, tree: Any, site: Any) -> Facts:
    """The facts of an input, with the roots of its memory."""
    if isinstance(tree, LeafTree):
        facts = tree.facts
        if isinstance(facts, Num) and tree.has_memory:
            return dataclasses.replace(facts, roots=frozenset([s.root(site)]))
        return facts
    if isinstance(tree, Listing):
        roots = frozenset([s.root(site)])
        listed: Listed | Mapped = Listed(roots) if tree.cls is list else Mapped(roots)
        if tree.element is not None:
            s.put_element(listed, facts_of_tree(s, tree.element, (site, "element")))
        return listed
    if isinstance(tree, Branch) and issubclass(tree.cls, tuple):
        return Pair(
            tuple(facts_of_tree(s, child, (site, k)) for k, child in zip(tree.keys, tree.children)),
            tree.cls if tree.cls is not tuple else None,
        )
    if isinstance(tree, Static):
        return Opaque(type(tree.value))
    return Opaque(getattr(tree, "cls", None))


def default_of(s: Specialiser, fn: types.FunctionType, k: int) -> Value:
    if (fn.__module__ or "autodiff_sct.").startswith("autodiff_sct."):  # an emitted function has no module
        return Const((fn.__defaults__ or ())[k])
    place = k - len(fn.__defaults__ or ())
    name = fn.__code__.co_varnames[fn.__code__.co_argcount + place]
    return import_external(s, DefaultRead(fn, place), name, ("default", object_number(s, fn), place))


def default_named(s: Specialiser, fn: types.FunctionType, name: str) -> Value:
    """The default of a parameter by its name, of a method that Python has generated."""
    if name in (fn.__kwdefaults__ or {}):
        return import_external(s, KwDefaultRead(fn, name), name, ("kwdefault", object_number(s, fn), name))
    place = fn.__code__.co_varnames.index(name) - fn.__code__.co_argcount
    return import_external(s, DefaultRead(fn, place), name, ("default", object_number(s, fn), place))


def of_outside(s: Specialiser, base: Obj, attr: str) -> Value:
    obj, read = s.objects[base.id]
    if not hasattr(obj, attr):
        message = f"{type(obj).__name__!r} object has no attribute {attr!r}"
        raise lacking(s, lambda: hasattr(read(), attr), AttributeError, message)
    value = getattr(obj, attr)
    if type(value) is int and has_settings(type(obj)):
        return Const(observe(s, lambda: getattr(read(), attr)))
    return import_external(s, lambda: getattr(read(), attr), attr, ("field", base.id, attr))


def has_settings(cls: type) -> bool:
    """True if the integers of an object are settings of a layer or an operation, known at compile time."""
    return hasattr(cls, "construct") or cls.__module__.startswith("autodiff_sct.")


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
