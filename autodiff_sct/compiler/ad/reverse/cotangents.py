"""Cotangents while they are collected: their shape, their dtype, and who owns their memory.

A cotangent may be *narrower* than its variable: one number for a whole array, as the adjoint of a sum is.  It stays so
through elementwise operations and is spread out only where the full shape is needed.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from typing import Any

import gast
import numpy as np

from ....runtime import broadcast as runtime
from ... import ir
from ...domain.facts import FLOAT, Axis, Num, is_same, several, unless_none
from ...domain.values import Const, Leaf, Value
from ...interp.arrays import emit_op
from ...interp.kernel.specialiser import Specialiser
from ...ir.function import Role


@dataclass
class Adjoint:
    """The cotangent collected so far; `owned` where nobody else refers to its memory."""

    value: Value
    owned: bool


def facts_like(s: Specialiser, name: str) -> Num:
    """The facts of a full cotangent of a variable."""
    facts = unless_none(s.facts[name])
    if not isinstance(facts, Num):
        return Num()
    if is_unbound(s, name):
        return Num(None, facts.dtype, ()) if facts.dims == () else Num()
    if is_one_number(facts):
        return replace(facts, roots=frozenset(), size=None)
    return replace(facts, roots=frozenset([s.root(("cotangent", s.counter))]), size=None)


def is_one_number(facts: Num) -> bool:
    """True if facts are those of a number of Python or NumPy, which has no memory that others may see."""
    either = facts.kind is None and facts.dims == () and not facts.roots and facts.dtype is not None
    return facts.python or facts.kind == "npscalar" or (either and not facts.tensor)


def is_unbound(s: Specialiser, name: str) -> bool:
    """True if not even the shape of a variable may be read, since some paths leave it unbound."""
    facts = unless_none(s.facts[name])
    return name in s.unbound and not (isinstance(facts, Num) and facts.python)


def is_number(s: Specialiser, name: str) -> bool:
    """True if a variable is known to be one number, or an array of rank 0."""
    facts = unless_none(s.facts[name])
    return isinstance(facts, Num) and facts.dims == ()


def name_adjoint(s: Specialiser, leaf: Value, name: str) -> None:
    """Call a cotangent after its variable."""
    if isinstance(leaf, Leaf) and leaf.name not in s.named:
        s.call_after(leaf.name, Role.COTANGENT, name)
        if name in s.named:
            s.named.add(leaf.name)


def is_full(s: Specialiser, value: Value, name: str) -> bool:
    """True if a cotangent surely has its variable's shape."""
    have, want = s.num(value), unless_none(s.facts[name])
    if s.fits_shape_of(value, name):
        return True
    if have is None or not isinstance(want, Num) or have.dims is None or want.dims is None:
        return False
    return s.same_lengths(have.dims, want.dims)


def as_numpys(s: Specialiser, value: Value, name: str) -> Value:
    """The derivative of a number or an array of NumPy's as a number of NumPy's, which may be divided by zero."""
    want, have = s.facts[name], s.num(value)
    if not isinstance(want, Num) or want.kind not in ("array", "npscalar") or have is None:
        return value
    if have.dims != () or have.kind not in ("float", None):
        return value
    if want.dtype is None or want.dtype.kind != "f":
        return value
    return s.let(numpy_call(s, want.dtype.name, s.expr(value)), Num("npscalar", want.dtype, ()), may_raise=False)


def fits(s: Specialiser, a: Axis, b: Axis) -> bool:
    return a is not None and s.lengths.canonical(a) == s.lengths.canonical(b)


def is_narrower(s: Specialiser, value: Value, name: str) -> bool:
    """True if a cotangent surely broadcasts to its variable's shape."""
    have, want = s.num(value), unless_none(s.facts[name])
    if (
        have is None
        or not isinstance(want, Num)
        or have.dims is None
        or want.dims is None
        or len(have.dims) > len(want.dims)
    ):
        return False
    cut = len(want.dims) - len(have.dims)
    return all((isinstance(a, int) and a == 1) or fits(s, a, b) for a, b in zip(have.dims, want.dims[cut:]))


def helper(s: Specialiser, fn: Any, *args: Value) -> Any:
    return ir.call(s.bind(fn.__name__, fn), *(s.expr(a) for a in args))


