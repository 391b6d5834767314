"""Methods of the user's classes and objects: what they are now, and whether they still are that at the next call.

A program is compiled for the methods that its classes have, and for the special ones that they do not have.  Each class
has one guard, however many names are asked for.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from itertools import repeat
from operator import is_
from typing import Any

from ...domain.dependencies import Guard
from ...domain.values import Obj
from ..kernel.specialiser import Specialiser
from ..kernel.user_errors import Ended, always

LIBRARIES = "numpy math scipy operator functools itertools random builtins autodiff_sct".split()
DESCRIPTORS = (types.FunctionType, property, staticmethod, classmethod)
ABSENT = object()
IMMUTABLE = 1 << 8  # of a class's flags: nobody can assign to its attributes, as to those of `object` and `tuple`


def observe(s: Specialiser, read: Callable[[], Any]) -> Any:
    """Read something from outside while specialising; compile again as soon as it is another."""
    value = read()
    s.guards.append(Guard(read, value))
    return value


class ClassGuard:
    """A guard of names in a class: a method or another callable, a value, or nothing.

    As long as the class and its bases hold the very objects under these names that they held when it was looked at, it
    has.  Only where they hold others is each name looked up.
    """

    def __init__(self, cls: type) -> None:
        self.cls = cls
        self.expected: dict[tuple[str, type | None], Any] = {}  # the name, and the base above which it is looked for
        self.bases: tuple[type, ...] = ()
        self.held: list[tuple[Callable[..., Any], tuple[str, ...], tuple[Any, ...]]] = []

    def holds(self) -> bool:
        if self.cls.__mro__ is not self.bases:
            return self.looked_up()
        for get, names, values in self.held:
            if not all(map(is_, map(get, names, repeat(ABSENT)), values)):
                return self.looked_up()
        return True

    def looked_up(self) -> bool:
        """True if each name still means the same; what is held is noted before that is asked, so as to miss nothing."""
        bases = self.cls.__mro__
        names = tuple(dict.fromkeys(attr for attr, _ in self.expected))
        tables = [base.__dict__.get for base in bases if not base.__flags__ & IMMUTABLE]
        held = [(get, names, tuple(map(get, names, repeat(ABSENT)))) for get in tables]
        if any(method_in(self.cls, attr, above) is not found for (attr, above), found in self.expected.items()):
            return False
        self.held = held
        self.bases = bases
        return True


def found_in(s: Specialiser, cls: type, attr: str, above: type | None = None) -> Any:
    """The attribute of a class under a name, `above` a base; compile again when it has another method there."""
    found = lookup(cls, attr, above)
    if not is_library(cls):
        if cls not in s.classes:
            s.classes[cls] = ClassGuard(cls)
            s.guards.append(s.classes[cls])
        s.classes[cls].expected.setdefault((attr, above), method_in(cls, attr, above))
    return found


def own_method(s: Specialiser, cls: type, attr: str) -> types.FunctionType | None:
    """A special method that a class of the user's has in the place of Python's."""
    found = found_in(s, cls, attr)
    ours = not isinstance(found, types.FunctionType) or (found.__module__ or "").startswith("autodiff_sct.")
    return None if ours else found


def method_in(cls: type, attr: str, above: type | None) -> Any:
    """The callable of a class under a name, None for a value, which is read anew; `ABSENT` for nothing."""
    parents = cls.__mro__
    if above is not None and above not in parents:
        return ABSENT
    for parent in parents if above is None else parents[parents.index(above) + 1 :]:
        if attr in parent.__dict__:
            found = parent.__dict__[attr]
            return found if isinstance(found, DESCRIPTORS) or callable(found) else None
    return ABSENT


def lookup(cls: type, attr: str, above: type | None = None) -> Any:
    parents = cls.__mro__
    for parent in parents if above is None else parents[parents.index(above) + 1 :]:
        if attr in parent.__dict__:
            return parent.__dict__[attr]
    return None


def has(cls: type, attr: str) -> bool:
    """True if a class has something under a name, also None."""
    return any(attr in parent.__dict__ for parent in cls.__mro__)


def watch(s: Specialiser, base: Obj, attr: str, found: Any) -> None:
    """Compile again when an object from outside has a method or property of its own, or another."""
    if base.id not in s.objects or not isinstance(found, DESCRIPTORS) or (base.id, attr) in s.watched:
        return
    if not base.cls.__module__.startswith("autodiff_sct."):
        s.watched.add((base.id, attr))
        obj, read = s.objects[base.id]
        own = getattr(obj, "__dict__", {}).get(attr)
        s.guards.append(Guard(lambda: getattr(read(), "__dict__", {}).get(attr), own))


def is_library(owner: Any) -> bool:
    """True if a module or a class is NumPy's, the standard library's or ours."""
    name = owner.__module__ if isinstance(owner, type) else owner.__name__
    return name.split(".")[0] in LIBRARIES


def lacking(s: Specialiser, exists: Callable[[], bool], error: type[Exception], message: str, **named: Any) -> Ended:
    """Note something outside that does not exist, as `always` does: once it does, the program is compiled again."""
    observe(s, exists)
    return always(s, error, message, **named)


# What a named tuple may not do in its own way: the compiler knows what its items are, and how many.
OF_TUPLES = (
    *("__getitem__", "__iter__", "__len__", "__eq__", "__contains__", "__bool__", "__lt__", "__hash__"),
    *("__ne__", "__gt__", "__le__", "__ge__", "__array__", "__getattribute__"),
)


def refuse_tuple(s: Specialiser, cls: type) -> None:
    """Refuse a named tuple that is no tuple in all that it does."""
    for name in OF_TUPLES:
        if own_method(s, cls, name) is not None:
            raise s.refuse("class-feature", f"{cls.__name__} has a {name} of its own")


def has_method(s: Specialiser, obj: Obj, name: str) -> bool:
    return obj.cls not in (dict, list) and isinstance(found_in(s, obj.cls, name), types.FunctionType)


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


def descriptor_method(s: Specialiser, base: Obj, attr: str, name: str) -> types.FunctionType | None:
    """A method, written in Python, of the data descriptor that computes an attribute of an object made inside."""
    cls = type(lookup(base.cls, attr))
    methods = [getattr(cls, each, None) for each in ("__get__", "__set__")]
    if base.id in s.objects or not all(isinstance(method, types.FunctionType) for method in methods):
        return None
    return methods[name == "__set__"]


BUILTIN_DESCRIPTORS = (
    types.MemberDescriptorType,
    types.GetSetDescriptorType,
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
    types.DynamicClassAttribute,  # an Enum's
)
