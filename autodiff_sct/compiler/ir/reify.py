"""Objects that exist while the program is compiled only, as expressions that build them when it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gast
import numpy as np

from ...runtime import objects
from .. import ir
from ..domain.values import Const, Obj

if TYPE_CHECKING:
    from .program_values import ProgramValues


def expr_of_object(s: ProgramValues, obj: Obj, built: bool = False) -> Any:
    """An expression for an object: what it is outside the call, or a container that is built of its items.

    An object that is `built` of its fields is another one than the program's: good to be printed only.
    """
    if obj.id in s.objects:
        return s.bind(s.symbols.get(obj.id[1], "captured"), s.objects[obj.id][0])
    if not built and hasattr(obj.cls, "stands_for"):
        raise s.refuse(
            "no-rule",
            f"{obj.cls.stands_for} that the program makes is given to a function for which it has no derivative",
            "wrap that in a function with a rule of its own: autodiff_sct.rule",
        )
    if not built and obj.cls not in (dict, list, np.flatiter):
        raise s.refuse(
            "object-identity",
            f"a {obj.cls.__name__} that the program makes is used where Python would see which object it is",
            "use its fields",
        )
    values = {key: s.env[(obj.id, key)] for key in s.fields(obj)}
    fields = {
        key: expr_of_object(s, value, built) if isinstance(value, Obj) else s.expr(value)
        for key, value in values.items()
    }
    if obj.cls is dict:
        return gast.Dict([s.expr(Const(k)) for k in fields], list(fields.values()))
    if obj.cls is list:
        return gast.List([v for k, v in fields.items() if k != "len"], gast.Load())
    if obj.cls is np.flatiter:
        return ir.attribute(fields["base"], "flat")
    build, cls = s.bind("build", objects.build), s.bind(obj.cls.__name__, obj.cls)
    return ir.call(build, cls, **{str(k): v for k, v in fields.items()})
