"""The boundary of the emitted function: arguments come in, gradients go out in the same containers."""

from __future__ import annotations

import copy as copying
import enum
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import gast
import numpy as np

from ..runtime import objects
from ..runtime.copies import layout_copy
from . import ir
from .facts import NOWHERE, Facts, Listed, Mapped, Num, Opaque, Pair
from .regions import roots_of
from .reverse.adjoints import as_scalar, copied, fit, numpy_call, spread, zeros
from .reverse.sweep import Reverse
from .specialise.externals import facts_of_tree
from .specialise.keys import facts_of_whole, may_stay_whole
from .specialise.protocols import refuse_tuple
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
    changed: frozenset[str] = frozenset()  # the places in them of arrays that the user's text writes, as ``x['w']``
    rebound: frozenset[str] = frozenset()  # the places of what the text changes, with a bracket those of lists
    objects: dict[Any, str] = field(default_factory=dict)  # the identities of dicts and objects in them -> their places
    outside: tuple[Callable[[], Any], ...] = ()  # objects outside, where an argument that is one would be changed
    published: bool = False  # whether the program changes one of these
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

    plain = isinstance(value, (str, bytes, int, type(None), type(Ellipsis), type, enum.Enum, *FUNCTIONS))
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
    obj = Obj(path, tree.cls)
    table.objects[path] = place(table, expr)
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


def protect(s: Specialiser, table: Arguments, regions: Any, exact: bool) -> None:
    """Arguments that the program writes are copied on entry: the caller's stay as they are.

    An `exact` copy lies in memory as the original does.
    """
    written, changed, rebound = set(), set(), {place for id, place in table.objects.items() if is_rebound(s, id)}
    for variable, entry in table.entries.items():
        facts = s.facts[variable]
        if is_changed(s, facts, regions):
            changed.add(place(table, entry.expr))
        copy = own_copy(s, entry.expr, facts, regions, exact)
        if copy is not None or is_changed(s, facts, regions):
            rebound.add(place(table, entry.expr) + ("" if isinstance(facts, Num) else "["))
        several = len(table.entries) + len(s.externals) > 1
        if copy is not None or (several and roots_of(facts) & s.replaced):
            written.add(table.owners[variable])
        entry.expr = copy or entry.expr
    table.written, table.changed, table.rebound = frozenset(written), frozenset(changed), frozenset(rebound)
    table.published = any(isinstance(stmt, ir.Effect) and stmt.kind == "publish" for stmt in ir.walk(s.block))
    if table.objects and table.published or rebound:
        table.outside = tuple(read for _, read in s.objects.values())
        s.world.closed |= bool(table.outside)  # they have no marks


def is_rebound(s: Specialiser, id: Any) -> bool:
    """Whether the program leaves another value in a field of an object than was there."""
    before, after = ({k: v for k, v in env.items() if type(k) is tuple and k[0] == id} for env in (s.initial, s.env))
    return before != after


def is_changed(s: Specialiser, facts: Facts, regions: Any) -> bool:
    """Whether the user's text writes into an array, or into those in a list or dict.

    What the emitted program computes anew for an augmented assignment is written, too.
    """
    arrays = s.elements_of(facts) if isinstance(facts, (Listed, Mapped)) else facts
    if not isinstance(arrays, Num):
        return False
    return not arrays.roots.isdisjoint(s.replaced | regions.stored)


def place(table: Arguments, expr: Any) -> str:
    """Where in the arguments something is, as one would write it."""
    if isinstance(expr, gast.Name):
        return table.names[expr.id]
    if isinstance(expr, gast.Attribute):
        return f"{place(table, expr.value)}.{expr.attr}"
    return f"{place(table, expr.value)}[{expr.slice.value!r}]"


def own_copy(
    s: Specialiser, expr: Any, facts: Facts | None, regions: Any, exact: bool = False, around: frozenset[int] = NOWHERE
) -> Any:
    """A copy of an argument, with copies of the arrays and lists in it that the program writes; None if there are none.

    `around` is the memory of the lists and dicts that it is in.
    """
    if isinstance(facts, Pair):
        parts = [ir.subscript(deepcopy(expr), ir.constant(k)) for k in range(len(facts.items))]
        copies = [own_copy(s, part, item, regions, exact, around) for part, item in zip(parts, facts.items)]
        items = [copy or part for copy, part in zip(copies, parts)]
        made = ir.tuple_(items) if facts.cls is None else ir.call(s.bind(facts.cls.__name__, facts.cls), *items)
        return made if any(copies) else None
    roots = roots_of(facts) if isinstance(facts, (Num, Listed, Mapped)) else NOWHERE
    if isinstance(facts, (Listed, Mapped)) and not roots & around:
        inside = s.elements_of(facts)
        name = "row" if isinstance(inside, (Listed, Mapped)) else "item"
        copy = own_copy(s, ir.name(name), inside, regions, exact, around | roots)
        if copy is not None:
            return copied_elements(expr, facts, name, copy)
    if not any(regions.find(root) in regions.written for root in roots):
        return None
    if isinstance(facts, Num) and exact:
        return ir.call(s.bind("layout_copy", layout_copy), expr)
    if isinstance(facts, Num) and facts.kind is None:  # beside arrays there may be numbers, which are their own copies
        return ir.call(s.bind("copy", copying.copy), expr)
    if isinstance(facts, Num):  # several axes keep their order in memory, in which NumPy adds numbers up
        order = [ir.constant("K")] if (facts.ndim or 0) > 1 else []
        return ir.call(ir.attribute(expr, "copy"), *order)
    return ir.call("list" if isinstance(facts, Listed) else "dict", expr)


def copied_elements(expr: Any, facts: Any, name: str, copy: Any) -> Any:
    """A list or dict of the copies of what is in one."""
    target = gast.Name(name, gast.Store(), None, None)
    if isinstance(facts, Listed):
        return gast.ListComp(copy, [gast.comprehension(target, expr, [], 0)])
    both = gast.Tuple([gast.Name("key", gast.Store(), None, None), target], gast.Store())
    items = ir.call(ir.attribute(expr, "items"))
    return gast.DictComp(ir.name("key"), copy, [gast.comprehension(both, items, [], 0)])


def gradient(r: Reverse, value: Value, tree: Any, expr: Any) -> Any:
    """The expression of the gradient of an argument, in the container that it came in."""
    s = r.s
    if isinstance(value, Leaf):
        return leaf_gradient(r, value, expr)
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


def leaf_gradient(r: Reverse, value: Leaf, given: Any = None) -> Any:
    """The expression of the gradient of a part of an argument; `given` is that part as the caller gave it."""
    s = r.s
    facts = s.facts[value.name]
    if isinstance(facts, (Listed, Mapped)):
        return list_gradient(r, value, given)
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


def list_gradient(r: Reverse, value: Leaf, given: Any) -> Any:
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
    # Lists inside the list that the program writes may have another length at its end.
    if value.name in r.shadows.ordered and given is not None:
        return ir.call(s.bind("like", objects.like), s.expr(r.shadows.ordered[value.name]), given)
    nested = isinstance(element, (Listed, Mapped)) and own_copy(s, given, element, r.regions) is not None
    return ir.call(s.bind("like", objects.like), shadow, given if nested and given is not None else ir.name(value.name))


__all__ = ["Arguments", "gradient", "protect", "receive"]
