"""Methods of arrays, numbers, lists, dicts and tuples."""

from __future__ import annotations

import operator
import types
from collections.abc import Callable
from functools import lru_cache, partial
from logging import Logger
from random import Random
from types import FunctionType, MethodDescriptorType
from typing import Any

import gast
import numpy as np

from ....tensor import Parameter, Tensor
from ... import ir
from ...analysis.alias import write_move
from ...domain.facts import BOOL, COMPLEX, FLOAT, INT, Listed, Mapped, Num, Opaque
from ...domain.values import Const, Leaf, ListV, Obj, TupleV, Value
from ..arrays import emit_op, indexing, transfer
from ..arrays.emit_op import array_of_list
from ..arrays.shapes import DIMS, from_shape
from ..containers import items, lists
from ..containers.dict_methods import dict_method, mapped_method, update
from ..containers.missing_keys import note_unseen
from ..kernel import operations
from ..kernel.bind_arguments import Shown, check_method, drawn, look
from ..kernel.handlers import HANDLERS
from ..kernel.operations import call_constant, call_python, call_value, defines, operate
from ..kernel.specialiser import Specialiser
from ..kernel.user_errors import always
from ..library import standard_library
from ..library.introspection import returned_by
from ..models import functions as models
from ..models import lists as models_lists
from ..objects import dict_views, record_tables, tables
from . import writers
from .calls import call_numpy

# Methods that are functions of the same name.
SAME_NAME = (
    "sum mean prod max min argmax argmin var std cumsum cumprod any all clip round dot trace diagonal nonzero ravel "
    "squeeze swapaxes repeat take argsort searchsorted conj conjugate ptp choose"
).split()
FUNCTIONS: dict[str, Callable[..., Any]] = {n: getattr(np, n) for n in SAME_NAME if hasattr(np, n)}
FUNCTIONS |= {
    "astype": np.ndarray.astype,
    "copy": np.ndarray.copy,
    "flatten": np.ndarray.flatten,
    "item": np.ndarray.item,
}
OF_TENSORS = {"flatten", "max", "min", "nonzero", "sort"}  # methods of tensors that are not those of arrays