def numpy_call(s: Specialiser, fn: str, *args: Any, **keywords: Any) -> Any:
    return ir.call(ir.attribute(s.bind("np", np), fn), *args, **keywords)


def fit(s: Specialiser, value: Value, name: str) -> Value:
    """A contribution in the shape and dtype of its variable, summed over the axes along which that was broadcast."""
    want = unless_none(s.facts[name])
    have = s.num(value)
    if not isinstance(want, Num) or s.fits_shape_of(value, name):
        return value
    if have is None or have.dims is None or want.dims is None or have.dtype is None or want.dtype is None:
        return arrays_helper(s, value, name)
    if have.dtype.kind == "c" and want.dtype.kind != "c":
        value = s.let(
            ir.attribute(s.expr(value), "real"),
            replace(
                have, dtype=np.empty(0, have.dtype).real.dtype, kind="float" if have.kind == "complex" else have.kind
            ),
            op(s, np.real, val=value),
        )
        have = s.num(value)
        assert have is not None and have.dtype is not None
    if not is_full(s, value, name) and not is_narrower(s, value, name):
        summed = sum_out(s, value, have, want)
        if summed is None:
            return arrays_helper(s, value, name)
        value = summed
        have = s.num(value)
        assert have is not None
    return cast(s, value, have, want)


def is_new(s: Specialiser, fitted: Value, value: Value) -> bool:
    """True if fitting a contribution has made new memory: the run-time helper and ``.real`` may give back what came."""
    if fitted == value:
        return False
    made = s.definitions.get(fitted.name) if isinstance(fitted, Leaf) else None
    if isinstance(made, gast.Call) and isinstance(made.func, gast.Name):
        return s.globals.get(made.func.id) is not runtime.unbroadcast
    return not (isinstance(made, gast.Attribute) and made.attr == "real")


def op(s: Specialiser, fn: Any, **arguments: Value) -> ir.Op:
    return ir.Op(fn, dict(arguments))


def arrays_helper(s: Specialiser, value: Value, name: str) -> Value:
    """The run-time helper for arrays whose facts do not decide."""
    facts = facts_like(s, name)
    return fitting(s, s.let(helper(s, runtime.unbroadcast, value, Leaf(name)), facts, may_raise=False), name)


def cast(s: Specialiser, value: Value, have: Num, want: Num) -> Value:
    assert have.dtype is not None and want.dtype is not None
    if want.kind == "float" and not have.python and have.dims == ():
        return s.let(
            ir.call(gast.Name("float", gast.Load(), None, None), s.expr(value)),
            FLOAT,
            op(s, float, x=value),
            may_raise=False,
        )
    if want.kind == "complex" and have.kind != "complex" and have.dims == ():
        return s.let(
            ir.call(gast.Name("complex", gast.Load(), None, None), s.expr(value)),
            replace(want, roots=frozenset()),
            op(s, complex, x=value),
            may_raise=False,
        )
    if want.kind == "npscalar" and have.kind == "array" and have.dims == ():
        have = replace(have, kind="npscalar", roots=frozenset())
        index = gast.Tuple([], gast.Load())
        value = s.let(
            ir.subscript(s.expr(value), index),
            have,
            op(s, operator.getitem, x=value, index=Const(())),
            may_raise=False,
        )
    if have.python or have.dtype == want.dtype or want.python:
        return value
    target = s.bind("np", np)
    if have.dims == () and have.kind != "array":  # at run time it may be a Python number, as zeros are
        have = replace(have, kind="npscalar")
        expr = as_scalar(s, s.expr(value), want.dtype)
    else:
        expr = ir.call(ir.attribute(s.expr(value), "astype"), ir.attribute(target, want.dtype.name))
    return s.let(
        expr,
        replace(have, dtype=want.dtype),
        op(s, np.ndarray.astype, x=value, dtype=Const(want.dtype)),
        may_raise=False,
    )


def as_scalar(s: Specialiser, expr: Any, dtype: np.dtype[Any]) -> Any:
    """A number as a NumPy scalar of a dtype."""
    if dtype == np.float16:  # whose class has no rule
        made = numpy_call(s, "array", expr, dtype=ir.attribute(s.bind("np", np), "float16"))
        return ir.subscript(made, gast.Tuple([], gast.Load()))
    return ir.call(ir.attribute(s.bind("np", np), dtype.name), expr)


