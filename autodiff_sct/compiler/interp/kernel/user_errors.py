"""Exceptions of the program: those that always come, those of numbers without items, and calls that raise none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import gast
import numpy as np

from ....tensor import Parameter, Tensor
from ... import ir
from ...domain.facts import PYTHON_KINDS, Num
from ...domain.values import Const, Value
from .specialiser import Specialiser


class Ended(Exception):
    """The block being written always raises: nothing after it runs."""


def always(s: Specialiser, error: type[Exception], argument: Any, **named: Any) -> Ended:
    """The end of a block that always raises an exception where this is written."""
    keywords = {name: s.expr(Const(value)) for name, value in named.items()}
    call = ir.call(ir.name(error.__name__), s.expr(Const(argument)), **keywords)
    s.block.append(ir.Raise(gast.Raise(call, None), s.where()))
    return Ended()


def raise_if(s: Specialiser, test: Any, error: type[Exception], message: str) -> None:
    """Raise an exception where a test, an expression of the emitted program, holds."""
    name = error.__name__
    callee = ir.name(name) if error.__module__ == "builtins" else s.bind(name, error)
    raising = ir.Raise(gast.Raise(ir.call(callee, ir.constant(message)), None), s.where())
    s.block.append(ir.If(test, [raising], [], [], s.where()))


def run_block(s: Specialiser, block: ir.Block, work: Callable[[], None]) -> bool:
    """Write `work` into `block`; False where it always raises."""
    with s.writing(block):
        try:
            work()
        except Ended:
            return False
    return True


def attempted(s: Specialiser, block: ir.Block, work: Callable[[], Value]) -> Value | None:
    """Write `work` into `block`, which may be thrown away; None where it always raises."""
    with s.writing(block):
        try:
            return work()
        except Ended:
            return None


@contextmanager
def beside(s: Specialiser) -> Iterator[None]:
    """Write what runs only where a test came out one way."""
    s.branches += 1
    try:
        yield
    finally:
        s.branches -= 1


def class_name(cls: type) -> str:
    """A class as exceptions name it."""
    return cls.__name__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__name__}"


def scalar_class(facts: Any) -> str | None:
    """The name of the class of a number; None for an array, and where the class is not known."""
    if not isinstance(facts, Num) or facts.tensor or facts.row is not None or facts.kind == "array":
        return None
    classes = possible_classes(facts)
    return class_name(classes[0]) if len(classes) == 1 else None


def refuse_iteration(s: Specialiser, value: Value, said: str = "{!r} object is not iterable") -> None:
    """Raise what iteration over a value raises, where it surely does: `said` of its class, if that is a number's."""
    facts = s.num(value)
    if (name := scalar_class(facts)) is not None:
        raise always(s, TypeError, said.format(name))
    if facts is not None and facts.kind == "array" and facts.dims == ():
        raise always(s, TypeError, "iteration over a 0-d array")


def refuse_unpacking(s: Specialiser, value: Value) -> None:
    refuse_iteration(s, value, "cannot unpack non-iterable {} object")


def refuse_item(s: Specialiser, value: Value, said: str) -> None:
    """Raise what ``value[index]`` raises of a Python number, and its assignment of any number."""
    if (name := scalar_class(s.num(value))) is not None:
        raise always(s, TypeError, f"{name!r} object {said}")


def too_many_indices(s: Specialiser, facts: Num, count: int) -> Ended:
    """The end of a block where more axes are indexed than there are."""
    if facts.python:
        return always(s, TypeError, f"{facts.kind!r} object is not subscriptable")
    if facts.kind == "npscalar":
        return always(s, IndexError, "invalid index to scalar variable.")
    message = f"too many indices for array: array is {facts.ndim}-dimensional, but {count} were indexed"
    return always(s, IndexError, message)


SCALARS = [np.dtype(code).type for code in np.typecodes["AllInteger"] + np.typecodes["AllFloat"] + "?"]


def possible_classes(facts: Num) -> list[type]:
    """The classes of which a number or an array is one, where the facts do not tell which; none where nothing is known.

    What an operation makes of something unknown need not be a number: a sum may be that of two texts.
    """
    if facts.kind is None and facts.dtype is None:
        return []
    array: list[type] = [np.ndarray] if facts.kind in (None, "array") else []
    if facts.dims:
        return array
    known = facts.dtype is not None and not facts.whole
    scalars = [facts.dtype.type] if known and facts.dtype is not None else SCALARS
    pythons = [cls for cls, name in PYTHON_KINDS.items() if facts.kind in (None, name)]
    return [*array, *(scalars if facts.kind in (None, "npscalar") else []), *pythons]


def lacks(facts: Num, attr: str) -> str | None:
    """The message of a number, an array or a tensor without an attribute; None where it has it, or may have it."""
    if facts.tensor:
        has_it = any(hasattr(cls, attr) for cls in (Tensor, Parameter, np.ndarray))
        return None if has_it else f"'Tensor' object has no attribute {attr!r}"
    classes = possible_classes(facts)
    if not classes or any(hasattr(cls, attr) for cls in classes):
        return None
    if len(classes) > 1:
        return f"a number has no attribute {attr!r}"
    return f"{class_name(classes[0])!r} object has no attribute {attr!r}"


NEVER_FAIL = {np.add, np.subtract, np.multiply, np.negative}  # on Python's numbers
INTEGERS_FAIL = {np.power, np.left_shift, np.right_shift}  # on some integers, or on numbers that are no integers
SUMS = frozenset((np.sum, np.mean, np.prod, np.nansum, np.nanmean, np.nanprod))


def surely_sums(s: Specialiser, fn: Any, args: list[Value], kwargs: dict[str, Value]) -> bool:
    """True for a sum or a mean of numbers that cannot fail: it is over everything, or over an axis that there is."""
    if s.loud or fn not in SUMS:
        return False
    if len(args) == 1 and not kwargs:
        return True
    axis = args[1] if len(args) == 2 else kwargs.get("axis", Const(None))
    facts, keepdims = s.num(args[0]), kwargs.get("keepdims", Const(False))
    if len(args) > 2 or not kwargs.keys() <= {"axis", "keepdims"} or facts is None or facts.ndim is None:
        return False
    if not isinstance(axis, Const) or not isinstance(keepdims, Const):
        return False
    return axis.value is None or type(axis.value) is int and -facts.ndim <= axis.value < facts.ndim


def cannot_fail(s: Specialiser, fn: Callable[..., Any], python: Callable[..., Any], args: list[Value]) -> bool:
    """True if an elementwise operation surely succeeds: numbers whose shapes are known to fit."""
    if s.loud:
        return False
    shapes, numbers, integers = [], True, True
    for arg in args:
        facts = s.num(arg)
        if facts is None or facts.dtype is None or facts.dims is None:
            return False
        numbers, integers = numbers and facts.python, integers and facts.dtype.kind in "biu"
        if facts.dims:
            shapes.append(facts.dims)
    if integers and fn in INTEGERS_FAIL:
        return False
    if getattr(python, "__module__", None) == "math":  # which raises where NumPy warns, of NumPy's scalars, too
        return False
    if numbers:
        return isinstance(python, np.ufunc) or fn in NEVER_FAIL
    return s.have_met(shapes)
