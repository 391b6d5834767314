"""Facts of results that dummies would tell wrongly: numbers decide their dtype, or lengths of axes their rank."""

from __future__ import annotations

import functools
import operator
from dataclasses import replace
from typing import Any

import numpy as np

from ....core import process_state
from ....runtime import memory
from ... import ir
from ...domain.facts import NOWHERE, Facts, Listed, Num, Opaque, Pair, join, several
from ...domain.values import Const, Leaf, ListV, TupleV, Value
from ..kernel.specialiser import Specialiser
from .shapes import from_shape

CONVERSIONS = {np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray, np.asarray_chkfinite}
# Of floats of one dtype they make floats of that dtype, whatever else they are given.
KEEP_DTYPE = {
    np.concatenate, np.stack, np.hstack, np.vstack, np.dstack, np.column_stack, np.sum, np.prod, np.mean, np.max,
    np.min, np.transpose, np.moveaxis, np.swapaxes, np.expand_dims, np.squeeze, np.flip, np.cumsum, np.dot, np.matmul,
    np.tensordot, np.inner, np.outer, np.trace, np.diagonal, np.round, np.cumprod, np.sort, np.roll,
}  # fmt: skip
TESTS: set[Any] = {operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne}
TESTS |= {np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal, np.isnan, np.isfinite}
# An array whatever they are given; one of an array, which may be the scalar itself of a scalar.
ARRAYS = CONVERSIONS | {
    np.concatenate, np.stack, np.hstack, np.vstack, np.dstack, np.column_stack, np.reshape, np.ravel, np.expand_dims,
    np.atleast_1d, np.atleast_2d, np.atleast_3d, np.broadcast_to, np.outer, np.diagonal, np.cumsum, np.cumprod,
}  # fmt: skip
OF_ARRAYS = {np.transpose, np.swapaxes, np.moveaxis, np.rollaxis, np.squeeze, np.real, np.imag, np.matrix_transpose}
METHODS_OF_ARRAYS = {"transpose", "swapaxes", "reshape", "ravel", "flatten", "copy", "astype", "view", "diagonal"}
FLAT = {np.ravel, np.cumsum, np.cumprod, np.nancumsum, np.nancumprod}  # a vector, where no axis is named
OF_ALL = {np.sum, np.prod, np.mean, np.max, np.min}  # a number, where no axis is named
SPLITS = {np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit}
DTYPE_BY_VALUE = {np.linalg.eigvals, np.roots, np.poly, np.real_if_close} | {
    getattr(np.emath, name) for name in np.emath.__all__
}
PYTHON = {"bool": bool, "int": int, "float": float, "complex": complex}
OF_INTEGERS = {operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, operator.neg, operator.pos}
UNSTACK = {np.unstack} if hasattr(np, "unstack") else set()
PARTS = SPLITS | UNSTACK
ITSELF = {np.diff: "n", np.polyder: "m", np.polyint: "m", np.linalg.matrix_power: "n"}  # for 0, or for 1
EXTREMES = {max, min}
BY_VALUE = EXTREMES | {np.linalg.eig, np.reshape, np.squeeze, np.cov, np.corrcoef} | DTYPE_BY_VALUE | PARTS


def by_value(s: Specialiser, fn: Any, args: list[Value], kwargs: dict[str, Value]) -> Facts | None:
    """The facts of a result that dummies would tell wrongly."""
    name = getattr(fn, "numpy_name", "")  # of a method
    if fn not in BY_VALUE and name not in ("reshape", "squeeze"):
        return None
    if fn in EXTREMES:
        return one_of_them(s, args[0])
    if fn in DTYPE_BY_VALUE:
        return unknown_result(s, fn, args, kwargs, False)
    if fn is np.linalg.eig:
        return eigen_facts(s, args)
    if fn is np.reshape or name == "reshape":
        return reshaped(s, args)
    if fn is np.squeeze or name == "squeeze":
        return squeezed(s, args, kwargs)
    if fn in (np.cov, np.corrcoef):
        return covariances(s, fn, args, kwargs)
    if fn in SPLITS:
        return pieces(s, args) if len(args) > 1 and not s.is_static(args[1]) else None
    raise s.refuse("unknown-length", f"{fn.__name__} has as many results as an axis is long", "index the array")


def is_itself(s: Specialiser, op: ir.Op) -> bool:
    """True if only the run tells if a function returns the array that it is given, or a new one."""
    number = op.arguments.get(ITSELF.get(op.fn, ""))
    return number is not None and not s.is_static(number)


def one_of_them(s: Specialiser, items: Value) -> Facts | None:
    """The extreme of several numbers, which is one of them: of which kind, their values decide."""
    if isinstance(items, (TupleV, ListV)):
        found = [s.facts_of(item) for item in items.items]
    elif isinstance(listed := s.facts_of(items), Listed):
        found = [element] if (element := s.elements_of(listed)) is not None else []
    else:
        return None
    if not found or any(not isinstance(f, Num) or f.dims != () or f.kind == "array" for f in found):
        return None
    facts = functools.reduce(join, found)
    assert isinstance(facts, Num)
    # A Python float is wider than an array's number of which `join` takes the dtype.
    varied = [s.num(item) for item in items.items if isinstance(item, Leaf)] if not isinstance(items, Leaf) else []
    wider = facts.dtype != np.float64 and any(f is not None and f.kind == "float" for f in varied)
    return replace(facts, dtype=None if wider else facts.dtype, roots=NOWHERE, size=None)


