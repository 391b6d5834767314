"""Classes defined inside the program, and attributes that an object has of its class.

Classes that are defined inside the program.

::

    def loss(w, x):
        class Layer:                            the class is made from its code object when the program is specialised;
            def __init__(self, k):              its methods read the variables of the function around it, as functions
                self.k = k                      that are defined there do
            def __call__(self, h):
                return np.tanh(w[self.k] * h)

What is computed where the class is defined must be the same in each call: bases, defaults and attributes are constants.

Attributes that an object has of its class, until it is given its own.

::

    class Total:
        value = 0.0
    total = Total()
    for e in x:
        total.value += e        the first iteration reads what the class holds

Where a path that assigns such an attribute meets one that does not, the object has its own on both: what the class
holds is what is read there either way.  So nobody may give the class another value after that.
"""

from __future__ import annotations

import builtins
import collections
import dataclasses
import functools
import types
from collections.abc import Iterator
from typing import Any

import gast

from ...domain.values import Const, Frame, Leaf, Obj, Poison, TupleV, Value
from ..kernel.escape import parts_of
from ..kernel.handlers import evaluate, handles, statement
from ..kernel.operations import items_of
from ..kernel.specialiser import Specialiser
from ..world.captures import assigned_to_class, import_external, object_number
from ..world.class_guards import DESCRIPTORS, found_in, has, own_method, refuse_descriptor
from ..world.names import assign_name

DECORATORS = (dataclasses.dataclass, functools.total_ordering)
METHOD_DECORATORS = (property, staticmethod, classmethod, functools.cached_property)


@statement(gast.ClassDef)
def define_class(s: Specialiser, node: Any) -> None:
    assert s.frame is not None
    for stmt in node.body:
        s.node = stmt
        check_statement(s, node, stmt)
    s.node = node
    bases = tuple(constant(s, base) for base in node.bases)
    keywords = tuple((k.arg, constant(s, k.value)) for k in node.keywords)
    decorators = tuple(class_decorator(s, d) for d in reversed(node.decorator_list))
    try:
        cls = made(code_of(s, node), node.name, s.frame.id, bases, keywords, decorators, Globals(s.frame.globals))
    except (AttributeError, NameError, TypeError, ValueError) as error:
        raise s.refuse("local-class", f"this class cannot be made before the program runs: {error}") from error
    s.inside |= dict.fromkeys([cls, *functions_of(cls)], s.frame)
    assign_name(s, node.name, Const(cls))


# -- what may stand in a class


def check_statement(s: Specialiser, node: Any, stmt: Any) -> None:
    """Refuse what might be something else in another call."""
    own = {each.name for each in node.body if isinstance(each, gast.FunctionDef)}
    if isinstance(stmt, gast.FunctionDef):
        for decorator in stmt.decorator_list:
            setter = isinstance(decorator, gast.Attribute) and getattr(decorator.value, "id", None) in own
            if not setter and constant(s, decorator) not in METHOD_DECORATORS:
                raise s.refuse("local-class", "a decorator of a method in a class that is defined inside the function")
        values = [d for d in [*stmt.args.defaults, *stmt.args.kw_defaults] if d is not None]
    elif isinstance(stmt, (gast.Assign, gast.AnnAssign)):
        another_name = isinstance(stmt.value, gast.Name) and stmt.value.id in own  # ``__radd__ = __add__``
        values = [] if stmt.value is None or another_name else [stmt.value]
    elif isinstance(stmt, gast.Pass) or isinstance(stmt, gast.Expr) and isinstance(stmt.value, gast.Constant):
        values = []
    else:
        raise s.refuse("local-class", "a statement in a class that is defined inside the function")
    for value in values:
        if not is_literal(value) and not is_field(s, value):
            raise s.refuse("local-class", "a value that is computed where a class is defined")


def is_literal(node: Any) -> bool:
    if isinstance(node, gast.UnaryOp):
        return is_literal(node.operand)
    if isinstance(node, gast.Tuple):
        return all(map(is_literal, node.elts))
    return isinstance(node, gast.Constant)


def is_field(s: Specialiser, node: Any) -> bool:
    """``field(default=1.0)`` and ``field(default_factory=list)``"""
    if not isinstance(node, gast.Call) or node.args or constant(s, node.func) is not dataclasses.field:
        return False
    return all(is_literal(k.value) or constant(s, k.value) in (list, dict) for k in node.keywords)


def constant(s: Specialiser, node: Any) -> Any:
    """A class or a function that a name stands for, in each call."""
    value = evaluate(s, node)
    if not isinstance(value, Const) or not callable(value.value):
        raise s.refuse("local-class", "something that only the run knows, where a class is defined")
    return value.value


def class_decorator(s: Specialiser, node: Any) -> Any:
    if not isinstance(node, gast.Call):
        found, settings = constant(s, node), {}
    else:
        found = constant(s, node.func)
        if node.args or not all(isinstance(k.value, gast.Constant) for k in node.keywords):
            raise s.refuse("local-class", "the settings of a decorator of a class that is defined inside the function")
        settings = {k.arg: k.value.value for k in node.keywords}
    if found not in DECORATORS:
        raise s.refuse("local-class", "a decorator of a class that is defined inside the function")
    return found, tuple(settings.items())


