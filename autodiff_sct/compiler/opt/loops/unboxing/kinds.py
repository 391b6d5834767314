"""Kinds of numbers: what a variable holds, and what an operation makes of two."""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from ....analysis.subscript_uses import (
    FLOAT64,
)
from ....domain.facts import FLOAT, Facts, Listed, Num
from ....ir.function import Function

CHOICES = ("abs", "min", "max")
NUMBERS = ("float", "int", "mixed")
ONE_NUMBER = (*NUMBERS, "bool")


def kind_of(facts: Facts | None) -> str | None:
    """The kind of a variable: "float", "int", "mixed" (one of the two), "bool", "grid" (of float64), or None."""
    if not isinstance(facts, Num) or facts.dtype is None or facts.tensor:
        return None
    if facts.kind == "array":
        return "grid" if facts.dtype == FLOAT64 and facts.ndim else None
    if facts.dims != () or facts.roots:
        return None
    if facts.dtype == FLOAT64:
        return "mixed" if facts.kind is None else "float"
    python = {np.dtype(int): "int", np.dtype(bool): "bool"}
    return python.get(facts.dtype) if facts.kind in ("int", "bool", "npscalar") else None


def is_of_floats(s: Function, name: str) -> bool:
    """True if a variable is a list of Python floats."""
    facts = s.facts.get(name)
    return isinstance(facts, Listed) and s.elements_of(facts) == FLOAT


def is_choice(expr: Any) -> bool:
    """True if an expression is one of its arguments, or that without its sign."""
    return isinstance(expr, gast.Call) and getattr(expr.func, "id", "") in CHOICES


def is_empty(index: Any) -> bool:
    return isinstance(index, gast.Tuple) and not index.elts


def is_numpy_number(facts: Facts | None) -> bool:
    return isinstance(facts, Num) and facts.kind == "npscalar" and facts.dtype is not None and facts.dtype == FLOAT64


def union_of(kinds: set[str | None]) -> str | None:
    """The kind of one of several values."""
    return next(iter(kinds)) if len(kinds) == 1 else "mixed" if kinds <= set(NUMBERS) else None


def joined(left: str | None, right: str | None, quotient: bool) -> str | None:
    """The kind of a sum, product or quotient of two values."""
    kinds = {left, right}
    if None in kinds or kinds == {"bool"}:
        return None
    if kinds == {"int", "bool"} and not quotient:
        return "int"
    if "grid" in kinds:
        return "grid"
    if "float" in kinds or quotient:
        return "float"
    return union_of(kinds)
