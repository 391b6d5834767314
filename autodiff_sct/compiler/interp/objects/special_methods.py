"""What a class of the user's means by Python's own operations: methods in their place, and classes that are refused.

An object is its fields, which are read and assigned as such.  What a class has in the place of that is called where it
can be followed (``__setattr__``, ``__getattr__``, ``__round__``), and refused where it cannot (``__getattribute__``,
descriptors other than properties and methods, what makes objects in another way).
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Any

from ... import ir
from ...domain.facts import Opaque
from ...domain.foreign_objects import is_compiled
from ...domain.values import Const, Obj, Super, TupleV, Value
from ...ir.builder import Specialiser
from ...ir.reify import expr_of_object
from ..calls.classify import SPECIAL
from ..calls.dispatch import call_value, handles
from ..control.raising import always
from ..world.class_guards import DESCRIPTORS, found_in, is_library, lookup, own_method
from .attributes import assign_plainly, attribute_of
from .objects import has_method
from .tables import class_of_row, method_of

# What a named tuple may not do in its own way: the compiler knows what its items are, and how many.
OF_TUPLES = (
    *("__getitem__", "__iter__", "__len__", "__eq__", "__contains__", "__bool__", "__lt__", "__hash__"),
    *("__ne__", "__gt__", "__le__", "__ge__", "__array__", "__getattribute__"),
)
BUILTIN_DESCRIPTORS = (
    types.MemberDescriptorType,
    types.GetSetDescriptorType,
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
    types.DynamicClassAttribute,  # an Enum's
)


def special_method(s: Specialiser, fn: Any, args: list[Value]) -> Callable[..., Value] | None:
    """What a call of a builtin on an object of a class that has a method for it does."""
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
            f"{fn.__qualname__} of an object of a class of its own kind",
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
    if isinstance(found_in(s, cls, "__new__"), staticmethod) and not is_library(cls):
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


def refuse_tuple(s: Specialiser, cls: type) -> None:
    """Refuse a named tuple that is no tuple in all that it does."""
    for name in OF_TUPLES:
        if own_method(s, cls, name) is not None:
            raise s.refuse("class-feature", f"{cls.__name__} has a {name} of its own")


def refuse_array(s: Specialiser, a: Value, b: Value) -> None:
    """Refuse an array before an object that does not say that NumPy is to leave the operation to it."""
    facts, cls = s.num(a), b.cls if isinstance(b, (Obj, TupleV)) else class_of_row(s, b)
    if facts is None or facts.kind not in ("array", "npscalar") or cls is None or facts.row is not None:
        return
    asked = getattr(cls, "__array_ufunc__", 0)
    left = asked is None or (asked == 0 and getattr(cls, "__array_priority__", 0) > 0)
    single = asked == 0 and facts.dims == ()  # an operation of Python's on one number
    if not left and not single:
        raise s.refuse(
            "class-feature",
            f"an array before a {cls.__name__}: NumPy decides what that is",
            f"let {cls.__name__} have `__array_ufunc__ = None`, or write the object first",
        )


def refuse_descriptor(s: Specialiser, cls: type, attr: str) -> None:
    """Refuse an attribute that a class computes in a way of its own."""
    if own_method(s, cls, "__getattribute__") is not None:
        raise s.refuse(
            "class-feature", f"{cls.__name__} has a __getattribute__ of its own", "use __getattr__, or properties"
        )
    found = lookup(cls, attr)
    own = hasattr(type(found), "__get__") or hasattr(type(found), "__set__")
    if hasattr(type(found), "__autodiff_gradient__"):
        return
    if own and not isinstance(found, (*DESCRIPTORS, *BUILTIN_DESCRIPTORS, types.BuiltinFunctionType)):
        raise s.refuse(
            "class-feature", f"{attr!r} of {cls.__name__} is a {type(found).__name__}", "make it a property or a method"
        )
