"""Operations on numbers and arrays: one statement each, with the row of the table that differentiates it."""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ....rules.table import NONDIFFERENTIABLE, TABLE
from ... import ir
from ...domain.facts import PYTHON_KINDS, Axis, Dim, Listed, Num, Opaque, Pair, is_same, same
from ...domain.values import Const, Leaf, ListV, Obj, TupleV, Value
from ..kernel.handlers import OPERATORS
from ..kernel.operations import call_python, call_value, get_item
from ..kernel.slice_lengths import are_assumed_equal
from ..kernel.specialiser import Specialiser
from ..kernel.user_errors import cannot_fail, refuse_item, surely_sums
from ..models import functions as models
from .indexing import basic_facts, check_axes, is_basic, normal, parts_of
from .overlap import check_overlap
from .transfer import outcome

# What a rule's text means on Python floats: the same function without NumPy's cost for a scalar.
SCALAR_TWINS: dict[Callable[..., Any], Callable[..., Any]] = {
    getattr(np, n): getattr(math, m)
    for n, m in [
        ("sin", "sin"), ("cos", "cos"), ("tan", "tan"), ("exp", "exp"), ("sinh", "sinh"), ("cosh", "cosh"),
        ("tanh", "tanh"), ("arctan", "atan"), ("arctan2", "atan2"), ("hypot", "hypot"), ("copysign", "copysign"),
    ]
}  # fmt: skip


def bind(fn: Callable[..., Any], args: list[Value], kwargs: dict[str, Value]) -> dict[str, Value] | None:
    """The arguments by the parameter names of the row; None where the row does not know one of them."""
    row = TABLE.get(fn)
    if row is None:
        return None
    names, counts = row.by_position
    if not kwargs and len(args) in counts:
        return dict(zip(names, args))
    known = row.signature.parameters
    try:
        bound = row.signature.bind(*args, **{k: v for k, v in kwargs.items() if k in known or not is_default(fn, k, v)})
    except TypeError:
        return None
    arguments = dict(bound.arguments)
    for parameter in row.signature.parameters.values():
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL and parameter.name in arguments:
            arguments[parameter.name] = TupleV(tuple(arguments[parameter.name]))
        elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
            for key, value in arguments.pop(parameter.name, {}).items():
                if value != Const(None) and key not in ("optimize",):
                    return None
    return arguments


def is_default(fn: Callable[..., Any], keyword: str, value: Value) -> bool:
    """True if an argument is what the function takes without it."""
    try:
        parameter = inspect.signature(fn).parameters.get(keyword)
    except ValueError:
        return False
    return parameter is not None and value == Const(parameter.default)


def make_op(s: Specialiser, fn: Callable[..., Any], args: list[Value], kwargs: dict[str, Value]) -> ir.Op:
    arguments = bind(fn, args, kwargs)
    if arguments is None:
        every = {f"argument {k}": v for k, v in enumerate([*args, *kwargs.values()])}
        named: Any = fn if fn in NONDIFFERENTIABLE or fn not in TABLE else Unbound(fn)
        return ir.Op(named, every)
    if fn in REORDERED:
        check_order(s, arguments)
    if fn in POWERED and "dtype" in arguments:
        check_parts(s, arguments)
    return ir.Op(fn, arguments)


def check_order(s: Specialiser, arguments: dict[str, Value]) -> None:
    """Elements in the order in which they lie in memory: those of a shadow or a tangent may lie in another."""
    facts, order = s.num(arguments["a"]), arguments.get("order", Const("C"))
    if order in (Const("C"), Const("F")) or (facts is not None and (facts.ndim == 1 or not facts.differentiable)):
        return
    raise s.refuse(
        "memory-order", "the order of the elements depends on the memory of the array", "use order='C' or order='F'"
    )


def check_parts(s: Specialiser, arguments: dict[str, Value]) -> None:
    """Refuse products of the real parts of complex numbers, which a dtype asks for."""
    facts, dtype = s.num(next(iter(arguments.values()))), arguments["dtype"]
    if dtype == Const(None) or facts is None or (facts.dtype is not None and facts.dtype.kind != "c"):
        return
    if not s.is_static(dtype) or np.dtype(s.static(dtype)).kind != "c":
        raise s.refuse(
            "different-kinds", "a dtype decides what becomes of imaginary parts", "convert the array first: `x.real`"
        )


