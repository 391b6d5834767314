"""Tensors made and unwrapped inside a differentiated program: arrays, marked, so that results are wrapped again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ....tensor import Tensor, from_numpy, tensor
from ... import ir
from ...domain.facts import Num
from ...domain.values import Const, Leaf, ListV, TupleV, Value
from ...ir.builder import Specialiser
from ..kernel.handlers import handles
from ..kernel.operations import call_value

# What MindSpore makes of Python's numbers.
DTYPES: dict[str, Any] = {"b": np.bool_, "i": np.int64, "f": np.float32, "c": np.complex64}


@handles(Tensor, tensor)
def make_tensor(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``Tensor(content, dtype)``: a copy of the content in that dtype."""
    given = dict(zip(("input_data", "dtype"), args)) | kwargs
    content, dtype = given.pop("input_data", None), given.pop("dtype", Const(None))
    if content is None or given or not isinstance(dtype, Const):
        raise s.refuse(
            "numpy-form",
            "a Tensor made from anything but its content and a dtype cannot be followed",
            "write Tensor(content, dtype)",
        )
    chosen = dtype_of(s, content) if dtype.value is None else np.dtype(dtype.value).type
    settings = {} if chosen is None else {"dtype": Const(chosen, scalar_class(s, chosen))}
    return marked(s, call_value(s, Const(np.array, ir.attribute(s.bind("np", np), "array")), [content], settings))


@handles(from_numpy, Tensor.from_numpy)
def share(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``from_numpy(array)``: the array itself."""
    return marked(s, call_value(s, Const(np.asarray, ir.attribute(s.bind("np", np), "asarray")), args, kwargs))


@handles(Tensor.asnumpy, Tensor.numpy)
def as_array(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``tensor.asnumpy()``: the array itself."""
    found = call_value(s, Const(np.asarray, ir.attribute(s.bind("np", np), "asarray")), args, kwargs)
    if isinstance(found, Leaf) and found not in args and isinstance(facts := s.facts[found.name], Num):
        s.facts[found.name] = replace(facts, tensor=False)
    return found


def marked(s: Specialiser, value: Value) -> Value:
    """The result as a tensor."""
    if isinstance(value, Leaf) and isinstance(facts := s.facts[value.name], Num):
        s.facts[value.name] = replace(facts, tensor=True)
    return value


def scalar_class(s: Specialiser, chosen: Any) -> Any:
    """The expression ``np.float32`` and so on."""
    return ir.attribute(s.bind("np", np), "bool_" if chosen is np.bool_ else chosen.__name__)


def dtype_of(s: Specialiser, content: Value) -> Any:
    """The dtype of a tensor of Python numbers; None, NumPy's own choice, where an array is among them."""
    kinds = set(kinds_in(s, content))
    known = [kind for kind in "cfib" if kind in kinds]
    return None if "array" in kinds or not known else DTYPES[known[0]]


def kinds_in(s: Specialiser, content: Value) -> Any:
    """The dtype letters of the Python numbers in the content; ``array`` for whatever has a dtype."""
    if isinstance(content, (TupleV, ListV)):
        for item in content.items:
            yield from kinds_in(s, item)
    elif isinstance(content, Const):
        yield from constant_kinds(content.value)
    else:
        facts = s.num(content)
        yield facts.dtype.kind if facts is not None and facts.python and facts.dtype is not None else "array"


def constant_kinds(value: Any) -> Any:
    """The same for what is known at compile time."""
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from constant_kinds(item)
    elif isinstance(value, (bool, int, float, complex)):
        yield np.dtype(type(value)).kind
    else:
        yield "array"
