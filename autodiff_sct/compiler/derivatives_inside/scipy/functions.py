"""Functions that a program gives to SciPy, and values as SciPy computes them, with the derivatives of a text."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ....rules.table import elementwise, nondifferentiable
from ....runtime.scipy.solvers import closed
from ... import ir
from ...domain.facts import Dim, Facts, Num, Opaque
from ...domain.values import Closure, Const, Leaf, ListV, Obj, PartialV, TupleV, Value
from ...driver.pipeline import adjoint
from ...interp.arrays import emit_op
from ...interp.kernel.operations import call_python
from ...interp.kernel.specialiser import Specialiser
from ...interp.world.class_guards import observe
from ..grad import emit_inner

NUMBER = Num("float", np.dtype(np.float64), ())
NUMPYS_NUMBER = Num("npscalar", np.dtype(np.float64), ())
OFF = (Const(None), Const(False), Const(0), Const(()))  # settings that are left out


@dataclass
class Given:
    """A user's function: what stands for it in the emitted program, and the arguments that follow its first."""

    fn: Value
    arguments: list[Value]

    def called_with(self, s: Specialiser) -> Any:
        """The expression of the arguments, as SciPy takes them in ``args``."""
        return ir.tuple_([s.expr(a) for a in self.arguments])

    def settings(self, s: Specialiser) -> list[Value]:
        """The order of the arguments, those without a derivative, and those that may have one."""
        free = [is_free(s, a) for a in self.arguments]
        order = tuple((f, sum(g == f for g in free[:k])) for k, f in enumerate(free))
        fixed = tuple(a for a, f in zip(self.arguments, free) if not f)
        return [Const(order), TupleV(fixed), *(a for a, f in zip(self.arguments, free) if f)]


def is_free(s: Specialiser, value: Value) -> bool:
    """True for numbers and arrays through which derivatives may pass."""
    facts = s.facts_of(value) if isinstance(value, Leaf) else None
    return isinstance(facts, Num) and facts.differentiable


def given(s: Specialiser, fn: Value, first: list[Facts], args: Value | None, extra: Any = ()) -> Given:
    """The function `fn` of arguments like `first`, and of ``args``."""
    arguments = [*items_of(s, args), *extra]
    if isinstance(fn, Const) and isinstance(fn.value, types.FunctionType) and not fn.value.__closure__:
        return Given(fn, arguments)
    if not isinstance(fn, (Const, Closure, PartialV)) and not hasattr(fn, "function"):
        raise s.refuse("function-value", "this function cannot be followed", "define it with def, or as a lambda")
    if isinstance(fn, Const) and not isinstance(fn.value, (types.FunctionType, types.MethodType)):
        fn = derived(applied, Const(fn.value))
    dummies = [dummy(s, facts) for facts in first]
    inner = emit_inner(s, adjoint, fn, [*dummies, *arguments], {}, (), value=True, exact=True)
    if not all(isinstance(v, (Leaf, Const)) for v in inner.beside):
        raise s.refuse(
            "function-value",
            "a function that SciPy calls captures a list, a dict or an object",
            "capture numbers and arrays",
        )
    return Given(Const(inner.emitted.function), [*arguments, *inner.beside])


def dummy(s: Specialiser, facts: Facts) -> Leaf:
    """A variable of a kind, for what SciPy calls a function with."""
    with s.writing([], s.lengths):
        return s.let(ir.constant(0.0), facts, hint="x", may_raise=False)


def vector_like(s: Specialiser, size: Any = None) -> Num:
    """The facts of an array of one axis that SciPy makes."""
    return Num("array", np.dtype(np.float64), (Dim((s.new_symbol("axis"), 0)) if size is None else size,))


def applied(fn: Any, *arguments: Any) -> Any:
    """A call of a function that is not written in Python, as ``np.cos`` is not."""
    return fn(*arguments)


def known(s: Specialiser, value: Value) -> Const | None:
    """A number that is written in the program, or that it reads from outside."""
    if s.is_static(value):
        return Const(s.static(value))
    outside = next((e for e in s.externals.values() if isinstance(value, Leaf) and e.name == value.name), None)
    return None if outside is None else Const(observe(s, outside.read))


def arguments_of(fn: Any, args: list[Value], kwargs: dict[str, Value]) -> dict[str, Any] | None:
    """The arguments of a call by parameter, with the defaults of those left out; None where they do not fit."""
    signature = inspect.signature(fn)
    try:
        given = signature.bind(*args, **kwargs).arguments
    except TypeError:
        return None
    return {name: given.get(name, Const(parameter.default)) for name, parameter in signature.parameters.items()}


def refuse_complex(s: Specialiser, value: Value, what: str) -> None:
    """Refuse a complex number or array where SciPy's result would be complex, too."""
    facts = s.num(value)
    if facts is not None and facts.dtype is not None and facts.dtype.kind == "c":
        raise s.refuse(
            "setting", f"{what} of complex numbers has no derivative here", "use real numbers for both parts"
        )


