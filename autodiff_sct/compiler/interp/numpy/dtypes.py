"""Kinds and dtypes by NumPy itself, found while compiling: a program is compiled for those of its arguments."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ... import ir
from ...domain.facts import Num
from ...domain.values import Const, Value
from ...ir.builder import Specialiser
from ..kernel.handlers import otherwise
from ..kernel.raising import always

OF_DTYPES = (np.finfo, np.iinfo, np.dtype, np.issubdtype, np.promote_types, np.can_cast, np.isdtype)
OF_ARRAYS = (np.result_type, np.common_type, np.iscomplexobj, np.isrealobj, np.isscalar)
DUMMIES: dict[str | None, Any] = {"bool": bool, "int": int, "float": float, "complex": complex}


def told(s: Specialiser, args: list[Value], kwargs: dict[str, Value], fn: Any) -> Value | None:
    """The answer of a function, written as the user did; None where it needs more than kinds and dtypes."""
    try:
        given = [dummy(s, value) if fn in OF_ARRAYS else s.static(value) for value in args]
        named = {name: s.static(value) for name, value in kwargs.items()}
    except LookupError:
        return None
    try:
        answer = fn(*given, **named)
    except (TypeError, ValueError) as error:
        raise always(s, type(error), str(error)) from error
    called = ir.attribute(s.bind("np", np), fn.__name__)
    return Const(answer, ir.call(called, *map(s.expr, args), **{name: s.expr(v) for name, v in kwargs.items()}))


def dummy(s: Specialiser, value: Value) -> Any:
    """A number or an array of no items of the same kind and dtype; raises LookupError where these are not known."""
    facts = None if isinstance(value, Const) else s.facts_of(value)
    if not isinstance(facts, Num) or facts.row is not None:
        return s.static(value)
    if facts.kind in DUMMIES:
        return DUMMIES[facts.kind]()
    if facts.kind is None or facts.dtype is None:
        raise LookupError
    return facts.dtype.type(0) if facts.kind == "npscalar" else np.empty(0, facts.dtype)


for fn in (*OF_DTYPES, *OF_ARRAYS):
    otherwise(fn)(partial(told, fn=fn))