@handles(collections.namedtuple)
def namedtuple(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A class of tuples that the program makes: its fields and their defaults are the same in each call."""
    if len(args) > 1 and not s.is_static(args[1]):
        args = [args[0], TupleV(tuple(items_of(s, args[1], None))), *args[2:]]
    if not all(s.is_static(v) for v in [*args, *kwargs.values()]):
        raise s.refuse("local-class", "a value that is computed where a class is defined")
    assert s.frame is not None
    given = tuple(frozen(s.static(v)) for v in args)
    named = tuple((k, frozen(s.static(v))) for k, v in kwargs.items())
    cls = made_of_fields((s.site("namedtuple"), repr((given, named))), given, named)
    cls.__module__ = s.frame.globals.get("__name__", cls.__module__)
    s.inside[cls] = s.frame
    return Const(cls)


# -- making


def frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


@functools.lru_cache(maxsize=1024)
def made_of_fields(site: Any, args: tuple[Any, ...], kwargs: tuple[tuple[str, Any], ...]) -> type:
    return collections.namedtuple(*args, **dict(kwargs))  # type: ignore[call-overload, no-any-return]


class Globals:
    """A module's names, told apart by identity."""

    def __init__(self, table: dict[str, Any]) -> None:
        self.table = table

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Globals) and self.table is other.table

    def __hash__(self) -> int:
        return id(self.table)


@functools.lru_cache(maxsize=1024)
def made(
    code: types.CodeType, name: str, frame: int, bases: Any, keywords: Any, decorators: Any, table: Globals
) -> type:
    """The class of one activation: the same one whenever the program is specialised."""
    cells = tuple(types.CellType() for _ in code.co_freevars)
    body = types.FunctionType(code, table.table, name, None, cells)
    cls = builtins.__build_class__(body, name, *bases, **dict(keywords))  # type: ignore[attr-defined]
    for decorator, settings in decorators:
        cls = decorator(**dict(settings))(cls) if settings else decorator(cls)
    if not isinstance(cls, type):
        raise TypeError("it is no class")
    return cls


def code_of(s: Specialiser, node: Any) -> types.CodeType:
    """The code object of a class, in that of the function that it is written in."""
    top: Frame | None = s.frame
    while top is not None and top.parent is not None:
        top = top.parent
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    found = [
        code
        for code in codes_in(top.site if top is not None else None)
        if code.co_name == node.name and first <= code.co_firstlineno <= node.lineno
    ]
    if len(found) != 1:
        raise s.refuse(
            "local-class", "the code of this class cannot be told from others", "give each class a line of its own"
        )
    return found[0]


def codes_in(code: Any) -> Iterator[types.CodeType]:
    for each in code.co_consts if isinstance(code, types.CodeType) else ():
        if isinstance(each, types.CodeType):
            yield each
            yield from codes_in(each)


def functions_of(cls: type) -> Iterator[types.FunctionType]:
    """The functions that a class was written with."""
    for value in vars(cls).values():
        parts = (value, *(getattr(value, name, None) for name in ("fget", "fset", "fdel", "func", "__func__")))
        yield from (part for part in parts if isinstance(part, types.FunctionType))


NO_VALUES = (*DESCRIPTORS, functools.cached_property, types.MemberDescriptorType, types.GetSetDescriptorType)


def class_value(s: Specialiser, cls: type, attr: str) -> Value | None:
    """The value of a class for an object without the attribute; None where there is none, or one that is bound."""
    if (value := assigned_to_class(s, cls, attr)) is not None:
        return value
    if isinstance(found_in(s, cls, attr), NO_VALUES) or not has(cls, attr):
        return None
    return import_external(s, lambda: getattr(cls, attr), attr, ("attribute", object_number(s, cls), attr))


def of_both(s: Specialiser, cls: type, attr: str) -> Value | None:
    """The same, for an object that has an attribute of its own on another path."""
    value = None if attr.startswith("__") else class_value(s, cls, attr)
    if value is not None:
        refuse_descriptor(s, cls, attr)
        s.shadowed.add((cls, attr))
    return value


def first_value(s: Specialiser, cls: type) -> str | None:
    """The name of the first attribute of a class that is no method; None where it has none."""
    names = (name for parent in cls.__mro__ for name in parent.__dict__ if not name.startswith("__"))
    return next((name for name in names if of_both(s, cls, name) is not None), None)


def on_other_path(s: Specialiser, obj: Obj, attr: Any, env: dict[Any, Value]) -> Value | None:
    """The attribute that another path assigns, on a path with this environment; None where nothing gives it."""
    if obj.cls in (dict, list) or not isinstance(attr, str):
        return None
    outer, s.env = s.env, env
    try:
        value = of_both(s, obj.cls, attr)
    finally:
        s.env = outer
    if value is not None:
        return value
    s.unsure.add((obj.id, attr))
    slots = isinstance(found_in(s, obj.cls, attr), types.MemberDescriptorType)
    if slots or not (has(obj.cls, attr) or own_method(s, obj.cls, "__getattr__") is not None):
        return None
    return Poison(f"only the run tells whether {attr!r} was assigned to the object")


def objects_in(env: dict[Any, Value]) -> dict[Any, Obj]:
    """The objects that something in an environment refers to, by their ids."""
    found: dict[Any, Obj] = {}
    pending = list(env.values())
    while pending:
        value = pending.pop()
        if isinstance(value, Obj):
            found[value.id] = value
        elif not isinstance(value, (Leaf, Const)):
            pending += parts_of(value)
    return found
