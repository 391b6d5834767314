"""Functions of installed packages: validation that need not be followed, and texts that are followed where need be.

Validation in installed packages, which cannot be followed and need not be.

Libraries ask of what kind an argument is, and hold paths for other kinds (frames, sparse matrices, the arrays of other
libraries).  Where a program is refused, it is compiled again in a way that

- a call that cannot be followed and returns no numbers is made as it stands, with arrays that it cannot write into;
- a side of a branch that cannot be followed raises the refusal, where it is taken.

Functions and classes of NumPy and SciPy that have no rule and are written in Python.

They are called as they stand, for most calls carry no derivative.  A program that is refused is compiled again: where
floats are given to such a function, its text is followed then, and that of those that it calls.
"""

from __future__ import annotations

import functools
import itertools
import os
import random
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FunctionType, ModuleType
from typing import Any

import gast
import numpy as np

from ....core import thresholds
from ....errors import NoRule, Refused
from ....runtime.objects import only_looking
from ... import ir
from ...domain.dependencies import same
from ...domain.dummies import evaluate, realise
from ...domain.facts import BOOL, Facts, Listed, Mapped, Num, Opaque, Pair
from ...domain.request import Way
from ...domain.values import (
    Bound,
    Closure,
    Const,
    Leaf,
    ListV,
    Obj,
    PartialV,
    Suspended,
    TupleV,
    Value,
    home_of,
    is_compiled,
    is_packaged,
)
from ..arrays.transfer import argument
from ..kernel.specialiser import Specialiser
from ..kernel.user_errors import raise_if
from ..objects.tables import class_of_row
from .substitutes import SUBSTITUTES

__all__ = ["explained", "follows", "text_of"]


def followed_or_asked(
    s: Specialiser, fn: Any, args: list[Value], kwargs: dict[str, Value], follow: Callable[[], Value]
) -> Value:
    """A call of an installed package's function: followed, or made as it stands where that is refused."""
    text = isinstance(fn, FunctionType) and is_packaged(fn)
    if not text or Way.LATE not in s.attempt.ways or s.strictly or not s.in_package():
        return follow()
    if fn not in s.attempt.unfollowed:
        mark, entry = len(s.block), dict(s.env)
        s.strictly += 1
        try:
            value = follow()
        except Refused as error:
            s.attempt.unfollowed[fn] = error
        else:
            if not is_open_question(s, value) or answer_by_kinds(s, fn, args, kwargs) is None:
                return value
        finally:
            s.strictly -= 1
        del s.block[mark:]
        s.env = entry
    if not all(is_plain(s, v) for v in (*args, *kwargs.values())):
        return follow()
    if (answer := answer_by_kinds(s, fn, args, kwargs)) is not None:
        return settled(s, fn, args, kwargs, answer)
    facts = asked_for(s, fn, args, kwargs)
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
    if s.node is s.by_itself:
        return Opaque(type(None))
    try:
        with on_trial():
            found = evaluate(fn, [kind_of(s, a) for a in args], {k: kind_of(s, v) for k, v in kwargs.items()})[0]
    except ValueError:
        return None
    if found == BOOL:
        return BOOL
    return found if isinstance(found, Opaque) and found.cls in (type(None), str, type, ModuleType) else None


def is_open_question(s: Specialiser, value: Value) -> bool:
    """True for a truth value, a module or a class that only the run knows."""
    return isinstance(value, Leaf) and s.facts[value.name] in (BOOL, Opaque(), Opaque(ModuleType), Opaque(type))


def answer_by_kinds(s: Specialiser, fn: FunctionType, args: list[Value], kwargs: dict[str, Value]) -> Any:
    """The answer of a question that is the same for all numbers and lengths that are tried; None for another one."""
    try:
        given = [kind_of(s, a) for a in args], {k: kind_of(s, v) for k, v in kwargs.items()}
        answer, *others = itertools.islice(answers(fn, *given), None if is_answer(next(answers(fn, *given))) else 1)
    except Exception:  # it takes other things than these
        return None
    return answer if is_answer(answer) and all(same(other, answer) for other in others) else None


def answers(fn: FunctionType, args: list[Any], kwargs: dict[str, Any]) -> Iterator[Any]:
    """The results of a function for stand-ins of arguments of these kinds."""
    for of in stand_ins():
        given, like = ([*map(of, args), *map(of, kwargs.values())] for _ in range(2))
        with warnings.catch_warnings(), np.errstate(all="ignore"), on_trial():
            warnings.simplefilter("ignore")
            answer = fn(*given[: len(args)], **dict(zip(kwargs, given[len(args) :])))
        if repr(given) != repr(like):
            raise ValueError("it changes what it is given")
        yield answer