def eigen_facts(s: Specialiser, args: list[Value]) -> Facts | None:
    """Eigenvalues and eigenvectors, which of a real matrix may be complex."""
    facts = s.num(args[0])
    if facts is None or facts.dims is None or facts.dtype is None or facts.dtype.kind == "c":
        return None
    own = frozenset([s.root(s.site())])
    return Pair(tuple(Num("array", None, dims, own) for dims in (facts.dims[:-1], facts.dims)), EIG_RESULT)


EIG_RESULT = type(np.linalg.eig(np.eye(1)))


def pieces(s: Specialiser, args: list[Value]) -> Facts:
    """The parts of an array that is cut where only the run tells: a list, whose items share the array's memory."""
    facts = s.num(args[0])
    if facts is None or facts.dims is None:
        raise s.refuse(
            "unknown-length", "an array of unknown rank is split where only the run tells", "slice the array"
        )
    listed = Listed(frozenset([s.root(("list", s.site("pieces")))]))
    s.put_element(listed, replace(facts, dims=(None,) * len(facts.dims)))
    return listed


def reshaped(s: Specialiser, args: list[Value]) -> Facts | None:
    facts = s.num(args[0])
    if facts is None or facts.kind != "array" or facts.dtype is None or len(args) < 2:
        return None
    given = s.facts_of(args[1])
    if isinstance(args[1], Leaf) and not (
        isinstance(given, Listed) or (isinstance(given, Num) and given.kind == "int")
    ):
        return None
    dims = from_shape(s, args[1])
    return None if dims is None else Num("array", facts.dtype, dims, facts.roots, None, facts.tensor)


