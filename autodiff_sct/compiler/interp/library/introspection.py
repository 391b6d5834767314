"""Introspection: ``hasattr``, ``getattr``, ``vars``, signatures, methods of strings, and frames, which are refused.

::

    @functools.wraps(fn)
    def checked(*args, **kwargs):
        bound = inspect.signature(fn).bind(*args, **kwargs)
        bound.apply_defaults()
        bound.arguments["x"] = np.atleast_2d(bound.arguments["x"])
        return fn(*bound.args, **bound.kwargs)

Python itself binds the arguments, which are values of the specialiser here.

The frames of a run are those of the emitted program, not those of the text that the user wrote.
"""

from __future__ import annotations

import inspect
import sys
import traceback
import types
from inspect import Parameter
from types import FunctionType
from typing import Any

import gast

from ... import ir
from ...domain.dummies import is_cheap
from ...domain.facts import BOOL, INT, Facts, Opaque
from ...domain.values import Const, Leaf, Obj, TupleV, Value
from ..containers.items import begun
from ..kernel.handlers import handles, otherwise
from ..kernel.operations import call_python, items_of, opaque_call
from ..kernel.specialiser import Specialiser
from ..kernel.user_errors import always
from ..objects import union_tables
from ..objects.attributes import asked_for, assign_attribute, read_now
from ..objects.objects import construct
from ..objects.tables import classes_of_row, may_be_none
from ..objects.types import class_of
from ..world.captures import default_named, import_external, object_number
from ..world.class_guards import found_in, has, is_library, observe, own_method


class Signature:
    """The result of `inspect.signature`, as far as calls need it; `fn` may be a signature that was made outside."""

    def __init__(self, fn: Any) -> None:
        self.fn = fn

    def bind(self, *args: Any, **kwargs: Any) -> Any:
        return BoundArguments(self.fn, bind(self.fn, args, kwargs))

    def bind_partial(self, *args: Any, **kwargs: Any) -> Any:
        return BoundArguments(self.fn, bind_partial(self.fn, args, kwargs))

    @property
    def parameters(self) -> Any:
        return parameters(self.fn)


class BoundArguments:
    """The result of `Signature.bind`."""

    def __init__(self, fn: Any, arguments: Any) -> None:
        self.fn, self.arguments = fn, arguments

    def apply_defaults(self) -> None:
        self.arguments = with_defaults(self.fn, self.arguments)

    @property
    def args(self) -> Any:
        return by_position(self.fn, self.arguments)

    @property
    def kwargs(self) -> Any:
        return by_name(self.fn, self.arguments)


# Functions of these texts that the specialiser carries out.


def bind(fn: Any, args: Any, kwargs: Any) -> Any: ...
def bind_partial(fn: Any, args: Any, kwargs: Any) -> Any: ...
def parameters(fn: Any) -> Any: ...
def with_defaults(fn: Any, arguments: Any) -> Any: ...
def by_position(fn: Any, arguments: Any) -> Any: ...
def by_name(fn: Any, arguments: Any) -> Any: ...


