"""Scalar operations: how each is written, in which dtype, and what it checks.

Native arithmetic does not raise where Python's does, so a Python number's division, power and `math` function are
followed by a check that gives the call up: the NumPy program then runs and raises what Python raises.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from ... import ir
from ..kinds import BOOL, FLOAT32, FLOAT64, INT64, WIDTH, Number, Outside, as_dtype, joined, promote

Check = Callable[[Any], None]  # emits an assertion

# NumPy's functions of one floating-point number: what computes them natively.
UNARY: dict[Any, str] = {
    np.sqrt: "math.sqrt", np.sin: "math.sin", np.cos: "math.cos", np.tan: "math.tan", np.arcsin: "math.asin",
    np.arccos: "math.acos", np.arctan: "math.atan", np.sinh: "math.sinh", np.cosh: "math.cosh",
    np.arcsinh: "math.asinh", np.arccosh: "math.acosh", np.arctanh: "math.atanh", np.log2: "math.log2",
    np.log10: "math.log10", np.log1p: "math.log1p", np.expm1: "math.expm1", np.floor: "np.floor", np.ceil: "np.ceil",
    np.exp: "exp", np.log: "log", np.tanh: "tanh", np.sign: "sign", np.rint: "np.rint", np.trunc: "np.trunc",
    np.degrees: "math.degrees", np.radians: "math.radians", np.rad2deg: "math.degrees", np.deg2rad: "math.radians",
}  # fmt: skip
MATH: dict[Any, str] = {
    math.sqrt: "math.sqrt", math.sin: "math.sin", math.cos: "math.cos", math.tan: "math.tan", math.asin: "math.asin",
    math.acos: "math.acos", math.atan: "math.atan", math.sinh: "math.sinh", math.cosh: "math.cosh",
    math.log2: "math.log2", math.log10: "math.log10", math.log1p: "math.log1p", math.expm1: "math.expm1",
    math.exp: "exp", math.log: "log", math.tanh: "tanh", math.erf: "math.erf", math.erfc: "math.erfc",
    math.fabs: "abs", math.asinh: "math.asinh", math.degrees: "math.degrees", math.radians: "math.radians",
}  # fmt: skip
# Where functions of `math` have finite results: from which argument on, and whether from that itself.
DOMAINS: dict[str, tuple[float, type]] = {
    "math.sqrt": (0.0, gast.LtE), "log": (0.0, gast.Lt), "math.log2": (0.0, gast.Lt), "math.log10": (0.0, gast.Lt),
    "math.log1p": (-1.0, gast.Lt),
}  # fmt: skip
# Functions of two floating-point numbers.
BINARY: dict[Any, str] = {
    np.hypot: "math.hypot", np.arctan2: "math.atan2", np.logaddexp: "logaddexp", math.hypot: "math.hypot",
    math.atan2: "math.atan2",
}  # fmt: skip
ARITHMETIC: dict[Any, type] = {
    np.add: gast.Add, np.subtract: gast.Sub, np.multiply: gast.Mult, np.divide: gast.Div, np.power: gast.Pow,
    np.floor_divide: gast.FloorDiv, np.remainder: gast.Mod,
}  # fmt: skip
COMPARISONS: dict[Any, type] = {
    np.greater: gast.Gt, np.greater_equal: gast.GtE, np.less: gast.Lt, np.less_equal: gast.LtE, np.equal: gast.Eq,
    np.not_equal: gast.NotEq,
}  # fmt: skip


def float_of(number: Number) -> np.dtype:
    return FLOAT32 if number.dtype == FLOAT32 else FLOAT64


def unary_function(name: str, x: Number) -> Number:
    """A NumPy function of one number."""
    if x.dtype == BOOL or (name == "sign" and x.dtype.kind != "f") or (name[:3] == "np." and x.dtype.kind != "f"):
        raise Outside(f"{name} of {x.dtype}")
    expr = ir.call(name, x.expr if x.dtype.kind == "f" else ir.call("float", x.expr))
    dtype = float_of(x)
    return Number(ir.call("np.float32", expr) if dtype == FLOAT32 else expr, dtype, False)


def binary_function(name: str, a: Number, b: Number) -> Number:
    """A function of two numbers."""
    dtype = promote(a, b)
    if dtype.kind != "f" or BOOL in (a.dtype, b.dtype):
        raise Outside(f"{name} of {dtype}")
    expr = ir.call(name, as_float(a), as_float(b))
    return Number(ir.call("np.float32", expr) if dtype == FLOAT32 else expr, dtype, False)


def floating(x: Number) -> Number:
    """A number as NumPy's functions of floating-point numbers take it."""
    return x if x.dtype.kind == "f" else Number(as_float(x), FLOAT64, x.python)


