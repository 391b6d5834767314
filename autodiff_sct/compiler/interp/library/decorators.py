"""Decorators of Python's library on functions that are defined inside the program.

::

    def logged(f):
        @functools.wraps(f)                 it gives `inner` the name and the text of `f`, which nobody computes with
        def inner(*args):
            return f(*args)
        return inner

    @contextlib.contextmanager
    def scaled(v):                          its text around the block of the `with`
        yield v * 2
"""

from __future__ import annotations

import contextlib
import functools
from dataclasses import dataclass

from ...domain.values import Closure, Const, PartialV, Suspended, Value, Wrapped
from ...frontend.supported_syntax import YIELDS, own_nodes
from ...ir.builder import Specialiser
from ..control.context_managers import yields_once
from ..kernel.handlers import handles
from ..kernel.operations import opaque_call
from ..models import functions as models
from ..world.normalized_bodies import body_of_closure


@handles(functools.wraps)
def wraps(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    return PartialV(Const(models.wrapped), tuple(args[:1]), {})


@dataclass(eq=False)
class Manager(Wrapped):
    """A manager: the result of ``contextlib.contextmanager`` for a function of the program."""

    def call(self, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
        return Suspended(self.fn, args, kwargs, s.site("generator"))


@handles(contextlib.contextmanager)
def contextmanager(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    made_of = args[0]
    if not isinstance(made_of, Closure):
        return opaque_call(s, s.expr(Const(contextlib.contextmanager)), contextlib.contextmanager, args, kwargs)
    if not any(isinstance(n, YIELDS) for n in own_nodes(made_of.node)) or not yields_once(
        body_of_closure(made_of).tree.body
    ):
        raise s.refuse(
            "kept-generator",
            "a manager that is defined inside the function and does not yield in one place",
            "write `try`",
        )
    return Manager(made_of)
