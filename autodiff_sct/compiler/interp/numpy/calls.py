"""Calls of functions that the table knows."""

from __future__ import annotations

import inspect
import math
from functools import partial
from typing import Any

import gast
import numpy as np

from ....rules.elementwise import compiled_as_negative, exponents, is_literal, is_narrower
from ....rules.index import is_square
from ....rules.reduce import is_filled
from ....rules.table import TABLE
from ... import ir
from ...domain.dependencies import AttributeRead
from ...domain.facts import FLOAT, INT, Listed, Num, Opaque, Pair, several
from ...domain.values import Const, Leaf, ListV, Obj, PartialV, TupleV, Value
from ..arrays import emit_op
from ..arrays.emit_op import array_of_list, numpy_call
from ..containers import items as containers
from ..kernel.handlers import MADE, handles, otherwise
from ..kernel.operations import attribute_of, call_python, call_value, get_item, items_of, opaque_call
from ..kernel.specialiser import Specialiser
from ..models import functions as models
from ..objects.objects import ufunc_named
from ..world.captures import import_external, object_number
from ..world.class_guards import has_method
from . import writers
from .keywords import rewritten, with_arrays


def with_subscripts(s: Specialiser, args: list[Value]) -> list[Value]:
    """``np.einsum(a, [0, 1], b, [1, 2], [0, 2])`` as ``np.einsum("ab,bc->ac", a, b)``."""
    if s.is_static(args[0]) and isinstance(s.static(args[0]), str) or not all(s.is_static(a) for a in args[1::2]):
        return args
    output = [args[-1]] if len(args) % 2 else []
    if not all(s.is_static(a) for a in output):
        return args
    terms = [[label if label is Ellipsis else int(label) for label in s.static(a)] for a in [*args[1::2], *output]]
    if any(label is not Ellipsis and label >= 26 for term in terms for label in term):
        return args
    spelled = ["".join("..." if label is Ellipsis else chr(ord("a") + label) for label in term) for term in terms]
    inputs = ",".join(spelled[: len(args) // 2])
    return [Const(inputs + "->" + spelled[-1] if output else inputs), *args[: 2 * (len(args) // 2) : 2]]


def call_numpy(s: Specialiser, callee: Const, args: list[Value], kwargs: dict[str, Value]) -> Value:
    fn = callee.value
    if not args:
        args, kwargs = by_position(fn, kwargs)
    if (result := by_protocol(s, fn, args, kwargs)) is not None:
        return result
    args, kwargs = with_arrays(s, fn, with_subscripts(s, args) if fn is np.einsum else args, kwargs)
    if (result := rewritten(s, fn, args, kwargs)) is not None:
        return result
    args, kwargs = writers.positional_out(fn, args, kwargs)
    if kwargs.get("out", Const(None)) != Const(None):
        return writers.with_out(s, callee, args, kwargs)
    kwargs.pop("out", None)
    if fn is np.array and s.is_static(kwargs.get("subok", Const(None))):
        kwargs.pop("subok", None)  # arrays of other classes are refused
    if fn in (np.array, np.asarray, np.asanyarray) and not OF_LAYOUT.isdisjoint(kwargs):
        return array_laid_out(s, callee, args, kwargs)
    if isinstance(fn, np.ufunc) and kwargs.get("where", Const(True)) != Const(True):
        raise s.refuse(
            "numpy-form", "a ufunc with `where=` and no `out=` leaves the other elements undefined", "use np.where"
        )
    if s.frame is not None and s.frame.rule:
        scalar = scalar_form(s, fn, args, kwargs)
        if scalar is not None:
            return scalar
        kwargs = without_defaults(fn, kwargs)
    expr = ir.call(s.expr(callee), *(s.expr(a) for a in args), **{k: s.expr(v) for k, v in kwargs.items()})
    return emit_op.apply(s, fn, expr, args, kwargs)


REDUCTIONS = {getattr(np, name): name for name in ("sum", "prod", "max", "min", "mean", "var", "std")}


def by_protocol(s: Specialiser, fn: Any, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    """A function of NumPy's of an object that has a method for it, which NumPy calls."""
    if isinstance(fn, np.ufunc):
        given = (a for a in args if isinstance(a, Obj) and has_method(s, a, "__array_ufunc__"))
        if (target := next(given, None)) is not None:
            asked = attribute_of(s, target, "__array_ufunc__")
            return call_value(s, asked, [ufunc_named(s, fn), Const("__call__"), *args], kwargs)
    name = REDUCTIONS.get(fn)
    if name is None or not args or not isinstance(args[0], Obj) or not has_method(s, args[0], name):
        return None
    settings = dict(zip(("axis", "dtype", "out"), [*args[1:], *[Const(None)] * 3])) | kwargs
    if name in ("max", "min"):
        settings = dict(zip(("axis", "out"), [*args[1:], *[Const(None)] * 2])) | kwargs
    return call_value(s, attribute_of(s, args[0], name), [], settings)


def without_defaults(fn: Any, kwargs: dict[str, Value]) -> dict[str, Value]:
    """The keyword arguments of a call but for the settings that say what holds anyway."""
    parameters = TABLE[fn].signature.parameters if fn in TABLE else {}
    return {k: v for k, v in kwargs.items() if k not in parameters or not is_literally(v, parameters[k].default)}


def is_literally(value: Value, setting: Any) -> bool:
    """True if a value is a setting of the same type: neither 0 for False nor 1 for 1.0."""
    return isinstance(value, Const) and type(value.value) is type(setting) and value.value == setting


OF_LAYOUT = {"copy", "order", "ndmin"}
AT_LEAST = {1: np.atleast_1d, 2: np.atleast_2d}  # they put the axes that are missing in front, as `ndmin` does
COPY_MODES: dict[Any, None] = {2: None}  # the value of the mode that is called IF_NEEDED


def array_laid_out(s: Specialiser, callee: Const, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``np.array`` and ``np.asarray`` told how to lay the array out, by the functions that do that."""
    fn: Any = callee.value
    settings = {k: s.static(kwargs.pop(k)) for k in [*OF_LAYOUT & kwargs.keys()] if s.is_static(kwargs[k])}
    if settings.get("copy") is not False:
        args = [array_of_list(s, a) for a in args]
    copy = settings.get("copy", fn is np.array or None)
    copy = COPY_MODES.get(getattr(copy, "value", copy), copy)
    order = (settings.get("order") or "K").upper()
    facts = s.num(args[0]) if args else None
    if copy is False and order == "K" and has_dtype(s, facts, kwargs.get("dtype", Const(None))):
        copy = None  # nothing has to be copied
    ndim = facts.ndim if facts is not None and not facts.python else None
    if not OF_LAYOUT.isdisjoint(kwargs) or copy is False or not copy and order in "CF" and not ndim:
        raise s.refuse(
            "numpy-form",
            f"np.{fn.__name__} with these settings of its layout cannot be followed",
            "use np.ascontiguousarray or `x.copy()`",
        )
    if copy:
        result = numpy_call(s, np.array, args, kwargs if order == "K" else {**kwargs, "order": Const(order)})
    else:
        laid_out = {"C": np.ascontiguousarray, "F": np.asfortranarray}
        result = numpy_call(s, laid_out.get(order, np.asarray), args, kwargs)
    least, found = settings.get("ndmin", 0), s.num(result)
    if least in AT_LEAST and (found is None or found.ndim is None):
        return numpy_call(s, AT_LEAST[least], [result], {})
    if least and (found is None or found.ndim is None):
        raise s.refuse(
            "numpy-form", f"np.{fn.__name__} with `ndmin` of what has any number of axes", "use np.atleast_1d"
        )
    lacking = least - found.ndim if least and found is not None and found.ndim is not None else 0
    return numpy_call(s, np.expand_dims, [result, Const(tuple(range(lacking)))], {}) if lacking > 0 else result


def has_dtype(s: Specialiser, facts: Num | None, dtype: Value) -> bool:
    """True if something is an array of the dtype that is asked for."""
    if facts is None or facts.kind != "array" or facts.dtype is None or not s.is_static(dtype):
        return False
    return s.static(dtype) is None or np.dtype(s.static(dtype)) == facts.dtype


def by_position(fn: Any, kwargs: dict[str, Value]) -> tuple[list[Value], dict[str, Value]]:
    """The arguments of a call that names all of them, those that a function must be given by position."""
    row = TABLE.get(fn)
    parameters = [] if row is None else row.signature.parameters.values()
    needed = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD and p.default is p.empty]
    if not needed or any(name not in kwargs for name in needed):
        return [], kwargs
    return [kwargs[name] for name in needed], {k: v for k, v in kwargs.items() if k not in needed}


def scalar_form(s: Specialiser, fn: Any, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    """A rule's function of Python floats, without NumPy."""
    known = [s.num(a) for a in args]
    if kwargs or not args or any(f is None or not f.python or f.kind == "complex" for f in known):
        return None
    if fn in emit_op.SCALAR_TWINS:
        twin = emit_op.SCALAR_TWINS[fn]
        expr = ir.call(ir.attribute(s.bind("math", math), twin.__name__), *(s.expr(a) for a in args))
        return emit_op.apply(s, fn, expr, args, {}, twin)
    if fn is np.where and len(args) == 3:
        one, other = (Const(float(a.value)) if isinstance(a, Const) and type(a.value) is int else a for a in args[1:])
        expr = gast.IfExp(s.expr(args[0]), s.expr(one), s.expr(other))
        return s.let(expr, FLOAT, emit_op.make_op(s, fn, args, {}), may_raise=False)
    return None


@handles(np.shape)
def shape(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return measured(s, args[0], "shape")


@handles(np.ndim)
def ndim(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return measured(s, args[0], "ndim")


@handles(np.size)
def size(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    given = inspect.signature(np.size).bind(*args, **kwargs).arguments
    axis = given.get("axis", Const(None))
    if axis == Const(None):
        return measured(s, given["a"], "size")
    lengths = measured(s, given["a"], "shape")
    if not isinstance(axis, TupleV):
        return containers.get_item(s, lengths, axis)
    return call_value(s, Const(math.prod), [TupleV(tuple(containers.get_item(s, lengths, k) for k in axis.items))], {})


def measured(s: Specialiser, value: Value, attr: str) -> Value:
    """An attribute of an array, by NumPy's function where the run may bring a list or a Python number, without any."""
    if isinstance(value, Const):
        found = getattr(np, attr)(value.value)
        return TupleV(tuple(map(Const, found))) if attr == "shape" else Const(found)
    if isinstance(value, Obj) and value.cls is list:
        value = ListV(tuple(items_of(s, value, None)))
    if attr == "ndim" and isinstance(value, (ListV, TupleV)) and s.is_static(value):
        return Const(np.ndim(s.static(value)))
    if isinstance(value, (ListV, TupleV)) and all(getattr(s.num(item), "dims", None) == () for item in value.items):
        count = Const(len(value.items))
        return TupleV((count,)) if attr == "shape" else Const(1) if attr == "ndim" else count
    facts = s.num(value)
    listed = isinstance(value, (ListV, TupleV)) or isinstance(s.facts_of(value), (Listed, Pair))
    known = facts is not None and (facts.kind is not None or facts.dims)
    if not listed and (not isinstance(value, Leaf) or known):
        return attribute_of(s, value, attr)
    if facts is not None and facts.dims == ():
        return TupleV(()) if attr == "shape" else Const(0 if attr == "ndim" else 1)
    expr = ir.call(ir.attribute(s.bind("np", np), attr), s.expr(value))
    measure = Opaque(tuple) if attr == "shape" else INT
    return s.let(expr, measure, ir.Op(np.shape, {"a": value}), hint=attr, may_raise=False)


@handles(np.iscomplexobj)
def iscomplexobj(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    facts = s.num(args[0])
    if facts is not None and facts.dtype is not None:
        return Const(facts.dtype.kind == "c")
    expr = ir.call(ir.attribute(s.bind("np", np), "iscomplexobj"), s.expr(args[0]))
    return s.let(expr, Num("bool", np.dtype(bool), ()), may_raise=False)


@handles(np.ndarray)
def ndarray(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``np.ndarray(shape, dtype)``, which is ``np.empty`` unless it is told the memory."""
    if len(args) > 2 or not kwargs.keys() <= {"shape", "dtype"}:
        return opaque_call(s, s.expr(Const(np.ndarray)), np.ndarray, args, kwargs)
    return call_value(s, Const(np.empty), args, kwargs)


# Questions that rules ask


@handles(is_literal)
def literal(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return Const(isinstance(args[0], Const) and is_literal(args[0].value))


@handles(is_narrower)
def narrower(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    operand, whole = (None if found is None else found.dims for found in map(s.num, args))
    if operand is None or whole is None:
        return Const(False)
    repeated = any(n == 1 != m for n, m in zip(operand, whole) if isinstance(n, int))
    return Const(len(operand) < len(whole) or repeated)


@handles(compiled_as_negative)
def negative_literal(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    exp, base = args[0], s.num(args[1])
    negative = isinstance(exp, Const) and is_literal(exp.value) and exp.value < 0
    # Python's power of a number below zero is complex, but for whole exponents.
    of_numpy = base is not None and base.kind in ("array", "npscalar")
    return Const(negative and (of_numpy or float(exp.value).is_integer()))


@handles(exponents)
def range_of_exp(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    facts = s.num(args[0])
    return Const(None if facts is None or facts.dtype is None else exponents(facts))


@handles(is_square)
def square(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    facts = s.num(args[0])
    return Const(facts is not None and facts.dims is not None and s.same_lengths(facts.dims[:1], facts.dims[1:]))


@handles(is_filled)
def filled(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    facts = s.num(args[0])
    if facts is None or facts.dims is None:
        return Const(False)
    return Const(all(n == 1 or (n != 0 and several(n)) for n in facts.dims))


# Functions that call functions


def of_polynomial(s: Specialiser, made: np.poly1d) -> Value:
    """The value of a polynomial made outside the program."""
    key = ("polynomial", object_number(s, made))
    return PartialV(Const(np.polyval), (import_external(s, AttributeRead(made, "coeffs"), "coefficients", key),), {})


MADE[np.poly1d] = of_polynomial


@handles(np.piecewise)
def piecewise(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    if args and ((facts := s.num(args[0])) is None or facts.python):
        args = [numpy_call(s, np.asarray, [args[0]], {}), *args[1:]]
    if (
        len(args) == 3
        and (single := s.num(args[1])) is not None
        and single.ndim == getattr(s.num(args[0]), "ndim", None)
        and single.ndim in (0, 1)
    ):
        args = [args[0], ListV((args[1],), s.site()), args[2]]
    if len(args) != 3 or kwargs or not isinstance(args[1], (ListV, TupleV)) or not isinstance(args[2], (ListV, TupleV)):
        raise s.refuse(
            "numpy-form", "np.piecewise without lists of conditions and of functions cannot be followed", "use np.where"
        )
    conditions, pieces = [writers.as_mask(s, c) for c in args[1].items], args[2].items
    if len(pieces) == len(conditions) + 1:
        conditions.append(call_python(s, models.none_of, [ListV(tuple(conditions), s.site())], {}))
    y = numpy_call(s, np.zeros_like, [args[0]], {})
    for condition, piece in zip(conditions, pieces, strict=True):
        call_python(s, models.set_where, [y, args[0], condition, piece], {})
    return y


LANES = {"func1d", "axis", "arr"}


@handles(np.apply_along_axis)
def apply_along_axis(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    own = dict(zip(("func1d", "axis", "arr"), args)) | {k: v for k, v in kwargs.items() if k in LANES}
    matrix = array_of_list(s, own["arr"]) if own.keys() == LANES else None
    if matrix is None or (facts := s.num(matrix)) is None or facts.ndim != 2:
        raise s.refuse(
            "numpy-form",
            "np.apply_along_axis of anything but a matrix cannot be followed",
            "write the loop over the lanes",
        )
    more = {k: v for k, v in kwargs.items() if k not in LANES}
    return call_python(s, models.along_axis, [own["func1d"], own["axis"], matrix, *args[3:]], more)


@handles(np.apply_over_axes)
def apply_over_axes(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    axes = args[2] if len(args) == 3 and not kwargs else None
    if axes is None or not s.is_static(axes):
        raise s.refuse(
            "numpy-form",
            "np.apply_over_axes with axes that only the run knows cannot be followed",
            "call the function for each axis",
        )
    axes = Const(tuple(np.ravel(s.static(axes)).tolist()))
    return call_python(s, models.over_axes, [args[0], args[1], axes], {})


@handles(np.fromiter)
def fromiter(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    named = dict(zip(("iter", "dtype", "count"), args), **kwargs)
    if named.pop("count", Const(-1)) != Const(-1) or set(named) != {"iter", "dtype"}:
        raise s.refuse(
            "numpy-form",
            "np.fromiter with a count cannot be followed",
            "make a list of the items, and np.array of that",
        )
    items = call_value(s, Const(list), [named["iter"]], {})
    return numpy_call(s, np.array, [items], {"dtype": named["dtype"]})


def as_density(model: Any, place: int, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    """A histogram with ``density=True``; None for one of counts."""
    density = args[place] if place < len(args) else kwargs.get("density", Const(None))
    return call_python(s, model, args, kwargs) if density == Const(True) else None


otherwise(np.histogram)(partial(as_density, models.histogram, 3))
otherwise(np.histogram2d)(partial(as_density, models.histogram2d, 4))


def joined_part(s: Specialiser, part: Value) -> Value:
    """A part of ``np.r_[...]``: a slice of whole numbers is a range, a list an array."""
    if isinstance(part, Const) and isinstance(part.value, slice):
        bounds = (part.value.start or 0, part.value.stop, 1 if part.value.step is None else part.value.step)
        whole = all(isinstance(bound, int) for bound in bounds)
        return numpy_call(s, np.arange, [Const(bound) for bound in bounds], {}) if whole else part
    return array_of_list(s, part)


@otherwise(np.r_.__getitem__)
@otherwise(np.c_.__getitem__)
def joined(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    """``np.r_[a, 1.0, b]`` and ``np.c_[a, b]`` of arrays and numbers; None for what else they mean."""
    base, index = args
    assert isinstance(base, Const)
    parts = [joined_part(s, part) for part in (index.items if isinstance(index, TupleV) else [index])]
    known = [s.num(part) for part in parts]
    ranks = {f.ndim if f is not None else None for f in known}
    if base.value is np.r_ and ranks <= {0, 1}:
        fn: Any = np.hstack
    elif base.value is np.r_ and ranks == {2}:
        fn = np.vstack
    elif base.value is np.c_ and ranks <= {0, 1, 2}:
        fn = np.column_stack
    else:
        return None
    whole = TupleV(tuple(parts))
    return emit_op.apply(s, fn, ir.subscript(s.expr(base), s.expr(whole)), [whole], {}, base.value.__getitem__)


@handles(np.fromfunction)
def fromfunction(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    rest = dict(kwargs)
    shape = args[1] if len(args) > 1 else rest.pop("shape")
    dtype = rest.pop("dtype", Const(float))
    grids = numpy_call(s, np.indices, [shape], {"dtype": dtype})
    places = [get_item(s, grids, Const(k)) for k in range(len(items_of(s, shape, None)))]
    return call_value(s, args[0], places, rest)
