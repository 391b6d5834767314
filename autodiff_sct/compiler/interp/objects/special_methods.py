"""Special methods of the user's classes for Python's operations, and classes that are refused.

An object is its fields, which are read and assigned as such.  What a class has in the place of that is called where it
can be followed (``__setattr__``, ``__getattr__``, ``__round__``), and refused where it cannot (``__getattribute__``,
descriptors other than properties and methods, what makes objects in another way).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ... import ir
from ...domain.facts import Opaque
from ...domain.values import Const, Obj, Super, Value, is_compiled
from ...ir.builder import Specialiser
from ...ir.program_values import expr_of_object
from ..kernel.functions import SPECIAL
from ..kernel.handlers import handles
from ..kernel.operations import attribute_of, call_value
from ..kernel.user_errors import always
from ..world.class_guards import found_in, has_method, own_method
from .attributes import assign_plainly
from .tables import method_of


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