POWERED = {np.prod, np.nanprod, np.cumprod, np.nancumprod, np.multiply.reduce, np.multiply.accumulate}
POWERED |= {np.var, np.std, np.nanvar, np.nanstd} | {f for n in ("cumulative_prod",) if (f := getattr(np, n, None))}
REORDERED = (np.reshape, np.ravel, np.ndarray.ravel, np.ndarray.flatten)


class Unbound:
    """A function that has a rule, called with arguments that the rule does not take."""

    def __init__(self, fn: Callable[..., Any]) -> None:
        self.fn = fn
        self.__name__ = getattr(fn, "__name__", str(fn))


def is_unbound(stmt: Any) -> bool:
    """True for a call that the rule of its function does not take."""
    return isinstance(getattr(getattr(stmt, "op", None), "fn", None), Unbound)


def is_elementwise(fn: Any) -> bool:
    if isinstance(fn, np.ufunc):
        return fn.signature is None
    row = TABLE.get(fn)
    return row is not None and row.kind == "elementwise"


def apply(
    s: Specialiser,
    fn: Callable[..., Any],
    expr: Any,
    args: list[Value],
    kwargs: dict[str, Value],
    python: Callable[..., Any] | None = None,
    hint: str = "t",
) -> Value:
    """Emit one operation; `fn` is its row, `python` what computes it where that differs."""
    given = [*args, *kwargs.values()]
    args = [normal(s, a) for a in args]
    kwargs = {k: normal(s, v) for k, v in kwargs.items()}
    elements = [b.name for a, b in zip(given, [*args, *kwargs.values()]) if isinstance(a, Obj) and isinstance(b, Leaf)]
    elementwise = is_elementwise(fn)
    if elementwise:
        expr, args = of_whole_arrays(s, expr, args)
        quiet = cannot_fail(s, fn, python or fn, args)
    else:
        quiet = surely_sums(s, fn, args, kwargs)
    facts, shares = outcome(s, python or fn, args, kwargs, elementwise)
    facts = with_named_axes(s, facts)
    if isinstance(facts, Num) and facts.kind == "int" and facts.size is None:
        facts = replace(facts, size=integer_size(s, fn, args))
    op = make_op(s, fn, args, kwargs)
    op.beside = tuple(elements)  # of ``a.flat``, which the expression reads as it stands
    op.shares = () if isinstance(facts, Listed) else shares
    if isinstance(facts, Pair):
        op.cls = facts.cls if facts.cls is not list else None
        op.boxed = len(facts.items) == 1
        if not facts.items:
            s.let(expr, facts, op, hint)
            return TupleV((), op.cls)
        leaves = (
            [s.let(ir.subscript(expr, ir.constant(0)), facts.items[0], op, hint)]
            if op.boxed
            else s.let_several(expr, list(facts.items), op, hint)
        )
        place = ("listed", s.site("listed")) if facts.cls is list else None
        return ListV(tuple(leaves), s.site()) if place in s.dynamic else TupleV(tuple(leaves), op.cls, None, place)
    result = s.let(expr, facts, op, hint, may_raise=not quiet)
    if elementwise:
        note_shape(s, fn, result, args)
    return as_tensor(s, result, args) if isinstance(facts, Num) and facts.tensor else result


def of_whole_arrays(s: Specialiser, expr: Any, args: list[Value]) -> tuple[Any, list[Value]]:
    """An operation on the elements of arrays, of which it is given ``x[:]``: that makes nothing of the view."""
    whole = {a.name: s.all_of[a.name] for a in args if isinstance(a, Leaf) and a.name in s.all_of}
    if not whole:
        return expr, args
    args = [Leaf(whole.get(a.name, a.name)) if isinstance(a, Leaf) else a for a in args]
    return ir.substitute(expr, {view: ir.name(base) for view, base in whole.items()}), args


def with_named_axes(s: Specialiser, facts: Any) -> Any:
    """Facts in which every axis has a symbol: a result has one length, if one that nobody knows."""
    if not isinstance(facts, Num) or facts.dims is None or None not in facts.dims:
        return facts
    if s.recursive_calls or s.frame is None or s.frame.rule:
        return facts
    name = s.new_symbol("axis")
    return replace(facts, dims=tuple(Dim((name, k)) if a is None else a for k, a in enumerate(facts.dims)))