WRITERS = {"fill", "sort", "put", "setfield", "resize", "partition", "__setitem__", "__setstate__"}
WRITERS |= {f"__i{op}__" for op in "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()}
BINARY = {"__add__": gast.Add, "__sub__": gast.Sub, "__mul__": gast.Mult, "__truediv__": gast.Div, "__pow__": gast.Pow}
OUT_AT = {"random": 2, "standard_normal": 2, "standard_exponential": 3, "standard_gamma": 3}  # where `out` stands


UNARY = {"__len__": len, "__abs__": abs, "__neg__": operator.neg, "__pos__": operator.pos}
SIZE_AT = {"random": 0, "random_sample": 0, "standard_normal": 0, "normal": 2, "uniform": 2}  # where `size` stands


@lru_cache(maxsize=256)
def caller(name: str) -> Callable[..., Any]:
    """The method as a function, for running on dummies."""

    def method(x: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(x, name)(*args, **kwargs)

    method.numpy_name = name  # type: ignore[attr-defined]
    return method


@defines(operations.call_method_of)
def call_method_of(s: Specialiser, base: Value, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    check_method(s, base, name, args, kwargs)
    if is_counter(s, base) and name in ("update", "most_common", "total"):
        if name != "update":
            return call_python(s, getattr(models_lists, name), [base, *args], kwargs)
        standard_library.count(s, base, args, kwargs)
        return Const(None)
    if name == "isdisjoint" and dict_views.class_of_view(s, base) is not None:
        return dict_views.is_disjoint(s, base, args[0])
    if name == "__getitem__" and len(args) == 1:
        return items.get_item(s, base, args[0])
    if name in UNARY and not args and not is_number(s, base):
        return call_value(s, Const(UNARY[name]), [base], {})
    if isinstance(base, Obj):
        if base.cls is dict and name == "update":
            return update(s, base, args, kwargs)
        if base.cls is dict:
            return dict_views.view(s, dict_method(s, base, name, args), base, name)
        return static_list_method(s, base, name, args)
    if isinstance(base, ListV):
        return call_method_of(s, items.own_list(s, base), name, args, kwargs)
    if isinstance(base, TupleV):
        return tuple_method(s, base, name, args, kwargs)
    if isinstance(base, Leaf):
        facts = s.facts[base.name]
        if (record := record_tables.record_of(s, base)) is not None:
            return record_tables.call_method(s, base, record, name, args, kwargs)
        if isinstance(facts, Listed):
            return list_method(s, base, facts, name, args, kwargs)
        if isinstance(facts, Mapped):
            if name == "update":
                return update(s, base, args, kwargs)
            return dict_views.view(s, mapped_method(s, base, facts, name, args, kwargs), base, name)
        if isinstance(facts, Num):
            return number_method(s, base, facts, name, args, kwargs)
        return opaque_method(s, base, facts, name, args, kwargs)
    raise s.refuse(
        "method",
        f"the method {name!r} of this value cannot be followed",
        "use NumPy functions on arrays, or give the value one kind on every path",
    )


def is_number(s: Specialiser, base: Value) -> bool:
    facts = s.facts_of(base)
    return isinstance(facts, Num) and facts.kind != "array"


def is_counter(s: Specialiser, base: Value) -> bool:
    facts = s.facts_of(base) if isinstance(base, Leaf) else None
    places = facts.roots if isinstance(facts, Mapped) else {base.id} if isinstance(base, Obj) else frozenset()
    return not s.counters.isdisjoint(places)


# -- numbers and arrays


def number_method(
    s: Specialiser, base: Leaf, facts: Num, name: str, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    shared = name in FUNCTIONS or name in ("reshape", "transpose", "T")
    if facts.tensor and (not shared or name in OF_TENSORS):
        return tensor_method(s, base, name, args, kwargs)
    if name in WRITERS or (name == "byteswap" and (args or kwargs)):
        return writers.write_method(s, base, name, args, kwargs)
    if (
        name in ("reshape", "transpose")
        and len(args) > 1
        or (name == "reshape" and args and not isinstance(args[0], TupleV))
    ):
        packed: list[Value] = [TupleV(tuple(args))] if len(args) > 1 else args
        return emit_method(s, base, name, args, kwargs, getattr(np, name), packed)
    if name in ("reshape", "transpose"):
        return emit_method(s, base, name, args, kwargs, getattr(np, name), args)
    if name == "item" and args and not facts.tensor and (place := place_of_item(s, facts, args)) is not None:
        return call_method_of(s, indexing.load_item(s, base, place), name, [], {})
    if name in FUNCTIONS:
        (_, *args), kwargs = writers.positional_out(FUNCTIONS[name], [base, *args], dict(kwargs))
        out = kwargs.pop("out", Const(None))
        if out != Const(None):
            function = Const(FUNCTIONS[name], ir.attribute(s.bind("np", np), name))
            if name == "clip":  # of the function, both bounds have to be given
                args += [kwargs.pop(bound, Const(None)) for bound in ("min", "max")[len(args) :]]
            return writers.with_out(s, function, [base, *args], {**kwargs, "out": out})
    if name == "compress" and (args or "condition" in kwargs):  # its array comes second in np.compress
        condition, *rest = [kwargs.pop("condition"), *args] if not args else args
        return call_numpy(s, Const(np.compress), [condition, base, *rest], kwargs)
    if name in FUNCTIONS:
        args = [array_of_list(s, a) for a in args] if name == "dot" else args
        return emit_method(s, base, name, args, kwargs, FUNCTIONS[name], args)
    if name == "tolist":
        return to_list(s, base, facts)
    if name in BINARY and len(args) == 1 and s.num(args[0]) is not None and facts.kind == "array":
        return operate(s, BINARY[name], base, args[0])
    if name == "view" and facts.kind == "array" and args in ([], [Const(np.ndarray)]) and not kwargs:
        return indexing.load_item(s, base, Const(Ellipsis))
    return opaque_method(s, base, facts, name, args, kwargs)


def place_of_item(s: Specialiser, facts: Num, args: list[Value]) -> Value | None:
    """The index that ``x.item(i, j)`` or ``x.item((i, j))`` reads, where there is an integer for each axis."""
    places = args[0].items if isinstance(args[0], TupleV) else tuple(args)
    found = [s.num(place) for place in places]
    whole = all(f is not None and f.dims == () and f.dtype is not None and f.dtype.kind in "iu" for f in found)
    if not whole or facts.kind != "array" or len(places) != facts.ndim:
        return None
    return places[0] if len(places) == 1 else TupleV(places)


def emit_method(
    s: Specialiser, base: Leaf, name: str, args: list[Value], kwargs: dict[str, Value], fn: Any, rule_args: list[Value]
) -> Value:
    expr = ir.call(
        ir.attribute(ir.name(base.name), name), *(s.expr(a) for a in args), **{k: s.expr(v) for k, v in kwargs.items()}
    )
    method = caller(name)
    if fn in DIMS:
        DIMS.setdefault(method, DIMS[fn])
    return emit_op.apply(s, fn, expr, [base, *rule_args], kwargs, method)


def to_list(s: Specialiser, base: Leaf, facts: Num) -> Value:
    if facts.ndim is None:
        raise s.refuse("different-kinds", "`tolist` of what may be an array or a number", "index the array instead")
    if facts.ndim == 0:
        return emit_method(s, base, "item", [], {}, np.ndarray.item, [])

    if facts.ndim > 1:
        return call_python(s, models.nested_lists, [base], {})
    kind = facts.dtype.kind if facts.dtype is not None else "f"
    expr = ir.call(ir.attribute(ir.name(base.name), "tolist"))
    return lists.of_array(s, base, expr, {"f": FLOAT, "c": COMPLEX}.get(kind, INT))


def tensor_method(s: Specialiser, base: Leaf, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A method that only tensors have is inlined from its text."""
    for cls in (Parameter, Tensor):
        found = getattr(cls, name, None)
        if isinstance(found, types.FunctionType):
            return call_constant(s, Const(found), [base, *args], kwargs)
    raise always(s, AttributeError, f"'Tensor' object has no attribute {name!r}")


def opaque_method(
    s: Specialiser, base: Leaf, facts: Any, name: str, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    """A method of something unknown just runs; generators of random numbers tell what they draw."""
    method = getattr(facts.cls, name, None) if isinstance(facts, Opaque) and facts.cls is not None else None
    if isinstance(method, (MethodDescriptorType, FunctionType)) and method in HANDLERS:
        return HANDLERS[method](s, [base, *args], kwargs)
    random = is_random(facts)
    if name in WRITERS:
        emit_op.refuse_unknown(s, base)
    if name == "shuffle" and (random or isinstance(facts, Opaque) and facts.cls is Random):
        return writers.shuffle(s, base, args, kwargs, random)
    if random and name in OUT_AT:
        args, rest = args[: OUT_AT[name]], args[OUT_AT[name] :]
        kwargs = {**kwargs, **dict(zip(("out",), rest))}
    if random and isinstance(out := kwargs.get("out"), Leaf):
        own = writers.numpy(s, "empty_like", out)
        emit_op.store_item(s, out, writers.EVERYTHING, run_method(s, base, facts, name, args, {**kwargs, "out": own}))
        return out
    if random and any(isinstance(a, Leaf) and is_differentiable(s, a) for a in [*args, *kwargs.values()]):
        if name in models.DRAWS and facts.cls is np.random.Generator and in_double(s, [*args, *kwargs.values()]):
            return call_python(s, models.DRAWS[name], [base, *args], kwargs)
        choosing, most = models.CHOICES.get(name, (None, 0))
        known = s.num(args[0]) if 0 < len(args) <= most and "axis" not in kwargs else None
        if choosing is not None and known is not None and known.kind == "array" and known.ndim:
            return call_python(s, choosing, [base, *args], kwargs)
    return run_method(s, base, facts, name, args, kwargs)


def run_method(s: Specialiser, base: Leaf, facts: Any, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A call of a method of something unknown."""
    expr = ir.call(
        ir.attribute(ir.name(base.name), name), *(s.expr(a) for a in args), **{k: s.expr(v) for k, v in kwargs.items()}
    )
    result: Any = Opaque()
    if is_random(facts):
        result = transfer.facts_of_call(s, drawing(facts.cls, name), args, kwargs)
    elif isinstance(facts, Opaque) and facts.cls is str:
        result = returned_by(name)
    elif isinstance(facts, Opaque) and facts.cls is Random:
        result = drawn(name)
    elif facts == Opaque(Shown):
        result = facts
    elif isinstance(facts, Num) and facts.python and name == "is_integer":
        result = BOOL
    every = {f"argument {k}": v for k, v in enumerate([base, *args, *kwargs.values()])}
    note_unseen(s, [*args, *kwargs.values()])
    is_log = isinstance(facts, Opaque) and facts.cls is Logger  # which looks at what it is given, and changes nothing
    fn = getattr(Logger, name, opaque_method) if is_log else look if facts == Opaque(Shown) else opaque_method
    if name == "setflags" and isinstance(facts, Num) and facts.kind == "array":
        fn = np.ndarray.setflags
    changes = not (isinstance(facts, Num) and (facts.python or facts.kind == "npscalar"))
    return s.let(expr, result, ir.Op(fn, every), hint="result", effect=changes)


def is_differentiable(s: Specialiser, value: Value) -> bool:
    facts = s.num(value)
    return facts is not None and facts.differentiable


def in_double(s: Specialiser, values: list[Value]) -> bool:
    """True if all that carries a derivative is of the precision that a generator computes in."""
    return all(f.dtype == np.float64 for v in values if (f := s.num(v)) is not None and f.differentiable)


def is_random(facts: Any) -> bool:
    return isinstance(facts, Opaque) and facts.cls in (np.random.Generator, np.random.RandomState)


@lru_cache(maxsize=64)
def drawing(cls: type, name: str) -> Callable[..., Any]:
    """A method of a fresh generator: the user's own is not touched at compile time."""

    def draw(*args: Any, **kwargs: Any) -> Any:
        generator = np.random.default_rng(0) if cls is np.random.Generator else np.random.RandomState(0)
        if name == "choice":  # of the dummies there may be fewer than are drawn
            kwargs.pop("replace", None)
        return getattr(generator, name)(*args, **kwargs)

    DIMS[draw] = partial(axes_drawn, name)
    return draw


def axes_drawn(name: str, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Any:
    """The axes of what a generator draws, from the sizes that it is given; None where it is given none."""
    if name in ("rand", "randn"):
        return from_shape(s, TupleV(tuple(args))) if args else None
    size = kwargs.get("size", args[SIZE_AT[name]] if len(args) > SIZE_AT.get(name, len(args)) else Const(None))
    return None if size == Const(None) else from_shape(s, size)


# -- lists


def list_method(
    s: Specialiser, base: Leaf, facts: Listed, name: str, args: list[Value], kwargs: dict[str, Value]
) -> Value:
    if name == "append":
        lists.append(s, base, args[0])
        return Const(None)
    if name == "pop":
        return lists.pop(s, base, args)
    if name == "popleft":
        return lists.pop(s, base, [Const(0)])
    if name == "appendleft":
        lists.insert(s, base, Const(0), args[0])
        lists.drop_surplus(s, base, Const(-1))
        return Const(None)
    if name == "insert":
        lists.insert(s, base, *args)
        return Const(None)
    if name == "extend":
        lists.extend_list(s, base, args[0])
        return Const(None)
    if name == "copy":
        return lists.copied(s, base, facts, ir.call(ir.attribute(ir.name(base.name), "copy")))
    if name == "clear":
        lists.replace_items(s, base, ListV((), s.site("emptied")))
        return Const(None)
    if name == "reverse":
        write_move(s, "reverse", base)
        return Const(None)
    if name == "sort":
        order = call_python(s, models_lists.places_in_order, [base], kwargs)
        write_move(s, "permute", base, order)
        return Const(None)
    if name in ("rotate", "extendleft"):
        call_python(s, models_lists.rotate if name == "rotate" else models_lists.extend_left, [base, *args], kwargs)
        return Const(None)
    if name == "remove":
        lists.pop(s, base, [position(s, base, "index", args)])
        return Const(None)
    if name in ("index", "count"):
        return position(s, base, name, args)
    return opaque_method(s, base, Opaque(list), name, args, kwargs)


def position(s: Specialiser, base: Leaf, name: str, args: list[Value]) -> Value:
    """``items.index(x)`` and ``items.count(x)``: whole numbers, through which no derivative passes."""
    write = s.stored if args and tables.told_by_identity(s, base, args[0]) else s.expr
    expr = ir.call(ir.attribute(ir.name(base.name), name), *map(write, args[:1]), *map(s.expr, args[1:]))
    return s.let(expr, INT, hint="k")


def static_list_method(s: Specialiser, base: Obj, name: str, args: list[Value]) -> Value:
    if name == "append":
        lists.append(s, base, args[0])
        return Const(None)
    if name == "extend":
        lists.extend_list(s, base, args[0])
        return Const(None)
    if name == "copy":
        return ListV(tuple(items.items_of(s, base, None)), s.site())
    if name in lists.CHANGES and base.id[0] == "list" and all(map(s.is_static, args[:1])):
        return lists.change(s, base, name, args)
    tables.restart_tabled(s, base)  # a list of rows has all methods
    raise s.refuse(
        "method", f"the method {name!r} of a list of objects cannot be followed", "write the loop over its items"
    )


# -- dicts


# -- tuples


def found_in_constant(s: Specialiser, base: TupleV, name: str, args: list[Value]) -> Value:
    try:
        return Const(getattr(s.static(base), name)(*map(s.static, args)))
    except ValueError as error:
        raise always(s, ValueError, str(error)) from error


def tuple_method(s: Specialiser, base: TupleV, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    if name == "_replace" and base.cls is not None:
        fields = base.cls._fields  # type: ignore[attr-defined]
        return TupleV(tuple(kwargs.get(f, item) for f, item in zip(fields, base.items)), base.cls)
    if name == "_asdict" and base.cls is not None:
        obj = Obj(("dict", s.site("asdict")), dict)
        for field, item in zip(base.cls._fields, base.items):  # type: ignore[attr-defined]
            s.env[(obj.id, field)] = item
        return obj
    s.as_list(base)
    if name in ("index", "count") and s.is_static(base) and all(map(s.is_static, args)):
        return found_in_constant(s, base, name, args)
    raise s.refuse("method", f"the tuple method {name!r} cannot be followed here", "make a list of it first")
