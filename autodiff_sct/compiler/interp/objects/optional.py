"""Tuples that may be None: every item is a variable that may be None.

::

    best = None                                    best, best2 = None, None
    for i in range(n):                             for i in range(n):
        if best is None or v > best[0]:     ->         if best is None or v > best:
            best = v, i                                    best, best2 = v, i

An item tells whether there is a tuple: one that is a number in every tuple that the program makes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

import gast

from ... import ir
from ...domain.facts import BOOL, Num
from ...domain.values import Choice, Const, Leaf, MaybeV, Poison, TupleV, Value
from ..kernel.specialiser import Specialiser
from ..kernel.user_errors import raise_if

T = TypeVar("T")
NONE = Const(None)
SUBSCRIPTED = "'NoneType' object is not subscriptable"
UNPACKED = "cannot unpack non-iterable NoneType object"


def items_of_either(value: Value, count: int, missing: Value) -> tuple[Value, ...]:
    """The items of a tuple, or what stands for each of them where there is none."""
    if isinstance(value, (TupleV, MaybeV)):
        return value.items
    return (missing if value is missing else NONE,) * count


def witness_of(s: Specialiser, values: tuple[Value, ...]) -> int | None:
    """The number of an item that is a number in all of these tuples, and the same one where some may be None."""
    known = [v.witness for v in values if isinstance(v, MaybeV)]
    tuples = [v.items for v in values if isinstance(v, TupleV)]
    numbers = [k for k in range(len(tuples[0])) if all(is_number(s, items[k]) for items in tuples)] if tuples else known
    found = [k for k in numbers if all(k == other for other in known)]
    return found[0] if found else None


def is_number(s: Specialiser, value: Value) -> bool:
    """True if a value is never None: of an item that tells, that is known where it is read."""
    if isinstance(value, Leaf) and value.name in s.witnesses:
        return True
    facts = s.num(value)
    return facts is not None and (facts.kind is not None or facts.dims is not None) and facts.row is None


def note_number(s: Specialiser, target: str, values: tuple[Value, ...]) -> None:
    """A variable that is one of several numbers is one, whatever else is known of it."""
    if all(is_number(s, value) for value in values):
        s.witnesses.add(target)


def are_simple(s: Specialiser, tuples: list[Any]) -> bool:
    """True if the items of tuples are numbers, arrays, texts or None, or else such tuples in all of them."""
    plain = [v for v in tuples if isinstance(v, TupleV)]
    for items in zip(*(v.items for v in plain)):
        if any(isinstance(item, TupleV) for item in items):
            if not all(isinstance(item, TupleV) for item in items) or not are_simple(s, list(items)):
                return False
        elif not all(s.num(item) is not None or isinstance(item, Const) for item in items):
            return False
    return True


def met(
    s: Specialiser, values: tuple[Value, ...], missing: Value, meet: Callable[[int, tuple[Value, ...]], Value]
) -> Value | None:
    """A tuple or None, from what it is on each path; None where it is something else.

    `meet` gives the value of an item, of a number, from those on the paths.
    """
    tuples = [v for v in values if isinstance(v, (TupleV, MaybeV))]
    optional = any(isinstance(v, MaybeV) or v == NONE for v in values)
    if not tuples or not optional or not all(v in tuples or v == NONE or v is missing for v in values):
        return None
    first = tuples[0]
    if any(len(v.items) != len(first.items) or v.cls is not first.cls for v in tuples):
        return None
    witness = witness_of(s, values)
    if witness is None or not are_simple(s, tuples):
        return None
    rows = zip(*(items_of_either(v, len(first.items), missing) for v in values))
    items = tuple(meet(k, row) for k, row in enumerate(rows))
    return next((item for item in items if isinstance(item, Poison)), MaybeV(items, first.cls, witness))


# -- asking


def is_none(s: Specialiser, value: MaybeV) -> Any:
    """The test whether there is no tuple."""
    return gast.Compare(s.expr(value.items[value.witness]), [gast.Is()], [ir.constant(None)])


def compared(s: Specialiser, op: Any, a: Value, b: Value) -> Value | None:
    """``a is None`` and the like; None where it is another comparison."""
    for value, other in ((a, b), (b, a)):
        if isinstance(value, MaybeV) and other == NONE and isinstance(op, (gast.Is, gast.IsNot, gast.Eq, gast.NotEq)):
            return asked(s, value, isinstance(op, (gast.Is, gast.Eq)))
    return None


def asked(s: Specialiser, value: MaybeV, none: bool) -> Value:
    """The test of an optional tuple for None, or for a tuple."""
    test = is_none(s, value)
    test.ops = [gast.Is() if none else gast.IsNot()]
    found = s.let(test, BOOL, hint="condition", may_raise=False)
    s.tells[found.name] = value, none
    return found


def opposite(s: Specialiser, test: Value, negated: Leaf) -> Leaf:
    """The opposite of a test, which tells the opposite."""
    if isinstance(test, Leaf):
        s.opposites[negated.name] = test
    if isinstance(test, Leaf) and test.name in s.tells:
        value, none = s.tells[test.name]
        s.tells[negated.name] = value, not none
    return negated


def present(s: Specialiser, value: MaybeV, message: str, error: type[Exception] = TypeError) -> TupleV:
    """The tuple, in a place where None raises what Python raises."""
    raise_if(s, is_none(s, value), error, message)
    found = there(s, value)
    assert isinstance(found, TupleV)
    s.env |= dict.fromkeys([key for key, held in s.env.items() if held == value], found)
    return found


def there(s: Specialiser, value: Value) -> Value:
    """The tuple or the object of a table, where there is one."""
    if isinstance(value, Leaf):
        facts = s.facts[value.name]
        assert isinstance(facts, Num)
        return s.let(ir.name(value.name), replace(facts, kind="row"), hint=s.hints[value.name], may_raise=False)
    assert isinstance(value, MaybeV)
    witness = value.items[value.witness]
    if isinstance(witness, Leaf):
        s.witnesses.add(witness.name)
    return TupleV(tuple(there(s, item) if isinstance(item, MaybeV) else item for item in value.items), value.cls)


def told(s: Specialiser, test: Value, outcome: bool, work: Callable[[], T]) -> Callable[[], T]:
    """Work that runs only where a test has an outcome."""

    def within() -> T:
        with knowing(s, test, outcome):
            return work()

    return within


@contextmanager
def knowing(s: Specialiser, test: Value, outcome: bool) -> Iterator[None]:
    """Write what runs only where a test has an outcome.

    A tuple or an object that it shows to be there is one, and of two functions that it chooses from it leaves one.
    """
    if not isinstance(test, Leaf):
        yield
        return
    before = known_by_choice(s, test, outcome)
    told = s.tells.get(test.name)
    if told is not None and told[1] is not outcome:
        found = there(s, told[0])
        before |= {key: (held, found) for key, held in s.env.items() if held == told[0]}
    s.env |= {key: found for key, (_, found) in before.items()}
    yield
    s.env |= {key: held for key, (held, found) in before.items() if s.env.get(key) is found}


def known_by_choice(s: Specialiser, test: Leaf, outcome: bool) -> dict[Any, tuple[Value, Value]]:
    """The names that stand for one of two functions, as a test decides: with both, and with the one."""
    while (other := s.opposites.get(test.name)) is not None:
        test, outcome = other, not outcome
    choices = [(key, held) for key, held in s.env.items() if isinstance(held, Choice) and held.test == test]
    return {key: (held, held.then if outcome else held.orelse) for key, held in choices}