@contextmanager
def on_trial() -> Iterator[None]:
    """Raise ValueError in a function that runs on and on, and put back the state of the generators that it draws from.

    A question is answered soon, a search may never end; and the run has to draw the numbers that the function would.
    """
    left = thresholds.LINES_TRIED

    def count(frame: Any, event: str, argument: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise ValueError("it takes long")
        return count

    before, drawn, numpys = sys.gettrace(), random.getstate(), np.random.get_state()
    sys.settrace(count)
    try:
        yield
    finally:
        sys.settrace(before)
        random.setstate(drawn)
        np.random.set_state(numpys)


def is_answer(value: Any) -> bool:
    """True for what decides how a program goes on, and carries no number: a truth value, a name, a module, a class."""
    if type(value) is tuple:
        return len(value) > 0 and all(map(is_answer, value))
    return isinstance(value, (bool, str, ModuleType, type, FunctionType, np.dtype))


def settled_call(s: Specialiser, fn: FunctionType, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    """The answer of a library function that is asked for in a package, if it is the same for all that is tried."""
    if Way.LATE not in s.attempt.ways or not s.in_package() or s.node is s.by_itself:
        return None
    if not all(is_plain(s, v) for v in (*args, *kwargs.values())):
        return None
    answer = answer_by_kinds(s, fn, args, kwargs)
    return None if answer is None else settled(s, fn, args, kwargs, answer)


def folded_question(s: Specialiser, fn: Any, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
    """The truth value that a function of NumPy has for constants, as ``np.any(False)``, where a package asks for it."""
    every = [*args, *kwargs.values()]
    if Way.LATE not in s.attempt.ways or not s.in_package() or not all(isinstance(v, Const) for v in every):
        return None
    try:
        found = fn(*[v.value for v in args], **{k: v.value for k, v in kwargs.items()})  # type: ignore[attr-defined]
    except Exception:  # so will the run
        return None
    return Const(bool(found)) if isinstance(found, (bool, np.bool)) else None


def kind_of(s: Specialiser, value: Value) -> Any:
    """The facts of an argument, as `facts.evaluate` takes them."""
    return argument(s, value)


def stand_in(s: Specialiser, value: Value) -> Any:
    """Something of the kind of an argument; None where nothing is known of it."""
    try:
        return realise(kind_of(s, value), 3, 1)
    except ValueError:
        return None


def stand_ins() -> Iterator[Callable[[Any], Any]]:
    """Ways to make arguments of what is known of them: with other numbers, and of other lengths."""
    yield from (functools.partial(made_by, length, fill) for length in LENGTHS for fill in FILLS)


def made_by(length: int, fill: Callable[[int], Any], argument: Any) -> Any:
    """An argument of which axes have a length, with the numbers that `fill` gives."""
    return filled(realise(argument, length, 1), fill)


def filled(value: Any, fill: Callable[[int], Any]) -> Any:
    """A value with other numbers in its arrays of floats, and for its floats."""
    if type(value) in (tuple, list):
        return type(value)(filled(item, fill) for item in value)
    if type(value) is float or isinstance(value, np.floating):
        return type(value)(fill(1)[0])
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return fill(value.size).reshape(value.shape).astype(value.dtype)
    return value


LENGTHS = (1, 2, 3, 50)
FILLS: tuple[Callable[[int], Any], ...] = (
    np.ones,
    np.zeros,
    lambda n: np.full(n, np.nan),
    lambda n: np.full(n, -np.inf),
    lambda n: np.sin(7.3 * np.arange(n) + 2.0),
    lambda n: np.linspace(0.9, 0.1, n),
)


@functools.cache
def asking(fn: FunctionType) -> Any:
    """The stand-in of a function that is called with arrays that it cannot write into."""

    def asked(*args: Any) -> None: ...

    asked.__name__, asked.__module__ = fn.__name__, "builtins"
    return asked


def as_it_stands(s: Specialiser, fn: FunctionType, args: list[Value], kwargs: dict[str, Value], facts: Facts) -> Value:
    """The call, made in the run, which raises if the answer is of another kind than it was for stand-ins."""
    answer = answer_of(s, only_looking, fn, args, kwargs, facts)
    cls = bool if facts == BOOL else getattr(facts, "cls", None)
    if s.node is not s.by_itself and cls is not None:
        other = gast.UnaryOp(gast.Not(), ir.call("isinstance", ir.name(answer.name), s.bind(cls.__name__, cls)))
        only_if_not(s, other, f"{fn.__name__} gives an answer of another kind for other numbers")
    return Const(None) if cls is type(None) else answer


def settled(s: Specialiser, fn: FunctionType, args: list[Value], kwargs: dict[str, Value], answer: Any) -> Value:
    """The answer that a question has for all that was tried; the run asks it, and raises if it is another one."""
    given = answer_of(s, None, fn, args, kwargs, BOOL if type(answer) is bool else Opaque(type(answer)))
    expected = as_value(answer)
    differs = gast.NotEq() if isinstance(answer, (str, tuple, np.dtype)) else gast.IsNot()
    other = gast.Compare(ir.name(given.name), [differs], [s.expr(expected)])
    only_if_not(s, other, f"{fn.__name__} gives another answer than for all that was tried")
    return expected


def as_value(answer: Any) -> Value:
    """The abstract value of an answer."""
    return TupleV(tuple(map(as_value, answer))) if type(answer) is tuple else Const(answer)


def only_if_not(s: Specialiser, test: Any, message: str) -> None:
    """Raise in the run where a test holds for which the program is not compiled."""
    raise_if(s, test, NoRule, message)


def answer_of(
    s: Specialiser, how: Any, fn: FunctionType, args: list[Value], kwargs: dict[str, Value], facts: Facts
) -> Leaf:
    """The result of a function, or of `how` for it and its arguments, through which no derivative passes."""
    given = {k: s.expr(v) for k, v in kwargs.items()}
    called = [s.bind(how.__name__, how)] if how is not None else []
    call = ir.call(*called, s.bind(fn.__name__, fn), *map(s.expr, args), **given)
    every = {f"argument {k}": v for k, v in enumerate([*args, *kwargs.values()])}
    return s.let(call, facts, ir.Op(asking(fn), every), hint="answer", effect=True)


HOMES = ("numpy", "scipy")
SUBCLASSES = ("numpy.ma", "numpy.matrixlib")  # what is done to masked arrays and to matrices is not followed
PYTHONS_OWN = (Closure, PartialV, Suspended)  # what cannot be given to a function that is not followed


def explained(first: Refused, last: Refused, unfollowed: Iterable[Refused]) -> Refused:
    """The refusal that users see: of the call in their text, with the reason why the library's is not followed.

    In the text of another package, it is the last one: what was refused before is not followed there, or is known.
    """
    if all(
        error.origin and is_packaged(error.origin.file) and not is_in_library(error.origin.file)
        for error in (first, last)
    ):
        return last
    last = next((error for error in (last, *unfollowed) if error.origin and is_in_library(error.origin.file)), last)
    if first is last or last.origin is None or not is_in_library(last.origin.file):
        return first
    if not isinstance(first, NoRule):
        return first
    place = f"{os.path.basename(last.origin.file)}:{last.origin.line}"
    reason = f"{first.reason} ({place}, where its text goes on: {last.reason})"
    return type(first)(reason, first.remedy, first.origin, first.code)


def is_in_library(file: str) -> bool:
    """True for the file of a text of NumPy's or SciPy's."""
    packages = os.path.dirname(os.path.dirname(np.__file__))
    return file.startswith(tuple(os.path.join(packages, home, "") for home in HOMES))


def text_of(fn: Any) -> Any:
    """The Python function or the class written in Python behind a callable of NumPy or SciPy; None for others."""
    if (text := SUBSTITUTES.get((getattr(fn, "__module__", None), getattr(fn, "__qualname__", "")))) is not None:
        return text
    fn = getattr(fn, "_implementation", fn)  # of NumPy's functions that other array classes may override
    home = home_of(fn)
    if home.split(".")[0] not in HOMES or home.startswith(SUBCLASSES):
        return None
    if isinstance(fn, type):
        return fn if isinstance(getattr(fn, "__init__", None), FunctionType) and not is_compiled(fn) else None
    return fn if isinstance(fn, FunctionType) else None


def follows(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> bool:
    """True if the text of a library function is followed here."""
    if any(is_stand_in(s, value) for value in (*args, *kwargs.values())):
        return False
    return is_inside(s) or (takes_floats(s, args, kwargs) and s.attempt.takes(Way.TEXTS))


def is_stand_in(s: Specialiser, value: Value) -> bool:
    """True for an object that stands for one of a library's classes, which that library's texts would not recognise."""
    return hasattr(value.cls if isinstance(value, Obj) else class_of_row(s, value), "stands_for")


def is_inside(s: Specialiser) -> bool:
    """True if the statement that is specialised is one of such a text."""
    known = s.frame.globals if s.frame is not None else {}
    return str(known.get("STANDS_FOR", known.get("__name__"))).split(".")[0] in HOMES


def takes_floats(s: Specialiser, args: list[Value], kwargs: dict[str, Value]) -> bool:
    """True if a derivative may pass through an argument of a call."""
    return any(may_carry(s, value) for value in (*args, *kwargs.values()))


def may_carry(s: Specialiser, value: Value) -> bool:
    """True if a derivative may pass through an argument, or if only a text that is followed can take it."""
    if isinstance(value, PYTHONS_OWN) or (isinstance(value, Obj) and value.id not in s.objects):
        return True
    if isinstance(value, Bound) and not isinstance(value.self, Leaf):
        return may_carry(s, value.self)
    return any(may_hold(s, s.facts[name]) for name in s.leaves(value))


def may_hold(s: Specialiser, facts: Any) -> bool:
    """True if something of these facts is a float, or holds floats."""
    if isinstance(facts, Pair):
        return any(may_hold(s, item) for item in facts.items)
    if isinstance(facts, (Listed, Mapped)):
        element = s.elements_of(facts)
        return element is not None and may_hold(s, element)
    return isinstance(facts, Num) and facts.differentiable
