"""Keys known only at run time, of dicts whose keys are known: what may be found under ``f"w{i}"``.

A dict argument is taken apart where every key is a constant.  One that is read with a computed key stays a dict of the
emitted program; what is known of its items is kept by key, and the constant parts of the key tell which may be meant.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import reduce
from typing import Any

import gast

from ...domain.facts import Dim, Facts, Mapped, Num, join, several
from ...domain.pytree import Branch
from ...domain.pytree import Leaf as LeafTree
from ...domain.values import Const, Leaf, Obj, Value
from ...ir.builder import Specialiser
from ...ir.program_values import Restart
from .captures import facts_of_tree

ANYTHING = ".*"


def may_stay_whole(tree: Branch) -> bool:
    """True if a dict argument can stay a dict at run time: one of numbers and arrays."""
    return tree.cls is dict and all(isinstance(c, LeafTree) and isinstance(c.facts, Num) for c in tree.children)


def restart_whole(s: Specialiser, base: Obj) -> None:
    """Specialise again with a dict argument as a dict, if it can be one."""
    if base.id in s.whole:
        raise Restart(("whole", base.id))
    for site in s.short_loops:
        raise Restart(("write out", site))


def facts_of_whole(s: Specialiser, tree: Branch, path: Any) -> Mapped:
    """The facts of a dict argument that stays a dict."""
    root = s.root(path)
    table = Mapped(frozenset([root]))
    known = {k: facts_of_tree(s, child, (path, k)) for k, child in zip(tree.keys, tree.children)}
    for facts in known.values():
        s.put_element(table, without_lengths(facts))
    note_keys(s, root, path, known)
    return table


def note_keys(s: Specialiser, root: int, path: Any, known: dict[Any, Facts]) -> None:
    """Note what is under each key of a dict that lives at run time, unless the program changes that."""
    if ("resized", path) in s.dynamic:
        known = {k: without_lengths(facts) for k, facts in known.items()}
    if ("changed", path) not in s.dynamic:
        s.by_key[root] = path, known


def known_keys(s: Specialiser, facts: Mapped) -> dict[Any, Facts] | None:
    """The values by the keys of a dict that came in whole; None if unknown."""
    if len(facts.roots) != 1 or not facts.roots <= s.by_key.keys():
        return None
    known: dict[Any, Facts] = s.by_key[next(iter(facts.roots))][1]
    return known


def without_lengths(facts: Facts) -> Facts:
    if not isinstance(facts, Num) or facts.dims is None:
        return facts
    return replace(facts, dims=(None,) * len(facts.dims))


def note_assigned(s: Specialiser, table: Mapped, index: Value, value: Facts) -> None:
    """An item is assigned: what came in under its key may say less now, or nothing."""
    for root in table.roots & s.by_key.keys():
        path = s.by_key[root][0]
        fits = all(is_alike(f, value) for f in under(s, root, index))
        if not fits or ("resized", path) not in s.dynamic:
            raise Restart(("resized" if fits else "changed", path))


def is_alike(a: Facts, b: Facts) -> bool:
    """True if two values are alike but for the lengths of their axes."""
    return isinstance(a, Num) and isinstance(b, Num) and (a.kind, a.dtype, a.ndim) == (b.kind, b.dtype, b.ndim)


def under(s: Specialiser, root: int, index: Value) -> list[Facts]:
    """The values that came in under the keys that an index may be."""
    pattern = re.compile(pattern_of(s, index))
    return [facts for key, facts in s.by_key[root][1].items() if pattern.fullmatch(str(key))]


def narrowed(s: Specialiser, facts: Mapped, index: Value, element: Facts) -> Facts:
    """The facts of an item, where the key tells more than that it is one of all."""
    if not isinstance(element, Num) or len(facts.roots) != 1 or not facts.roots <= s.by_key.keys():
        return element
    found = [f for f in under(s, next(iter(facts.roots)), index) if isinstance(f, Num)]
    joined = reduce(join, found, found[0]) if found else element  # type: ignore[arg-type]
    if not found or not isinstance(joined, Num):
        return element
    return replace(joined, roots=element.roots if joined.kind != "float" else frozenset(), dims=own_lengths(s, found))


def own_lengths(s: Specialiser, found: list[Num]) -> Any:
    """Axes of their own for an item that may be any of these."""
    shapes = [f.dims for f in found if f.dims is not None]
    if len(shapes) < len(found) or len({len(dims) for dims in shapes}) > 1:
        return None
    name = s.new_symbol("item")
    alike = [all(several(axis) for axis in axes) for axes in zip(*shapes)]
    same = [axes[0] if len(set(axes)) == 1 else None for axes in zip(*shapes)]
    return tuple(
        one if one is not None else Dim((name, k), 0, True) if long else None
        for k, (one, long) in enumerate(zip(same, alike))
    )


def pattern_of(s: Specialiser, index: Value) -> str:
    """A regular expression that every text which the key may be matches."""
    if isinstance(index, Const):
        return re.escape(str(index.value))
    if isinstance(index, Leaf) and index.name in s.definitions:
        return pattern_of_expr(s, s.definitions[index.name])
    return ANYTHING


def pattern_of_expr(s: Specialiser, expr: Any) -> str:
    if isinstance(expr, gast.Constant) and isinstance(expr.value, str):
        return re.escape(expr.value)
    if isinstance(expr, gast.JoinedStr):
        return "".join(pattern_of_expr(s, part) for part in expr.values)
    if isinstance(expr, gast.BinOp) and isinstance(expr.op, gast.Add):
        return pattern_of_expr(s, expr.left) + pattern_of_expr(s, expr.right)
    if isinstance(expr, gast.Name) and expr.id in s.definitions:
        return pattern_of_expr(s, s.definitions[expr.id])
    return ANYTHING


__all__ = ["facts_of_whole", "known_keys", "may_stay_whole", "narrowed", "note_assigned", "note_keys", "restart_whole"]