def absolute(x: Number) -> Number:
    if x.dtype == BOOL:
        raise Outside("the absolute value of a truth value")
    return Number(ir.call("abs", x.expr), x.dtype, x.python, x.bits)


def integer_like(x: Number) -> bool:
    return x.dtype == INT64


def constant_of(expr: Any) -> Any:
    """The value of a literal, or None."""
    if isinstance(expr, gast.UnaryOp) and isinstance(expr.op, gast.USub):
        inner = constant_of(expr.operand)
        return None if inner is None else -inner
    return expr.value if isinstance(expr, gast.Constant) and isinstance(expr.value, (int, float)) else None


def python_of(a: Number, b: Number) -> bool | None:
    """True if the result of an operation is a Python number: NumPy's numbers win."""
    return False if False in (a.python, b.python) else True if a.python and b.python else None


def binary(op: type, a: Number, b: Number, check: Check) -> Number:
    """``a op b``."""
    python = python_of(a, b)
    if a.dtype == b.dtype == BOOL:
        if python is not True or op in (gast.BitAnd, gast.BitOr, gast.BitXor):
            return truth(op, a, b, python)
        a, b = as_integer(a), as_integer(b)
    if op in (gast.FloorDiv, gast.Mod):
        return remainder(op, a, b, python, check)
    if op is gast.Pow:
        return power(a, b, python, check)
    if op not in (gast.Add, gast.Sub, gast.Mult, gast.Div):
        raise Outside(f"the operator {op.__name__}")
    dtype = promote(a, b)
    if op is gast.Div:
        if dtype.kind != "f":
            dtype = FLOAT64
        if python is not False and not constant_of(b.expr):
            check(nonzero(b.expr))
    widths = [1 if x.dtype == BOOL else x.bits for x in (a, b)]
    bits = sum(widths) if op is gast.Mult else max(widths) + 1
    if dtype == INT64 and bits > 63 and python is not False:
        raise Outside("integers that may outgrow 64 bits")
    left, right = as_dtype(a, dtype), as_dtype(b, dtype)
    if op is gast.Div and dtype == FLOAT64:
        left, right = halved(left, right)
    if op is gast.Div and a.dtype == dtype == FLOAT64 and b.dtype == INT64 and constant_of(b.expr) is None:
        if b.bits <= FEW:
            shared = ir.binop(left, gast.Div, right)
            return Number(gast.IfExp(ir_compare(b.expr, gast.Eq, ir.constant(1)), left, shared), dtype, python, bits)
        # A count is often known long before what it divides: the division need not be waited for.
        op, right = gast.Mult, ir.binop(ir.constant(1.0), gast.Div, right)
    return Number(ir.binop(left, op, right), dtype, python, bits)


def nonzero(divisor: Any) -> Any:
    """The test whether a number may be divided by: of twice a number, whether that may be."""
    while isinstance(divisor, gast.BinOp) and isinstance(divisor.op, gast.Mult):
        factor = constant_of(divisor.left)
        if factor is None or abs(factor) < 1:
            break
        divisor = divisor.right
    return ir_compare(divisor, gast.NotEq, ir.constant(0))


def halved(left: Any, right: Any) -> tuple[Any, Any]:
    """``x / (2 * y)`` as half of ``x`` by ``y``: what else is divided by `y` shares the division."""
    if isinstance(right, gast.BinOp) and isinstance(right.op, gast.Mult) and constant_of(right.left) == 2:
        return ir.binop(ir.constant(0.5), gast.Mult, left), right.right
    return left, right


FEW = 4  # bits of a count of those that tie: there mostly is one


# NumPy's sums and products of truth values are truth values; Python's are numbers.
TRUTHS: dict[type, Any] = {
    gast.BitAnd: gast.And, gast.Mult: gast.And, gast.BitOr: gast.Or, gast.Add: gast.Or, gast.BitXor: None,
}  # fmt: skip


