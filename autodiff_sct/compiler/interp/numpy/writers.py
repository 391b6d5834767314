"""Functions that write into their arguments, said as assignments by index."""

from __future__ import annotations

import inspect
import operator
from functools import lru_cache, partial
from typing import Any

import gast
import numpy as np

from ....errors import NoRule
from ....rules.index import places_along
from ... import ir
from ...domain.facts import Num, Opaque, is_same
from ...domain.values import Bound, Const, Leaf, ListV, TupleV, Value
from ...ir.patterns import numpy_name
from ..arrays import emit_op
from ..arrays.emit_op import is_positive, store_repeated
from ..arrays.flat import flat_of
from ..arrays.flat_items import set_flat
from ..arrays.indexing import normal
from ..arrays.overlap import check_apart, shares_memory
from ..kernel.bind_arguments import in_place, places
from ..kernel.handlers import handles
from ..kernel.operations import attribute_of, call_python, call_value
from ..kernel.specialiser import Specialiser
from ..kernel.user_errors import always, raise_if
from ..models import functions as models

EVERYTHING = Const(Ellipsis)
LAST = Const(-1)


def target(s: Specialiser, value: Value) -> Leaf:
    if isinstance(value, Leaf) and isinstance(s.facts[value.name], Num):
        return value
    raise s.refuse("unknown-value", "something that is not an array is written into", "write into an array")


def numpy(s: Specialiser, name: str, *args: Value, **kwargs: Value) -> Value:
    """Emit a NumPy function."""
    callee: Any = np
    expr: Any = s.bind("np", np)
    for part in name.split("."):
        callee, expr = getattr(callee, part), ir.attribute(expr, part)
    return call_value(s, Const(callee, expr), list(args), kwargs)


RENAMED = {"indices": "ind", "values": "v"}  # what the method calls otherwise than the function


