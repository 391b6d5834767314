"""Calls with ``*items``, where only the run tells how many there are.

A callee that takes a fixed number of arguments says how many items there must be. One with ``*args`` takes them as a
tuple of that length, behind the parameters that come first.
"""

from __future__ import annotations

import inspect
import math
import types
from collections.abc import Iterable
from typing import Any

import gast
import numpy as np

from ....rules.table import TABLE
from ... import ir
from ...analysis.alias import reachable, roots_of, written_by
from ...domain.facts import Num
from ...domain.values import Bound, Closure, Const, ListV, Obj, PartialV, Rest, Suspended, Value
from ..containers import lists
from ..containers.items import own_list
from ..containers.sources import Source
from ..containers.swaps import is_counted
from ..kernel.bind_arguments import is_library
from ..kernel.handlers import evaluate
from ..kernel.operations import call_value, get_item, items_of
from ..kernel.specialiser import Specialiser
from ..kernel.user_errors import raise_if
from ..library.builtins import tuple_

Parts = list[tuple[Value, bool]]  # each argument, and whether it stands for a number of them


def parts_of(s: Specialiser, call: Any) -> Parts:
    """The positional arguments of a call, as far as they can be taken apart."""
    parts: Parts = []
    for value, many in display(s, call.args):
        known = many and not is_counted(s, value)
        parts += [(item, False) for item in items_of(s, value, None)] if known else [(value, many)]
    return parts


def arguments(s: Specialiser, callee: Value, parts: Parts, named: Iterable[str]) -> list[Value]:
    """The positional arguments of a call beside those with these names."""
    counted = [value for value, many in parts if many]
    if not counted:
        return [value for value, _ in parts]
    if callee == Const(zip) and len(parts) == 1:
        return [Rest(counted[0])]
    if callee in (Const(max), Const(min)):
        return [several(s, counted[0] if len(parts) == 1 else in_one_list(s, parts))]
    if callee == Const(math.hypot):
        return [Rest(in_one_list(s, parts))]
    if callee == Const(print):
        return [Rest(value) if many else value for value, many in parts]
    if takes_axes(s, callee):
        return [tuple_(s, [in_one_list(s, parts)], {})]
    signature = signature_of(s, callee) if len(counted) == 1 else None
    found = None if signature is None else by_signature(s, signature, set(named), parts)
    if found is not None:
        return found
    return [item for value, many in parts for item in (items_of(s, value, None) if many else [value])]


def takes_axes(s: Specialiser, callee: Value) -> bool:
    """True for the methods of arrays that take axes one by one or as a tuple: ``a.reshape(*shape)``."""
    known = isinstance(callee, Bound) and callee.function in ("reshape", "transpose")
    return known and isinstance(s.facts_of(callee.self), Num)


def several(s: Specialiser, items: Value) -> Value:
    """The items that ``max(*items)`` compares: of one item it would be an error."""
    length = ir.call("len", s.expr(items))
    test = gast.Compare(length, [gast.LtE()], [ir.constant(1)])
    raise_if(s, test, TypeError, "one item is not iterable")
    return items


def in_one_list(s: Specialiser, parts: Parts) -> Value:
    """``[*a, b]``: where the length of ``a`` is known only at run time, a list that is filled."""
    if not any(many and is_counted(s, value) for value, many in parts):
        items = [item for value, many in parts for item in (items_of(s, value, None) if many else [value])]
        return ListV(tuple(items), s.site())
    result = own_list(s, ListV((), s.site("starred")))
    for value, many in parts:
        if many:
            lists.extend_list(s, result, value)
        else:
            lists.append(s, result, value)
    return result


def display(s: Specialiser, nodes: list[Any]) -> Parts:
    """The items of a display: what is unpacked is unpacked before the items behind it are computed."""
    parts: Parts = []
    unpacked: set[int] = set()
    place = len(s.block)
    for number, node in enumerate(nodes):
        value = evaluate(s, node.value if starred(node) else node)
        if starred(node):
            with s.written_out(number):
                value = unpacked_at_once(s, value)
        if unpacked and unpacked & memory_written(s, s.block[place:]):
            raise s.refuse(
                "changed-while-iterated",
                "what is unpacked changes in the expressions behind it",
                "compute these before",
            )
        if starred(node) and is_counted(s, value):
            unpacked |= {root for n in s.leaves(value) for root in reachable(s, s.facts[n])}
            place = len(s.block)
        parts.append((value, starred(node)))
    return parts


def unpacked_at_once(s: Specialiser, value: Value) -> Value:
    """The unpacked value: of an iterator with an unknown number of items left, the list of these."""
    if isinstance(value, Suspended) or isinstance(value, Source) and value.items is None and not value.endless:
        return call_value(s, Const(list), [value], {})
    return value


