"""Operators, methods and functions by which NumPy's programs use tensors."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ..errors import NoRule
from ..rules.table import TABLE
from .array import Tensor, detach, recording
from .engine import call, constant
from .memory import Node, shell
from .pullbacks import Plan, no_rule, plan_of
from .writes import WRITERS, Flat, augmented, put, setitem, sort, with_out

__all__ = ["apply"]

NUMBERS = (float, int, np.generic, complex)


# NumPy's protocols


def array_ufunc(self: Tensor, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
    if ufunc.nin == ufunc.nout == 1 and method == "__call__" and not kwargs:
        return unary(ufunc, args[0])
    fn = ufunc if method == "__call__" else getattr(ufunc, method)
    if method == "at" and fn not in WRITERS:
        raise no_rule(fn)
    return array_function(self, fn, (), args, kwargs)


UNARY: dict[Any, Plan] = {}


def unary(fn: Any, x: Tensor) -> Any:
    """A function of one tensor, the quick way."""
    node, row = x.node, TABLE.get(fn)
    if node is None or row is None or not recording():
        return call(fn, (x,), {})
    plan = UNARY.get(fn)
    if plan is None or plan.rule is not row.reverse:
        plan = UNARY[fn] = plan_of(fn, row, 1, (), (0,))
    value = x.value
    y = fn(value)
    if type(y) is np.ndarray:
        value = value if plan.read else shell(value)
    return Tensor(y, Node(plan, (value,), y if plan.result == "numbers" else None, (node,)))


def array_function(self: Any, fn: Any, types: Any, args: Any, kwargs: Any) -> Any:
    if fn in WRITERS:
        return WRITERS[fn](*args, **kwargs)
    if kwargs:
        if kwargs.get("out") is not None:
            return with_out(fn, args, kwargs)
        kwargs = {k: v for k, v in kwargs.items() if not (k == "out" or k == "where" and v is True)}
    if fn not in OF_LISTS and any(type(a) in SEQUENCES for a in (*args, *kwargs.values())):
        args = tuple([as_array(fn, a) for a in args])
        kwargs = {k: as_array(fn, v) for k, v in kwargs.items()}
    return call(fn, args, kwargs)


SEQUENCES = (list, tuple)
# Functions whose rules take a list item by item.
OF_LISTS = frozenset(
    [np.concatenate, np.stack, np.vstack, np.hstack, np.dstack, np.column_stack, np.block, np.select, np.choose]
    + [np.einsum, np.linalg.multi_dot, np.meshgrid, np.broadcast_arrays, np.polyval]
)
# Functions all of whose arguments are arrays.
OF_ARRAYS = frozenset([np.dot, np.inner, np.outer, np.vdot, np.kron, np.cross, np.convolve, np.correlate, np.interp])


def as_array(fn: Any, x: Any) -> Any:
    """An array in the place of a list of numbers, which rules do not expect where NumPy reads an array."""
    if type(x) not in SEQUENCES or not x:
        return x
    if any(isinstance(item, Tensor) for item in x):
        return np.stack(x)
    numbers = isinstance(fn, np.ufunc) or fn in OF_ARRAYS or has_float(x)
    return np.array(x) if numbers else x


def has_float(x: Any) -> bool:
    return any(isinstance(item, float) or type(item) in SEQUENCES and has_float(item) for item in x)


def apply(fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call a function by its own row of the table of rules, instead of recording what its body does.

    NumPy's functions are called in this way anyhow; a Python function for which a rule was registered has to be asked
    for, since a tape does not see who calls what.

    Parameters
    ----------
    fn : callable
        The function; it is called on arrays, with the values of tensors.
    *args, **kwargs
        Its arguments.

    Returns
    -------
    Tensor
        What `fn` returned, or a sequence of tensors.

    Raises
    ------
    NotImplementedError
        If `fn` has no rule and an argument requires a gradient.

    Examples
    --------
    >>> from autodiff_sct import rule
    >>> from autodiff_sct.tape import grad, tensor
    >>> def rounded(x):
    ...     return np.round(x)
    >>> @rule(rounded)
    ... def straight_through(y, d, x):
    ...     return d
    >>> x = tensor([0.4, 1.6], requires_grad=True)
    >>> grad(np.sum(apply(rounded, x) ** 2), x)[0]
    tensor([0., 4.])
    """
    return array_function(None, fn, (), args, kwargs)


def getitem(self: Tensor, index: Any) -> Any:
    value, node = self.value, self.node
    if type(value) is not np.ndarray:
        return call(operator.getitem, (Tensor(np.asarray(value), node), index), {})
    if node is not None and type(index) in (int, tuple) and value.dtype.kind in "fc" and recording():
        y = value[index]
        if type(y) is not np.ndarray:
            return Tensor(y, Node(reading(), (shell(value), index), None, (node,)))
    return call(operator.getitem, (self, index), {})


@cache
def reading() -> Plan:
    """The plan of reading one element."""
    return plan_of(operator.getitem, TABLE[operator.getitem], 2, (), (0,))


# Operators


