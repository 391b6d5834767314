"""The boundary of the emitted function: arguments come in, gradients go out; lines of callables in refusals."""

from __future__ import annotations

import copy as copying
import functools
import os
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from types import FunctionType, MethodType
from typing import Any

import gast

from ....errors import AutodiffError, Origin
from ....runtime.memory import layout_copy
from ... import ir
from ...analysis.alias import roots_of
from ...domain.facts import INT, NOWHERE, Facts, Listed, Mapped, Num, Opaque, Pair
from ...domain.pytree import STATIC, Branch, Listing, Static, is_of_library
from ...domain.pytree import Leaf as LeafTree
from ...domain.request import Arguments
from ...domain.values import Const, Leaf, Obj, TupleV, Value
from ...frontend.parse import Parsed, parse
from ..kernel.specialiser import Specialiser
from .captures import facts_of_tree, outside_object
from .class_guards import refuse_tuple
from .partial_keys import facts_of_whole, may_stay_whole

__all__ = ["STAND_INS", "protect", "receive"]

# Classes of arguments for which objects of other classes stand in the program, and what makes those.
STAND_INS: dict[type, Callable[[Specialiser, Obj, Any], Obj]] = {}


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
    plain = isinstance(value, (str, bytes, int, type(None), type(Ellipsis), *STATIC))
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
    return STAND_INS[tree.cls](s, obj, expr) if tree.cls in STAND_INS else obj


def entry(s: Specialiser, table: Arguments, expr: Any, facts: Facts, hint: str) -> Leaf:
    """The variable of a part of an argument."""
    leaf = s.let(expr, facts, hint=hint, may_raise=False)
    s.named.add(leaf.name)
    if facts == INT and isinstance(expr, gast.Name):
        s.sizes.call_integer(leaf.name, table.names[expr.id])
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
    """True if the program leaves another value in a field of an object than was there."""
    before, after = ({k: v for k, v in env.items() if type(k) is tuple and k[0] == id} for env in (s.initial, s.env))
    return before != after


def is_changed(s: Specialiser, facts: Facts, regions: Any) -> bool:
    """True if the user's text writes into an array, or into those in a list or dict.

    What the emitted program computes anew for an augmented assignment is written, too.
    """
    arrays = s.elements_of(facts) if isinstance(facts, (Listed, Mapped)) else facts
    if not isinstance(arrays, Num):
        return False
    return not arrays.roots.isdisjoint(s.replaced | regions.stored)


def place(table: Arguments, expr: Any) -> str:
    """The place of something in the arguments, as one would write it."""
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


PACKAGE = str(Path(__file__).resolve().parents[3]) + os.sep


def users_line(place: Origin | None, fn: Any, derivatives: list[tuple[Any, Origin | None]]) -> Origin | None:
    """The user's line that a refusal names.

    Of a line of an emitted text, that is the one behind it, or where the derivative is taken; of none, the definition
    of `fn`.
    """
    place = place or place_of_definition(fn)
    if place is None or not is_ours(place):
        return place
    found = [line for function, where in derivatives for line in (behind(place, function), where)]
    return next((line for line in found if line is not None and not is_ours(line)), place)


def is_ours(place: Origin) -> bool:
    """True for a line of an emitted text, or of this package."""
    return place.file.startswith(("<", PACKAGE))


def behind(place: Origin, function: Any) -> Origin | None:
    """The user's line that a line of an emitted function comes from."""
    origins = getattr(function, "__autodiff_origins__", {})
    known = [line for line in origins if line <= place.line]
    return origins[max(known)] if known and place.file == function.__code__.co_filename else None


def place_of_definition(fn: Any) -> Origin | None:
    """The line with the `def` of a callable, where it has one that can be read."""
    parsed = parsed_of(fn)
    return None if parsed is None else parsed.origin(parsed.tree)


def place_of_result(fn: Any) -> Origin | None:
    """The line with the one `return` of a callable, or else its `def`."""
    parsed = parsed_of(fn)
    if parsed is None:
        return None
    found = [node for stmt in parsed.tree.body for node in returns(stmt)]
    return parsed.origin(found[0] if len(found) == 1 else parsed.tree)


def parsed_of(fn: Any) -> Parsed | None:
    """The text of a function, method, partial or object that is called."""
    while isinstance(fn, functools.partial):
        fn = fn.func
    if not isinstance(fn, (FunctionType, MethodType)):
        fn = getattr(type(fn), "construct", None) or type(fn).__call__
    try:
        return parse(fn)
    except AutodiffError:
        return None


def returns(node: Any) -> list[Any]:
    """The return statements of a statement, without those of functions in it."""
    if isinstance(node, gast.Return):
        return [node]
    if isinstance(node, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef, gast.Lambda)):
        return []
    return [found for child in gast.iter_child_nodes(node) for found in returns(child)]