@handles(inspect.signature)
def signature(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    if kwargs or not isinstance(args[0], Const) or not isinstance(args[0].value, (FunctionType, inspect.Signature)):
        return opaque_call(s, s.expr(Const(inspect.signature)), inspect.signature, args, kwargs)
    return construct(s, Signature, args, {})


@handles(inspect.getfullargspec)
def full_arguments(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    fn = args[0].value if isinstance(args[0], Const) else None
    if kwargs or not isinstance(fn, FunctionType):
        return opaque_call(s, s.expr(Const(inspect.getfullargspec)), inspect.getfullargspec, args, kwargs)
    found = inspect.getfullargspec(fn)
    return import_external(s, lambda: found, "arguments", ("arguments of", object_number(s, fn)))


@handles(parameters)
def parameters_of(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    fn = s.static(args[0])
    found = dict(signature_of(fn).parameters)
    return import_external(s, lambda: found, "parameters", ("parameters of", object_number(s, fn)))


@handles(bind)
def bind_all(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return bound(s, args, inspect.Signature.bind)


@handles(bind_partial)
def bind_some(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return bound(s, args, inspect.Signature.bind_partial)


def bound(s: Specialiser, args: list[Value], binding: Any) -> Value:
    """The dict of what is given for each parameter."""
    fn, given, named = args
    known = signature_of(s.static(fn))
    try:
        found = binding(known, *items_of(s, given, None), **fields_of(s, named))
    except TypeError as error:
        raise always(s, TypeError, str(error)) from error
    return dict_of(s, {name: as_value(s, value, name) for name, value in found.arguments.items()})


@handles(with_defaults)
def add_defaults(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    fn, given = s.static(args[0]), fields_of(s, args[1])
    complete: dict[str, Value] = {}
    for parameter in signature_of(fn).parameters.values():
        if parameter.name in given:
            complete[parameter.name] = given[parameter.name]
        elif parameter.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD):
            empty: Any = () if parameter.kind is Parameter.VAR_POSITIONAL else {}
            complete[parameter.name] = as_value(s, empty, parameter.name)
        elif parameter.default is not Parameter.empty:
            complete[parameter.name] = default_in(s, fn, parameter)
    return dict_of(s, complete)


def signature_of(fn: Any) -> inspect.Signature:
    return fn if isinstance(fn, inspect.Signature) else inspect.signature(fn)


def default_in(s: Specialiser, fn: Any, parameter: Parameter) -> Value:
    """The default of a parameter, as a function has it now, or as a signature has kept it."""
    if not isinstance(fn, inspect.Signature):
        return default_named(s, fn, parameter.name)
    key = ("default of", object_number(s, fn), parameter.name)
    return import_external(s, lambda: parameter.default, parameter.name, key)


@handles(by_position)
def positional(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return TupleV(tuple(split(s, args)[0]))


@handles(by_name)
def named(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return dict_of(s, split(s, args)[1])


def split(s: Specialiser, args: list[Value]) -> tuple[list[Value], dict[str, Value]]:
    """The arguments that `BoundArguments` passes on by position and by name."""
    given = fields_of(s, args[1])
    arguments = dict.fromkeys(given)
    for name, value in given.items():  # tuples and dicts of values, as Python has them
        kind = signature_of(s.static(args[0])).parameters[name].kind
        starred, doubled = kind is Parameter.VAR_POSITIONAL, kind is Parameter.VAR_KEYWORD
        arguments[name] = items_of(s, value, None) if starred else fields_of(s, value) if doubled else value
    found = inspect.BoundArguments(signature_of(s.static(args[0])), arguments)
    return list(found.args), found.kwargs


def as_value(s: Specialiser, found: Any, parameter: str) -> Value:
    """The stand-in of the tuple of `*args`, of the dict of `**kwargs`, or of one argument."""
    if isinstance(found, tuple):
        return TupleV(found)
    return dict_of(s, found, parameter) if isinstance(found, dict) else found


def fields_of(s: Specialiser, table: Value) -> dict[str, Value]:
    """The items of a dict whose keys are known."""
    if not isinstance(table, Obj):
        raise s.refuse(
            "setting",
            "the arguments of a signature are changed in a way that only the run knows",
            "pass the arguments themselves: `f(*args, **kwargs)`",
        )
    return {name: s.env[(table.id, name)] for name in s.fields(table)}


def dict_of(s: Specialiser, items: dict[str, Value], parameter: str = "") -> Value:
    """A new dict of known keys; `parameter` tells those of one call apart."""
    made = begun(s, Obj(("bound", s.site(parameter)), dict))
    s.env |= {(made.id, name): value for name, value in items.items()}
    return made


@handles(inspect.getattr_static)
def getattr_static(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """The attribute found without `__getattr__`: an array lacks what its class lacks."""
    cls, asked = class_of(s, args[0]), args[1]
    if cls is None or not is_library(cls) or not isinstance(asked, Const) or hasattr(cls, asked.value):
        return call_python(s, inspect.getattr_static, [*args, *kwargs.values()], {})
    if len(args) > 2 or kwargs:
        return [*args, *kwargs.values()][2]
    raise always(s, AttributeError, asked.value)


LOOKS_AT_FRAMES = (
    *(sys._getframe, inspect.currentframe, inspect.stack, inspect.trace),
    *(traceback.extract_stack, traceback.format_stack, traceback.print_stack, traceback.walk_stack),
)
BY_NAME = (globals, locals, eval, exec)


@handles(*LOOKS_AT_FRAMES)
def frames(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    reason = "this looks at the frames of the run, which are those of the emitted program"
    raise s.refuse("hidden-variables", reason)


@handles(*BY_NAME)
def refuse_frames(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    raise s.refuse("hidden-variables", "this reaches variables in a way that cannot be followed")


@handles(dir)
def names(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``dir()`` tells the variables of the frame, ``dir(x)`` what `x` has."""
    if not args:
        return refuse_frames(s, args, kwargs)
    return opaque_call(s, gast.Name("dir", gast.Load(), None, None), dir, args, kwargs)


@handles(hasattr)
def hasattr_(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    name = s.static(args[1])
    for own in (args[0].cls,) if isinstance(args[0], Obj) else classes_of_row(s, args[0]):
        if own_method(s, own, "__getattr__") is not None:
            raise s.refuse(
                "attribute",
                f"whether a {own.__name__}, which has a __getattr__, has {name!r} is not known",
                "read the attribute in `try`, or define it in the class",
            )
    if isinstance(args[0], Obj):
        if (args[0].id, name) in s.unsure:
            raise s.refuse("attribute", f"only the run tells whether {name!r} was assigned to the object")
        if (args[0].id, name) in s.env:
            return Const(True)
        if args[0].id in s.objects:
            read = s.objects[args[0].id][1]
            return Const(observe(s, lambda: hasattr(read(), name)))
        found = found_in(s, args[0].cls, name)  # which guards what the class has of that name
        return Const(has(args[0].cls, name) and not isinstance(found, types.MemberDescriptorType))
    if isinstance(args[0], Const):
        value = args[0].value
        return Const(observe(s, lambda: hasattr(value, name)))
    if isinstance(args[0], Leaf) and (classes := union_tables.classes_of(s, args[0])) is not None:
        if may_be_none(s, args[0]):
            raise s.refuse(
                "attribute", "which attributes an object has that may be None is not known", "compare it with None"
            )
        return union_tables.has_attribute(s, args[0], classes, name)
    cls = class_of(s, args[0])
    if cls is None and isinstance(args[0], Leaf):
        test = ir.call("hasattr", s.expr(args[0]), ir.constant(name))
        return s.let(test, BOOL, hint="has", may_raise=False)
    return Const(hasattr(cls, name) or ("column", cls, name) in s.env if cls is not None else False)


@handles(getattr)
def getattr_(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    if len(args) > 2:
        has = hasattr_(s, args[:2], {})
        if not isinstance(has, Const):
            raise s.refuse(
                "attribute", "whether this has the attribute is known only at run time", "test its class before"
            )
        if not has.value:
            return args[2]
    return read_now(s, asked_for(s, args[0], s.static(args[1])))


@handles(vars)
def vars_(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    if len(args) != 1:
        raise s.refuse(
            "unsupported-syntax",
            "`vars()` of a function's own variables cannot be followed",
            "make a dict of those that are meant",
        )
    return asked_for(s, args[0], "__dict__")


@handles(setattr)
def setattr_(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    assign_attribute(s, args[0], s.static(args[1]), args[2])
    return Const(None)


WHOLE = ("count", "find", "index", "rfind", "rindex")
TESTS = (
    "endswith", "isalnum", "isalpha", "isascii", "isdecimal", "isdigit", "islower", "isnumeric", "isspace", "isupper",
    "startswith",
)  # fmt: skip
TEXT = (
    "capitalize", "casefold", "center", "format", "join", "ljust", "lower", "lstrip", "replace", "rjust", "rstrip",
    "strip", "swapcase", "title", "upper", "zfill",
)  # fmt: skip


def returned_by(name: str) -> Facts:
    """The facts of the result of a method of a string."""
    if name in WHOLE:
        return INT
    if name in TESTS:
        return BOOL
    return Opaque(str) if name in TEXT else Opaque()


def computed(s: Specialiser, fn: Any, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    """The result of a method of a constant string where all of its arguments are constants, too."""
    known = isinstance(fn, types.BuiltinMethodType) and isinstance(fn.__self__, str)
    if not known or not all(s.is_static(v) for v in [*args, *kwargs.values()]):
        return None
    given, named = [s.static(v) for v in args], {k: s.static(v) for k, v in kwargs.items()}
    if not is_cheap(fn, given, named):
        return None
    try:
        result = fn(*given, **named)
    except (IndexError, KeyError, TypeError, ValueError):
        return None  # the call raises when it runs
    return Const(result) if isinstance(result, (str, int)) else None


@otherwise(str)
def text_of(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    """The text of a constant."""
    value = args[0].value if len(args) == 1 and isinstance(args[0], Const) and not kwargs else None
    return Const(str(value)) if type(value) in (str, int, bool) else None


@handles(ord)
def code_point(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    if s.is_static(args[0]) and isinstance(letter := s.static(args[0]), str) and len(letter) == 1:
        return Const(ord(letter))
    return s.let(ir.call("ord", s.expr(args[0])), INT, hint="code")