def squeezed(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Facts | None:
    facts = s.num(args[0])
    given = args[1] if len(args) > 1 else kwargs.get("axis", Const(None))
    if facts is None or facts.kind != "array" or given != Const(None):
        return None
    if facts.dims is None or not all(several(d) or (isinstance(d, int) and d == 1) for d in facts.dims):
        return replace(facts, dims=None)
    return replace(facts, dims=tuple(d for d in facts.dims if not (isinstance(d, int) and d == 1)))


def covariances(s: Specialiser, fn: Any, args: list[Value], kwargs: dict[str, Value]) -> Facts | None:
    """A matrix for several variables, a number for one; the dummies have one."""
    first = s.num(args[0])
    second = args[1] if len(args) > 1 else kwargs.get("y", Const(None))
    in_rows = args[2] if len(args) > 2 else kwargs.get("rowvar", Const(True))
    if first is None or first.dims is None or first.dtype is None or not isinstance(in_rows, Const):
        return unknown_result(s, fn, args, kwargs, False)
    own = frozenset([s.root(s.site())])
    if second != Const(None):
        return Num(None, None, (None, None), own)
    if len(first.dims) == 1:
        return None
    axis = first.dims[0 if in_rows.value else 1]
    if not several(axis):
        return unknown_result(s, fn, args, kwargs, False)
    return Num("array", np.result_type(first.dtype, float), (axis, axis), own)


# Functions whose result may be a view of an argument.
MAY_VIEW = {
    np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.rollaxis, np.squeeze, np.expand_dims, np.asarray,
    np.asanyarray, np.ascontiguousarray, np.asfortranarray, np.broadcast_to, np.broadcast_arrays, np.diagonal, np.diag,
    np.real, np.imag, np.atleast_1d, np.atleast_2d, np.atleast_3d, np.split, np.array_split, np.hsplit, np.vsplit,
    np.dsplit, np.flip, np.fliplr, np.flipud, np.rot90, np.einsum, np.matrix_transpose, operator.getitem,
    np.lib.stride_tricks.sliding_window_view, np.lib.stride_tricks.as_strided, np.real_if_close, np.nan_to_num,
    np.meshgrid, np.asarray_chkfinite, np.linalg.diagonal, np.linalg.matrix_transpose, memory.writable,
    *([np.astype] if hasattr(np, "astype") else []), *UNSTACK,
}  # fmt: skip


def number_given(fn: Any, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    """The number of a call for one value of which the function returns its argument; None where it is left out."""
    if fn not in ITSELF:
        return None
    return args[1] if len(args) > 1 else kwargs.get(ITSELF[fn])


def may_view(fn: Any, args: list[Value], kwargs: dict[str, Value]) -> bool:
    """True if a call may return a view: one of users' own functions with a rule may always."""
    if fn is np.einsum and isinstance(args[0], Const):  # of several operands it makes products
        return len(args) == 2
    return (
        fn in MAY_VIEW
        or number_given(fn, args, kwargs) is not None
        or fn in process_state.REGISTERED
        or getattr(fn, "numpy_name", "")
        in {
            "reshape",
            "ravel",
            "transpose",
            "swapaxes",
            "squeeze",
            "diagonal",
            "astype",
            "view",
            "real",
            "imag",
            "conj",
            "conjugate",
        }
    )


def is_scalar(facts: Num) -> bool:
    """True for a number of Python's or of NumPy's, which nobody can write into."""
    return facts.dims == () and facts.kind != "array" and not facts.roots and facts.row is None


def is_array(s: Specialiser, value: Value) -> bool:
    """True if a value is surely an array, of whatever rank."""
    facts = s.num(value)
    return facts is not None and facts.kind == "array"


OTHERS: dict[Any, Facts] = {
    **dict.fromkeys((str, repr), Opaque(str)),
    **dict.fromkeys((np.dtype, np.result_type, np.promote_types, np.min_scalar_type), Opaque(np.dtype)),
    **dict.fromkeys((np.shape, np.broadcast_shapes), Opaque(tuple)),
    **dict.fromkeys((type, np.common_type), Opaque(type)),
}  # functions that return no numbers


# How many axes the arrays have that a function returns, whatever it is given.
SEVERAL: dict[Any, tuple[int, ...]] = {np.histogram2d: (2, 1, 1)}


def is_text(s: Specialiser, value: Value) -> bool:
    """True if a value is a string."""
    return isinstance(value.value, str) if isinstance(value, Const) else s.facts_of(value) == Opaque(str)


def dtype_given(fn: Any, args: list[Value], kwargs: dict[str, Value]) -> np.dtype | None:
    """The dtype that a call asks for, of a function that makes an array of whatever it is given."""
    given = args[1] if len(args) > 1 else kwargs.get("dtype")
    if fn not in CONVERSIONS or not isinstance(given, Const) or given.value is None:
        return None
    dtype = np.dtype(given.value)
    return dtype if dtype.kind in "biufc" else None


def unknown_result(s: Specialiser, fn: Any, args: list[Value], kwargs: dict[str, Value], elementwise: bool) -> Facts:
    """The result of an operation on something unknown: a number or an array, which may share its operands' memory."""
    if fn in OTHERS:
        return OTHERS[fn]
    if fn in SEVERAL:
        roots_of = [frozenset([s.root(s.site(("result", k)))]) for k in range(len(SEVERAL[fn]))]
        return Pair(tuple(Num("array", None, (None,) * axes, own) for axes, own in zip(SEVERAL[fn], roots_of)))
    if fn is operator.add and all(is_text(s, value) for value in args):
        return Opaque(str)
    roots: set[int] = set()
    dtypes, scalars = set(), set()
    foreign = False
    for value in [*args, *kwargs.values()]:
        if type(value) is Const and type(value.value) in PYTHON.values():
            scalars.add(type(value.value))
        for leaf in s.leaves(value):
            facts = s.facts[leaf]
            if isinstance(facts, Num):
                roots |= facts.roots
                if facts.python:
                    scalars.add(PYTHON[facts.kind or ""])
                else:
                    dtypes.add(facts.dtype)
            elif isinstance(facts, Listed):
                element = s.elements_of(facts)
                roots |= element.roots if isinstance(element, Num) else set()
                dtypes.add(element.dtype if isinstance(element, Num) and not element.whole else None)
            else:
                dtypes.add(None)
                foreign = True
    own = frozenset([s.root(s.site())])
    if foreign and may_view(fn, args, kwargs):
        s.foreign |= own
    if (given := dtype_given(fn, args, kwargs)) is not None:
        return Num("array", given, None, frozenset(roots) | own)
    tensors = any(f is not None and f.tensor for f in map(s.num, args))
    plain = kwargs.keys() <= {"axis", "axes", "keepdims", "decimals"} and not tensors
    if fn in TESTS and not foreign:
        return Num(None, np.dtype(bool), None, own)
    keeps = elementwise or (fn in KEEP_DTYPE and plain)
    dtype = dtypes.pop() if len(dtypes) == 1 and keeps else None
    if dtype is not None and np.result_type(dtype, *(scalar() for scalar in scalars)) != dtype:
        dtype = None  # integers beside a float
    if dtype is not None and dtype.kind not in "fc" and fn not in OF_INTEGERS:
        dtype = None
    if fn in OF_ALL and not foreign and not tensors and len(args) == 1 and not kwargs:
        return Num("npscalar", dtype, ())
    of_array = fn in OF_ARRAYS or getattr(fn, "numpy_name", fn.__name__) in METHODS_OF_ARRAYS
    operands = [s.num(a) for a in args] if elementwise and not (foreign or tensors or kwargs) else []
    if operands and getattr(fn, "nout", 1) == 1 and all(f is not None and is_scalar(f) for f in operands):
        return Num(None, dtype, ())
    has_axes = any(f is not None and f.kind == "array" and f.dims for f in operands)
    kind = "array" if has_axes or fn in ARRAYS or (of_array and is_array(s, args[0])) else None
    dims = (None,) if fn in FLAT and len(args) == 1 and not (kwargs or foreign or tensors) else None
    return Num(kind, dtype, dims, frozenset(roots) | own if may_view(fn, args, kwargs) else own)
