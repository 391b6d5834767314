"""The boundary of the emitted function: arguments come in, gradients go out in the same containers."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any

import gast
import numpy as np

from ..runtime import objects
from . import ir
from .facts import Facts, Listed, Mapped, Num, Opaque
from .regions import roots_of
from .reverse.adjoints import as_scalar, copied, facts_like, fit, numpy_call, spread, zeros
from .reverse.sweep import Reverse
from .specialise.externals import facts_of_tree
from .specialise.keys import facts_of_whole, may_stay_whole
from .specialise.protocols import refuse_builtin, refuse_tuple
from .specialise.state import Specialiser
from .specialise.values import Const, Leaf, Obj, TupleV, Value
from .structure import FUNCTIONS, Branch, Listing, Static, is_of_library
from .structure import Leaf as LeafTree


@dataclass
class Arguments:
    """The parameters of an emitted function and what stands for each of them."""

    names: dict[str, str] = field(default_factory=dict)  # variable -> name of the parameter
    values: dict[str, Value] = field(default_factory=dict)  # parameter -> value
    entries: dict[str, ir.Let] = field(
        default_factory=dict
    )  # variable -> the statement that takes it out of a parameter
    owners: dict[str, str] = field(default_factory=dict)  # variable -> the parameter that it is in
    written: frozenset[str] = frozenset()  # parameters that the program writes
    ordered: bool = False  # whether those have to lie in C order
    handed: list[str] = field(default_factory=list)  # variables of the value as a forward function returns it


def receive(s: Specialiser, table: Arguments, parameter: str, tree: Any) -> Value:
    """The abstract value of an argument."""
    variable = s.fresh(parameter, Opaque())
    s.named.add(variable)
    s.parameters.add(parameter)
    table.names[variable] = parameter
    value = take(s, table, tree, ir.name(variable), parameter, ("argument", parameter))
    table.values[parameter] = value
    for name in table.entries:
        table.owners.setdefault(name, parameter)
    return value


def known(s: Specialiser, value: Any) -> Value:
    """An argument that is known as an object: a Cell's or another's attributes are read from outside."""
    from .specialise.externals import outside_object

    plain = isinstance(value, (str, bytes, bool, type(None), type(Ellipsis), type, enum.Enum, *FUNCTIONS))
    hashed = type(value).__hash__ is not None
    function = callable(value) and hashed and (is_of_library(value) or not hasattr(value, "__dict__"))
    return Const(value) if plain or function else outside_object(s, value, lambda: value)


def take(s: Specialiser, table: Arguments, tree: Any, expr: Any, hint: str, path: Any) -> Value:
    """The value at a place inside an argument."""
    if isinstance(tree, Static):
        return known(s, tree.value)
    if isinstance(tree, (LeafTree, Listing)):
        return entry(s, table, expr, facts_of_tree(s, tree, path), hint)
    assert isinstance(tree, Branch)
    if issubclass(tree.cls, tuple):
        refuse_tuple(s, tree.cls)
        items = [
            take(s, table, child, ir.subscript(expr, ir.constant(k)), f"{hint}_{k}", (path, k))
            for k, child in zip(tree.keys, tree.children)
        ]
        return TupleV(tuple(items), tree.cls if tree.cls is not tuple else None)
    if may_stay_whole(tree):
        s.whole.add(path)
    if ("whole", path) in s.dynamic:
        return entry(s, table, expr, facts_of_whole(s, tree, path), hint)
    refuse_builtin(s, tree.cls)
    obj = Obj(path, tree.cls)
    for key, child in zip(tree.keys, tree.children):
        inner = ir.subscript(expr, ir.constant(key)) if tree.cls in (dict, list) else ir.attribute(expr, key)
        label = str(key) if str(key).isidentifier() else f"{hint}_{key}"
        s.env[(path, key)] = take(s, table, child, inner, label if tree.cls is dict else f"{hint}_{key}", (path, key))
    return obj


def entry(s: Specialiser, table: Arguments, expr: Any, facts: Facts, hint: str) -> Leaf:
    """The variable of a part of an argument."""
    leaf = s.let(expr, facts, hint=hint, may_raise=False)
    s.named.add(leaf.name)
    table.entries[leaf.name] = s.block[-1]
    return leaf


def protect(s: Specialiser, table: Arguments, regions: Any) -> None:
    """Arguments that the program writes are copied on entry: the caller's stay as they are."""
    written = set()
    for variable, entry in table.entries.items():
        facts = s.facts[variable]
        items = isinstance(facts, (Listed, Mapped)) and has_written_items(s, facts, regions)
        if isinstance(facts, (Listed, Mapped)) and items:
            entry.expr = copied_elements(entry.expr, facts)
        elif isinstance(facts, (Listed, Mapped)) and regions.is_written(variable):
            entry.expr = ir.call("list" if isinstance(facts, Listed) else "dict", entry.expr)
        elif regions.is_written(variable):
            entry.expr = ir.call(ir.attribute(entry.expr, "copy"))
        several = len(table.entries) + len(s.externals) > 1
        if items or regions.is_written(variable) or (several and roots_of(facts) & s.replaced):
            written.add(table.owners[variable])
    table.written = frozenset(written)


