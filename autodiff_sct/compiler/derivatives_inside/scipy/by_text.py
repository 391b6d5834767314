"""Values as SciPy computes them, with the derivatives of a text in NumPy that computes the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ....rules.table import elementwise, nondifferentiable
from ... import ir
from ...domain.facts import Opaque
from ...domain.values import Leaf, TupleV, Value
from ...interp.kernel.operations import call_python
from ...ir.builder import Specialiser
from .functions import row


def computed(text: Any) -> Any:
    """The value that a text computes; the program has SciPy's value of it."""
    return text


@elementwise(computed)
def of_computed(y: Any, d: Any, text: Any) -> Any:
    return d


def without_derivative(value: Any) -> Any:
    """The result of SciPy's function of numbers, through which no derivative passes: it passes through the text."""
    return value


nondifferentiable(without_derivative)


def by_text(
    s: Specialiser, text: Callable[..., Any], expr: Any, args: list[Value], kwargs: dict[str, Value] | None = None
) -> Value:
    """The value of `expr` with the derivative of ``text(*args)``."""
    value = call_python(s, text, args, kwargs or {})
    facts = s.num(value)
    if not isinstance(value, Leaf) or facts is None:
        raise s.refuse(
            "setting", "what SciPy returns here is not known to be an array", "give it arrays of known shape"
        )
    return row(s, computed, expr, facts, [value], text.__name__)


def several_by_text(
    s: Specialiser, text: Callable[..., Any], expr: Any, args: list[Value], shapes: list[Value | None] | None = None
) -> Value:
    """The results of a call with the derivatives of those of a text; `shapes` are values of the same shapes."""
    return parts_by_text(s, text, constant_result(s, expr, args, "found"), args, shapes)


def parts_by_text(
    s: Specialiser, text: Callable[..., Any], found: Leaf, args: list[Value], shapes: list[Value | None] | None = None
) -> Value:
    """The same of what a call has returned."""
    values = call_python(s, text, args, {})
    items = values.items if isinstance(values, TupleV) else ()
    results: list[Value] = []
    for k, (value, like) in enumerate(zip(items, shapes or [None] * len(items))):
        facts, known = s.num(value), None if like is None else s.num(like)
        if facts is None:
            raise s.refuse("setting", "what SciPy returns here is not known to be arrays", "give it arrays")
        if known is not None and known.dims is not None:
            facts = replace(facts, kind="array", dims=known.dims)
        part = ir.subscript(s.expr(found), ir.constant(k))
        results.append(row(s, computed, part, facts, [value], text.__name__))
    return TupleV(tuple(results))


def constant_result(s: Specialiser, expr: Any, values: list[Value], hint: str) -> Leaf:
    """The result of SciPy's function of values whose derivatives pass beside it."""
    arguments = {f"argument {k}": v for k, v in enumerate(values)}
    return s.let(expr, Opaque(), ir.Op(without_derivative, arguments), hint)