def sum_out(s: Specialiser, value: Value, have: Num, want: Num) -> Value | None:
    """The sum over the axes that the variable does not have, where facts tell which."""
    assert have.dims is not None and want.dims is not None
    extra = len(have.dims) - len(want.dims)
    if extra < 0:
        return None
    kept = []
    for k, (a, b) in enumerate(zip(have.dims[extra:], want.dims)):
        if fits(s, a, b) or (isinstance(b, int) and b == 1 and not several(b) and isinstance(a, int) and a == 1):
            continue
        if isinstance(b, int) and b == 1:
            kept.append(k)
        elif several(b) or (isinstance(a, int) and a == 1):
            continue  # an axis known not to be 1 was not broadcast, or the cotangent is narrower there
        else:
            return None
    if extra:
        axes: Any = Const(0) if extra == 1 else Const(tuple(range(extra)))
        if not want.dims:
            value = call_sum(s, value)
        else:
            value = call_sum(s, value, axis=axes)
    for k in kept:
        value = call_sum(s, value, axis=Const(k), keepdims=Const(True))
    return value


def call_sum(s: Specialiser, value: Value, **settings: Value) -> Value:
    expr = numpy_call(s, "sum", s.expr(value), **{k: s.expr(v) for k, v in settings.items()})
    return emit_op.apply(s, np.sum, expr, [value], settings)


def zeros(s: Specialiser, name: str, bound: bool = False) -> Value:
    """The cotangent of a variable on which nothing depends; `bound` where the program reads the variable."""
    facts = unless_none(s.facts[name])
    if not bound and is_unbound(s, name):
        return Const(0.0)
    if isinstance(facts, Num) and (facts.python or is_one_number(facts) and not bound):
        return Const(0j if facts.dtype is not None and facts.dtype.kind == "c" else 0.0)
    if isinstance(facts, Num) and facts.kind is not None and facts.dtype is not None and facts.dtype.kind in "fc":
        return fitting(s, s.let(numpy_call(s, "zeros_like", ir.name(name)), facts_like(s, name), may_raise=False), name)
    return fitting(s, s.let(helper(s, runtime.zeros_like, Leaf(name)), facts_like(s, name), may_raise=False), name)


def spread(s: Specialiser, value: Value, name: str, bound: bool = False) -> Value:
    """A cotangent in the full shape of its variable; `bound` where the program reads the variable."""
    if is_full(s, value, name) or (not bound and is_unbound(s, name)):
        return value
    want = unless_none(s.facts[name])
    have = s.num(value)
    if (
        isinstance(want, Num)
        and want.kind == "array"
        and have is not None
        and have.dims == ()
        and (have.python or is_same(have.dtype, want.dtype))
    ):
        return fitting(
            s,
            s.let(numpy_call(s, "full_like", ir.name(name), s.expr(value)), facts_like(s, name), may_raise=False),
            name,
        )
    if isinstance(want, Num) and want.kind == "npscalar" and have is not None and have.python:
        return value
    return fitting(s, s.let(helper(s, runtime.spread, value, Leaf(name)), facts_like(s, name), may_raise=False), name)


def fitting(s: Specialiser, leaf: Leaf, name: str) -> Leaf:
    """Note that a cotangent has the shape of its variable, also where nobody knows that shape."""
    s.fits[leaf.name] = name
    return leaf


def copied(s: Specialiser, value: Value) -> Value:
    """A cotangent in memory of its own."""
    facts = s.num(value)
    if facts is None or facts.python or facts.kind == "npscalar" or (facts.kind is None and facts.dims == ()):
        return value
    own = replace(facts, roots=frozenset([s.root(("copy", s.counter))]))
    expr = (
        ir.call(ir.attribute(s.expr(value), "copy"))
        if facts.kind is not None
        else ir.binop(s.expr(value), gast.Mult, ir.constant(1))
    )
    result = s.let(expr, own, may_raise=False)
    if isinstance(value, Leaf) and value.name in s.fits:
        s.fits[result.name] = s.fits[value.name]
    return result
