"""Objects of the user's classes: methods, operators, special methods, construction.

An object is its fields, which are read and assigned as such.  What a class has in the place of that is called where it
can be followed (``__setattr__``, ``__getattr__``, ``__round__``), and refused where it cannot (``__getattribute__``,
descriptors other than properties and methods, what makes objects in another way).
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import sys
import types
from collections.abc import Callable, Container
from types import SimpleNamespace
from typing import Any

import numpy as np

from ... import ir
from ...domain.facts import Opaque
from ...domain.values import Const, Leaf, ListV, Obj, Super, TupleV, Value, is_compiled
from ..kernel.bind_arguments import SPECIAL, bind_signature
from ..kernel.handlers import OPERATORS, handles
from ..kernel.operations import attribute_of, call_python, call_value, own_value
from ..kernel.program_values import expr_of_object
from ..kernel.specialiser import Specialiser
from ..kernel.user_errors import always
from ..world.captures import default_named, import_external
from ..world.class_guards import found_in, has_method, lookup, own_method, refuse_tuple
from ..world.names import called_after
from .attributes import assign_plainly
from .tables import as_row, class_of_row, fields_of_row, has_table, method_of, refuse_array


def special_method(s: Specialiser, fn: Any, args: list[Value]) -> Callable[..., Value] | None:
    """The result of a builtin's call on an object of a class that has a method for it."""
    if not args:
        return None
    target, name = args[0], SPECIAL[fn]
    if isinstance(target, Obj) and has_method(s, target, name):
        method: Value | None = attribute(s, target, name)
    else:
        method = method_of(s, target, name)
    if method is None:
        return written if fn in (str, repr) and isinstance(target, Obj) and target.id not in s.objects else None
    return lambda s, args, kwargs: call_value(s, method, args[1:], kwargs)