def memory_written(s: Specialiser, block: ir.Block) -> set[int]:
    """The roots of the memory that a block writes."""
    return {root for stmt in ir.walk(block) if (n := written_by(stmt)) for root in roots_of(s.facts[n])}


def starred(node: Any) -> bool:
    return isinstance(node, gast.Starred)


def by_signature(s: Specialiser, signature: inspect.Signature, named: set[str], parts: Parts) -> list[Value] | None:
    """The arguments of a callee, or None where the number of items decides which of its defaults are used."""
    places = [p for p in signature.parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    takes_more = any(p.kind is p.VAR_POSITIONAL for p in signature.parameters.values())
    free = [p for p in places if p.name not in named]
    first = next(k for k, (_, many) in enumerate(parts) if many)
    value, after = parts[first][0], [item for item, _ in parts[first + 1 :]]
    before = [item for item, _ in parts[:first]]
    if any(p.default is not p.empty for p in free[first:]):
        return None
    if not takes_more:
        return before + as_many(s, value, len(free) - len(parts) + 1, gast.NotEq()) + after
    taken = min(first, len(free))
    if taken < first or after:
        value = in_one_list(s, parts[taken:])
    return before[:taken] + rest_of(s, value, len(free) - taken)


def rest_of(s: Specialiser, value: Value, missing: int) -> list[Value]:
    """The items for parameters that are still missing, and what is left as the arguments behind them."""
    if missing:
        front = as_many(s, value, missing, gast.Lt())
        return [*front, Rest(tuple_(s, [get_item(s, value, Const(slice(missing, None)))], {}))]
    return [Rest(tuple_(s, [value], {}))]


def as_many(s: Specialiser, value: Value, count: int, unlike: Any) -> list[Value]:
    """The first items of a list or an array, whose length is compared with their number as Python does for a call."""
    test = gast.Compare(ir.call("len", s.expr(value)), [unlike], [ir.constant(count)])
    raise_if(s, test, TypeError, f"wrong number of arguments (expected {count})")
    return [get_item(s, value, Const(k)) for k in range(count)]


def signature_of(s: Specialiser, callee: Value) -> inspect.Signature | None:
    """The parameters of a callee whose arguments are bound as Python binds them."""
    if isinstance(callee, Const):
        return signature_of_object(s, callee.value)
    if isinstance(callee, Closure):
        return signature_of_tree(callee)
    if isinstance(callee, Bound) and isinstance(callee.function, types.FunctionType):
        return without(signature_of_object(s, callee.function), 1, ())
    if isinstance(callee, PartialV):
        return without(signature_of(s, callee.function), len(callee.args), callee.keywords)
    if isinstance(callee, Obj) and isinstance(call := callee.cls.__dict__.get("__call__"), types.FunctionType):
        return without(signature_of_object(s, call), 1, ())
    return None


def signature_of_object(s: Specialiser, fn: Any) -> inspect.Signature | None:
    if isinstance(fn, np.ufunc):
        kinds = inspect.Parameter.POSITIONAL_ONLY
        return inspect.Signature([inspect.Parameter(f"x{k}", kinds) for k in range(fn.nin)])
    ours = isinstance(fn, types.FunctionType) and not is_library(fn) and fn not in TABLE
    of_math = isinstance(fn, types.BuiltinFunctionType) and fn.__module__ == "math"
    if not ours and not of_math and not (isinstance(fn, type) and not is_library(fn) and fn not in s.inside):
        return None
    try:
        signature = inspect.signature(fn, follow_wrapped=False)
    except (TypeError, ValueError):
        return None
    variadic = any(p.kind is p.VAR_POSITIONAL for p in signature.parameters.values())
    return None if variadic and of_math else signature


def signature_of_tree(closure: Closure) -> inspect.Signature:
    args, of = closure.node.args, inspect.Parameter
    positional = [a.id for a in [*args.posonlyargs, *args.args]]
    plain = len(positional) - len(closure.defaults)
    found = [
        of(name, of.POSITIONAL_OR_KEYWORD, default=of.empty if k < plain else None) for k, name in enumerate(positional)
    ]
    found += [of(args.vararg.id, of.VAR_POSITIONAL)] if args.vararg is not None else []
    found += [of(a.id, of.KEYWORD_ONLY) for a in args.kwonlyargs]
    return inspect.Signature(found)


def without(signature: inspect.Signature | None, first: int, names: Iterable[str]) -> inspect.Signature | None:
    """A signature without what is given already."""
    if signature is None:
        return None
    left = list(signature.parameters.values())
    while first and left and left[0].kind is not inspect.Parameter.VAR_POSITIONAL:
        left, first = left[1:], first - 1
    return inspect.Signature([p for p in left if p.name not in set(names)])
