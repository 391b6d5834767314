"""Python's operators: NumPy's function, Python's, and the name of the special method."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

OPERATORS: dict[type, tuple[Callable[..., Any], Callable[..., Any], str]] = {
    gast.Add: (np.add, operator.add, "add"),
    gast.Sub: (np.subtract, operator.sub, "sub"),
    gast.Mult: (np.multiply, operator.mul, "mul"),
    gast.Div: (np.true_divide, operator.truediv, "truediv"),
    gast.FloorDiv: (np.floor_divide, operator.floordiv, "floordiv"),
    gast.Mod: (np.remainder, operator.mod, "mod"),
    gast.Pow: (np.power, operator.pow, "pow"),
    gast.MatMult: (np.matmul, operator.matmul, "matmul"),
    gast.BitAnd: (np.bitwise_and, operator.and_, "and"),
    gast.BitOr: (np.bitwise_or, operator.or_, "or"),
    gast.BitXor: (np.bitwise_xor, operator.xor, "xor"),
    gast.LShift: (np.left_shift, operator.lshift, "lshift"),
    gast.RShift: (np.right_shift, operator.rshift, "rshift"),
}


UNARY: dict[type, tuple[Callable[..., Any], Callable[..., Any], str]] = {
    gast.USub: (np.negative, operator.neg, "neg"),
    gast.UAdd: (np.positive, operator.pos, "pos"),
    gast.Invert: (np.invert, operator.invert, "invert"),
}