NUMBERS = {*PYTHON_KINDS.values(), "npscalar"}  # the kinds of what has no axes
CHANGE_DTYPE = {np.absolute, np.real, np.imag, np.angle}


def note_shape(s: Specialiser, fn: Any, result: Leaf, args: list[Value]) -> None:
    """An elementwise function of one array and numbers keeps the array's shape, whatever it is.

    It keeps a dtype that nobody knows beside Python's real numbers only: ``1j * x`` is complex.
    """
    facts = [s.num(a) for a in args]
    arrays = [a for a, f in zip(args, facts) if f is None or f.kind not in NUMBERS]
    if len(arrays) == 1 and isinstance(arrays[0], Leaf) and fn not in CHANGE_DTYPE:
        have, made = s.facts[arrays[0].name], s.facts[result.name]
        if not isinstance(have, Num) or not isinstance(made, Num) or not is_same(have.dtype, made.dtype):
            return
        if have.whole and not made.whole:
            return
        if have.dtype is None and any(f is not None and f.kind in ("complex", "npscalar") for f in facts):
            return
        s.alike[result.name] = s.alike.get(arrays[0].name, arrays[0].name)


def as_tensor(s: Specialiser, value: Leaf, args: list[Value]) -> Leaf:
    """MindSpore's dtype where only integers, or integers and a narrower float, made a float64."""
    facts = s.facts[value.name]
    assert isinstance(facts, Num)
    if facts.dtype is None or facts.dtype not in (np.float64, np.complex128):
        return value
    given = [s.facts[n] for a in args for n in s.leaves(a)]
    if any(not isinstance(f, Num) or f.dtype is None for f in given):
        return value
    floats = [
        f.dtype for f in given if isinstance(f, Num) and f.tensor and f.dtype is not None and f.dtype.kind in "fc"
    ]
    if facts.dtype in floats or any(f == np.dtype(np.float64) for f in floats):
        return value
    want = np.result_type(*floats) if floats else np.dtype(np.float32)
    expr = ir.call(ir.attribute(ir.name(value.name), "astype"), ir.attribute(s.bind("np", np), want.name))
    return s.let(
        expr, replace(facts, dtype=want), ir.Op(np.ndarray.astype, {"a": value, "dtype": Const(want)}), may_raise=False
    )


def integer_size(s: Specialiser, fn: Any, args: list[Value]) -> Axis:
    """The symbol of ``n + 1`` and ``n - 1``, given that of ``n``."""
    if fn in (np.add, np.subtract) and len(args) == 2 and isinstance(args[0], Leaf) and isinstance(args[1], Const):
        offset = args[1].value if fn is np.add else -args[1].value
        return s.new_size(args[0]).plus(offset)
    return None


def same_shape(a: Num, b: Num) -> bool:
    return (
        a.dims is not None
        and b.dims is not None
        and len(a.dims) == len(b.dims)
        and all(same(x, y) for x, y in zip(a.dims, b.dims))
    )


KEPT_GENERATOR = "a generator is kept, and used more than once or beside changes of what it reads"


def refuse_unknown(s: Specialiser, base: Value) -> None:
    """Refuse to write into what an object of unknown class holds: who else sees it, and has read it, is not known."""
    facts = s.facts_of(base)
    unknown = facts == Opaque() if isinstance(facts, Opaque) else isinstance(facts, Num) and facts.roots & s.foreign
    if unknown or isinstance(facts, Opaque) and facts.cls is np.ndarray:
        raise s.refuse(
            "kept-in-object",
            "this may be an array that an object of unknown class holds, and is written into",
            "copy it (`np.array(x)`)",
        )


def refuse_late(s: Specialiser, base: Leaf) -> None:
    """Refuse to change an array that a generator reads, whose items are computed here when it is made."""
    facts = s.facts[base.name]
    if isinstance(facts, Num) and facts.roots & s.lazy:
        raise s.refuse("kept-generator", KEPT_GENERATOR)


