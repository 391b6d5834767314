"""Objects that exist while the program is compiled only, as expressions that build them when it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gast
import numpy as np

from ...runtime import objects
from .. import ir
from .values import Const, Obj

if TYPE_CHECKING:
    from .state import Specialiser


def expr_of_object(s: Specialiser, obj: Obj) -> Any:
    """An expression for an object: what it is outside the call, or one that is built of its fields."""
    if obj.id in s.objects:
        return s.bind(s.symbols.get(obj.id[1], "captured"), s.objects[obj.id][0])
    fields = {key: s.expr(s.env[(obj.id, key)]) for key in s.fields(obj)}
    if obj.cls is dict:
        return gast.Dict([s.expr(Const(k)) for k in fields], list(fields.values()))
    if obj.cls is list:
        return gast.List([v for k, v in fields.items() if k != "len"], gast.Load())
    if obj.cls is np.flatiter:
        return ir.attribute(fields["base"], "flat")
    build, cls = s.bind("build", objects.build), s.bind(obj.cls.__name__, obj.cls)
    return ir.call(build, cls, **{str(k): v for k, v in fields.items()})
