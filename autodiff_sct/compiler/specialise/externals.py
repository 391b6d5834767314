"""What a program reads from outside: arguments, globals, closure cells, attributes of objects.

Numbers and arrays become inputs of the emitted function, read anew for each call; functions, classes, flags and strings
are known at compile time and guarded: the dispatcher compiles again when one of them has changed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from types import ModuleType
from typing import Any

from ..facts import Facts, Listed, Mapped, Num, Opaque, Pair
from ..structure import Branch, Listing, Static, describe, refuse_taped
from ..structure import Leaf as LeafTree
from ..structure import key as kind_of
from .state import Specialiser
from .values import Const, External, Leaf, Obj, TupleV, Value


@dataclasses.dataclass
class Guard:
    """A compile-time fact about the world: `read` must still give `expected`."""

    read: Callable[[], Any]
    expected: Any

    def holds(self) -> bool:
        value = self.read()
        return value is self.expected or (
            type(value) is type(self.expected) and isinstance(value, GUARDED_BY_VALUE) and value == self.expected
        )


class KindGuard:
    """Something outside must stay of the kind that it was: the program was compiled for that, without reading it."""

    def __init__(self, read: Callable[[], Any]) -> None:
        self.read, self.expected = read, kind_of(read())

    def holds(self) -> bool:
        return bool(kind_of(self.read()) == self.expected)


GUARDED_BY_VALUE = (int, float, complex, str, bytes, bool, tuple)


def import_external(s: Specialiser, read: Callable[[], Any], symbol: str, key: Any) -> Value:
    """The abstract value of something outside the program, reached by `read`."""
    if key not in s.imports:
        s.imports[key] = import_value(s, read(), read, symbol, key)
    return s.imports[key]


def item_of(read: Callable[[], Any], key: Any) -> Callable[[], Any]:
    """What reads one item of what `read` gives."""
    return lambda: read()[key]


def import_value(s: Specialiser, value: Any, read: Callable[[], Any], symbol: str, key: Any) -> Value:
    if isinstance(value, ModuleType):
        return Const(value, s.bind(symbol.rpartition(".")[2], value))
    tree = describe(value, symbol)
    if isinstance(tree, Static):
        s.guards.append(Guard(read, value))
        return Const(value)
    if isinstance(tree, (LeafTree, Listing)):
        return external_leaf(s, value, read, symbol, tree)
    if isinstance(value, tuple):
        items = tuple(import_external(s, item_of(read, k), f"{symbol}_{k}", (key, k)) for k in range(len(value)))
        return TupleV(items, type(value) if type(value) is not tuple else None)
    s.guards.append(Guard(lambda: id(read()), id(value)))
    if type(value) in (list, dict):
        s.guards.append(
            Guard(
                lambda: tuple(read()) if isinstance(read(), dict) else len(read()),
                tuple(value) if isinstance(value, dict) else len(value),
            )
        )
    return outside_object(s, value, read)


def outside_object(s: Specialiser, value: Any, read: Callable[[], Any]) -> Obj:
    refuse_taped(value)
    obj = Obj(("outside", object_number(s, value)), type(value))
    s.objects[obj.id] = (value, read)
    return obj


def object_number(s: Specialiser, value: Any) -> int:
    """A small number for an outside object, the same whenever it is met."""
    return s.identities.setdefault(id(value), (len(s.identities), value))[0]


def external_leaf(s: Specialiser, value: Any, read: Callable[[], Any], symbol: str, tree: Any) -> Leaf:
    """One input of the emitted function for one object, however many paths lead to it."""
    identity = (
        ("external", id(value))
        if not isinstance(value, (int, float, complex))
        else ("external", symbol, len(s.externals))
    )
    if identity in s.externals:
        return Leaf(s.externals[identity].name)
    hint = symbol.replace(".", "_").lstrip("_") or "captured"
    facts = facts_of_tree(s, tree, ("external", symbol))
    name = s.fresh(hint, facts)
    s.named.add(name)
    s.externals[identity] = External(name, read, symbol, facts, value)
    return Leaf(name)


def facts_of_tree(s: Specialiser, tree: Any, site: Any) -> Facts:
    """The facts of an input, with the roots of its memory."""
    if isinstance(tree, LeafTree):
        facts = tree.facts
        if isinstance(facts, Num) and facts.kind == "array":
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
