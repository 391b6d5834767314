"""Objects of the user's classes: methods, operators, construction."""

from __future__ import annotations

import dataclasses
import functools
import types
from typing import Any

from .attributes import attribute_of
from .names import called_after
from .state import Specialiser
from .tables import as_row, class_of_row, fields_of_row, has_table
from .values import Const, Leaf, Obj, TupleV, Value
from .watched import found_in, lookup


def has_method(s: Specialiser, obj: Obj, name: str) -> bool:
    return obj.cls not in (dict, list) and isinstance(found_in(s, obj.cls, name), types.FunctionType)


def call_method(s: Specialiser, obj: Obj, name: str, args: list[Value]) -> Value:
    from .calls import call_value

    return call_value(s, attribute_of(s, obj, name), args, {})


def overloaded(s: Specialiser, names: tuple[str, str], a: Value, b: Value) -> Value:
    """``a op b`` where one of them is an object; a method that gives NotImplemented passes the question on."""
    from .protocols import refuse_array

    attempts = [(a, names[0], b), (b, names[1], a)]
    if isinstance(a, Obj) and isinstance(b, Obj) and a.cls is not b.cls and issubclass(b.cls, a.cls):
        if found_in(s, b.cls, names[1]) is not found_in(s, a.cls, names[1]):
            attempts.reverse()
    refuse_array(s, a, b)
    for target, name, other in attempts:
        if isinstance(target, Obj) and has_method(s, target, name):
            result = call_method(s, target, name, [other])
            if not (isinstance(result, Const) and result.value is NotImplemented):
                return result
    raise s.refuse("these objects have no operator for this expression")


def construct(s: Specialiser, cls: type, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``cls(*args, **kwargs)`` for a class of the user's."""
    from .calls import call_python
    from .protocols import refuse_maker, refuse_tuple

    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        refuse_tuple(s, cls)
        return named_tuple(s, cls, args, kwargs)
    refuse_maker(s, cls)
    obj = Obj(("new", s.site(cls.__qualname__)), cls)
    s.births[obj.id] = s.block
    s.frozen.discard(obj.id)  # it is a new object, whatever became of the one made here before
    for key in s.fields(obj):
        del s.env[(obj.id, key)]
    if dataclasses.is_dataclass(cls) and is_generated(cls):
        fill_dataclass(s, obj, cls, args, kwargs)
        return as_row(s, obj) if has_table(s, cls) else obj
    init = found_in(s, cls, "__init__")
    if isinstance(init, types.FunctionType):
        call_python(s, init, [obj, *args], kwargs)
    elif args or kwargs:
        raise s.refuse(f"{cls.__name__} has no __init__ that the compiler can read")
    return as_row(s, obj) if has_table(s, cls) else obj


def is_generated(cls: type, name: str = "__init__") -> bool:
    found = lookup(cls, name)
    return isinstance(found, types.FunctionType) and found.__code__.co_filename == "<string>"


def named_tuple(s: Specialiser, cls: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    from ..world import ItemRead
    from .externals import import_external

    items: list[Value] = []
    for k, name in enumerate(cls._fields):
        if k < len(args):
            items.append(args[k])
        elif name in kwargs:
            items.append(kwargs[name])
        elif name in cls._field_defaults:
            items.append(
                import_external(
                    s, ItemRead(lambda: cls._field_defaults, name), name, ("default", cls.__qualname__, name)
                )
            )
        else:
            raise s.refuse(f"{cls.__name__} is missing its field {name!r}")
    return TupleV(tuple(own(s, v) for v in items), cls)


def own(s: Specialiser, value: Value) -> Value:
    from .containers import own_list
    from .values import ListV

    return own_list(s, value) if isinstance(value, ListV) else value


def fill_dataclass(s: Specialiser, obj: Obj, cls: Any, args: list[Value], kwargs: dict[str, Value]) -> None:
    from .calls import call_python, call_value
    from .externals import import_external

    rest = list(args)
    for field in dataclasses.fields(cls):
        if not field.init:
            value = None
        elif rest and not field.kw_only:
            value = rest.pop(0)
        else:
            value = kwargs.get(field.name)
        if value is None and field.default is not dataclasses.MISSING:
            value = import_external(
                s, functools.partial(getattr, field, "default"), field.name, ("default", cls.__qualname__, field.name)
            )
        if value is None and field.default_factory is not dataclasses.MISSING:
            value = call_value(s, Const(field.default_factory), [], {})
        if value is not None:
            s.env[(obj.id, field.name)] = called_after(s, field.name, own(s, value))
        elif field.init:
            raise s.refuse(f"{cls.__name__} is missing its field {field.name!r}")
    post = found_in(s, cls, "__post_init__")
    if isinstance(post, types.FunctionType):
        call_python(s, post, [obj], {})


def replace_fields(s: Specialiser, obj: Value, changes: dict[str, Value]) -> Value:
    """``dataclasses.replace(obj, **changes)``."""
    cls, old = fields_of(s, obj)
    values = {f.name: changes.get(f.name, old.get(f.name)) for f in dataclasses.fields(cls) if f.init}
    return construct(s, cls, [], {k: v for k, v in values.items() if v is not None})


def fields_of(s: Specialiser, obj: Value) -> tuple[Any, dict[str, Value]]:
    """The class and the fields of an object."""
    cls = class_of_row(s, obj)
    if isinstance(obj, Leaf) and cls is not None:
        return cls, fields_of_row(s, obj)
    if not isinstance(obj, Obj):
        raise s.refuse("the fields of something that is no object of a class that is known")
    return obj.cls, {str(key): s.env[(obj.id, key)] for key in s.fields(obj)}
