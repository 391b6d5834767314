"""Dicts that only the run tells apart: rows of tables, as objects are.

::

    rows.append({"x": x, "v": v})         record_x.append(x)
                                          record_v.append(v)
                                          rows.append(record)         # the number of the row
    r["v"] = r["v"] / 2                   record_v[r] = record_v[r] / 2

The dicts of one program that are written with the same constant keys are of one class.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...domain.values import Const, Leaf, Obj, TupleV, Value
from ..kernel.operations import get_item as found_under
from ..kernel.operations import set_item as put
from ..kernel.specialiser import Specialiser
from ..kernel.user_errors import always
from .dict_views import Record, class_of_dict
from .tables import class_of_row, column, fields_of_row, has_table, new_row, read_column, references
from .union_tables import classes_of


def as_record(s: Specialiser, value: Value) -> Value:
    """A new dict, as a row where there is a table for those with its keys."""
    cls = class_of_dict(s, value) if isinstance(value, Obj) and value.cls is dict else None
    if cls is None or not has_table(s, cls):
        return value
    assert isinstance(value, Obj)
    return new_row(s, cls, {key: s.env[(value.id, key)] for key in s.fields(value)})


def record_of(s: Specialiser, value: Value) -> type[Record] | None:
    """The class of a dict that is a row."""
    cls = class_of_row(s, value) if classes_of(s, value) is None else None
    return cls if cls is not None and issubclass(cls, Record) else None


def place(s: Specialiser, row: Leaf, cls: type[Record], key: Value) -> Leaf:
    """The column of a key."""
    if not s.is_static(key):
        s.write_out_loop(s.expr(key))
        raise s.refuse("dict-key", "a key that is known only at run time, of a dict in a list")
    if s.static(key) not in cls.keys_of_all:
        raise always(s, KeyError, s.static(key))
    return column(s, cls, s.static(key))


def get_item(s: Specialiser, row: Leaf, cls: type[Record], key: Value) -> Value:
    return read_column(s, place(s, row, cls, key), row, row)


def set_item(s: Specialiser, row: Leaf, cls: type[Record], key: Value, value: Value) -> None:
    if s.is_static(key) and s.static(key) not in cls.keys_of_all:
        raise s.refuse(
            "dict-key",
            f"a dict in a list gets another key, {s.static(key)!r}",
            "write it with all its keys where it is made",
        )
    found = place(s, row, cls, key)
    with references(s):
        put(s, found, row, value)


def items(s: Specialiser, row: Leaf, cls: type[Record]) -> Iterator[tuple[Value, Value]]:
    for key in cls.keys_of_all:
        yield Const(key), get_item(s, row, cls, Const(key))


def call_method(s: Specialiser, row: Leaf, cls: type[Record], name: str, args: list[Value], kwargs: Any) -> Value:
    if name == "keys":
        return TupleV(tuple(map(Const, cls.keys_of_all)))
    if name == "values":
        return TupleV(tuple(value for _, value in items(s, row, cls)))
    if name == "items":
        return TupleV(tuple(TupleV(pair) for pair in items(s, row, cls)))
    if name == "copy":
        return new_row(s, cls, fields_of_row(s, row))
    if name in ("get", "setdefault") and args and s.is_static(args[0]):
        if s.static(args[0]) in cls.keys_of_all:
            return get_item(s, row, cls, args[0])
        if name == "get":
            return args[1] if len(args) > 1 else Const(None)
    if name == "update":
        return update(s, row, cls, args, kwargs)
    raise s.refuse(
        "dict-key",
        f"the method {name!r} of a dict in a list cannot be followed",
        "write the dict with all its keys where it is made",
    )


def pairs_of(s: Specialiser, value: Value) -> Iterator[tuple[Value, Value]]:
    """The keys and the values of a dict with constant keys."""
    cls = record_of(s, value)
    if cls is not None and isinstance(value, Leaf):
        yield from items(s, value, cls)
    elif isinstance(value, Obj) and value.cls is dict:
        for key in s.fields(value):
            yield Const(key), found_under(s, value, Const(key))
    else:
        raise s.refuse(
            "dict-key", "`**` of something that is not a dict with constant keys", "write the keys out: `f(a=d['a'])`"
        )


def update(s: Specialiser, row: Leaf, cls: type[Record], args: list[Value], kwargs: dict[str, Value]) -> Value:
    pairs = [pair for other in args for pair in pairs_of(s, other)]
    pairs += [(Const(key), value) for key, value in kwargs.items()]
    for key, value in pairs:
        set_item(s, row, cls, key, value)
    return Const(None)
