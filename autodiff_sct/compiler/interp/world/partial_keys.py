"""Keys known only at run time, and names that some paths leave unbound.

Keys known only at run time, of dicts whose keys are known: what may be found under ``f"w{i}"``.

A dict argument is taken apart where every key is a constant.  One that is read with a computed key stays a dict of the
emitted program; what is known of its items is kept by key, and the constant parts of the key tell which may be meant.

Names that some paths leave unbound: where the program reads one, the variable that it stands for is read.

What stands for no variable (a dict, an object) is bound where a variable of its own is, which is true.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import gast

from ... import ir
from ...domain.facts import Dim, Facts, Mapped, Num, join, several
from ...domain.pytree import Branch
from ...domain.pytree import Leaf as LeafTree
from ...domain.values import Const, Frame, Leaf, Obj, Poison, TupleV, Value
from ...frontend.builders import names_in
from ..kernel.program_values import Restart
from ..kernel.specialiser import Specialiser
from .captures import facts_of_tree

__all__ = ["facts_of_whole", "known_keys", "may_stay_whole", "narrowed", "note_assigned", "note_keys", "restart_whole"]

ANYTHING = ".*"


def may_stay_whole(tree: Branch) -> bool:
    """True if a dict argument can stay a dict at run time: one of numbers and arrays."""
    return tree.cls is dict and all(isinstance(c, LeafTree) and isinstance(c.facts, Num) for c in tree.children)


def restart_whole(s: Specialiser, base: Obj, index: Value) -> None:
    """Specialise again with a dict argument as a dict, if it can be one."""
    if base.id in s.whole:
        raise Restart(("whole", base.id))
    s.write_out_loop(s.expr(index))


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


@dataclass(frozen=True)
class Presence:
    """The name, as a key of the environment, of what is bound where `id` is."""

    id: str

    def __str__(self) -> str:
        return self.id


def note_presence(*envs: dict[Any, Value]) -> None:
    """Note for a name that one of the paths that meet lacks, and that stands for no variable, on which it is bound."""
    every = dict.fromkeys(key for env in envs for key in env)
    for key in every if any(len(env) < len(every) for env in envs) else ():
        if not isinstance(key, tuple) or not isinstance(key[0], int):
            continue
        name, told = (key[0], str(key[1])), (key[0], Presence(str(key[1])))
        having = [env for env in envs if name in env]
        if key == told or (len(having) < len(envs) and not any(stands_for_variable(env[name]) for env in having)):
            for env in having:
                env.setdefault(told, Const(True))


def note_deleted(s: Specialiser, entry: dict[Any, Value], one: dict[Any, Value], other: dict[Any, Value]) -> None:
    """Note that a name which one side of a branch deletes may not be read after it: its variable stays bound."""
    for key in s.deleted:
        if key in entry and (key in one) != (key in other):
            (other if key in one else one)[key] = Poison(
                f"{str(key[1])!r} is deleted on one of the paths that lead here"
            )


def stands_for_variable(value: Value) -> bool:
    """True if a value, or an item of a tuple, is a variable, or becomes one where paths meet."""
    if isinstance(value, TupleV):
        return any(map(stands_for_variable, value.items))
    return isinstance(value, (Const, Leaf, Poison))


def read_presence(s: Specialiser, owner: Frame, id: str) -> None:
    """Read a name of the user's that may be unbound, which raises there, also where nobody needs its value."""
    told = s.env.get((owner.id, Presence(id)), s.env.get((owner.id, id)))
    names = [name for name in variables_in(told) if name in s.partly]
    if names and not getattr(s.node, "bound", False) and not owner.rule and id in names_of(owner.parsed.tree):
        s.block.append(ir.Effect(ir.name(names[0]), s.where()))


def variables_in(value: Value | None) -> Iterable[str]:
    """The variables that a value or the items of a tuple are."""
    if isinstance(value, TupleV):
        return [name for item in value.items for name in variables_in(item)]
    return [value.name] if isinstance(value, Leaf) else []


@functools.lru_cache(maxsize=4096)
def names_of(tree: Any) -> frozenset[str]:
    """The names in a text, without those that the compiler has added to it."""
    return frozenset(names_in(tree))


def join_presence(s: Specialiser, target: str, names: Iterable[str | None]) -> None:
    """Note whether a variable that stands for one of others, or for nothing, may be unbound."""
    if any(name is None or name in s.partly for name in names):
        s.partly.add(target)
