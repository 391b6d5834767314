"""Calls: functions of the user's are inlined, functions of NumPy's become one statement."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from ....errors import AutodiffError, Refused, UnsupportedSyntax
from ....rules.table import NONDIFFERENTIABLE, STATIC, TABLE
from ... import ir
from ...analysis.missing_rules import full_name, is_of_scipy
from ...domain.dependencies import ItemRead
from ...domain.facts import Opaque
from ...domain.values import Bound, Choice, Closure, Const, Frame, Leaf, Obj, PartialV, Super, Value, is_compiled
from ..arrays.emit_op import is_unbound
from ..control.context_managers import is_generator_manager, suspended
from ..kernel import operations
from ..kernel.bind_arguments import (
    CONTAINERS,
    ORDINARY,
    SPECIAL,
    UNBOUND,
    check_arguments,
    in_place,
    is_library,
    raises_so,
    without_permissions,
    written_by_name,
)
from ..kernel.handlers import HANDLERS, HOOKS, MADE, OTHERWISE, evaluate, expression, is_hashable
from ..kernel.operations import attribute_of, branch, call_method_of, defines
from ..kernel.program_values import Restart
from ..kernel.specialiser import Specialiser
from ..kernel.user_errors import always
from ..language.comprehensions import add_up
from ..language.expressions import callee_of
from ..language.generators import goes_through, left_early
from ..language.star_arguments import arguments, parts_of
from ..library.substitutes import behind_of, call_behind
from ..library.validation import folded_question, followed_or_asked, follows, settled_call, takes_floats, text_of
from ..library.wrappers import asked, is_plumbing, wrapped_call
from ..numpy.calls import call_numpy
from ..numpy.keywords import with_arrays
from ..objects.objects import call_inherited, construct, special_method
from ..objects.record_tables import pairs_of
from ..objects.tables import method_of
from ..objects.types import call_by_class
from ..world.captures import import_external, object_number, outside_object
from ..world.class_guards import found_in, observe
from .inline import call_closure, call_python, opaque_call

BY_CLASS = functools.singledispatch(len).__code__  # type: ignore[attr-defined]


@expression(gast.Call)
def call_node(s: Specialiser, node: Any) -> Value:
    if isinstance(node.func, gast.Name) and node.func.id == "super" and not node.args:
        assert s.frame is not None
        frame: Frame | None = s.frame
        while frame is not None and frame.cls is None:
            frame = frame.parent
        if frame is None or frame.cls is None:
            raise s.refuse(
                "class-feature",
                "super() outside a method cannot be followed",
                "call the method of the base class by its name: `Base.method(self)`",
            )
        return Super(frame.cls, frame.self)
    callee = callee_of(s, node.func)
    if node.args and isinstance(node.args[0], (gast.GeneratorExp, gast.ListComp)):
        total = add_up(s, node) if callee == Const(sum) else None
        if total is not None or (total := left_early(s, callee, node)) is not None:
            return total
    note_gone_through(s, callee, node)
    parts = parts_of(s, node)
    kwargs: dict[str, Value] = {}
    for keyword in node.keywords:
        value = evaluate(s, keyword.value)
        if keyword.arg is not None:
            kwargs[keyword.arg] = value
        else:
            kwargs |= {str(s.static(key)): item for key, item in pairs_of(s, value)}
    return call_value(s, callee, arguments(s, callee, parts, kwargs), kwargs)


def note_gone_through(s: Specialiser, callee: Value, call: Any) -> None:
    """Note the generator expressions that a call goes through at once."""
    given = [a for a in [*call.args, *(k.value for k in call.keywords)] if isinstance(a, gast.GeneratorExp)]
    if not given:
        return

    if goes_through(callee):
        s.gone_through |= {id(a) for a in given}


@defines(operations.call_value)
def call_value(s: Specialiser, callee: Value, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``callee(*args, **kwargs)``."""
    if isinstance(callee, Const):
        return call_constant(s, callee, args, kwargs)
    if isinstance(callee, Closure):
        return call_closure(s, callee, args, kwargs)
    if isinstance(callee, Bound):
        return call_bound(s, callee, args, kwargs)
    if isinstance(callee, Choice):
        return call_either(s, callee, args, kwargs)
    if isinstance(callee, PartialV):
        return call_value(s, callee.function, [*callee.args, *args], {**callee.keywords, **kwargs})
    if isinstance(callee, Obj):
        return call_object(s, callee, args, kwargs)
    called = method_of(s, callee, "__call__")
    if called is not None:
        return call_value(s, called, args, kwargs)
    if isinstance(callee, Leaf):
        return opaque_call(s, s.expr(callee), callee, args, kwargs)
    if hasattr(callee, "call"):
        return callee.call(s, args, kwargs)
    raise s.refuse("unknown-value", "this value cannot be called", "call a function, a method or a class")


