"""Masked arrays that a program makes: objects of the class `Masked`, whose text is followed."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ....runtime import masked as texts
from ....runtime.masked import Masked
from ... import ir
from ...domain.request import Way
from ...domain.values import Const, Obj, Value
from ..arrays.emit_op import array_of_list, numpy_call
from ..kernel.handlers import handles
from ..kernel.operations import attribute_of, call_python, call_value, opaque_call
from ..kernel.specialiser import Specialiser
from ..objects.objects import construct, ufunc_named

# Functions of ``numpy.ma`` that are methods of a masked array, and those of its elements.
METHODS = ("sum", "prod", "mean", "var", "std", "max", "min", "filled", "compressed", "count")
OF_ELEMENTS = (
    *("exp", "log", "log2", "log10", "sqrt", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh"),
    *("arcsinh", "arccosh", "arctanh", "absolute", "fabs", "negative"),
)
BY_TEXT = (
    *("masked_where", "masked_invalid", "masked_greater", "masked_greater_equal", "masked_less", "masked_less_equal"),
    *("masked_inside", "masked_outside", "average"),
)


def is_masked(value: Value) -> bool:
    return isinstance(value, Obj) and value.cls is Masked


def as_numpys(s: Specialiser, fn: Any, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    """The call as NumPy carries it out, as long as nothing that carries a derivative needs to be followed."""
    if any(map(is_masked, (*args, *kwargs.values()))) or s.attempt.takes(Way.FIELDS):
        return None
    return opaque_call(s, ir.attribute(ir.attribute(s.bind("np", np), "ma"), fn.__name__), fn, args, kwargs)


def as_given(s: Specialiser, value: Value) -> Value:
    return value if is_masked(value) else array_of_list(s, value)


def masked_array(fn: Any, names: str, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``np.ma.array(x, mask=m)``."""
    if (whole := as_numpys(s, fn, args, kwargs)) is not None:
        return whole
    named = dict(zip(names.split(), args)) | kwargs
    data, copy = as_given(s, named.pop("data")), named.pop("copy", Const(False))
    if named.keys() - {"mask", "fill_value"} or "mask" not in named or not s.is_static(copy):
        raise s.refuse(
            "numpy-form", "a masked array with these settings cannot be followed", "write `np.ma.array(x, mask=m)`"
        )
    mask = array_of_list(s, named.pop("mask"))
    facts = s.num(mask)
    if facts is not None and facts.dims and facts.dtype != np.bool_:
        mask = numpy_call(s, np.array, [mask, Const(bool)], {})
    if s.static(copy):
        data = call_value(s, attribute_of(s, data, "copy"), [], {})
    return call_python(s, texts.masked_array, [data, mask], named)


handles(np.ma.array)(partial(masked_array, np.ma.array, "data dtype copy order mask fill_value"))
handles(np.ma.MaskedArray)(partial(masked_array, np.ma.MaskedArray, "data mask dtype copy subok ndmin fill_value"))


def by_text(name: str, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    if (whole := as_numpys(s, getattr(np.ma, name), args, kwargs)) is not None:
        return whole
    args = [as_given(s, a) for a in args]
    return call_python(s, getattr(texts, name), args, kwargs)


def by_method(name: str, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``np.ma.mean(m)``."""
    if (whole := as_numpys(s, getattr(np.ma, name), args, kwargs)) is not None:
        return whole
    made = args[0]
    if not is_masked(made):
        data = array_of_list(s, made)
        made = construct(s, Masked, [data, numpy_call(s, np.zeros_like, [data, Const(bool)], {})], {})
    return call_value(s, attribute_of(s, made, name), args[1:], kwargs)


def of_elements(fn: Any, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``np.ma.log(m)``."""
    if (whole := as_numpys(s, getattr(np.ma, fn.__name__), args, kwargs)) is not None:
        return whole
    return call_python(s, texts.of_own_function, [ufunc_named(s, fn), *args], kwargs)


for _name in BY_TEXT:
    handles(getattr(np.ma, _name))(partial(by_text, _name))
for _name in METHODS:
    handles(getattr(np.ma, _name))(partial(by_method, _name))
for _name in OF_ELEMENTS:
    handles(getattr(np.ma, _name))(partial(of_elements, getattr(np, _name)))


def mask_of(fn: Any, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    whole = as_numpys(s, fn, args, kwargs)
    return attribute_of(s, args[0], "mask") if whole is None else whole


for _fn in (np.ma.getmaskarray, np.ma.getmask):
    handles(_fn)(partial(mask_of, _fn))