def items_of(s: Specialiser, args: Value | None) -> list[Value]:
    """The items of ``args``, or the one that it is."""
    if args is None or args == Const(()) or args == Const(None):
        return []
    if isinstance(args, (TupleV, ListV)):
        return list(args.items)
    if isinstance(args, Const) and isinstance(args.value, tuple):
        return [Const(item) for item in args.value]
    if isinstance(args, Obj):
        raise s.refuse("function-value", "args of a function that SciPy calls are no tuple", "write them as a tuple")
    return [args]


def beside(s: Specialiser, fn: Value, first: list[Facts], count: int) -> Any:
    """The expression of another function that SciPy calls with the same arguments, `count` of them the program's."""
    found = given(s, fn, first, None, [dummy(s, NUMPYS_NUMBER) for _ in range(count)] if count else ())
    captured = found.arguments[count:]
    if not captured and isinstance(fn, Const):
        return s.expr(found.fn)
    helper = s.bind(closed.__name__, closed)
    return ir.call(helper, s.expr(found.fn), ir.constant(count), *(s.expr(c) for c in captured))


def call_of(
    s: Specialiser, home: Any, name: str, args: list[Value], kwargs: dict[str, Value], given: Given, **others: Any
) -> Any:
    """The expression of the call, with the function and the arguments that it gets."""
    rest = [s.expr(a) for a in args]
    named = {k: s.expr(v) for k, v in kwargs.items()} | others
    if given.arguments:
        named["args"] = given.called_with(s)
    return ir.call(ir.attribute(s.bind(home.__name__.rpartition(".")[2], home), name), s.expr(given.fn), *rest, **named)


def bound(names: str, args: list[Value], kwargs: dict[str, Value]) -> dict[str, Value]:
    """The arguments by the names of the parameters."""
    return dict(zip(names.split(), args)) | kwargs


def without(given: dict[str, Value], names: str) -> dict[str, Value]:
    return {k: v for k, v in given.items() if k not in names.split()}


def row(s: Specialiser, fn: Any, expr: Any, facts: Any, values: list[Value], hint: str) -> Leaf:
    """An operation of the table, with the expression that the program has for it and the facts of its result."""
    op = emit_op.make_op(s, fn, values, {})
    written = set(ir.variables_in(expr))
    op.beside = tuple(name for value in values for name in s.leaves(value) if name not in written)
    return s.let(expr, facts, op, hint)


def derived(text: Any, fn: Value, *before: Value) -> Value:
    """The function ``text(fn, *before, ...)``."""
    return PartialV(Const(text), (fn, *before), {})


def computed(text: Any) -> Any:
    """The value that a text computes; the program has SciPy's value of it."""
    return text


@elementwise(computed)
def of_computed(y: Any, d: Any, text: Any) -> Any:
    return d


def without_derivative(value: Any) -> Any:
    """The result of SciPy's function of numbers, through which no derivative passes: it passes through the text."""
    return value


nondifferentiable(without_derivative)


def by_text(
    s: Specialiser, text: Callable[..., Any], expr: Any, args: list[Value], kwargs: dict[str, Value] | None = None
) -> Value:
    """The value of `expr` with the derivative of ``text(*args)``."""
    value = call_python(s, text, args, kwargs or {})
    facts = s.num(value)
    if not isinstance(value, Leaf) or facts is None:
        raise s.refuse(
            "setting", "what SciPy returns here is not known to be an array", "give it arrays of known shape"
        )
    return row(s, computed, expr, facts, [value], text.__name__)


def several_by_text(
    s: Specialiser, text: Callable[..., Any], expr: Any, args: list[Value], shapes: list[Value | None] | None = None
) -> Value:
    """The results of a call with the derivatives of those of a text; `shapes` are values of the same shapes."""
    return parts_by_text(s, text, constant_result(s, expr, args, "found"), args, shapes)


def parts_by_text(
    s: Specialiser, text: Callable[..., Any], found: Leaf, args: list[Value], shapes: list[Value | None] | None = None
) -> Value:
    """The same of what a call has returned."""
    values = call_python(s, text, args, {})
    items = values.items if isinstance(values, TupleV) else ()
    results: list[Value] = []
    for k, (value, like) in enumerate(zip(items, shapes or [None] * len(items))):
        facts, known = s.num(value), None if like is None else s.num(like)
        if facts is None:
            raise s.refuse("setting", "what SciPy returns here is not known to be arrays", "give it arrays")
        if known is not None and known.dims is not None:
            facts = replace(facts, kind="array", dims=known.dims)
        part = ir.subscript(s.expr(found), ir.constant(k))
        results.append(row(s, computed, part, facts, [value], text.__name__))
    return TupleV(tuple(results))


def constant_result(s: Specialiser, expr: Any, values: list[Value], hint: str) -> Leaf:
    """The result of SciPy's function of values whose derivatives pass beside it."""
    arguments = {f"argument {k}": v for k, v in enumerate(values)}
    return s.let(expr, Opaque(), ir.Op(without_derivative, arguments), hint)