def truth(op: type, a: Number, b: Number, python: bool | None) -> Number:
    if op not in TRUTHS or python is None:
        raise Outside("arithmetic on truth values")
    if op is gast.BitXor:
        return Number(ir_compare(a.expr, gast.NotEq, b.expr), BOOL, python)
    return Number(gast.BoolOp(TRUTHS[op](), [a.expr, b.expr]), BOOL, python)


def as_integer(x: Number) -> Number:
    """A truth value of Python's as the number that it is."""
    return Number(ir.call("int", x.expr), INT64, True, 1)


def remainder(op: type, a: Number, b: Number, python: bool | None, check: Check) -> Number:
    if not (integer_like(a) and integer_like(b)):
        return remainder_of_floats(op, a, b, python, check)
    if not constant_of(b.expr):
        check(nonzero(b.expr))
    result = ir.binop(a.expr, op, b.expr)
    if op is gast.FloorDiv and a.bits > 62 and constant_of(b.expr) in (None, -1):
        # The least integer has no positive one: NumPy wraps round there, LLVM has 0.
        opposite = gast.UnaryOp(gast.USub(), a.expr)
        result = gast.IfExp(ir_compare(b.expr, gast.Eq, ir.constant(-1)), opposite, result)
    return Number(result, INT64, python, max(a.bits, b.bits))


def remainder_of_floats(op: type, a: Number, b: Number, python: bool | None, check: Check) -> Number:
    dtype = promote(a, b)
    if dtype != FLOAT64 or BOOL in (a.dtype, b.dtype):
        raise Outside(f"the remainder of a division of {dtype}")
    if python is not False and not constant_of(b.expr):
        check(nonzero(b.expr))
    name = "floor_divide" if op is gast.FloorDiv else "remainder"
    return Number(ir.call(name, as_float(a), as_float(b)), FLOAT64, python)


HALVES = (1.5, 2.5, 3.5, -0.5, -1.5, -2.5, -3.5)


def power(a: Number, b: Number, python: bool | None, check: Check) -> Number:
    exponent = constant_of(b.expr)
    if a.dtype.kind != "f" and b.dtype.kind != "f":
        if exponent == 2 and a.dtype == INT64 and (python is False or 2 * a.bits <= 63):
            return Number(ir.binop(a.expr, gast.Mult, a.expr), INT64, python, 2 * a.bits)
        raise Outside("a power of integers")
    dtype = promote(a, b)
    base = as_dtype(a, dtype) if a.dtype.kind == "f" else ir.call(f"np.{dtype.name}", a.expr)
    if isinstance(exponent, float) and exponent == 0.5 and python is False:
        expr: Any = ir.call("math.sqrt", base)
    elif isinstance(exponent, float) and exponent.is_integer() and 0 < exponent < 5:
        expr = ir.binop(base, gast.Pow, ir.constant(int(exponent)))
    elif exponent == 1:
        expr = base
    elif isinstance(exponent, float) and exponent in HALVES and python is False:
        expr = ir.call("half_power", base, ir.constant(int(abs(exponent))))
        expr = ir.binop(ir.constant(1.0), gast.Div, expr) if exponent < 0 else expr
    else:
        expr = ir.binop(base, gast.Pow, b.expr if isinstance(exponent, int) else as_dtype(b, dtype))
    if dtype == FLOAT32:
        expr = ir.call("np.float32", expr)
    if python is not False:
        check(ir.call("math.isfinite", expr))
    return Number(expr, dtype, python)


def math_function(name: str, x: Number) -> Number:
    """A function of the `math` module."""
    return Number(ir.call(name, as_float(x)), FLOAT64, True)


def math_test(name: str, x: Number, y: Number) -> Any:
    """The test that holds unless ``y = name(x)`` raises, or is NaN or infinite, which Python may not raise for.

    Where the argument tells, a result that nobody reads need not be computed.
    """
    if name in ("abs", "math.atan", "tanh", "math.erf", "math.erfc"):
        return None
    if name not in DOMAINS:
        return ir.call("math.isfinite", x.expr if name in ("math.sin", "math.cos") else y.expr)
    low, op = DOMAINS[name]
    return gast.Compare(ir.constant(low), [op(), gast.Lt()], [x.expr, ir.dotted("math.inf")])