def call_either(s: Specialiser, callee: Choice, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A call of one of two functions: a branch."""
    key = ("choice", s.site("call"))

    def choose(which: Value) -> Callable[[], None]:
        def run() -> None:
            s.env[key] = call_value(s, which, args, kwargs)

        return run

    branch(s, callee.test, choose(callee.then), choose(callee.orelse))
    return s.env.pop(key)


def call_object(s: Specialiser, obj: Obj, args: list[Value], kwargs: dict[str, Value]) -> Value:
    if obj.id in s.objects:
        outside = s.objects[obj.id][0]
        nested = getattr(type(outside), "__autodiff_gradient__", None)
        if nested is not None:
            return HOOKS["gradient"](s, outside, args, kwargs)
        if is_hashable(outside) and outside in HANDLERS:
            return HANDLERS[outside](s, args, kwargs)
        if is_hashable(outside) and outside in TABLE:
            return call_known(s, Const(outside, s.expr(obj)), args, kwargs)
        if obj.cls.__call__ in HANDLERS:
            return HANDLERS[obj.cls.__call__](s, [obj, *args], kwargs)
        if (behind := behind_of(outside)) is not None:
            return call_behind(s, Const(outside, s.expr(obj)), behind, args, kwargs)
        if is_library(obj.cls):
            return opaque_call(s, s.expr(obj), obj.cls.__call__, args, kwargs)
    if (
        isinstance(found_in(s, obj.cls, "construct"), types.FunctionType)
        and obj.cls.__call__ is not None
        and is_cell(obj.cls)
    ):
        return call_value(s, attribute_of(s, obj, "construct"), args, kwargs)
    return call_value(s, attribute_of(s, obj, "__call__"), args, kwargs)


def is_cell(cls: type) -> bool:
    return any(parent.__name__ == "Cell" and parent.__module__.startswith("autodiff_sct") for parent in cls.__mro__)


def call_bound(s: Specialiser, callee: Bound, args: list[Value], kwargs: dict[str, Value]) -> Value:
    if isinstance(callee.function, types.FunctionType):
        return call_constant(s, Const(callee.function), [callee.self, *args], kwargs)
    if isinstance(callee.function, str):
        return call_method_of(s, callee.self, callee.function, args, kwargs)
    if isinstance(callee.function, types.WrapperDescriptorType):
        return call_inherited(s, callee.function, [callee.self, *args], kwargs)
    return call_constant(
        s, Const(callee.function, ir.attribute(s.expr(callee.self), callee.function.__name__)), args, kwargs
    )


def special(s: Specialiser, fn: Any, args: list[Value]) -> Callable[..., Value] | None:
    return special_method(s, fn, args) or HANDLERS.get(fn)


@defines(operations.call_constant)
def call_constant(s: Specialiser, callee: Const, args: list[Value], kwargs: dict[str, Value]) -> Value:
    fn = callee.value
    if (found := asked(s, fn, args, kwargs, lambda made: call_known(s, Const(np.copy), [made], {}))) is not None:
        return found
    hashable = is_hashable(fn)
    if s.perturbed and hashable and fn in TABLE and (near_by := TABLE[fn].perturbed) is not None:
        return call_known(s, Const(near_by), args, kwargs)
    handler = None if not hashable else special(s, fn, args) if fn in SPECIAL else HANDLERS.get(fn)
    if hashable and (handler is not None or is_library(fn)):
        check_arguments(s, fn, args, kwargs)
    if hashable and is_library(fn):
        args, kwargs = without_permissions(fn, args, kwargs)
    if handler is not None:
        if fn in TABLE:
            args, kwargs = with_arrays(s, fn, args, kwargs)
        return handled(s, handler, fn, args, kwargs)
    if type(fn) in MADE:
        return call_value(s, MADE[type(fn)](s, fn), args, kwargs)
    if isinstance(fn, functools.partial):
        return call_partial(s, fn, args, kwargs)
    if hasattr(type(fn), "__autodiff_gradient__"):
        return HOOKS["gradient"](s, fn, args, kwargs)
    if isinstance(fn, types.MethodType):
        return call_method_object(s, fn, args, kwargs)
    if (behind := behind_of(fn)) is not None:
        return call_behind(s, callee, behind, args, kwargs)
    if getattr(fn, "__code__", None) is BY_CLASS:
        return call_by_class(s, fn, args, kwargs)
    if not hashable:
        return call_object(s, outside_object(s, fn, lambda: fn), args, kwargs)
    if fn in STATIC:
        return call_static(s, fn, args, kwargs)
    if isinstance(fn, UNBOUND) and fn.__objclass__ in CONTAINERS and args:
        return call_bound(s, Bound(fn.__name__, args[0]), args[1:], kwargs)
    if fn in TABLE or fn in NONDIFFERENTIABLE:
        folded = folded_question(s, fn, args, kwargs)
        return call_known(s, callee, args, kwargs) if folded is None else folded
    if is_generator_manager(fn) and (generator := suspended(s, fn, args, kwargs)) is not None:
        return generator
    if isinstance(fn, types.FunctionType) and not is_library(fn) and not is_generator_manager(fn):
        inside = wrapped_call(s, fn, args, kwargs, lambda wrapped: call_constant(s, Const(wrapped), args, kwargs))
        if inside is not None:
            return inside
        return followed_or_asked(s, fn, args, kwargs, lambda: call_python(s, fn, args, kwargs))
    text = text_of(fn)
    if isinstance(text, types.FunctionType) and (answer := settled_call(s, fn, args, kwargs)) is not None:
        return answer
    if isinstance(text, types.FunctionType) and follows(s, args, kwargs):
        return call_text(s, callee, text, args, kwargs)
    if isinstance(fn, type):
        return call_class(s, callee, args, kwargs)
    if isinstance(fn, (types.FunctionType, types.BuiltinFunctionType, types.BuiltinMethodType)) or is_library(fn):
        return opaque_call(s, s.expr(callee), fn, args, kwargs)
    if callable(fn) and not is_python_callable(fn):
        return opaque_call(s, s.expr(callee), fn, args, kwargs)
    if callable(fn):
        return call_object(s, outside_object(s, fn, lambda: fn), args, kwargs)
    raise always(s, TypeError, f"{type(fn).__name__!r} object is not callable")


def handled(s: Specialiser, handler: Any, fn: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """The result of a handler for a call; where the call itself would raise, the program does."""
    if kwargs and is_library(fn):
        args, kwargs = in_place(fn, args, kwargs)
    try:
        return handler(s, args, kwargs)
    except ORDINARY as error:
        if type(error) is LookupError:
            name = getattr(fn, "__name__", fn)
            raise s.refuse(
                "setting", f"what {name} is asked for is known only at run time", "give it a constant"
            ) from None
        if isinstance(error, AutodiffError) or not raises_so(s, fn, args, kwargs, error):
            raise
        raise always(s, type(error), str(error)) from error


def call_text(
    s: Specialiser, callee: Const, text: types.FunctionType, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    """The text of a library function in the place of its call, which stays one if it takes no floats and is refused."""
    if takes_floats(s, args, kwargs):
        return call_python(s, text, args, kwargs)
    return either(
        s,
        lambda: call_python(s, text, args, kwargs),
        lambda: opaque_call(s, s.expr(callee), callee.value, args, kwargs),
    )


def either(s: Specialiser, first: Callable[[], Value], second: Callable[[], Value]) -> Value:
    """The result of the first of two ways to write a call, or where that is refused, of the second."""
    mark, entry = len(s.block), dict(s.env)
    try:
        return first()
    except Refused:
        del s.block[mark:]
        s.env = entry
        return second()


def call_partial(s: Specialiser, fn: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A call of a partial made outside, whose arguments come in from there."""
    number = object_number(s, fn)
    observe(s, lambda: (len(fn.args), *fn.keywords))
    bound = [
        import_external(s, ItemRead(lambda: fn.args, k), f"partial_{k}", ("partial", number, k))
        for k in range(len(fn.args))
    ]
    named = {k: import_external(s, ItemRead(lambda: fn.keywords, k), k, ("partial", number, k)) for k in fn.keywords}
    return call_value(s, Const(fn.func), [*bound, *args], {**named, **kwargs})


def call_static(s: Specialiser, fn: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """Settings from settings: computed here, written out where some are known at run time only, or else just called."""
    if all(s.is_static(v) for v in [*args, *kwargs.values()]):
        return Const(fn(*(s.static(a) for a in args), **{k: s.static(v) for k, v in kwargs.items()}))
    mark = len(s.block)
    try:
        return call_python(s, fn, args, kwargs)
    except (UnsupportedSyntax, Restart):
        del s.block[mark:]
    called = ir.call(s.bind(fn.__name__, fn), *map(s.expr, args), **{k: s.expr(v) for k, v in kwargs.items()})
    return s.let(called, Opaque(), hint="settings", may_raise=False)


def call_method_object(s: Specialiser, fn: types.MethodType, args: list[Value], kwargs: dict[str, Value]) -> Value:
    owner = fn.__self__
    if isinstance(owner, np.random.RandomState) and getattr(np.random, fn.__name__, None) == fn:
        generator = s.let(ir.attribute(s.bind("np", np), "random"), Opaque(np.random.RandomState), may_raise=False)
        return call_method_of(s, generator, fn.__name__, args, kwargs)
    target: Value = Const(owner) if isinstance(owner, type) else outside_object(s, owner, lambda: owner)
    return call_constant(s, Const(fn.__func__), [target, *args], kwargs)


def is_python_callable(fn: Any) -> bool:
    """True if what a call of an object runs is written in Python."""
    found = type(fn).__call__
    return is_cell(type(fn)) or not isinstance(found, (types.WrapperDescriptorType, types.MethodDescriptorType))


def call_class(s: Specialiser, callee: Const, args: list[Value], kwargs: dict[str, Value]) -> Value:
    cls = callee.value
    if text_of(cls) is not None and follows(s, args, kwargs):
        return construct(s, cls, args, kwargs)
    if issubclass(cls, BaseException) or is_library(cls) or is_compiled(cls):
        return opaque_call(s, s.expr(callee), cls, args, kwargs)
    if not is_plumbing(s, cls, args, kwargs):
        return construct(s, cls, args, kwargs)
    return either(
        s,
        lambda: construct(s, cls, args, kwargs),
        lambda: opaque_call(s, s.expr(callee), cls, args, kwargs),
    )


@defines(operations.call_known)
def call_known(s: Specialiser, callee: Const, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A function that has a row in the table."""
    for name in written_by_name(callee.value, args, kwargs) if is_of_scipy(callee.value) else ():
        raise s.refuse(
            "numpy-form",
            f"{full_name(callee.value)} with `{name.split()[1]}=`, an array that it writes into, cannot be followed",
            "assign what it returns: `y[...] = ...`",
        )
    if is_hashable(callee.value) and callee.value in OTHERWISE:
        args, kwargs = with_arrays(s, callee.value, args, kwargs)
        value = OTHERWISE[callee.value](s, args, kwargs)
        if value is not None:
            return value
    mark, given = len(s.block), (list(args), dict(kwargs))
    value = call_numpy(s, callee, args, kwargs)
    if len(s.block) > mark and is_unbound(s.block[-1]):
        text = text_of(callee.value)
        if isinstance(text, types.FunctionType) and follows(s, *given):
            del s.block[mark:]
            return call_text(s, callee, text, *given)
    return value


# -- inlining
