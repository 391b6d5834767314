"""Statements that always raise: the form of a block that ends there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import gast

from ... import ir
from ...domain.values import Const, Value
from ...ir.builder import Specialiser


class Ended(Exception):
    """The block being written always raises: nothing after it runs."""


def always(s: Specialiser, error: type[Exception], argument: Any, **named: Any) -> Ended:
    """The end of a block that always raises an exception where this is written."""
    keywords = {name: s.expr(Const(value)) for name, value in named.items()}
    call = ir.call(ir.name(error.__name__), s.expr(Const(argument)), **keywords)
    s.block.append(ir.Raise(gast.Raise(call, None), s.where()))
    return Ended()


def raise_if(s: Specialiser, test: Any, error: type[Exception], message: str) -> None:
    """Raise an exception where a test, an expression of the emitted program, holds."""
    name = error.__name__
    callee = ir.name(name) if error.__module__ == "builtins" else s.bind(name, error)
    raising = ir.Raise(gast.Raise(ir.call(callee, ir.constant(message)), None), s.where())
    s.block.append(ir.If(test, [raising], [], [], s.where()))


def run_block(s: Specialiser, block: ir.Block, work: Callable[[], None]) -> bool:
    """Write `work` into `block`; False where it always raises."""
    with s.writing(block):
        try:
            work()
        except Ended:
            return False
    return True


def attempted(s: Specialiser, block: ir.Block, work: Callable[[], Value]) -> Value | None:
    """Write `work` into `block`, which may be thrown away; None where it always raises."""
    with s.writing(block):
        try:
            return work()
        except Ended:
            return None


@contextmanager
def beside(s: Specialiser) -> Iterator[None]:
    """Write what runs only where a test came out one way."""
    s.branches += 1
    try:
        yield
    finally:
        s.branches -= 1
