"""Tables that the rooms of the interpreter fill, and Python's operators."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from ...domain.values import Value
from .specialiser import Specialiser

Handler = Callable[[Specialiser, list[Value], dict[str, Value]], Value]

HANDLERS: dict[Any, Handler] = {}
WRAPPERS: dict[Any, Callable[[Any, Handler], Handler]] = {}
OTHERWISE: dict[Any, Callable[[Specialiser, list[Value], dict[str, Value]], Value | None]] = {}  # else by the table
MADE: dict[type, Callable[[Specialiser, Any], Value]] = {}  # class of a callable object -> what is called for it
HOOKS: dict[str, Callable[[Specialiser, Any, list[Value], dict[str, Value]], Value]] = {}  # calls of derivatives


def handles(*fns: Any) -> Callable[[Any], Any]:
    """Register the meaning of a call that is more than one operation."""

    def register(handler: Any) -> Any:
        for fn in fns:
            HANDLERS[fn] = WRAPPERS[fn](fn, handler) if fn in WRAPPERS else handler
        return handler

    return register


def wraps(*fns: Any) -> Callable[[Any], Any]:
    """Register what is put around the meaning of a call, which may be registered before or after."""

    def register(wrapper: Any) -> Any:
        for fn in fns:
            WRAPPERS[fn] = wrapper
            if fn in HANDLERS:
                HANDLERS[fn] = wrapper(fn, HANDLERS[fn])
        return wrapper

    return register


def otherwise(fn: Any) -> Callable[[Any], Any]:
    """Register what some calls of a function in the table are written with; None says that the table has its rule."""

    def register(handler: Any) -> Any:
        OTHERWISE[fn] = handler
        return handler

    return register


def is_hashable(fn: Any) -> bool:
    try:
        hash(fn)
    except TypeError:
        return False
    return True


EXPRESSIONS: dict[type, Callable[[Specialiser, Any], Value]] = {}


def expression(*kinds: type) -> Callable[[Any], Any]:
    def register(fn: Callable[[Specialiser, Any], Value]) -> Any:
        for kind in kinds:
            EXPRESSIONS[kind] = fn
        return fn

    return register


def evaluate(s: Specialiser, node: Any, handler: Callable[[Specialiser, Any], Value] | None = None) -> Value:
    """The abstract value of an expression; what it computes is emitted into the current block."""
    handler = handler or EXPRESSIONS.get(type(node))
    outer, s.node = s.node, node
    try:
        if handler is None:
            raise s.refuse(
                "unsupported-syntax",
                f"a {type(node).__name__} expression cannot be differentiated",
                "compute it outside, and pass it as an argument",
            )
        return handler(s, node)
    finally:
        s.node = outer


STATEMENTS: dict[type, Callable[[Specialiser, Any], None]] = {}


def statement(*kinds: type) -> Callable[[Any], Any]:
    def register(fn: Callable[[Specialiser, Any], None]) -> Any:
        for kind in kinds:
            STATEMENTS[kind] = fn
        return fn

    return register


def execute_each(s: Specialiser, body: list[Any]) -> None:
    for node in body:
        outer, s.node = s.node, node
        try:
            handler = STATEMENTS.get(type(node))
            if handler is None:
                kind = type(node).__name__.lower()
                raise s.refuse("unsupported-syntax", f"a {kind} statement cannot be differentiated")
            handler(s, node)
        finally:
            s.node = outer


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
