"""Views of dicts and lists known item by item: each item is read when it is reached.

`keys`, `values` and `items` hold here what is in the dict when they are made, in Python what is in it: while one has a
name, the dict must stay as it is.

Classes of dicts: those with the same keys are rows of one table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import gast

from ... import ir
from ...domain.facts import BOOL, Mapped, Opaque
from ...domain.identifiers import is_identifier
from ...domain.values import Const, Leaf, Obj, TupleV, Value
from ..kernel.operations import get_item
from ..kernel.program_values import Restart
from ..kernel.specialiser import Specialiser

METHODS = ("keys", "values", "items")
KEYS: type = type({}.keys())
ITEMS: type = type({}.items())
SYMBOLS = (gast.BitOr, gast.BitAnd, gast.BitXor, gast.Sub)


@dataclass(frozen=True, eq=False)
class View:
    """The result of a method of a dict."""

    value: Value
    base: Value
    method: str


def view(s: Specialiser, value: Value, base: Value, method: str) -> Value:
    """Remember what a method of a dict returned."""
    if method in METHODS:
        s.views.append(View(value, base, method))
    return value


def viewed(s: Specialiser, value: Value) -> View | None:
    """The facts of a value that a method of a dict returned; None of other values."""
    return next((v for v in s.views if v.value is value), None)


def class_of_view(s: Specialiser, value: Value) -> type | None:
    """The class of what a method of a dict returned; None of other values."""
    known = viewed(s, value)
    return type(getattr({}, known.method)()) if known is not None else None


def refuse_change(s: Specialiser, base: Value) -> None:
    """Refuse to change a dict of which a view has a name."""
    if places(s, base) & s.lazy:
        raise s.refuse(
            "changed-while-iterated",
            "a dict is changed that an iterator reads",
            "make a list of what the iterator gives",
        )
    own = [v.value for v in s.views if places(s, v.base) & places(s, base)]
    if any(e is v or isinstance(v, Leaf) and e == v for v in own for e in s.env.values()):
        raise s.refuse(
            "changed-while-iterated",
            "a dict is changed while its keys, values or items have a name",
            "make a list of them",
        )


def operated(s: Specialiser, op: type, a: Value, b: Value) -> Value | None:
    """``a.keys() & b.keys()`` and the like, as Python writes them: the order of a set hangs on how it was made."""
    if op not in SYMBOLS or not any(class_of_view(s, v) in (KEYS, ITEMS) for v in (a, b)):
        return None
    result: Value = s.let(ir.binop(side(s, a), op, side(s, b)), Opaque(set), effect=True)
    return result


def compared(s: Specialiser, op: Any, python: Callable[..., Any], a: Value, b: Value) -> Value | None:
    """``a.keys() == b.keys()`` and the like: as sets, whatever their order; `python` is the operator as a function."""
    if class_of_view(s, a) is class_of_view(s, b) is None:
        return None
    known = [container(s, v) for v in (a, b)]
    if all(found is not None and found[1] == "keys" and found[0].id not in s.objects for found in known):
        keys = [dict.fromkeys(s.fields(found[0])).keys() for found in known if found is not None]
        return Const(bool(python(*keys)))
    expr = gast.Compare(side(s, a), [op], [side(s, b)])
    return s.let(expr, BOOL, hint="condition", may_raise=False)


def is_disjoint(s: Specialiser, base: Value, other: Value) -> Value:
    """``d.keys().isdisjoint(other)``"""
    expr = ir.call(ir.attribute(side(s, base), "isdisjoint"), side(s, other))
    return s.let(expr, BOOL, hint="condition", effect=True)


def side(s: Specialiser, value: Value) -> Any:
    """A view of the keys of a dict, in an expression."""
    known = next((v for v in s.views if v.value is value), None)
    if known is None:
        return s.expr(value)
    if known.method != "keys":
        raise s.refuse("dict-method", f"a set of the {known.method} of a dict cannot be followed", "use its keys")
    if isinstance(known.base, Obj) and known.base.id[0] == "dict":
        raise Restart(known.base.id)
    if not isinstance(known.base, Leaf):
        raise s.refuse(
            "dict-method", "a set of the keys of a dict that lives outside the function", "make a set of them"
        )
    return ir.call(ir.attribute(ir.name(known.base.name), "keys"))


def places(s: Specialiser, base: Value) -> frozenset[Any]:
    """The marks that tell dicts apart."""
    facts = s.facts_of(base)
    return facts.roots if isinstance(facts, Mapped) else frozenset([base.id] if isinstance(base, Obj) else [])


def container(s: Specialiser, value: Value) -> tuple[Obj, str] | None:
    """The dict or list that is gone over, if it is known item by item, and what is read of it."""
    if isinstance(value, Obj) and value.cls in (dict, list) and value.id not in s.objects:
        return value, "keys" if value.cls is dict else "values"
    known = next((v for v in s.views if v.value is value), None)
    return (known.base, known.method) if known is not None and isinstance(known.base, Obj) else None


def item(s: Specialiser, base: Obj, method: str, key: Any) -> Value:
    """The item that a loop gets for a key, at the time."""
    if method == "keys":
        return Const(key)
    value = get_item(s, base, Const(key))
    return value if method == "values" else TupleV((Const(key), value))


def fields(s: Specialiser, value: Value) -> list[Any]:
    """The places in the environment of what is read of a container, in order."""
    known = container(s, value)
    found = [] if known is None or known[1] == "keys" else [(known[0].id, key) for key in s.fields(known[0])]
    return found if all(place in s.env for place in found) else []  # of constants outside there are none


class Record(dict[str, Any]):
    """The class of the dicts with the same keys."""

    keys_of_all: tuple[str, ...]


@cache
def record_class(keys: tuple[str, ...]) -> type[Record]:
    """The class of the dicts with these keys, in this order."""
    return type("record", (Record,), {"keys_of_all": keys})


def class_of_dict(s: Specialiser, value: Obj) -> type[Record] | None:
    """The class that a dict of the program could have a table for."""
    keys = s.fields(value)
    named = bool(keys) and all(isinstance(key, str) and is_identifier(key) for key in keys)
    made = value.id not in s.objects and value.id[0] in ("dict", "carried", "merge", "copy")
    return record_class(tuple(keys)) if named and made else None