def has_written_items(s: Specialiser, facts: Listed | Mapped, regions: Any) -> bool:
    """Whether the program writes into the arrays in a list or dict."""
    element = s.elements_of(facts)
    return isinstance(element, Num) and any(regions.find(root) in regions.written for root in element.roots)


def copied_elements(expr: Any, facts: Any) -> Any:
    item, key = ir.name("item"), ir.name("key")
    copy = ir.call(ir.attribute(item, "copy"))
    target = gast.Name("item", gast.Store(), None, None)
    if isinstance(facts, Listed):
        return gast.ListComp(copy, [gast.comprehension(target, expr, [], 0)])
    both = gast.Tuple([gast.Name("key", gast.Store(), None, None), target], gast.Store())
    return gast.DictComp(key, copy, [gast.comprehension(both, ir.call(ir.attribute(expr, "items")), [], 0)])


def gradient(r: Reverse, value: Value, tree: Any, expr: Any) -> Any:
    """The expression of the gradient of an argument, in the container that it came in."""
    s = r.s
    if isinstance(value, Leaf):
        return leaf_gradient(r, value)
    if isinstance(value, Const):
        return s.expr(value)
    if isinstance(value, TupleV):
        items = [
            gradient(r, v, child, ir.subscript(expr, ir.constant(k)))
            for k, (v, child) in enumerate(zip(value.items, tree.children))
        ]
        return ir.tuple_(items) if value.cls is None else ir.call(s.bind(value.cls.__name__, value.cls), *items)
    assert isinstance(value, Obj)
    parts = {
        k: gradient(r, initial(r, value, k), child, field_of(tree, expr, k))
        for k, child in zip(tree.keys, tree.children)
    }
    if tree.cls is dict:
        return gast.Dict([ir.constant(k) for k in parts], list(parts.values()))
    if tree.cls is list:
        return gast.List(list(parts.values()), gast.Load())
    return ir.call(s.bind("rebuild", objects.rebuild), expr, **parts)


def field_of(tree: Any, expr: Any, key: Any) -> Any:
    return ir.subscript(expr, ir.constant(key)) if tree.cls in (dict, list) else ir.attribute(expr, key)


def initial(r: Reverse, obj: Obj, key: Any) -> Value:
    """The value that a field had on entry: the program may have assigned it since."""
    return r.s.initial[(obj.id, key)]


def leaf_gradient(r: Reverse, value: Leaf) -> Any:
    s = r.s
    facts = s.facts[value.name]
    if isinstance(facts, (Listed, Mapped)):
        return list_gradient(r, value)
    if isinstance(facts, Num) and not facts.differentiable:
        return ir.constant(0) if facts.python else numpy_call(s, "zeros_like", ir.name(value.name))
    if isinstance(facts, Opaque):
        return ir.name(value.name)
    if r.has_shadow(value.name) and r.activity.active(value.name):
        return s.expr(r.shadows.of(value.name))
    found = r.take(value.name)
    if found is None:
        return of_rank_0(s, s.expr(zeros(s, value.name)), facts)
    full = spread(s, fit(s, found.value, value.name), value.name)
    if full == found.value and not found.owned and not (isinstance(facts, Num) and facts.dims == ()):
        full = copied(s, full)
    return of_rank_0(s, s.expr(full), facts)


def of_rank_0(s: Specialiser, derivative: Any, want: Any) -> Any:
    """The derivative of an array of rank 0 is one too, that of a NumPy scalar a scalar of its dtype.

    What was computed may be a Python number, or of the other kind, whatever the facts say.
    """
    if not isinstance(want, Num) or want.dims != () or want.dtype is None:
        return derivative
    if want.kind == "array":
        dtype = {} if want.dtype == np.float64 else {"dtype": ir.attribute(s.bind("np", np), want.dtype.name)}
        return numpy_call(s, "array", derivative, **dtype)
    return as_scalar(s, derivative, want.dtype) if want.kind == "npscalar" else derivative


def list_gradient(r: Reverse, value: Leaf) -> Any:
    from ..runtime import broadcast

    s = r.s
    if not r.activity.active(value.name):
        shadow = ir.call(s.bind("zeros_like", broadcast.zeros_like), ir.name(value.name))
    else:
        shadow = s.expr(r.shadows.of(value.name))
    facts = s.facts[value.name]
    element = s.elements_of(facts) if isinstance(facts, (Listed, Mapped)) else None
    if isinstance(element, Num) and element.kind == "array" and not r.regions.is_written(value.name):
        return shadow
    return ir.call(s.bind("like", objects.like), shadow, ir.name(value.name))


__all__ = ["Arguments", "facts_like", "gradient", "protect", "receive"]
