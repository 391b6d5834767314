"""``a.flat``: the elements of an array in the order of its indices, read and written by one number."""

from __future__ import annotations

import numpy as np

from ... import ir
from ...domain.values import Const, Leaf, Obj, Value
from ..kernel.operations import call_value
from ..kernel.specialiser import Specialiser

BASE = "base"


def flat_of(s: Specialiser, base: Leaf) -> Obj:
    """``base.flat``"""
    obj = Obj(("flat", s.site("flat")), np.flatiter)
    s.env[(obj.id, BASE)] = base
    return obj


def is_flat(value: Value) -> bool:
    return isinstance(value, Obj) and value.cls is np.flatiter


def base_of(s: Specialiser, flat: Obj) -> Leaf:
    base: Leaf = s.env[(flat.id, BASE)]
    return base


def numpy(s: Specialiser, name: str, *args: Value) -> Value:
    return call_value(s, Const(getattr(np, name), ir.attribute(s.bind("np", np), name)), list(args), {})


def elements(s: Specialiser, flat: Obj) -> Value:
    """All of them, for a function that reads them."""
    return numpy(s, "ravel", base_of(s, flat))
