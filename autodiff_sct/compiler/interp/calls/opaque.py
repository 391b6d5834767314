"""Calls of functions without a rule, which stay as they are."""

from __future__ import annotations

import logging
import random
import sys
import traceback
from typing import Any

import numpy as np

from ... import ir
from ...domain.facts import Num, Opaque
from ...domain.foreign_objects import home_of
from ...domain.values import Leaf, Rest, Value
from ...ir.builder import Specialiser
from ..arrays import transfer
from ..containers import items
from ..containers.missing_keys import note_unseen
from ..kernel import operations
from ..kernel.escape import refuse_references
from ..kernel.functions import SHOWING, Shown, drawn, is_pure, written_by_name
from ..kernel.operations import defines
from ..library import strings

MAKES = {np.random.default_rng: np.random.Generator, logging.getLogger: logging.Logger}
CHANGE_LISTS = {random.shuffle, random.Random.shuffle}
AT_HAND = {sys.exc_info, getattr(sys, "exception", None), traceback.format_exc}
SHARE_MEMORY = {memoryview, np.frombuffer, np.nditer}


@defines(operations.opaque_call)
def opaque_call(s: Specialiser, callee: Any, fn: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """A call of something without a rule: it just runs, and is refused where a derivative would pass through it.

    `fn` is the function, or the variable that holds it.
    """

    refuse_references(s, *args, *kwargs.values())
    if fn in CHANGE_LISTS:
        raise s.refuse(
            "unknown-write",
            f"{fn.__name__} changes a list where the compiler cannot see it",
            "do that before the differentiated function, or write the change out with methods of the list",
        )
    if fn in AT_HAND:
        raise s.refuse(
            "exceptions",
            f"{fn.__name__} asks for the exception that is handled",
            "name it: `except ValueError as error:`",
        )
    if fn in SHARE_MEMORY and any(f.kind == "array" for a in args if (f := s.num(a)) is not None):
        if fn is not np.nditer or "op_flags" in kwargs:
            raise s.refuse(
                "unknown-write", f"{fn.__name__} gives another way to an array's memory", "index the array itself"
            )
    if (text := strings.computed(s, fn, args, kwargs)) is not None:
        return text
    expr = ir.call(callee, *(s.expr(a) for a in args), **{k: s.expr(v) for k, v in kwargs.items()})
    facts: Any = Opaque()
    if is_pure(fn):
        facts = transfer.facts_of_call(s, fn, args, kwargs)
        if isinstance(facts, Num) and facts.kind is None:
            facts = Opaque()
    elif isinstance(getattr(fn, "__self__", None), str):
        facts = strings.returned_by(fn.__name__)
    elif isinstance(getattr(fn, "__self__", None), random.Random):
        facts = drawn(fn.__name__)
    elif home_of(fn).split(".")[0] in SHOWING:
        facts = Opaque(Shown)
    elif isinstance(fn, type) or fn in MAKES:
        facts = Opaque(fn if isinstance(fn, type) else MAKES[fn])
    args = [a.items if isinstance(a, Rest) else a for a in args]
    held = [fn] if isinstance(fn, Leaf) else []
    every = {f"argument {k}": v for k, v in enumerate([*held, *args, *kwargs.values()])}
    op = ir.Op(opaque_call if held else fn, every | written_by_name(fn, args, kwargs))
    note_unseen(s, [*args, *kwargs.values()])
    return items.spread(s, s.let(expr, facts, op, hint="result", effect=True))
