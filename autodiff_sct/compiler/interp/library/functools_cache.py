"""Functions with a cache that are defined inside the program.

::

    @functools.cache
    def bessel(n):                     a call with arguments that were met before is the value that it had then
        ...

That is no difference where the function computes a value and does nothing else; others are refused. Where only the run
knows an argument, the values are kept in a dict of the emitted program.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from ... import ir
from ...domain.facts import Num
from ...domain.values import Closure, Const, PartialV, TupleV, Value, Wrapped
from ...ir.builder import Specialiser
from ...ir.program_values import Restart
from ..kernel.handlers import handles
from ..kernel.operations import call_python, call_value, own_value
from ..models import functions as models


@dataclass(eq=False)
class Cached(Wrapped):
    """A closure with its cache, which is kept among the variables of the program."""

    site: Any
    remembering: Value | None  # the function with a dict of its values, where only the run knows some arguments

    def call(self, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """The value of a call: the one that it had before, with the same arguments."""
        name = self.fn.name
        if self.remembering is not None or not all(map(s.is_static, [*args, *kwargs.values()])):
            return self.call_at_run_time(s, args, kwargs)
        key = (("memo", self.site), (*args, *kwargs.items()))
        if key not in s.env:
            mark = len(s.block)
            result = own_value(s, call_value(s, self.fn, args, kwargs))
            if not all(is_quiet(stmt) for stmt in ir.walk(s.block[mark:])):
                raise s.refuse("cached-function", f"{name} has a cache, and does more than compute a value")
            s.env[key] = result
            s.memos.add(key)
        return s.env[key]

    def call_at_run_time(self, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """The value of a call with integers, kept under them in a dict, as those of all calls are then."""
        if kwargs or not all(is_setting(s, value) for value in args):
            raise s.refuse(
                "cached-function",
                f"{self.fn.name} has a cache, and is called with other things than integers, which only the run knows",
                "keep the values in a dict or a list, or give it settings such as integers only",
            )
        if self.remembering is None:
            raise Restart(("cache", self.site))
        return call_value(s, self.remembering, args, {})


def is_setting(s: Specialiser, value: Value) -> bool:
    """True if a value is one that carries no derivative and tells calls apart."""
    if isinstance(value, TupleV):
        return all(is_setting(s, item) for item in value.items)
    facts = s.facts_of(value)
    return s.is_static(value) or isinstance(facts, Num) and facts.kind in ("int", "bool")


def is_quiet(stmt: Any) -> bool:
    """True if running a statement once, or again, makes no difference."""
    if isinstance(stmt, ir.Let):
        return not stmt.effect
    return isinstance(stmt, (ir.If, ir.Loop, ir.Raise)) or (isinstance(stmt, ir.Effect) and stmt.kind == "append")


@handles(functools.lru_cache, functools.cache)
def cache(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``@cache``, ``@lru_cache`` and ``@lru_cache(maxsize=None)``; how much it holds makes no difference."""
    if args and isinstance(args[0], Closure):
        site = s.site("cache")
        at_run_time = ("cache", site) in s.dynamic
        return Cached(args[0], site, call_python(s, models.remembering, args, {}) if at_run_time else None)
    if args and callable(getattr(args[0], "value", None)):
        raise s.refuse(
            "outside-write",
            "a function from outside gets a cache inside the program",
            "decorate it where it is defined",
        )
    return PartialV(Const(functools.cache), (), {})
