"""Functions with a cache that are defined inside the program.

::

    @functools.cache
    def bessel(n):                     a call with arguments that were met before is the value that it had then
        ...

That is no difference where the function computes a value and does nothing else; others are refused.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from .. import ir
from .calls import call_value, handles
from .containers import own_value
from .control import MEMO
from .state import Specialiser
from .values import Closure, Const, PartialV, Value


@dataclass(eq=False)
class Cached:
    """A closure with its cache, which is kept among the variables of the program."""

    function: Closure
    site: Any

    def call(self, s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """The value of a call: the one that it had before, with the same arguments."""
        name = self.function.name
        if not all(map(s.is_static, [*args, *kwargs.values()])):
            raise s.refuse(
                f"{name} has a cache, and is called with what is known only at run time",
                "keep the values in a dict or a list, or give it settings such as integers only",
            )
        key = ((MEMO, self.site), (*args, *kwargs.items()))
        if key not in s.env:
            mark = len(s.block)
            result = own_value(s, call_value(s, self.function, args, kwargs))
            if not all(is_quiet(stmt) for stmt in ir.walk(s.block[mark:])):
                raise s.refuse(f"{name} has a cache, and does more than compute a value", "call it without the cache")
            s.env[key] = result
        return s.env[key]


def is_quiet(stmt: Any) -> bool:
    """Whether running a statement once, or again, makes no difference."""
    if isinstance(stmt, ir.Let):
        return not stmt.effect
    return isinstance(stmt, (ir.If, ir.Loop, ir.Raise)) or (isinstance(stmt, ir.Effect) and stmt.kind == "append")


@handles(functools.lru_cache, functools.cache)
def cache(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """``@cache``, ``@lru_cache`` and ``@lru_cache(maxsize=None)``; how much it holds makes no difference."""
    if args and isinstance(args[0], Closure):
        return Cached(args[0], s.site("cache"))
    if args and callable(getattr(args[0], "value", None)):
        raise s.refuse("a function from outside gets a cache inside the program", "decorate it where it is defined")
    return PartialV(Const(functools.cache), (), {})