def refuse_whole(s: Specialiser, base: Leaf, value: Value) -> None:
    """Refuse to store a float in an array that may be one of integers, which would cut it."""
    facts, stored = s.facts[base.name], s.num(value)
    if isinstance(facts, Num) and facts.whole and not (stored is not None and not stored.differentiable):
        raise s.refuse(
            "different-kinds",
            "only the run tells whether this array holds integers or floats",
            "begin with 0.0 instead of 0",
        )


def whole_or_part(s: Specialiser, base: Leaf, index: Value) -> Value:
    """The index of what is stored to: an ellipsis, where that is all of an array."""
    facts = s.facts[base.name]
    axes = facts.ndim if isinstance(facts, Num) and facts.kind == "array" else None
    parts = index.items if isinstance(index, TupleV) else (index,)
    whole = axes is not None and 0 < len(parts) <= axes and all(part == Const(slice(None)) for part in parts)
    return Const(Ellipsis) if whole else normal(s, index)


def equate_with_part(s: Specialiser, base: Leaf, index: Value, value: Value) -> None:
    """A part and what is stored in it have the lengths that they have at the call that is compiled for."""
    facts, given, parts = s.num(base), s.num(value), parts_of(index)
    if facts is None or not facts.dims or given is None or not given.dims or not all(is_basic(s, p) for p in parts):
        return
    part = basic_facts(s, facts, parts)
    for a, b in zip(reversed(getattr(part, "dims", None) or ()), reversed(given.dims)):
        if a != b and 1 not in (a, b) and are_assumed_equal(s, a, b):
            s.equate(a, b)


def store_item(s: Specialiser, base: Leaf, index: Value, value: Value) -> None:
    """``base[index] = value`` on an array."""
    refuse_item(s, base, "does not support item assignment")
    refuse_unknown(s, base)
    check_axes(s, base, index)
    index = whole_or_part(s, base, index)
    equate_with_part(s, base, index, value)
    check_overlap(s, base, index, value)
    refuse_late(s, base)
    refuse_whole(s, base, value)
    op = ir.Op(operator.setitem, {"x": base, "index": index, "value": value})
    s.block.append(ir.Store(base.name, s.expr(index), s.expr(value), None, s.where(), op))


def store_augmented(s: Specialiser, base: Leaf, index: Value, op: type, value: Value) -> Value:
    """``base[index] op= value`` on an array."""
    refuse_unknown(s, base)
    check_axes(s, base, index)
    index = whole_or_part(s, base, index)
    equate_with_part(s, base, index, value)
    refuse_late(s, base)
    arguments = {"x": base, "index": index, "value": value}
    node = ir.Store(base.name, s.expr(index), s.expr(value), op, s.where(), ir.Op(OPERATORS[op][0], arguments))
    s.block.append(node)
    return base


def store_repeated(s: Specialiser, base: Leaf, index: Value, value: Value, shape: Value, picked: bool = False) -> None:
    """Store values that are repeated until they have a shape, of which a mask may pick: of no values, nothing."""
    given = s.num(value)
    if given is not None and given.dims == ():
        store_item(s, base, index, value)
    elif given is not None and given.dims is not None and all(map(is_positive, map(s.lengths.canonical, given.dims))):
        value = call_value(s, Const(np.resize, ir.attribute(s.bind("np", np), "resize")), [value, shape], {})
        store_item(s, base, index, get_item(s, value, index) if picked else value)
    else:
        function = models.put_picked if picked else models.put_repeated
        call_python(s, function, [base, index, value, shape], {})


def is_positive(length: Any) -> bool:
    return length > 0 if isinstance(length, int) else getattr(length, "several", False)


def array_of_list(s: Specialiser, value: Value) -> Value:
    """A list where NumPy reads an array of it, made that array."""
    value = normal(s, value)
    listed = isinstance(value, (ListV, TupleV)) or isinstance(value, Const) and isinstance(value.value, (list, tuple))
    if listed or isinstance(value, Leaf) and isinstance(s.facts[value.name], Listed):
        return numpy_call(s, np.array, [value], {})
    return value


def numpy_call(s: Specialiser, fn: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A call of one of NumPy's functions that the user has not written."""
    named = {k: s.expr(v) for k, v in kwargs.items()}
    expr = ir.call(ir.attribute(s.bind("np", np), fn.__name__), *(s.expr(a) for a in args), **named)
    return apply(s, fn, expr, args, kwargs)