def write_method(s: Specialiser, base: Leaf, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
    if name == "fill":
        if kwargs:
            raise always(s, TypeError, "ndarray.fill() takes no keyword arguments")
        emit_op.store_item(s, base, EVERYTHING, args[0])
        return Const(None)
    if name == "sort":
        return sort(s, base, **dict(zip(("axis", "kind", "order"), args)), **kwargs)
    if name == "put":
        return put(s, *in_place(np.put, [base, *args], {RENAMED.get(k, k): v for k, v in kwargs.items()}))
    if name == "partition":
        emit_op.store_item(s, base, EVERYTHING, numpy(s, "partition", base, *args, **kwargs))
        return Const(None)
    raise s.refuse(
        "unknown-write",
        f"the array method {name!r} changes memory in a way that is not differentiated",
        "make a new array instead",
    )


def sort(s: Specialiser, base: Leaf, axis: Value = LAST, **kwargs: Value) -> Value:
    """``a.sort()`` moves the values to where ``argsort`` says."""
    order = numpy(s, "argsort", base, axis, **kwargs)
    emit_op.store_item(s, base, EVERYTHING, numpy(s, "take_along_axis", base, order, axis))
    return Const(None)


def shuffle(s: Specialiser, owner: Value, args: list[Value], kwargs: dict[str, Value], random: bool = True) -> Value:
    """``generator.shuffle(a)`` takes the items of an array in the order of a permutation."""
    if not random or kwargs or len(args) != 1 or s.num(args[0]) is None:
        raise s.refuse(
            "unknown-write",
            "`shuffle` changes memory where the compiler cannot see it",
            "take the items in the order of a permutation: `a[rng.permutation(len(a))]`",
        )
    return call_python(s, models.shuffled, [owner, target(s, args[0])], {})


@handles(np.random.shuffle)
def shuffle_globally(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return shuffle(s, Const(np.random), args, kwargs)


@handles(np.copyto)
def copyto(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    given = dict(zip(("dst", "src", "casting", "where"), args)) | kwargs
    base, value = target(s, given["dst"]), given["src"]
    check_casting(s, given.get("casting", Const("same_kind")), base, value)
    if "where" in given:
        value = numpy(s, "where", given["where"], value, base)
    emit_op.store_item(s, base, EVERYTHING, value)
    return Const(None)


def check_casting(s: Specialiser, casting: Value, base: Leaf, value: Value) -> None:
    """Raise what NumPy does where a type does not fit into the array's by the rule that is asked for."""
    have, given = s.num(base), s.num(value)
    if have is None or given is None or have.dtype is None or given.dtype is None:
        return
    if not np.can_cast(given.dtype, have.dtype, s.static(casting)):
        rule = f"according to the rule {s.static(casting)!r}"
        raise always(s, TypeError, f"Cannot cast from {given.dtype!r} to {have.dtype!r} {rule}")


@handles(np.put)
def put(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``np.put`` counts along the flattened array and repeats values that are too few."""
    if kwargs or args[3:] not in ([], [Const("raise")]):
        raise s.refuse("numpy-form", "np.put with a mode cannot be followed", "index with indices inside the array")
    base, where, value = target(s, args[0]), args[1], args[2]
    indices = numpy(s, "asarray", where)
    facts = s.facts[base.name]
    if isinstance(facts, Num) and facts.ndim == 1:
        store_repeated(s, base, indices, value, shape_of(s, indices))
    else:
        set_flat(s, flat_of(s, base), indices, value, shape_of(s, indices))
    return Const(None)


def shape_of(s: Specialiser, value: Value) -> Leaf:
    return s.let(ir.call(ir.attribute(s.bind("np", np), "shape"), s.expr(value)), Opaque(tuple))


def as_mask(s: Specialiser, value: Value) -> Value:
    """The mask that a function takes an argument for: where numbers are not zero."""
    facts = s.num(value)
    known = facts is not None and facts.dtype is not None and facts.dtype.kind == "b"
    return value if known else numpy(s, "asarray", value, Const(bool))


@handles(np.place)
def place(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    given = dict(zip(("arr", "mask", "vals"), args)) | kwargs
    base, mask = target(s, given["arr"]), as_mask(s, given["mask"])
    check_apart(s, base, given["vals"])  # NumPy reads what it has just written
    count, found = numpy(s, "count_nonzero", mask), s.num(given["vals"])
    if found is None or found.dims is None or not all(map(is_positive, map(s.lengths.canonical, found.dims))):
        size = ir.call(ir.attribute(s.bind("np", np), "size"), s.expr(given["vals"]))
        test = gast.Compare(size, [gast.Eq()], [ir.constant(0)])
        error = "Cannot insert from an empty array!"
        raise_if(s, gast.BoolOp(gast.And(), [test, s.expr(count)]), ValueError, error)
    emit_op.store_item(s, base, mask, numpy(s, "resize", given["vals"], count))
    return Const(None)


@handles(np.putmask)
def putmask(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``np.putmask`` takes the values at the positions that it writes."""
    given = dict(zip(("a", "mask", "values"), args)) | kwargs
    base, mask, value = target(s, given["a"]), as_mask(s, given["mask"]), given["values"]
    store_repeated(s, base, mask, value, attribute_of(s, base, "shape"), picked=True)
    return Const(None)


@handles(np.put_along_axis)
def put_along_axis(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    given = dict(zip(("arr", "indices", "values", "axis"), args)) | kwargs
    base = target(s, given["arr"])
    axis, facts = s.static(given.get("axis", Const(-1))), s.facts[base.name]
    if axis is None or not isinstance(facts, Num) or facts.ndim is None:
        raise s.refuse(
            "numpy-form", "np.put_along_axis without an axis cannot be followed", "write into `a.reshape(-1)` by index"
        )
    shape = attribute_of(s, base, "shape")
    expr = ir.call(
        s.bind("places_along", places_along), s.expr(given["indices"]), s.expr(shape), ir.constant(axis % facts.ndim)
    )
    index = s.let(expr, Opaque(tuple), hint="places")
    emit_op.store_item(s, base, index, given["values"])
    return Const(None)


@handles(np.fill_diagonal)
def fill_diagonal(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    base = target(s, args[0])
    facts = s.facts[base.name]
    given = dict(zip(("a", "val", "wrap"), args)) | kwargs
    plain = given.get("wrap", Const(False)) == Const(False) and "val" in given
    if not plain or not isinstance(facts, Num) or facts.ndim != 2:
        raise s.refuse(
            "numpy-form", "np.fill_diagonal of an array whose rank is not 2, or with wrap", "index the diagonal"
        )
    shape = attribute_of(s, base, "shape")
    assert isinstance(shape, TupleV)
    size = shape.items[0]
    if shape.items[0] != shape.items[1]:
        along = numpy(s, "arange", call_value(s, Const(min), list(shape.items), {}))
        size = attribute_of(s, along, "size")
    else:
        along = numpy(s, "arange", size)
    check_apart(s, base, given["val"])
    store_repeated(s, base, TupleV((along, along)), given["val"], size)
    return Const(None)


def scatter(s: Specialiser, ufunc: np.ufunc, args: list[Value]) -> Value:
    """``np.add.at(a, index, value)``: repeated indices add up."""
    base, index = target(s, args[0]), normal(s, args[1])
    value = args[2] if len(args) > 2 else Const(None)
    if isinstance(index, ListV):
        index = numpy(s, "array", index)
    callee = ir.attribute(ir.attribute(s.bind("np", np), ufunc.__name__), "at")
    expr = ir.call(callee, s.expr(base), s.expr(index), s.expr(value))
    s.block.append(ir.Effect(expr, s.where(), f"{ufunc.__name__}.at", (base, index, value)))
    return Const(None)


@handles(np.add.at)
def add_at(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return scatter(s, np.add, args)


@handles(np.subtract.at)
def subtract_at(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return scatter(s, np.subtract, args)


def each_at(fn: Any, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``np.multiply.at(a, index, values)`` and the like, where the order matters: one element after the other."""
    base = target(s, args[0])
    parts = args[1].items if isinstance(args[1], TupleV) else (args[1],)
    parts = tuple(numpy(s, "array", part) if isinstance(part, ListV) else part for part in parts)
    known = [s.num(part) for part in parts]
    if len(args) != 3 or not all(
        f is not None and f.ndim == 1 and f.dtype is not None and f.dtype.kind in "iu" for f in known
    ):
        raise s.refuse(
            "numpy-form",
            f"{fn.__name__}.at with other indices than vectors of integers cannot be followed",
            "write the loop over the indices",
        )
    given = s.num(args[2])
    python = {np.multiply: operator.mul, np.divide: operator.truediv}.get(fn, fn)
    facts = s.num(base)
    if given is not None and given.python and facts is not None and facts.dtype != np.float64:
        args = [*args[:2], numpy(s, "asarray", args[2])]  # `at` takes a number of Python's for a double
    if given is not None and given.dims == ():
        return call_python(s, models.set_at, [Const(python), base, TupleV(parts), args[2]], {})
    # NumPy reads all values before it writes.
    values = numpy(s, "copy", args[2]) if shares_memory(s, base, args[2]) else args[2]
    return call_python(s, models.set_each_at, [Const(python), base, TupleV(parts), values], {})


for _ufunc in (np.multiply, np.divide, np.power, np.maximum, np.minimum, np.fmax, np.fmin, np.logaddexp, np.hypot):
    handles(_ufunc.at)(partial(each_at, _ufunc))


def positional_out(fn: Any, args: list[Value], kwargs: dict[str, Value]) -> tuple[list[Value], dict[str, Value]]:
    """The arguments of a function of NumPy, with the array that it writes into by name, and what stands behind it."""
    place = place_of_out(fn)
    if place is None or len(args) <= place:
        return args, kwargs
    if isinstance(fn, np.ufunc):
        named = {"out": TupleV(tuple(args[place:])) if fn.nout > 1 else args[place]}
    elif fn in (np.dot, np.concatenate):  # whose signatures Python does not know
        named = {"out": args[place]}
    elif len(args) > len(places(fn)):
        return args, kwargs
    else:
        named = dict(zip(places(fn)[place:], args[place:]))
    return args[:place], {**named, **kwargs}


@lru_cache(maxsize=1024)
def place_of_out(fn: Any) -> int | None:
    if isinstance(fn, np.ufunc):
        return fn.nin
    if fn in (np.dot, np.concatenate):  # whose signatures Python does not know
        return 2
    return places(fn).index("out") if "out" in places(fn) else None


ADDING = frozenset((np.add, np.subtract, np.negative, np.positive, np.maximum, np.minimum))  # which raise no warnings


def masked(s: Specialiser, fn: Any, value: Value, mask: Value, others: list[Value]) -> Value:
    """An operand where a mask says so, and elsewhere a number at which neither the value nor a derivative is infinite.

    ``np.divide(x, n, out=y, where=n > 0)`` divides by no zero, and nor does its derivative.  A number of Python's takes
    the type of the `others`, as it would without the mask.
    """
    facts = s.num(value)
    if isinstance(value, Const) or facts is None or (facts.dtype is not None and facts.dtype.kind == "b"):
        return value
    real = facts.dtype is not None and facts.dtype.kind in "fc"
    chosen = numpy(s, "where", mask, value, Const((2.0 if fn is np.arccosh else 0.5) if real else 1))
    types = [f.dtype for f in map(s.num, others) if f is not None and not f.python]
    have = s.num(chosen)
    if not facts.python or facts.dtype is None or have is None or not types or None in types:
        return chosen
    wanted = np.result_type(*types, facts.dtype.type(0).item())
    if wanted == have.dtype:
        return chosen
    return call_value(s, Bound("astype", chosen), [Const(wanted.type, ir.attribute(s.bind("np", np), wanted.name))], {})


SUMS = {np.sum, np.prod, np.mean, np.cumsum, np.cumprod, np.nansum, np.nanprod, np.nanmean, np.nancumsum, np.nancumprod}
SUMS |= {np.add.reduce, np.multiply.reduce, np.add.accumulate, np.multiply.accumulate}
IN_PARTS = {np.var, np.std, np.nanvar, np.nanstd, np.ptp, np.median, np.nanmedian, np.quantile, np.percentile}
# They compute in the types of their operands, or take elements as they are, whatever they write into.
BY_OPERANDS = {np.clip, np.outer, np.dot, np.linalg.multi_dot, np.take, np.choose, np.compress, np.concatenate}
BY_OPERANDS |= {np.max, np.min, np.nanmax, np.nanmin, np.argmax, np.argmin, np.maximum.reduce, np.minimum.reduce}
BY_OPERANDS |= {np.maximum.accumulate, np.minimum.accumulate, np.fmax.accumulate, np.fmin.accumulate, np.any, np.all}
# They write into integers, whatever the rule of casting.
CUTTING = SUMS | IN_PARTS | {np.max, np.min, np.nanmax, np.nanmin, np.choose}


def in_its_type(
    s: Specialiser, fn: Any, args: list[Value], kwargs: dict[str, Value], out: Leaf
) -> tuple[list[Value], dict[str, Value]]:
    """The arguments of a function that computes in the type of the array that it writes into, where that is wider."""
    facts, given = s.num(out), s.num(args[0]) if args else None
    if fn not in SUMS | IN_PARTS or facts is None or given is None:
        return args, kwargs
    if facts.dtype is None or given.dtype is None:
        return in_type_at_run_time(s, fn, args, kwargs, out)
    if is_same(facts.dtype, given.dtype):
        return args, kwargs
    if fn in IN_PARTS:
        raise s.refuse("numpy-form", f"np.{fn.__name__} writes into an array of another type")
    wider, named = np.result_type(facts.dtype, given.dtype), dict(zip(places(fn)[1:], args[1:])) | kwargs
    if wider != facts.dtype and facts.dtype.kind in "fc":  # it adds up in the narrower type, in an order of its own
        raise s.refuse("numpy-form", f"np.{fn.__name__} writes into an array of a narrower type")
    if wider != given.dtype and given.dtype.kind in "fc" and named.get("dtype", Const(None)) == Const(None):
        dtype = Const(wider.type, ir.attribute(s.bind("np", np), wider.name))
        return args[:1], {**named, "dtype": dtype}
    return args, kwargs


def in_type_at_run_time(
    s: Specialiser, fn: Any, args: list[Value], kwargs: dict[str, Value], out: Leaf
) -> tuple[list[Value], dict[str, Value]]:
    """The same where the types are known only when the program runs."""
    named = dict(zip(places(fn)[1:], args[1:])) | kwargs
    if fn in IN_PARTS or named.get("dtype", Const(None)) != Const(None):
        check_type(s, fn, out, args[0])
        return args, kwargs
    dtype = attribute_of(s, out, "dtype")
    wider = numpy(s, "result_type", out, args[0])
    test = gast.Compare(s.expr(dtype), [gast.NotEq()], [s.expr(wider)])
    raise_if(s, test, NoRule, f"np.{fn.__name__} writes into an array of a narrower type")
    return args[:1], {**named, "dtype": dtype}


def check_type(s: Specialiser, fn: Any, out: Leaf, value: Value) -> None:
    """Refuse to write into an array of another type, in which NumPy would compute."""
    into, made = s.num(out), s.num(value)
    message = f"np.{fn.__name__} writes into an array of another type"
    if into is None or made is None or made.python or (into.dtype is not None and into.dtype == made.dtype):
        return
    if into.dtype is not None and made.dtype is not None:
        raise s.refuse("numpy-form", message)
    types = [ir.attribute(s.expr(array), "dtype") for array in (out, value)]
    raise_if(s, gast.Compare(types[0], [gast.NotEq()], [types[1]]), NoRule, message)


def computes_by_operands(fn: Any) -> bool:
    """True of what computes in the types of its operands: a ufunc, or a function that is one."""
    outer = isinstance(getattr(fn, "__self__", None), np.ufunc) and fn.__name__ == "outer"
    return isinstance(fn, np.ufunc) or outer or fn in BY_OPERANDS


def kind_of(s: Specialiser, value: Value) -> str:
    """The kind of a number's dtype; a question mark where it is not known."""
    facts = s.num(value)
    return "?" if facts is None or facts.dtype is None else facts.dtype.kind


def check_product(s: Specialiser, out: Leaf, value: Value) -> None:
    """`np.dot` writes only into an array like the one that it would make."""
    into, made = s.num(out), s.num(value)
    message = "output array is not acceptable (must have the right datatype, number of dimensions, and be a C-Array)"
    if into is None or made is None or None in (into.ndim, made.ndim) or into.dtype is None or made.dtype is None:
        raise s.refuse("numpy-form", "np.dot writes into an array of which too little is known")
    if into.dtype != made.dtype or into.ndim != made.ndim:
        raise always(s, ValueError, message)
    if not is_in_c_order(s.definitions.get(out.name)):
        test = ir.attribute(ir.attribute(s.expr(out), "flags"), "c_contiguous")
        raise_if(s, gast.UnaryOp(gast.Not(), test), ValueError, message)


def is_by_element(fn: Any) -> bool:
    """True of a ufunc, or a function that is one, which looks at the types first."""
    return fn in (np.clip, np.outer) or isinstance(fn, np.ufunc) or isinstance(getattr(fn, "__self__", None), np.ufunc)


REPEATING = {np.clip, np.quantile, np.percentile, np.nanquantile, np.nanpercentile}  # besides ufuncs


def check_shape(s: Specialiser, fn: Any, out: Leaf, value: Value) -> None:
    """A function writes into no array of another shape; one of single elements repeats its result along more axes."""
    into, made = s.num(out), s.num(value)
    if into is None or made is None:
        return
    if into.dims is not None and made.dims is not None and s.have_met([into.dims, made.dims]):
        return
    repeats = fn in REPEATING or (isinstance(fn, np.ufunc) and fn.signature is None)
    known = into.ndim is not None and made.ndim is not None
    error = TypeError if fn is np.choose else ValueError
    message = f"the array that np.{fn.__name__} is to write into has another shape than what it makes"
    if known and into.ndim > made.ndim and fn is np.matmul:  # type: ignore[operator]
        raise s.refuse("numpy-form", "np.matmul writes into an array of more axes")
    if known and (into.ndim < made.ndim if repeats else into.ndim != made.ndim):  # type: ignore[operator]
        raise always(s, error, message)
    if not (repeats and known):
        shapes = [ir.attribute(s.expr(array), "shape") for array in (out, value)]
        raise_if(s, gast.Compare(shapes[0], [gast.NotEq()], [shapes[1]]), error, message)


def is_in_c_order(maker: Any) -> bool:
    """True if what an expression makes surely is a new array in C order."""
    plain = isinstance(maker, gast.Call) and all(k.arg == "dtype" for k in maker.keywords) and len(maker.args) <= 2
    return plain and numpy_name(maker) in ("empty", "ones", "zeros")


def with_out(s: Specialiser, callee: Const, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``fn(..., out=a)`` assigns to the whole of ``a``, or to where the mask says."""
    fn: Any = callee.value
    kwargs = dict(kwargs)
    out = kwargs.pop("out")
    if isinstance(out, TupleV) and len(out.items) == 1 and getattr(fn, "nout", 1) == 1:
        out = out.items[0]
    base = target(s, out)
    if getattr(fn, "__module__", None) == "numpy" and places(fn) and "out" not in inspect.signature(fn).parameters:
        raise always(s, TypeError, f"{fn.__name__}() got an unexpected keyword argument 'out'")
    args, kwargs = in_its_type(s, fn, args, kwargs, base)
    mask = kwargs.pop("where", None) if isinstance(fn, np.ufunc) else None
    if mask is not None and mask != Const(True) and fn not in ADDING:
        args = [masked(s, fn, a, mask, args) for a in args]
    value = call_value(s, callee, args, kwargs)
    if fn in (np.dot, np.linalg.multi_dot):
        check_product(s, base, value)
    elif fn in (np.argmax, np.argmin) and kind_of(s, base) != "i":
        raise s.refuse("numpy-form", f"np.{fn.__name__} writes into an array that is not of integers")
    elif fn in CUTTING and kind_of(s, base) in "biu" and kind_of(s, value) in "fc":
        raise s.refuse("numpy-form", f"np.{fn.__name__} cuts floats off where it writes into integers")
    elif fn not in SUMS | IN_PARTS and not computes_by_operands(fn):
        check_type(s, fn, base, value)
    casting = kwargs.get("casting", Const("safe" if fn is np.einsum else "same_kind"))
    checks = [partial(check_shape, s, fn, base, value), partial(check_casting, s, casting, base, value)]
    for check in reversed(checks) if is_by_element(fn) else checks:
        check()
    if mask is not None and mask != Const(True):
        value = numpy(s, "where", mask, value, base)
    emit_op.store_item(s, base, EVERYTHING, value)
    return base
