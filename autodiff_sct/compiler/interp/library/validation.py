"""What cannot be followed in installed packages, and need not be.

Libraries ask of what kind an argument is, and hold paths for other kinds (frames, sparse matrices, the arrays of other
libraries).  Where a program is refused, it is compiled again in a way that

- a call that cannot be followed and returns no numbers is made as it stands, with arrays that it cannot write into;
- a side of a branch that cannot be followed raises the refusal, where it is taken.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import gast

from ....errors import Refused
from ....runtime.apart import Apart
from ....runtime.objects import only_looking
from ... import ir
from ...domain.facts import BOOL, Facts, Listed, Mapped, Num, Opaque, Pair, evaluate
from ...domain.foreign_objects import PACKAGES
from ...domain.values import Const, Leaf, ListV, Obj, TupleV, Value
from ...ir.builder import Specialiser

# In `dynamic`: what cannot be followed in installed packages is refused where it is met in the run.
LATE = "late"


def is_late(s: Specialiser) -> bool:
    """True where a refusal may wait for the run: no handler of the program would catch it."""
    return LATE in s.dynamic and not (s.strictly or s.hearing or s.recursive_calls) and is_installed(s)


def is_installed(s: Specialiser) -> bool:
    """True if the statement that is specialised is one of an installed package."""
    return s.frame is not None and str(s.frame.globals.get("__file__", "")).startswith(PACKAGES)


def refuse_there(s: Specialiser, block: ir.Block, error: Refused) -> None:
    """Write a block that raises a refusal, past the handlers of the program."""
    apart = ir.call(s.bind("Apart", Apart), ir.constant(1))
    block[:] = [ir.Raise(gast.Raise(apart, s.bind("refused", error)), s.where())]


def followed_or_asked(
    s: Specialiser, fn: Any, args: list[Value], kwargs: dict[str, Value], follow: Callable[[], Value]
) -> Value:
    """A call of an installed package's function: followed, or made as it stands where that is refused."""
    text = isinstance(fn, FunctionType) and fn.__code__.co_filename.startswith(PACKAGES)
    if not text or LATE not in s.dynamic or s.strictly or not is_installed(s):
        return follow()
    if fn not in s.libraries.refusing:
        mark, entry = len(s.block), dict(s.env)
        s.strictly += 1
        try:
            return follow()
        except Refused:
            del s.block[mark:]
            s.env = entry
            s.libraries.refusing.add(fn)
        finally:
            s.strictly -= 1
    facts = asked_for(s, fn, args, kwargs) if all(is_plain(s, v) for v in (*args, *kwargs.values())) else None
    return follow() if facts is None else as_it_stands(s, fn, args, kwargs, facts)


def is_plain(s: Specialiser, value: Value) -> bool:
    """True for numbers and arrays, what is known at compile time, and dicts, lists and tuples of such."""
    if isinstance(value, Leaf):
        facts = s.facts[value.name]
        return isinstance(facts, (Listed, Mapped, Pair)) or (isinstance(facts, Num) and facts.row is None)
    if isinstance(value, (TupleV, ListV)):
        return all(is_plain(s, item) for item in value.items)
    if isinstance(value, Obj) and value.cls in (dict, list):
        known = value.id in s.objects
        return known or all(is_plain(s, s.env[(value.id, key)]) for key in s.fields(value))
    return isinstance(value, Const)


def asked_for(s: Specialiser, fn: FunctionType, args: list[Value], kwargs: dict[str, Value]) -> Facts | None:
    """The facts of what a call returns, if it is used for nothing or is no number for stand-ins of its arguments."""
    from ..numpy.transfer import argument

    if s.node is s.by_itself:
        return Opaque(type(None))
    try:
        found = evaluate(fn, [argument(s, a) for a in args], {k: argument(s, v) for k, v in kwargs.items()})[0]
    except ValueError:
        return None
    if found == BOOL:
        return BOOL
    return found if isinstance(found, Opaque) and found.cls in (type(None), str, type, ModuleType) else None


@functools.cache
def asking(fn: FunctionType) -> Any:
    """What stands for a function that is called with arrays that it cannot write into."""

    def asked(*args: Any) -> None: ...

    asked.__name__, asked.__module__ = fn.__name__, "builtins"
    return asked


def as_it_stands(s: Specialiser, fn: FunctionType, args: list[Value], kwargs: dict[str, Value], facts: Facts) -> Value:
    """The call, made in the run, which raises if the answer is of another kind than it was for stand-ins."""
    from ..control.raising import raise_if

    given = {k: s.expr(v) for k, v in kwargs.items()}
    call = ir.call(s.bind("only_looking", only_looking), s.bind(fn.__name__, fn), *map(s.expr, args), **given)
    every = {f"argument {k}": v for k, v in enumerate([*args, *kwargs.values()])}
    answer = s.let(call, facts, ir.Op(asking(fn), every), hint="answer", effect=True)
    cls = bool if facts == BOOL else getattr(facts, "cls", None)
    if s.node is not s.by_itself and cls is not None:
        other = gast.UnaryOp(gast.Not(), ir.call("isinstance", ir.name(answer.name), s.bind(cls.__name__, cls)))
        raise_if(s, other, NotImplementedError, f"{fn.__name__} gives an answer of another kind for other numbers")
    return Const(None) if cls is type(None) else answer