def compare(op: type, a: Number, b: Number) -> Number:
    dtype = promote(a, b) if a.dtype.kind == b.dtype.kind == "f" else FLOAT64
    narrow = dtype == FLOAT32
    left, right = (as_dtype(a, dtype), as_dtype(b, dtype)) if narrow else (a.expr, b.expr)
    python = python_of(a, b)
    return Number(ir_compare(left, op, right), BOOL, python)


def ir_compare(left: Any, op: type, right: Any) -> Any:
    return gast.Compare(left, [op()], [right])


def within(expr: Any, bits: int) -> Any:
    """The test whether an integer has so many bits."""
    return gast.Compare(ir.constant(-(2**bits)), [gast.Lt(), gast.Lt()], [expr, ir.constant(2**bits)])


def select(test: Number, a: Number, b: Number) -> Number:
    """``np.where``."""
    dtype = promote(a, b)
    expr = gast.IfExp(as_truth(test), as_dtype(a, dtype), as_dtype(b, dtype))
    if dtype == FLOAT64:
        expr = gast.IfExp(as_truth(test), as_float(a), as_float(b))
    return Number(expr, dtype, False, max(a.bits, b.bits))


def as_float(x: Number) -> Any:
    """A number as a float, literals rewritten."""
    value = constant_of(x.expr)
    if value is not None and not isinstance(value, bool):
        return ir.constant(float(value))
    if x.dtype == FLOAT32:  # natively, `float` would leave it as it is
        return ir.call("np.float64", x.expr)
    return x.expr if x.dtype == FLOAT64 else ir.call("float", x.expr)


def as_truth(x: Number) -> Any:
    return x.expr if x.dtype == BOOL else ir_compare(x.expr, gast.NotEq, ir.constant(0))


def extreme(name: str, a: Number, b: Number) -> Number:
    """``np.maximum`` and ``np.minimum``: NaN wins."""
    dtype = promote(a, b)
    if dtype.kind != "f":
        expr = ir.call("max" if name == "maximum" else "min", a.expr, b.expr)
        return Number(expr, dtype, False, max(a.bits, b.bits))
    expr = ir.call(name, as_dtype(a, dtype), as_dtype(b, dtype))
    if dtype == FLOAT64:
        expr = ir.call(name, as_float(a), as_float(b))
    return Number(expr, dtype, False)


def builtin_extreme(name: str, items: list[Number]) -> Number:
    """Python's ``min`` and ``max``: the first of those that no later one beats."""
    result = items[0]
    op = gast.Lt if name == "min" else gast.Gt
    for item in items[1:]:
        dtype, python = joined(result, item)
        a, b = (as_float(x) if dtype == FLOAT64 else as_dtype(x, dtype) for x in (result, item))
        expr = gast.IfExp(ir_compare(b, op, a), b, a)
        result = Number(expr, dtype, python, max(result.bits, item.bits))
    return result


def negative(x: Number) -> Number:
    if x.dtype == BOOL:
        if x.python is not True:
            raise Outside("minus a truth value")
        x = as_integer(x)
    return Number(gast.UnaryOp(gast.USub(), x.expr), x.dtype, x.python, x.bits)


def negation(x: Number) -> Number:
    return Number(gast.UnaryOp(gast.Not(), as_truth(x)), BOOL, True)


def converted(kind: Any, x: Number, check: Check) -> Number:
    """``float(x)``, ``int(x)``, ``bool(x)``."""
    if kind is builtins.float:
        return Number(as_float(x), FLOAT64, True)
    if kind is builtins.bool:
        return Number(as_truth(x), BOOL, True)
    if x.dtype.kind == "f":
        check(ir_compare(ir.call("abs", x.expr), gast.Lt, ir.constant(float(2**WIDTH))))
    elif x.python is not True and x.dtype == INT64:
        check(within(x.expr, WIDTH))
    else:
        return Number(ir.call("int", x.expr), INT64, True, x.bits if x.dtype == INT64 else 1)
    return Number(ir.call("int", x.expr), INT64, True, WIDTH)


def cast(x: Number, dtype: np.dtype) -> Number:
    """A number in another dtype, as ``astype`` has it."""
    if dtype == x.dtype:
        return Number(x.expr, dtype, False, x.bits)
    if dtype.kind != "f":
        raise Outside(f"a cast from {x.dtype} to {dtype}")
    return Number(ir.call(f"np.{dtype.name}", x.expr), dtype, False)
