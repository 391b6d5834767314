"""Evaluation and execution: tables of what each kind of expression and statement means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from ...domain.values import Value
from ...ir.builder import Specialiser

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
    for position, node in enumerate(body):
        outer, s.node = s.node, node
        try:
            if isinstance(node, gast.If) and len(body) == position + 1:
                STATEMENTS[gast.If](s, node)
            else:
                handler = STATEMENTS.get(type(node))
                if handler is None:
                    raise s.refuse(
                        "unsupported-syntax", f"a {type(node).__name__.lower()} statement cannot be differentiated"
                    )
                handler(s, node)
        finally:
            s.node = outer
