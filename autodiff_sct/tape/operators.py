"""What NumPy's programs do with tensors: operators, methods, functions."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..rules.table import TABLE
from .array import Tensor, recording
from .engine import call, constant
from .node import Node
from .pullbacks import plan_of

__all__: list[str] = []

NUMBERS = (float, int, np.ndarray, np.generic, complex)


def array_ufunc(self: Tensor, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
    return call(ufunc if method == "__call__" else getattr(ufunc, method), args, kwargs)


def array_function(self: Tensor, fn: Any, types: Any, args: Any, kwargs: Any) -> Any:
    return call(fn, args, kwargs)


def getitem(self: Tensor, index: Any) -> Any:
    return call(operator.getitem, (self, index), {})


def binary(fn: Callable[..., Any], swapped: bool) -> Callable[[Tensor, Any], Any]:
    """An operator of two operands."""
    both = left = right = None

    def method(self: Tensor, other: Any) -> Any:
        nonlocal both, left, right
        if isinstance(other, Tensor):
            b, other_node = other.value, other.node
        elif isinstance(other, NUMBERS):
            b, other_node = other, None
        else:
            return NotImplemented
        a, node = self.value, self.node
        if swapped:
            a, b, node, other_node = b, a, other_node, node
        y = fn(a, b)
        if node is None:
            if other_node is None or not recording():
                return Tensor(y, None)
            plan = right = right or plan_of(fn, TABLE[fn], 2, (), (1,))
            return Tensor(y, Node(plan, (a, b), y, (other_node,)))
        if not recording():
            return Tensor(y, None)
        if other_node is None:
            plan = left = left or plan_of(fn, TABLE[fn], 2, (), (0,))
            return Tensor(y, Node(plan, (a, b), y, (node,)))
        plan = both = both or plan_of(fn, TABLE[fn], 2, (), (0, 1))
        return Tensor(y, Node(plan, (a, b), y, (node, other_node)))

    return method


def constant_operator(fn: Callable[..., Any], swapped: bool) -> Callable[[Tensor, Any], Any]:
    """An operator through which no derivative flows."""

    def method(self: Tensor, other: Any) -> Any:
        b = other.value if isinstance(other, Tensor) else other
        return constant(fn(b, self.value) if swapped else fn(self.value, b))

    return method


def unary(fn: Callable[..., Any]) -> Callable[[Tensor], Any]:
    def method(self: Tensor) -> Any:
        return call(fn, (self,), {})

    return method


for name in ["add", "sub", "mul", "truediv", "pow", "mod", "matmul"]:
    setattr(Tensor, f"__{name}__", binary(getattr(operator, name), False))
    setattr(Tensor, f"__r{name}__", binary(getattr(operator, name), True))
for name in ["floordiv", "and", "or", "xor", "lshift", "rshift"]:
    function = getattr(operator, f"__{name}__")
    setattr(Tensor, f"__{name}__", constant_operator(function, False))
    setattr(Tensor, f"__r{name}__", constant_operator(function, True))
for name in ["eq", "ne", "lt", "le", "gt", "ge"]:
    setattr(Tensor, f"__{name}__", constant_operator(getattr(operator, name), False))
for name in ["neg", "pos", "abs", "invert"]:
    setattr(Tensor, f"__{name}__", unary(getattr(operator, name)))


def method_of(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A method of arrays as the function that it is."""

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        return call(fn, (self, *args), kwargs)

    return method


def packed_method(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A method that takes its axes or its shape as one tuple or one by one."""

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        return call(fn, (self, args if len(args) > 1 else args[0]) if args else (self,), kwargs)

    return method


FUNCTIONS = (
    "sum mean prod max min var std cumsum cumprod any all clip round dot trace diagonal nonzero ravel ptp choose "
    "squeeze swapaxes repeat take argmax argmin argsort argpartition searchsorted compress conj conjugate"
)
for name in FUNCTIONS.split():
    setattr(Tensor, name, method_of(getattr(np, name)))
for name in ["astype", "copy", "flatten"]:
    setattr(Tensor, name, method_of(getattr(np.ndarray, name)))
for name in ["reshape", "transpose"]:
    setattr(Tensor, name, packed_method(getattr(np, name)))
Tensor.__array_ufunc__ = array_ufunc  # type: ignore[attr-defined]
Tensor.__array_function__ = array_function  # type: ignore[attr-defined]
Tensor.__getitem__ = getitem  # type: ignore[attr-defined]
for name in ["transpose", "real", "imag"]:
    setattr(Tensor, "T" if name == "transpose" else name, property(unary(getattr(np, name))))
