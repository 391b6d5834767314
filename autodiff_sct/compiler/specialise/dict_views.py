"""What goes over a dict or a list that is known item by item reads each item when it comes to it.

`keys`, `values` and `items` hold here what is in the dict when they are made, in Python what is in it: while one has a
name, the dict must stay as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..facts import Mapped
from .state import Specialiser
from .values import Const, Leaf, Obj, TupleV, Value

METHODS = ("keys", "values", "items")


@dataclass(frozen=True, eq=False)
class View:
    """What a method of a dict returned."""

    value: Value
    base: Value
    method: str


def view(s: Specialiser, value: Value, base: Value, method: str) -> Value:
    """Remember what a method of a dict returned."""
    if method in METHODS:
        s.views.append(View(value, base, method))
    return value


def class_of_view(s: Specialiser, value: Value) -> type | None:
    """The class of what a method of a dict returned; None of other values."""
    known = next((v for v in s.views if v.value is value), None)
    return type(getattr({}, known.method)()) if known is not None else None


def refuse_change(s: Specialiser, base: Value) -> None:
    """Refuse to change a dict of which a view has a name."""
    if places(s, base) & s.lazy:
        raise s.refuse("a dict is changed that an iterator reads", "make a list of what the iterator gives")
    own = [v.value for v in s.views if places(s, v.base) & places(s, base)]
    if any(e is v or isinstance(v, Leaf) and e == v for v in own for e in s.env.values()):
        raise s.refuse("a dict is changed while its keys, values or items have a name", "make a list of them")


def places(s: Specialiser, base: Value) -> frozenset[Any]:
    """What tells dicts apart."""
    facts = s.facts_of(base)
    return facts.roots if isinstance(facts, Mapped) else frozenset([base.id] if isinstance(base, Obj) else [])


def container(s: Specialiser, value: Value) -> tuple[Obj, str] | None:
    """The dict or list that is gone over, if it is known item by item, and what is read of it."""
    if isinstance(value, Obj) and value.cls in (dict, list) and value.id not in s.objects:
        return value, "keys" if value.cls is dict else "values"
    known = next((v for v in s.views if v.value is value), None)
    return (known.base, known.method) if known is not None and isinstance(known.base, Obj) else None


def item(s: Specialiser, base: Obj, method: str, key: Any) -> Value:
    """What a loop gets for a key, at the time."""
    from .containers import get_field

    if method == "keys":
        return Const(key)
    value = get_field(s, base, Const(key))
    return value if method == "values" else TupleV((Const(key), value))


def fields(s: Specialiser, value: Value) -> list[Any]:
    """The places in the environment of what is read of a container, in order."""
    known = container(s, value)
    return [] if known is None or known[1] == "keys" else [(known[0].id, key) for key in s.fields(known[0])]