def binary(fn: Callable[..., Any], swapped: bool) -> Callable[[Tensor, Any], Any]:
    """An operator of two operands."""
    plans: dict[tuple[int, ...], Plan] = {}

    def plan_at(*positions: int) -> Plan:
        plans[positions] = found = plan_of(fn, TABLE[fn], 2, (), positions)
        return found

    def method(self: Tensor, other: Any) -> Any:
        if isinstance(other, Tensor):
            b, right = other.value, other.node
        elif isinstance(other, NUMBERS):
            b, right = other, None
        elif isinstance(other, (np.ndarray, list, tuple)):
            other = other if isinstance(other, np.ndarray) else as_array(np.add, other)
            return call(fn, (other, self) if swapped else (self, other), {})
        else:
            return NotImplemented
        a, left = self.value, self.node
        if swapped:
            a, b, left, right = b, a, right, left
        y = fn(a, b)
        parents: tuple[Node | None, ...]
        if left is None:
            if right is None or not recording():
                return Tensor(y, None)
            plan, parents = plans.get(RIGHT) or plan_at(1), (right,)
        elif not recording():
            return Tensor(y, None)
        elif right is None:
            plan, parents = plans.get(LEFT) or plan_at(0), (left,)
        else:
            plan, parents = plans.get(BOTH) or plan_at(0, 1), (left, right)
        if type(y) is np.ndarray and plan.unread:
            for k in plan.unread:
                if k:
                    b = shell(b)
                else:
                    a = shell(a)
        return Tensor(y, Node(plan, (a, b), y if plan.result == "numbers" else None, parents))

    return method


LEFT, RIGHT, BOTH = (0,), (1,), (0, 1)


def constant_operator(fn: Callable[..., Any], swapped: bool) -> Callable[[Tensor, Any], Any]:
    """An operator through which no derivative flows."""

    def method(self: Tensor, other: Any) -> Any:
        b = other.value if isinstance(other, Tensor) else other
        return constant(fn(b, self.value) if swapped else fn(self.value, b))

    return method


def method_of(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A method of arrays as the function that it is."""

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        return array_function(self, fn, (), (self, *args), kwargs)

    return method


def packed_method(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A method that takes its axes or its shape as one tuple or one by one."""

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        return call(fn, (self, args if len(args) > 1 else args[0]) if args else (self,), kwargs)

    return method


def fill(self: Tensor, value: Any) -> None:
    self[...] = value  # type: ignore[index]


def view(self: Tensor, *dtype: Any) -> Any:
    """The same elements in the same memory."""
    if dtype:
        shape = all(isinstance(size, int) for size in dtype)
        instead = f"write `x.reshape{dtype}`" if shape else "use astype"
        raise NoRule("`view` takes a dtype, as NumPy's does, and has no derivative rule then", instead)
    return call(operator.getitem, (self, ...), {})


def set_real(self: Tensor, values: Any) -> None:
    self[...] = values + 1j * np.imag(self) if self.dtype.kind == "c" else values  # type: ignore[index, call-overload]


def set_imag(self: Tensor, values: Any) -> None:
    self[...] = np.real(self) + 1j * values  # type: ignore[index, call-overload]


def tolist(self: Tensor) -> Any:
    """Nested lists of numbers; of tensors, where a gradient would be lost."""
    if self.node is None or not recording():
        return self.value.tolist()
    return [item.tolist() if item.ndim else item for item in self] if self.ndim else self


def floor(self: Tensor) -> int:
    return int(np.floor(self.value))


def ceil(self: Tensor) -> int:
    return int(np.ceil(self.value))


FUNCTIONS = (
    "sum mean prod max min var std cumsum cumprod any all clip round dot trace diagonal nonzero ravel ptp choose "
    "squeeze swapaxes repeat take argmax argmin argsort argpartition searchsorted compress conj conjugate"
)


def equip() -> None:
    """Give `Tensor` its operators and methods."""
    methods: dict[str, Any] = {
        "__array_ufunc__": array_ufunc, "__array_function__": array_function, "__getitem__": getitem,
        "__setitem__": setitem, "fill": fill, "sort": sort, "put": put, "tolist": tolist, "view": view,
        "detach": detach,
        "__floor__": floor, "__ceil__": ceil, "__round__": method_of(np.round), "__trunc__": Tensor.__int__,
        "flat": property(Flat, lambda self, value: Flat(self).__setitem__(slice(None), value)),
        "T": property(method_of(np.transpose)), "mT": property(method_of(np.matrix_transpose)),
        "real": property(method_of(np.real), set_real), "imag": property(method_of(np.imag), set_imag),
        "__divmod__": lambda self, other: call(divmod, (self, other), {}),
        "__rdivmod__": lambda self, other: call(divmod, (other, self), {}),
    }  # fmt: skip
    for name in [
        "add",
        "sub",
        "mul",
        "truediv",
        "pow",
        "mod",
        "matmul",
        "floordiv",
        "and",
        "or",
        "xor",
        "lshift",
        "rshift",
    ]:
        fn = getattr(operator, name, None) or getattr(operator, f"__{name}__")
        make = binary if fn in TABLE else constant_operator
        methods |= {f"__{name}__": make(fn, False), f"__r{name}__": make(fn, True), f"__i{name}__": augmented(fn)}
    for name in ["eq", "ne", "lt", "le", "gt", "ge"]:
        methods[f"__{name}__"] = constant_operator(getattr(operator, name), False)
    for name in ["neg", "pos", "abs", "invert"]:
        methods[f"__{name}__"] = method_of(getattr(operator, name))
    for name in FUNCTIONS.split():
        methods[name] = method_of(getattr(np, name))
    for name in ["astype", "copy", "flatten"]:
        methods[name] = method_of(getattr(np.ndarray, name))
    for name in ["reshape", "transpose"]:
        methods[name] = packed_method(getattr(np, name))
    for name, method in methods.items():
        setattr(Tensor, name, method)


equip()