def written(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """The text of an object that the program makes, as Python writes one of these fields."""
    return s.let(ir.call("str", expr_of_object(s, args[0], built=True)), Opaque(str), hint="text", effect=True)


@handles(super)
def super_of(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``super(Layer, self)``, where both are written."""
    if len(args) != 2 or not isinstance(args[0], Const) or not isinstance(args[0].value, type):
        raise s.refuse("class-feature", "`super` of what is no class and object", "write `super()` inside the method")
    return Super(args[0].value, args[1])


def attribute(s: Specialiser, target: Value, name: str) -> Value:
    return attribute_of(s, target, name)


def call_inherited(s: Specialiser, fn: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A method that a class has from one of Python's own, as ``super().__init__()`` calls it."""
    if fn is object.__init__:
        return Const(None)
    if fn is not object.__setattr__:
        raise s.refuse(
            "class-feature",
            f"{fn.__qualname__} of an object of a class of its own kind cannot be followed",
            "call the method on the object",
        )
    return object_setattr(s, args, kwargs)


@handles(object.__setattr__)
def object_setattr(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    target, name, value = args
    if not isinstance(target, Obj):
        raise s.refuse(
            "class-feature", "object.__setattr__ of what is no object of a class that is known", "assign the attribute"
        )
    assign_plainly(s, target, s.static(name), value)
    return Const(None)


# -- what is refused


def refuse_maker(s: Specialiser, cls: Any) -> None:
    """Refuse a class whose objects are made, or consist, of something besides their fields."""
    if isinstance(found_in(s, cls, "__new__"), staticmethod):
        raise s.refuse("class-feature", f"{cls.__name__} makes its objects in __new__")
    if own_method(s, type(cls), "__call__") is not None:
        raise s.refuse("class-feature", f"{type(cls).__name__}, the class of {cls.__name__}, makes its objects")
    refuse_builtin(s, cls)
    if inspect.isabstract(cls):
        try:
            object.__new__(cls)
        except TypeError as error:
            raise always(s, TypeError, str(error)) from error


def refuse_builtin(s: Specialiser, cls: Any) -> None:
    """Refuse objects of a class above which there is one that is not written in Python, such as dict."""
    builtin = next((base for base in cls.__mro__[:-1] if base.__module__ == "builtins" or is_compiled(base)), None)
    if builtin is not None and builtin is not cls:
        raise s.refuse(
            "class-feature",
            f"{cls.__name__} is a {builtin.__name__} of its own kind",
            f"let it hold a {builtin.__name__}",
        )


NOT_GIVEN = Const(dataclasses.MISSING)
REPLACED_WRONGLY = ValueError if sys.version_info < (3, 13) else TypeError  # what `dataclasses.replace` raises


def call_method(s: Specialiser, obj: Obj, name: str, args: list[Value]) -> Value:
    return call_value(s, attribute_of(s, obj, name), args, {})


UFUNCS = {f"__{method}__": fn for fn, _, method in OPERATORS.values() if isinstance(fn, np.ufunc)}


def ufunc_named(s: Specialiser, fn: np.ufunc) -> Const:
    return Const(fn, ir.attribute(s.bind("np", np), fn.__name__))


def overloaded(s: Specialiser, names: tuple[str, str], a: Value, b: Value) -> Value:
    """``a op b`` where one of them is an object; a method that gives NotImplemented passes the question on."""
    attempts = [(a, names[0], b), (b, names[1], a)]
    if isinstance(a, Obj) and isinstance(b, Obj) and a.cls is not b.cls and issubclass(b.cls, a.cls):
        if found_in(s, b.cls, names[1]) is not found_in(s, a.cls, names[1]):
            attempts.reverse()
    facts, ufunc = s.num(a), UFUNCS.get(names[0])
    of_array = facts is not None and facts.kind in ("array", "npscalar") and isinstance(b, Obj)
    if of_array and ufunc is not None and not hasattr(b.cls, "stands_for") and has_method(s, b, "__array_ufunc__"):
        return call_method(s, b, "__array_ufunc__", [ufunc_named(s, ufunc), Const("__call__"), a, b])
    refuse_array(s, a, b)
    for target, name, other in attempts:
        if isinstance(target, Obj) and has_method(s, target, name):
            result = call_method(s, target, name, [other])
            if not (isinstance(result, Const) and result.value is NotImplemented):
                return result
    raise s.refuse(
        "unknown-value", "these objects have no operator for this expression", "write the operation on their fields"
    )


def construct(s: Specialiser, cls: type, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``cls(*args, **kwargs)`` for a class of the user's."""
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
        if all(lookup(cls, name) is vars(object)[name] for name in ("__init__", "__new__")):
            raise always(s, TypeError, f"{cls.__name__}() takes no arguments")
        raise s.refuse(
            "class-feature",
            f"{cls.__name__} has no __init__ that the compiler can read",
            "define __init__ in Python, or use a dataclass",
        )
    return as_row(s, obj) if has_table(s, cls) else obj


def is_generated(cls: type, name: str = "__init__") -> bool:
    found = lookup(cls, name)
    return isinstance(found, types.FunctionType) and found.__code__.co_filename == "<string>"


def named_tuple(s: Specialiser, cls: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    names = ["_cls", *cls._fields]
    optional = names[len(names) - len(cls.__new__.__defaults__ or ()) :]
    bound = bind(s, f"{cls.__name__}.__new__", names, [], optional, [Const(cls), *args], kwargs)
    items = [default_named(s, cls.__new__, name) if bound[name] is NOT_GIVEN else bound[name] for name in cls._fields]
    return TupleV(tuple(own(s, v) for v in items), cls)


def own(s: Specialiser, value: Value) -> Value:
    return own_value(s, value) if isinstance(value, ListV) else value


def bind(
    s: Specialiser,
    name: str,
    positional: list[str],
    by_name: list[str],
    optional: Container[str],
    args: list[Value],
    kwargs: dict[str, Value],
) -> dict[str, Value]:
    """The arguments of a method that Python has generated, by parameter; `NOT_GIVEN` stands for the default of one."""
    first = next((k for k, parameter in enumerate(positional) if parameter in optional), len(positional))
    spec = SimpleNamespace(
        posonlyargs=[],
        args=[SimpleNamespace(id=parameter) for parameter in positional],
        kwonlyargs=[SimpleNamespace(id=parameter) for parameter in by_name],
        vararg=None,
        kwarg=None,
    )
    missing: list[Value] = [NOT_GIVEN] * (len(positional) - first)
    return bind_signature(
        s, spec, args, kwargs, missing, {parameter: NOT_GIVEN for parameter in by_name if parameter in optional}, name
    )


def fill_dataclass(s: Specialiser, obj: Obj, cls: Any, args: list[Value], kwargs: dict[str, Value]) -> None:
    """The fields of a dataclass, as the ``__init__`` fills them that Python has generated."""
    parameters = list(inspect.signature(cls.__init__).parameters.values())
    positional = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    by_name = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
    optional = {p.name for p in parameters if p.default is not p.empty}
    given = bind(s, f"{cls.__qualname__}.__init__", positional, by_name, optional, [obj, *args], kwargs)
    for field in dataclasses.fields(cls):
        value = given.get(field.name, NOT_GIVEN)
        if value is NOT_GIVEN:
            value = default_of(s, cls, field)
        if value is not None:
            s.env[(obj.id, field.name)] = called_after(s, field.name, own(s, value))
    post = found_in(s, cls, "__post_init__")
    if isinstance(post, types.FunctionType):
        beside = [(name, given[name]) for name in init_only(cls)]
        more = [default_of(s, cls, init_only(cls)[name]) if value is NOT_GIVEN else value for name, value in beside]
        call_python(s, post, [obj, *more], {})


def init_only(cls: Any) -> dict[str, Any]:
    """The parameters of a dataclass's ``__init__`` that are no fields, but handed on to ``__post_init__``."""
    fields = {field.name for field in dataclasses.fields(cls)}
    return {
        name: parameter
        for name, parameter in cls.__dataclass_fields__.items()
        if name not in fields and name in inspect.signature(cls.__init__).parameters
    }


def default_of(s: Specialiser, cls: Any, field: Any) -> Any:
    """The default of a field; None where it has none."""
    if field.default is not dataclasses.MISSING and field.init:
        return default_named(s, cls.__init__, field.name)
    if field.default is not dataclasses.MISSING:
        site = ("default", cls.__qualname__, field.name)
        return import_external(s, functools.partial(getattr, field, "default"), field.name, site)
    if field.default_factory is not dataclasses.MISSING:
        return call_value(s, Const(field.default_factory), [], {})
    return None


def replace_fields(s: Specialiser, obj: Value, changes: dict[str, Value]) -> Value:
    """``dataclasses.replace(obj, **changes)``."""
    cls, old = fields_of(s, obj)
    for field in dataclasses.fields(cls):
        if not field.init and field.name in changes:
            message = f"field {field.name} is declared with init=False, it cannot be specified with replace()"
            raise always(s, REPLACED_WRONGLY, message)
    for name, parameter in init_only(cls).items():
        if parameter.default is dataclasses.MISSING and name not in changes:
            raise always(s, REPLACED_WRONGLY, f"InitVar {name!r} must be specified with replace()")
    kept = {field.name: old[field.name] for field in dataclasses.fields(cls) if field.init and field.name in old}
    return construct(s, cls, [], kept | changes)


def fields_of(s: Specialiser, obj: Value) -> tuple[Any, dict[str, Value]]:
    """The class and the fields of an object."""
    cls = class_of_row(s, obj)
    if isinstance(obj, Leaf) and cls is not None:
        return cls, fields_of_row(s, obj)
    if not isinstance(obj, Obj):
        raise s.refuse(
            "attribute",
            "the fields of something that is no object of a class that is known",
            "name the fields one by one",
        )
    return obj.cls, {str(key): s.env[(obj.id, key)] for key in s.fields(obj)}
